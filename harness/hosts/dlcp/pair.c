// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/hosts/dlcp/pair.h"

#define STEPS_MOST 20000000u

struct pair_frame {
    struct net_event event;
    unsigned to; // the end
    bool damaged;
    size_t length;
    uint8_t bytes[DLCP_FRAME_BYTES];
};

static void pair_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                       uint16_t contributions) {
    struct pair *p = aux;
    const uint32_t i = offset / p->to_receive.segment;
    for (uint32_t k = 0; k < count; k++) {
        const uint8_t *b = wire + 4 * (size_t)k;
        const uint32_t bits =
            (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        memcpy(&p->out[offset + k], &bits, sizeof bits);
    }
    p->placed[i]++;
    p->contributions[i] = contributions;
}

void pair_init(struct pair *p, uint64_t seed, uint32_t elements, uint32_t segment) {
    const uint32_t segments = dlcp_segments(elements, segment);
    *p = (struct pair){.random = sk_random_seeded(seed), .link = {.delay = 10000}};
    p->values = net_must(malloc(elements * sizeof *p->values));
    p->out = net_must(calloc(elements, sizeof *p->out));
    p->placed = net_must(calloc(segments, sizeof *p->placed));
    p->contributions = net_must(calloc(segments, sizeof *p->contributions));
    for (uint32_t i = 0; i < elements; i++) {
        const uint32_t bits = (uint32_t)sk_random_next(&p->random); // NaN, infinities and all
        memcpy(&p->values[i], &bits, sizeof bits);
    }
    for (unsigned e = 0; e < 2; e++) {
        p->end[e] =
            (struct sk_endpoint){{2, 0, 0, 0, 0, (uint8_t)(e + 1)}, DLCP_PORT, 0x0a000001u + e};
        dlcp_peer_init(&p->peer[e], 50000, 1, PAIR_MS, PAIR_MS / 10, 50 * PAIR_MS);
    }
    p->to_send = (struct dlcp_sender_config){.name = {.iteration = 7, .tensor = 3, .job = 1},
                                             .nonce = (uint32_t)sk_random_next(&p->random),
                                             .values = p->values,
                                             .elements = elements,
                                             .segment = segment,
                                             .bound = DLCP_ALL / 10,
                                             .contributions = 1,
                                             .link = UINT64_C(10000000000),
                                             .period = 200000,
                                             .hard_limit = 20 * PAIR_S};
    p->to_receive = (struct dlcp_receiver_config){.name = p->to_send.name,
                                                  .nonce = (uint32_t)sk_random_next(&p->random),
                                                  .elements = elements,
                                                  .segment = segment,
                                                  .bound = DLCP_ALL / 10,
                                                  .place = pair_place,
                                                  .place_aux = p,
                                                  .period = 200000,
                                                  .hard_limit = 20 * PAIR_S};
    p->least_rate = UINT64_MAX;
}

void pair_tame(struct pair *p) {
    for (uint32_t i = 0; i < p->to_send.elements; i++)
        p->values[i] = (float)sk_random_below(&p->random, 2000001) / 1e6f - 1;
}

void pair_begin_sender(struct pair *p) {
    const char *why;
    p->to_send.peer = &p->peer[PAIR_SENDER];
    assert_int_equal(dlcp_sender_new(&p->sender, &p->to_send, p->now, &why), 0);
}

void pair_begin_receiver(struct pair *p) {
    const char *why;
    p->to_receive.peer = &p->peer[PAIR_RECEIVER];
    assert_int_equal(dlcp_receiver_new(&p->receiver, &p->to_receive, p->now, &why), 0);
}

void pair_begin(struct pair *p) {
    pair_begin_sender(p);
    pair_begin_receiver(p);
}

void pair_end(struct pair *p) {
    while (p->events.length > 0)
        free(net_events_pop(&p->events));
    net_events_free(&p->events);
    dlcp_sender_free(p->sender);
    dlcp_receiver_free(p->receiver);
    free(p->values);
    free(p->out);
    free(p->placed);
    free(p->contributions);
}

// ---- the network ----

static bool pair_loses(struct pair *p, const struct dlcp_packet *packet) {
    if (sk_random_chance(&p->random, p->link.loss) ||
        sk_random_chance(&p->random, p->lose_kind[packet->kind]) ||
        (p->dead_port && packet->port == p->dead_port))
        return true;
    if (p->lose_first[packet->kind] == 0)
        return false;
    p->lose_first[packet->kind]--;
    return true;
}

static void pair_carry(struct pair *p, unsigned to, const struct dlcp_packet *packet) {
    struct pair_frame *f = net_must(malloc(sizeof *f));
    f->to = to;
    f->damaged = false;
    f->length = dlcp_frame_write(f->bytes, &p->end[!to], &p->end[to], packet);
    if (sk_random_chance(&p->random, p->damage)) {
        // not in the Ethernet addresses, which no checksum covers
        const size_t at = 12 + sk_random_below(&p->random, f->length - 12);
        f->bytes[at] ^= (uint8_t)(1 + sk_random_below(&p->random, 255));
        f->damaged = true;
        p->damaged++;
    }
    net_events_push(&p->events, &f->event, net_link_arrival(&p->link, &p->random, p->now));
}

static void pair_send(struct pair *p, unsigned to, const struct dlcp_packet *packet) {
    p->frames++;
    if (pair_loses(p, packet)) {
        p->lost++;
        return;
    }
    pair_carry(p, to, packet);
    if (sk_random_chance(&p->random, p->link.duplicate))
        pair_carry(p, to, packet);
}

static void pair_answer_late(struct pair *p, unsigned end, const struct dlcp_packet *packet) {
    static struct dlcp_packet answer;
    if (dlcp_answer_late(packet, &answer, &p->peer[end], p->now))
        pair_send(p, !end, &answer);
}

static void pair_deliver(struct pair *p, const struct pair_frame *f) {
    static struct dlcp_packet packet;
    struct sk_endpoint from;
    enum dlcp_reason reason = dlcp_frame_read(f->bytes, f->length, &p->end[f->to], &packet, &from);
    if (reason == DLCP_ACCEPTED) {
        p->delivered_damaged += f->damaged;
        if (f->to == PAIR_SENDER && p->sender)
            reason = dlcp_sender_hear(p->sender, &packet, p->now);
        else if (f->to == PAIR_RECEIVER && p->receiver)
            reason = dlcp_receiver_hear(p->receiver, &packet, p->now);
        else
            pair_answer_late(p, f->to, &packet);
    }
    p->refused[reason]++;
}

static void pair_write(struct pair *p) {
    static struct dlcp_packet packet;
    while (p->sender && dlcp_sender_next(p->sender, p->now, &packet)) {
        pair_send(p, PAIR_RECEIVER, &packet);
        const uint64_t rate = dlcp_sender_rate(p->sender);
        p->least_rate = rate < p->least_rate ? rate : p->least_rate;
    }
    while (p->receiver && dlcp_receiver_next(p->receiver, p->now, &packet))
        pair_send(p, PAIR_SENDER, &packet);
}

static uint64_t pair_next(const struct pair *p) {
    uint64_t at = p->events.length ? p->events.heap[0]->time : SK_TIME_NEVER;
    if (p->sender)
        at = sk_time_earlier(at, dlcp_sender_deadline(p->sender));
    if (p->receiver)
        at = sk_time_earlier(at, dlcp_receiver_deadline(p->receiver));
    return at;
}

bool pair_is_over(const struct pair *p) {
    return (!p->sender || dlcp_sender_state(p->sender) >= DLCP_SENDER_OVER) &&
           (!p->receiver || dlcp_receiver_state(p->receiver) >= DLCP_RECEIVER_OVER);
}

void pair_run(struct pair *p, uint64_t until) {
    for (unsigned step = 0; step < STEPS_MOST; step++) {
        pair_write(p);
        const uint64_t at = pair_next(p);
        if (pair_is_over(p) || at >= until) {
            p->now = at > until ? until : p->now;
            return;
        }
        p->now = at > p->now ? at : p->now;
        while (p->events.length && p->events.heap[0]->time <= p->now) {
            struct net_event *e = net_events_pop(&p->events);
            pair_deliver(p, (struct pair_frame *)e);
            free(e);
        }
    }
    fail_msg("no end after %u steps", STEPS_MOST);
}

void pair_check(const struct pair *p) {
    const uint32_t elements = p->to_receive.elements, segment = p->to_receive.segment;
    uint32_t there = 0;
    for (uint32_t i = 0; i < dlcp_segments(elements, segment); i++) {
        const uint32_t n = dlcp_segment_count(elements, segment, i);
        const size_t at = (size_t)i * segment;
        assert_int_equal(p->placed[i], dlcp_receiver_has(p->receiver, i));
        if (p->placed[i]) {
            assert_memory_equal(p->out + at, p->values + at, n * sizeof *p->out);
            there += n;
        } else {
            for (uint32_t k = 0; k < n; k++)
                assert_int_equal(((const uint32_t *)p->out)[at + k], 0);
        }
    }
    assert_int_equal(dlcp_receiver_elements(p->receiver), there);
}
