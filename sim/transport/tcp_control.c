// SPDX-License-Identifier: Apache-2.0
//
// The windows of a TCP sender (tcp.h).
#include <math.h>

#include "sim/transport/tcp.h"

#define CUBIC_BETA 0.7
#define DCTCP_G    0.0625

void tcp_control_init(struct tcp_sender *s) {
    s->alpha = 1;
}

// ---- CUBIC: windows in segments, times in seconds ----

static void tcp_cubic_start(struct tcp_sender *s, uint64_t now) {
    const double window = s->window / s->c.mss;
    s->epoch = now + !now;
    s->estimate = window;
    if (window < s->window_max) {
        s->origin = s->window_max;
        s->k = cbrt((s->window_max - window) / s->c.cubic_c);
    } else {
        s->origin = window;
        s->k = 0;
    }
}

static void tcp_cubic_acked(struct tcp_sender *s, double segments, uint64_t now) {
    if (!s->epoch)
        tcp_cubic_start(s, now);
    const double window = s->window / s->c.mss, t = (double)(now - s->epoch) * 1e-9,
                 later = t + (double)s->rto.rtt * 1e-9 - s->k,
                 at = s->c.cubic_c * pow(t - s->k, 3) + s->origin;
    double target = s->c.cubic_c * later * later * later + s->origin;
    const double alpha = s->estimate < s->window_max ? 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) : 1;
    s->estimate += alpha * segments / window;
    target = target < window ? window : target > 1.5 * window ? 1.5 * window : target;
    const double grown = window + (target - window) / window * segments;
    s->window = (at < s->estimate && s->estimate > window ? s->estimate : grown) * s->c.mss;
}

static void tcp_cubic_loss(struct tcp_sender *s) {
    const double window = s->window / s->c.mss;
    s->window_max = window < s->window_max ? window * (1 + CUBIC_BETA) / 2 : window;
    s->epoch = 0;
}

// ---- all ----

void tcp_control_acked(struct tcp_sender *s, uint64_t bytes, uint64_t now) {
    const double mss = s->c.mss;
    if (s->window < s->threshold) {
        s->window += (double)bytes < mss ? (double)bytes : mss;
        return;
    }
    if (s->c.control == TCP_CUBIC)
        tcp_cubic_acked(s, (double)bytes / mss, now);
    else
        s->window += mss * ((double)bytes < mss ? (double)bytes : mss) / s->window;
}

void tcp_control_loss(struct tcp_sender *s, bool timeout) {
    const uint64_t flight = (timeout ? s->highest : s->next) - s->acked;
    const double factor = s->c.control == TCP_CUBIC ? CUBIC_BETA : 0.5, least = 2.0 * s->c.mss;
    if (s->c.control == TCP_CUBIC)
        tcp_cubic_loss(s);
    // a segment that is lost once more has nothing new to say (RFC 5681, 3.1)
    if (timeout && s->backoff)
        return;
    s->threshold = (double)flight * factor;
    s->threshold = s->threshold < least ? least : s->threshold;
}

void tcp_control_echo(struct tcp_sender *s, uint64_t bytes, bool marked) {
    if (s->c.control != TCP_DCTCP)
        return;
    s->round_acked += bytes;
    s->round_marked += marked ? bytes : 0;
    if (s->acked >= s->round_end) {
        if (s->round_acked)
            s->alpha += DCTCP_G * ((double)s->round_marked / (double)s->round_acked - s->alpha);
        s->round_acked = s->round_marked = 0;
        s->round_end = s->next;
    }
    if (!marked || s->recovering || s->acked < s->reduced_until)
        return;
    s->window *= 1 - s->alpha / 2;
    s->window = s->window < s->c.mss ? s->c.mss : s->window;
    s->threshold = s->window;
    s->reduced_until = s->next;
}
