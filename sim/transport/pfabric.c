// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/pfabric.h"

#include <stdlib.h>
#include <string.h>

static uint32_t pfabric_segments(uint64_t bytes, uint32_t mss) {
    return (uint32_t)((bytes + mss - 1) / mss);
}

static uint64_t *pfabric_bits(uint32_t n) {
    uint64_t *bits = calloc(n / 64 + 1, sizeof *bits);
    if (!bits)
        abort();
    return bits;
}

static bool pfabric_is_set(const uint64_t *bits, uint32_t i) {
    return bits[i / 64] >> i % 64 & 1;
}

void pfabric_sender_init(struct pfabric_sender *s, const struct pfabric_config *c, uint64_t bytes) {
    *s = (struct pfabric_sender){
        .c = *c, .bytes = bytes, .n = pfabric_segments(bytes, c->mss), .expires = SK_TIME_NEVER};
    s->acked = pfabric_bits(s->n);
    s->flying = pfabric_bits(s->n);
}

void pfabric_sender_free(struct pfabric_sender *s) {
    free(s->acked);
    free(s->flying);
    *s = (struct pfabric_sender){0};
}

uint64_t pfabric_sender_left(const struct pfabric_sender *s) {
    const uint64_t done = (uint64_t)s->n_acked * s->c.mss;
    return done < s->bytes ? s->bytes - done : 0;
}

static uint64_t pfabric_wait(const struct pfabric_sender *s) {
    uint64_t wait = s->c.rto_min;
    for (uint32_t i = s->c.probe_after; i < s->timeouts && wait < s->c.rto_max; i++)
        wait *= 2; // probing
    return wait < s->c.rto_max ? wait : s->c.rto_max;
}

bool pfabric_sender_next(struct pfabric_sender *s, uint64_t now, struct tr_segment *out) {
    const uint32_t window = s->timeouts >= s->c.probe_after ? 1 : s->c.window;
    while (s->next < s->n &&
           (pfabric_is_set(s->acked, s->next) || pfabric_is_set(s->flying, s->next)))
        s->next++;
    if (s->next == s->n || s->in_flight >= window)
        return false;
    const uint32_t i = s->next++;
    const uint64_t left = s->bytes - (uint64_t)i * s->c.mss;
    s->flying[i / 64] |= UINT64_C(1) << i % 64;
    s->in_flight++;
    *out = (struct tr_segment){(uint64_t)i * s->c.mss,
                               (uint32_t)(left < s->c.mss ? left : s->c.mss), i < s->highest};
    s->highest = i + 1 > s->highest ? i + 1 : s->highest;
    s->stats.segments++;
    s->stats.again += out->again;
    if (s->expires == SK_TIME_NEVER)
        s->expires = sk_time_add(now, pfabric_wait(s));
    return true;
}

void pfabric_sender_ack(struct pfabric_sender *s, uint64_t sequence, uint64_t now) {
    const uint64_t i = sequence / s->c.mss;
    if (sequence % s->c.mss || i >= s->highest || pfabric_is_set(s->acked, (uint32_t)i))
        return;
    s->acked[i / 64] |= UINT64_C(1) << i % 64;
    s->n_acked++;
    if (pfabric_is_set(s->flying, (uint32_t)i))
        s->in_flight--;
    s->flying[i / 64] &= ~(UINT64_C(1) << i % 64);
    s->timeouts = 0;
    s->expires = pfabric_sender_done(s) ? SK_TIME_NEVER : sk_time_add(now, pfabric_wait(s));
}

// All that is not acknowledged is taken for lost.
void pfabric_sender_expire(struct pfabric_sender *s, uint64_t now) {
    if (now < s->expires)
        return;
    s->timeouts++;
    s->stats.timeouts++;
    memset(s->flying, 0, (s->n / 64 + 1) * sizeof *s->flying);
    s->in_flight = 0;
    while (s->first < s->n && pfabric_is_set(s->acked, s->first))
        s->first++;
    s->next = s->first;
    s->expires = sk_time_add(now, pfabric_wait(s));
}

void pfabric_receiver_init(struct pfabric_receiver *r, uint32_t mss, uint64_t bytes) {
    *r = (struct pfabric_receiver){.mss = mss, .n = pfabric_segments(bytes, mss)};
    r->there = pfabric_bits(r->n);
}

void pfabric_receiver_free(struct pfabric_receiver *r) {
    free(r->there);
    *r = (struct pfabric_receiver){0};
}

bool pfabric_receiver_take(struct pfabric_receiver *r, uint64_t sequence) {
    const uint64_t i = sequence / r->mss;
    if (sequence % r->mss || i >= r->n)
        return false;
    r->n_there += !pfabric_is_set(r->there, (uint32_t)i);
    r->there[i / 64] |= UINT64_C(1) << i % 64;
    return true;
}
