// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/tcp.h"

static double tcp_at_least(double x, double least) {
    return x < least ? least : x;
}

static uint64_t tcp_flight(const struct tcp_sender *s) {
    return s->next - s->acked;
}

void tcp_sender_init(struct tcp_sender *s, const struct tcp_config *c) {
    *s = (struct tcp_sender){.c = *c, .expires = SK_TIME_NEVER};
    s->window = (double)c->initial_window * c->mss;
    s->threshold = 1e18;
    sk_rto_init(&s->rto, c->rto_initial, c->rto_min, c->rto_max);
    tcp_control_init(s);
}

void tcp_sender_add(struct tcp_sender *s, uint64_t bytes, uint64_t now) {
    const double initial = (double)s->c.initial_window * s->c.mss;
    const bool idle = s->acked == s->end;
    if (idle && s->sent_at && now - s->sent_at > s->rto.timeout && s->window > initial)
        s->window = initial;
    s->end += bytes;
}

// ---- sending ----

static void tcp_start_timer(struct tcp_sender *s, uint64_t now) {
    s->expires = sk_time_add(now, sk_rto_backed_off(&s->rto, s->backoff));
}

static void tcp_describe(struct tcp_sender *s, uint64_t from, uint64_t now,
                         struct tr_segment *out) {
    const uint64_t left = s->end - from;
    out->sequence = from;
    out->length = (uint32_t)(left < s->c.mss ? left : s->c.mss);
    out->again = from < s->highest;
    s->stats.segments++;
    s->stats.again += out->again;
    s->sent_at = now;
    if (s->expires == SK_TIME_NEVER)
        tcp_start_timer(s, now);
}

bool tcp_sender_next(struct tcp_sender *s, uint64_t now, struct tr_segment *out) {
    if (s->repeat) {
        s->repeat = false;
        tcp_describe(s, s->acked, now, out);
        if (s->next < s->acked + out->length)
            s->next = s->acked + out->length;
        return true;
    }
    // limited transmit: a segment for each of the first two duplicates
    const double limited = !s->recovering && s->duplicates && s->duplicates < s->c.duplicates
                               ? (double)s->duplicates * s->c.mss
                               : 0;
    const uint64_t left = s->end - s->next;
    const uint32_t length = (uint32_t)(left < s->c.mss ? left : s->c.mss);
    if (!length || (double)(tcp_flight(s) + length) > s->window + limited)
        return false;
    tcp_describe(s, s->next, now, out);
    s->next += length;
    s->highest = s->next > s->highest ? s->next : s->highest;
    return true;
}

// ---- acknowledgements ----

static void tcp_enter_recovery(struct tcp_sender *s) {
    tcp_control_loss(s, false);
    s->window = s->threshold + (double)s->c.duplicates * s->c.mss;
    s->recovering = s->first_partial = s->repeat = true;
    s->recover = s->highest;
    s->stats.recoveries++;
}

static void tcp_duplicate(struct tcp_sender *s) {
    s->duplicates++;
    if (s->recovering)
        s->window += s->c.mss;
    else if (s->duplicates == s->c.duplicates && s->acked >= s->recover)
        tcp_enter_recovery(s);
}

static void tcp_partial(struct tcp_sender *s, uint64_t bytes, uint64_t now) {
    s->repeat = true;
    s->window = tcp_at_least(s->window - (double)bytes, 0);
    if (bytes >= s->c.mss)
        s->window += s->c.mss;
    s->window = tcp_at_least(s->window, s->c.mss);
    if (s->first_partial)
        tcp_start_timer(s, now);
    s->first_partial = false;
}

static void tcp_leave_recovery(struct tcp_sender *s) {
    const double flight = tcp_at_least((double)tcp_flight(s), s->c.mss) + s->c.mss;
    s->window = flight < s->threshold ? flight : s->threshold;
    s->recovering = false;
    s->duplicates = 0;
}

static void tcp_advance(struct tcp_sender *s, uint64_t next, uint64_t now) {
    const uint64_t bytes = next - s->acked;
    s->acked = next;
    s->next = s->next < next ? next : s->next;
    s->backoff = 0;
    if (s->recovering && next < s->recover) {
        tcp_partial(s, bytes, now);
        return;
    }
    if (s->recovering) {
        tcp_leave_recovery(s);
    } else {
        s->duplicates = 0;
        s->repeat = false;
        tcp_control_acked(s, bytes, now);
    }
    s->expires = SK_TIME_NEVER;
    if (s->acked < s->highest)
        tcp_start_timer(s, now);
}

void tcp_sender_ack(struct tcp_sender *s, uint64_t next, bool marked, uint64_t echo, uint64_t now) {
    if (next > s->highest || next < s->acked)
        return; // of what was never sent, or late
    const uint64_t bytes = next - s->acked;
    if (echo <= now)
        sk_rto_measure(&s->rto, now - echo);
    s->stats.marks += marked;
    tcp_control_echo(s, bytes ? bytes : s->c.mss, marked);
    if (bytes)
        tcp_advance(s, next, now);
    else if (s->acked < s->highest)
        tcp_duplicate(s);
}

// ---- time ----

uint64_t tcp_sender_deadline(const struct tcp_sender *s) {
    return s->expires;
}

void tcp_sender_expire(struct tcp_sender *s, uint64_t now) {
    if (now < s->expires)
        return;
    s->stats.timeouts++;
    tcp_control_loss(s, true);
    s->window = s->c.mss;
    s->recover = s->highest; // duplicates of what is older say nothing (RFC 6582, 4)
    s->recovering = s->repeat = false;
    s->duplicates = 0;
    s->next = s->acked;
    s->backoff += s->backoff < 32;
    tcp_start_timer(s, now);
}
