// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/sides.h"
#include "harness/pipeline/toy_program.h"
#include "pipeline/switch/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void keep(struct side *s, uint16_t port, const void *bytes, size_t n) {
    if (s->port[port].n + n > s->port[port].cap) {
        s->port[port].cap = 2 * (s->port[port].n + n);
        s->port[port].bytes = realloc(s->port[port].bytes, s->port[port].cap);
        assert_non_null(s->port[port].bytes);
    }
    memcpy(s->port[port].bytes + s->port[port].n, bytes, n);
    s->port[port].n += n;
}

static bool collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    keep(aux, port, &length, sizeof length);
    keep(aux, port, frame, length);
    return true;
}

// ---- buffers that are not the switch's ----

struct sk_packet *side_get(struct side *s) {
    struct sk_packet *p = s->free;
    if (p)
        s->free = p->next;
    return p;
}

static struct sk_packet *get_buffer(void *aux) {
    return side_get(aux);
}

static void put(void *aux, struct sk_packet *p) {
    struct side *s = aux;
    p->observer = NULL;
    p->next = s->free;
    s->free = p;
}

static void sent(struct side *s, uint16_t port, struct sk_packet *p) {
    collect(s, port, sk_packet_data(p), p->len);
    put(s, p);
}

void side_drain(struct side *s, uint16_t port) {
    struct sk_send_queue *q = s->buffers.queue[port];
    while (q && q->head != q->tail)
        sent(s, port, q->packets[q->head++ % SK_SEND_QUEUE]);
}

void side_sent(struct side *s, uint16_t port, const uint8_t *frame, uint32_t length) {
    side_drain(s, port);
    collect(s, port, frame, length);
}

static bool send(void *aux, uint16_t port, struct sk_packet *p) {
    struct side *s = aux;
    side_drain(s, port);
    if (s->refuses && ++s->asked % s->refuses == 0)
        return false;
    sent(s, port, p);
    return true;
}

static void lend_buffers(struct side *s) {
    s->buffers = (struct sk_buffers){.get = get_buffer, .put = put, .send = send, .aux = s};
    s->memory = calloc(SIDE_BUFFERS, SIDE_ROOM);
    assert_non_null(s->memory);
    for (unsigned i = 0; i < SIDE_BUFFERS; i++) {
        s->packets[i] =
            (struct sk_packet){.buf = s->memory + (size_t)i * SIDE_ROOM, .cap = SIDE_ROOM};
        put(s, &s->packets[i]);
    }
    // a port without a queue is asked for each packet
    for (uint16_t port = 1; port < SK_PORTS; port++)
        if (port % 3)
            s->buffers.queue[port] = calloc(1, sizeof *s->buffers.queue[port]);
    assert_true(sk_switch_use_buffers(s->sw, &s->buffers));
}

// ---- the two ----

struct side *side_start(const struct sk_program *prog, bool lends) {
    return side_start_on(prog, lends, 1);
}

struct side *side_start_on(const struct sk_program *prog, bool lends, unsigned cores) {
    char error[256];
    struct side *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sk_switch_options opt = {.tx = collect,
                                    .aux = s,
                                    .n_packets = SIDE_BUFFERS,
                                    .packet_bytes = 1024,
                                    .max_recirculation = 6};
    toy_spread(&opt, cores);
    s->sw = sk_switch_new(prog, &opt, error, sizeof error);
    assert_non_null(s->sw);
    if (lends)
        lend_buffers(s);
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_local(port) < 64 && port % 8)
            sk_switch_port_up(s->sw, port, true);
    sk_switch_port_loopback(s->sw, 258, true);
    const uint16_t ports[] = {1, 130, 3}, both[] = {2, 7, 387}, tag[] = {1, 9, 140, 260};
    const uint8_t tagged[8] = {0, 0, 0, 0, 0x81};
    const struct sk_pre_member members[] = {{.node = 1}, {.node = 2}};
    assert_int_equal(sk_pre_node_set(s->sw, 1, 1, ports, 3), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 2, 2, both, 3), 0);
    for (uint16_t i = 0; i < 2; i++)
        assert_int_equal(sk_pre_group_set(s->sw, i + 1, members + i, 1), 0);
    sk_switch_port_longest(s->sw, 7, 200, 204);
    for (size_t i = 0; i < sizeof tag / sizeof *tag; i++)
        sk_switch_port_metadata(s->sw, tag[i], tagged, sizeof tagged);
    return s;
}

void side_end(struct side *s) {
    sk_switch_free(s->sw);
    for (unsigned port = 0; port < SK_PORTS; port++) {
        free(s->port[port].bytes);
        free(s->buffers.queue[port]);
    }
    free(s->memory);
    free(s);
}

uint32_t side_draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

void sides_check_same(struct side *one, struct side *burst) {
    struct sk_switch_stats a, b;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats p, q;
        side_drain(burst, port);
        assert_int_equal(one->port[port].n, burst->port[port].n);
        if (one->port[port].n)
            assert_memory_equal(one->port[port].bytes, burst->port[port].bytes, one->port[port].n);
        sk_switch_port_stats(one->sw, port, &p);
        sk_switch_port_stats(burst->sw, port, &q);
        assert_memory_equal(&p, &q, sizeof p);
    }
    sk_switch_stats(one->sw, &a);
    sk_switch_stats(burst->sw, &b);
    assert_memory_equal(&a, &b, sizeof a);
    if (sk_switch_cores(burst->sw) == 1) // each core has a count of its own
        assert_int_equal(sk_core_serial(sk_switch_core(one->sw, 0)),
                         sk_core_serial(sk_switch_core(burst->sw, 0)));
    assert_int_equal(sk_switch_inside(burst->sw), 0);
}
