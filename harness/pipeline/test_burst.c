// SPDX-License-Identifier: Apache-2.0
//
// sk_switch_rx_burst: packets of a port that come in together, in buffers that are the port's, come to the same as
// each received and run by itself: what each port is given, in which order, and what is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/pool.h"
#include "pipeline/trace.h"

#define BURST   32u
#define BUFFERS 256u
#define ROOM    (2 * SK_HEADROOM + 1024u + SK_POOL_SLACK)

struct side {
    struct sk_switch *sw;
    struct {
        uint8_t *bytes; // length and bytes of all that it was given
        size_t n, cap;
    } port[SK_PORTS];
    // of the side that has the ports' buffers
    struct sk_buffers buffers;
    struct sk_packet packets[BUFFERS], *free;
    uint8_t *memory;
    unsigned refuses; // each so many-th packet that 'send' is asked for is not taken; 0: none
    unsigned asked;
};

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

static struct sk_packet *get(void *aux) {
    struct side *s = aux;
    struct sk_packet *p = s->free;
    if (p)
        s->free = p->next;
    return p;
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

static void drain(struct side *s, uint16_t port) {
    struct sk_send_queue *q = s->buffers.queue[port];
    while (q && q->head != q->tail)
        sent(s, port, q->packets[q->head++ % SK_SEND_QUEUE]);
}

static bool send(void *aux, uint16_t port, struct sk_packet *p) {
    struct side *s = aux;
    drain(s, port);
    if (s->refuses && ++s->asked % s->refuses == 0)
        return false;
    sent(s, port, p);
    return true;
}

static void lend_buffers(struct side *s) {
    s->buffers = (struct sk_buffers){.get = get, .put = put, .send = send, .aux = s};
    s->memory = calloc(BUFFERS, ROOM);
    assert_non_null(s->memory);
    for (unsigned i = 0; i < BUFFERS; i++) {
        s->packets[i] = (struct sk_packet){.buf = s->memory + (size_t)i * ROOM, .cap = ROOM};
        put(s, &s->packets[i]);
    }
    // a port without a queue is asked for each packet
    for (uint16_t port = 1; port < SK_PORTS; port++)
        if (port % 3)
            s->buffers.queue[port] = calloc(1, sizeof *s->buffers.queue[port]);
    assert_true(sk_switch_use_buffers(s->sw, &s->buffers));
}

// ---- the two ----

static struct side *start(const struct sk_program *prog, bool lends) {
    char error[256];
    struct side *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const struct sk_switch_options opt = {.tx = collect,
                                          .aux = s,
                                          .n_packets = BUFFERS,
                                          .packet_bytes = 1024,
                                          .max_recirculation = 6};
    s->sw = sk_switch_new(prog, &opt, error, sizeof error);
    assert_non_null(s->sw);
    if (lends)
        lend_buffers(s);
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_local(port) < 64 && port % 8)
            sk_switch_port_up(s->sw, port, true);
    sk_switch_port_loopback(s->sw, 258, true);
    const uint16_t ports[] = {1, 130, 3}, both[] = {2, 6, 387};
    const struct sk_pre_member members[] = {{.node = 1}, {.node = 2}};
    assert_int_equal(sk_pre_node_set(s->sw, 1, 1, ports, 3), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 2, 2, both, 3), 0);
    for (uint16_t i = 0; i < 2; i++)
        assert_int_equal(sk_pre_group_set(s->sw, i + 1, members + i, 1), 0);
    sk_switch_port_longest(s->sw, 7, 200);
    return s;
}

static void end(struct side *s) {
    sk_switch_free(s->sw);
    for (unsigned port = 0; port < SK_PORTS; port++) {
        free(s->port[port].bytes);
        free(s->buffers.queue[port]);
    }
    free(s->memory);
    free(s);
}

static uint32_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

// Most packets of a burst go where the one before it went.
static uint32_t make_frame(uint8_t *frame, uint64_t *random, uint16_t usual) {
    static const uint16_t flags[] = {TOY_UCAST,
                                     TOY_UCAST | TOY_MARK,
                                     TOY_GROUP_A | TOY_MARK,
                                     TOY_UCAST | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_SHOW_INGRESS | TOY_BYPASS,
                                     TOY_RESUBMIT | TOY_UCAST | TOY_SHOW_INGRESS,
                                     TOY_UCAST | TOY_EGRESS_DROP,
                                     TOY_RESUBMIT_AGAIN};
    static const uint16_t ports[] = {1, 2, 5, 7, 130, 258, 68, 8, 511};
    const bool other = draw(random) % 6 == 0;
    struct toy_wish w = {
        .flags =
            other ? flags[draw(random) % (sizeof flags / sizeof *flags)] : TOY_UCAST | TOY_BYPASS,
        .drop_ctl = draw(random) % 16 ? 0 : 1,
        .hops = (uint8_t)(draw(random) % 8 ? 0 : draw(random) % 8),
        .ucast_port =
            draw(random) % 8 ? usual : ports[draw(random) % (sizeof ports / sizeof *ports)],
        .group_a = (uint16_t)(1 + draw(random) % 3),
    };
    if (w.flags & TOY_GROUP_A) // a copy that recirculates waits for the burst's end
        w.hops = 0;
    const uint32_t length = draw(random) % 16 ? 64 + draw(random) % 200 : 13;
    memset(frame, (int)draw(random), 1024);
    toy_frame(frame, &w);
    return length;
}

static void check_same(struct side *one, struct side *burst) {
    struct sk_switch_stats a, b;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats p, q;
        drain(burst, port);
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
    assert_int_equal(sk_switch_serial(one->sw), sk_switch_serial(burst->sw));
    assert_int_equal(sk_switch_inside(burst->sw), 0);
}

static void ignore(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    (void)o, (void)p, (void)e;
}

static void compare(uint64_t seed, uint64_t seen[SK_DROP_COUNT]) {
    static const uint16_t in[] = {1, 2, 9, 140, 260, 400}, out[] = {1, 2, 3, 7, 130, 387};
    struct sk_observer watcher = {.everything = true, .event = ignore};
    struct sk_program *prog = toy_load();
    struct side *one = start(prog, false), *burst = start(prog, true);
    uint64_t random = seed, now = 1000;
    for (unsigned round = 0; round < 60; round++) {
        struct sk_packet *packets[BURST];
        uint8_t frame[1024];
        const uint16_t port = in[draw(&random) % 6], usual = out[draw(&random) % 6];
        const unsigned n = 1 + draw(&random) % BURST;
        now += draw(&random) % 3 ? draw(&random) % 5000 : 0;
        // somebody looked once: packets may name it
        if (round == 30 && seed % 2) {
            sk_switch_observe(burst->sw, &watcher);
            sk_switch_observe(burst->sw, NULL);
        }
        for (unsigned i = 0; i < n; i++) {
            const uint32_t length = make_frame(frame, &random, usual);
            struct sk_packet *p = packets[i] = get(burst);
            assert_non_null(p);
            p->head = 2 * SK_HEADROOM;
            p->len = length;
            memcpy(sk_packet_data(p), frame, length);
            sk_switch_rx(one->sw, port, frame, length, now);
            sk_switch_run(one->sw, now);
        }
        sk_switch_rx_burst(burst->sw, port, packets, n, now);
        check_same(one, burst);
    }
    struct sk_switch_stats s;
    sk_switch_stats(burst->sw, &s);
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        seen[i] += s.drops[i];
    end(one);
    end(burst);
    sk_program_free(prog);
}

static void test_same_as_one_by_one(void **state) {
    (void)state;
    static const enum sk_drop_reason all[] = {
        SK_DROP_INGRESS_DROP, SK_DROP_EGRESS_DROP, SK_DROP_PORT_DOWN, SK_DROP_RESUBMIT_TWICE,
        SK_DROP_RECIRC_LIMIT, SK_DROP_TOO_LONG,    SK_DROP_TOO_SHORT, SK_DROP_MCAST_EMPTY};
    uint64_t seen[SK_DROP_COUNT] = {0};
    for (uint64_t seed = 0; seed < 30; seed++)
        compare(seed, seen);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!seen[all[i]])
            fail_msg("nothing was dropped: %s", sk_drop_text(all[i]));
}

// A port's queue has room for a burst less one before its owner is asked, who may refuse.
static void test_refused(void **state) {
    (void)state;
    struct sk_program *prog = toy_load();
    struct side *s = start(prog, true);
    struct sk_packet *packets[BURST];
    struct sk_port_stats stats;
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_BYPASS, .ucast_port = 1};
    s->refuses = 2;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < BURST; i++) {
            packets[i] = get(s);
            packets[i]->head = 2 * SK_HEADROOM;
            packets[i]->len = 64;
            toy_frame(sk_packet_data(packets[i]), &w);
        }
        sk_switch_rx_burst(s->sw, 2, packets, BURST, 1000 + round);
        drain(s, 1);
    }
    sk_switch_port_stats(s->sw, 1, &stats);
    assert_int_equal(stats.tx_packets, 4 * BURST - 2);
    assert_int_equal(stats.tx_bytes, 64 * (4 * BURST - 2));
    assert_int_equal(stats.drops[SK_DROP_TX_FULL], 2);
    assert_int_equal(sk_switch_inside(s->sw), 0);
    end(s);
    sk_program_free(prog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
