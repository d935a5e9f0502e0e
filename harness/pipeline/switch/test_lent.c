// SPDX-License-Identifier: Apache-2.0
//
// sk_core_rx_lent: frames that stay where they are, one in front of the other as in a capture, come
// to the same as each copied in and run by itself: what is sent, in which order and when, and what
// is counted. So do the records of both, of which the second is also observed and takes the general
// way for all packets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/observe/recorder.h"
#include "pipeline/trace.h"
#include "pipeline/switch/core.h"

#define N_FRAMES 32u
#define LONGEST  700u
#define GAP      16u // bytes between frames, of which nobody may write those behind the last one

struct side {
    struct sk_switch *sw;
    uint8_t *log; // all that was sent: time, port, length, bytes
    size_t n, cap;
    struct sk_recorder *recorder; // or null
    struct sk_record_reader *reader;
};

static void keep(struct side *s, const void *bytes, size_t n) {
    if (s->n + n > s->cap) {
        s->cap = 2 * (s->n + n);
        s->log = realloc(s->log, s->cap);
        assert_non_null(s->log);
    }
    memcpy(s->log + s->n, bytes, n);
    s->n += n;
}

static bool collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct side *s = aux;
    const uint64_t now = sk_core_now(sk_switch_core(s->sw, 0));
    keep(s, &now, sizeof now);
    keep(s, &port, sizeof port);
    keep(s, &length, sizeof length);
    keep(s, frame, length);
    return length % 13 != 0; // the port takes most
}

static void start(struct side *s, const struct sk_program *prog, uint32_t n_packets, bool slow) {
    char error[256];
    const struct sk_switch_options opt = {.tx = collect,
                                          .aux = s,
                                          .n_packets = n_packets,
                                          .packet_bytes = 1024,
                                          .max_recirculation = 6};
    *s = (struct side){.sw = sk_switch_new(prog, &opt, error, sizeof error)};
    assert_non_null(s->sw);
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_local(port) < 64 && port % 8)
            sk_switch_port_up(s->sw, port, true);
    sk_switch_port_up(s->sw, 64, true);
    sk_switch_port_loopback(s->sw, 258, true);
    // groups 1 to 3: ports, ports that recirculate in the same pipe and another, one of each; 5:
    // nodes of which some packets exclude one, and with the same replication id
    const uint16_t ports[] = {1, 130, 3}, again[] = {68, 258}, both[] = {2, 196, 387};
    const struct sk_pre_member members[] = {{.node = 1}, {.node = 2}, {.node = 3}};
    const struct sk_pre_member several[] = {
        {.node = 1}, {.node = 4, .l1_xid_valid = true, .l1_xid = 1}, {.node = 5}, {.node = 6}};
    const uint16_t one[] = {9}, other[] = {5}, more[] = {140, 6};
    assert_int_equal(sk_pre_node_set(s->sw, 4, 4, one, 1), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 5, 1, other, 1), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 6, 6, more, 2), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 1, 1, ports, 3), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 2, 2, again, 2), 0);
    assert_int_equal(sk_pre_node_set(s->sw, 3, 3, both, 3), 0);
    for (uint16_t i = 0; i < 3; i++)
        assert_int_equal(sk_pre_group_set(s->sw, i + 1, members + i, 1), 0);
    assert_int_equal(sk_pre_group_set(s->sw, 5, several, 4), 0);
    const struct sk_port_queue queue = {.speed_mbps = 100};
    if (slow)
        assert_int_equal(sk_switch_port_queue(s->sw, 5, &queue), 0);
}

static uint32_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static uint32_t make_frame(uint8_t *at, uint64_t *random) {
    static const uint16_t flags[] = {TOY_UCAST,
                                     TOY_UCAST | TOY_GROW,
                                     TOY_GROUP_A,
                                     TOY_GROUP_A | TOY_MARK,
                                     TOY_GROUP_A | TOY_BYPASS,
                                     TOY_GROUP_A | TOY_SHOW_EGRESS,
                                     TOY_GROUP_A | TOY_MARK | TOY_EGRESS_DROP,
                                     TOY_CPU,
                                     TOY_UCAST | TOY_SHOW_EGRESS,
                                     TOY_RESUBMIT | TOY_UCAST,
                                     TOY_GROUP_A | TOY_SHOW_INGRESS,
                                     TOY_UCAST | TOY_BYPASS,
                                     TOY_GROUP_A | TOY_GROUP_B | TOY_GROW,
                                     TOY_EGRESS_DROP,
                                     TOY_PARSER_DROP,
                                     TOY_RESUBMIT_AGAIN};
    static const uint16_t ports[] = {1, 5, 130, 258, 68, 64, 8, 77, 511};
    const struct toy_wish w = {
        .flags = flags[draw(random) % (sizeof flags / sizeof *flags)],
        .drop_ctl = draw(random) % 8 ? 0 : 1,
        .hops = (uint8_t)(draw(random) % 4 ? 0 : draw(random) % 9),
        .ucast_port = ports[draw(random) % (sizeof ports / sizeof *ports)],
        .group_a = (uint16_t)(1 + draw(random) % 5),
        .group_b = 1,
        .l1_xid = draw(random) % 2,
    };
    const uint32_t length = draw(random) % 16  ? 64 + draw(random) % (LONGEST - 64)
                            : draw(random) % 2 ? 13
                                               : LONGEST;
    uint8_t frame[LONGEST];
    for (unsigned i = 0; i < LONGEST; i++)
        frame[i] = (uint8_t)draw(random);
    toy_frame(frame, &w);
    memcpy(at, frame, length);
    return length;
}

static void ignore(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    (void)o, (void)p, (void)e;
}

static void record(struct side *s) {
    char error[256];
    s->recorder = sk_recorder_new(
        &(struct sk_recorder_options){.n_cores = 1, .ring_bytes = 4 << 20}, error, sizeof error);
    assert_non_null(s->recorder);
    s->reader = sk_record_reader_of(s->recorder);
    sk_switch_record(s->sw, s->recorder);
}

static void check_same_records(struct side *a, struct side *b, uint64_t *n) {
    struct sk_record x, y;
    while (sk_record_next(a->reader, &x)) {
        assert_true(sk_record_next(b->reader, &y));
        ++*n;
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.time_ns, y.time_ns);
        assert_int_equal(x.serial, y.serial);
        assert_int_equal(x.port, y.port);
        assert_int_equal(x.ingress_port, y.ingress_port);
        assert_int_equal(x.wire_length, y.wire_length);
        assert_int_equal(x.length, y.length);
        assert_memory_equal(x.bytes, y.bytes, x.length);
        assert_int_equal(x.n_drops, y.n_drops);
        assert_int_equal(x.more_drops, y.more_drops);
        for (unsigned i = 0; i < x.n_drops; i++) {
            assert_int_equal(x.drops[i].port, y.drops[i].port);
            assert_int_equal(x.drops[i].reason, y.drops[i].reason);
        }
    }
    assert_false(sk_record_next(b->reader, &y));
}

static void check_same(struct side *a, struct side *b, uint32_t n_packets) {
    struct sk_switch_stats one, other;
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->log, b->log, a->n);
    sk_switch_stats(a->sw, &one);
    sk_switch_stats(b->sw, &other);
    assert_memory_equal(&one, &other, sizeof one);
    assert_int_equal(sk_core_serial(sk_switch_core(a->sw, 0)),
                     sk_core_serial(sk_switch_core(b->sw, 0)));
    assert_int_equal(sk_switch_now(a->sw), sk_switch_now(b->sw));
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats p, q;
        sk_switch_port_stats(a->sw, port, &p);
        sk_switch_port_stats(b->sw, port, &q);
        assert_memory_equal(&p, &q, sizeof p);
    }
    assert_int_equal(sk_switch_buffers_free(a->sw), sk_switch_buffers_free(b->sw));
    assert_true(sk_switch_buffers_free(a->sw) <= n_packets);
}

// 'seen': what has happened in some run at least.
static void compare(uint64_t seed, uint32_t n_packets, bool slow, double loss,
                    uint64_t seen[SK_DROP_COUNT]) {
    // of a packet that waits its end is told with it or by itself, as the reader is fast or slow
    const bool recorded = !slow && n_packets > 1 && seed % 2;
    struct sk_observer watcher = {.everything = true, .event = ignore};
    uint64_t records = 0;
    static const uint16_t in[] = {1, 2, 9, 140, 260, 400, 72, 600};
    struct sk_program *prog = toy_load();
    struct side copied, lent;
    start(&copied, prog, n_packets, slow);
    start(&lent, prog, n_packets, slow);
    sk_switch_faults(copied.sw, loss, seed);
    sk_switch_faults(lent.sw, loss, seed);
    if (recorded) {
        record(&copied);
        record(&lent);
        sk_core_observe(sk_switch_core(copied.sw, 0), &watcher);
    }
    uint64_t random = seed, now = 1000;
    const size_t size = SK_LENT_FRONT + N_FRAMES * (LONGEST + GAP) + SK_LENT_BEHIND;
    uint8_t *memory = malloc(size), *untouched = malloc(size);
    assert_true(memory && untouched);
    for (unsigned round = 0; round < 20; round++) {
        struct sk_lent_frame frames[N_FRAMES];
        uint8_t *at = memory + SK_LENT_FRONT;
        memset(memory, 0xa5, size);
        for (unsigned i = 0; i < N_FRAMES; i++) {
            now += draw(&random) % 3 ? draw(&random) % 5000 : 0;
            frames[i] = (struct sk_lent_frame){now, at + GAP, make_frame(at + GAP, &random),
                                               in[draw(&random) % (draw(&random) % 8 ? 6 : 8)]};
            at += GAP + frames[i].length;
        }
        memcpy(untouched, memory, size);
        for (unsigned i = 0; i < N_FRAMES; i++) {
            sk_switch_rx(copied.sw, frames[i].port, frames[i].bytes, frames[i].length,
                         frames[i].time_ns);
            sk_switch_run(copied.sw, frames[i].time_ns);
        }
        const unsigned first = draw(&random) % (N_FRAMES + 1);
        sk_core_rx_lent(sk_switch_core(lent.sw, 0), frames, first);
        const uint8_t *rest = first < N_FRAMES ? frames[first].bytes - GAP : at;
        assert_memory_equal(rest, untouched + (rest - memory), size - (size_t)(rest - memory));
        sk_core_rx_lent(sk_switch_core(lent.sw, 0), frames + first, N_FRAMES - first);
        assert_memory_equal(at, untouched + (at - memory), size - (size_t)(at - memory));
        check_same(&copied, &lent, n_packets);
        if (recorded)
            check_same_records(&copied, &lent, &records);
    }
    assert_true(!recorded || records > 500);
    struct sk_switch_stats s;
    sk_switch_stats(lent.sw, &s);
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        seen[i] += s.drops[i];
    free(memory);
    free(untouched);
    free(copied.log);
    free(lent.log);
    for (unsigned i = 0; recorded && i < 2; i++) {
        struct side *s = i ? &lent : &copied;
        sk_switch_record(s->sw, NULL);
        sk_record_reader_close(s->reader);
        sk_recorder_free(s->recorder);
    }
    sk_switch_free(copied.sw);
    sk_switch_free(lent.sw);
    sk_program_free(prog);
}

static void test_same_as_one_by_one(void **state) {
    (void)state;
    uint64_t seen[SK_DROP_COUNT] = {0};
    for (uint64_t seed = 0; seed < 60; seed++)
        compare(seed, seed % 3 == 0 ? 64 : seed % 3 == 1 ? 5 : 1, false, 0, seen);
    static const enum sk_drop_reason all[] = {
        SK_DROP_INGRESS_DROP, SK_DROP_EGRESS_DROP,  SK_DROP_PORT_DOWN,  SK_DROP_RESUBMIT_TWICE,
        SK_DROP_RECIRC_LIMIT, SK_DROP_TOO_LONG,     SK_DROP_TOO_SHORT,  SK_DROP_NO_BUFFER,
        SK_DROP_TX_FULL,      SK_DROP_PARSER_ERROR, SK_DROP_MCAST_EMPTY};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!seen[all[i]])
            fail_msg("nothing was dropped: %s", sk_drop_text(all[i]));
}

static void test_with_slow_ports_and_losses(void **state) {
    (void)state;
    uint64_t seen[SK_DROP_COUNT] = {0};
    for (uint64_t seed = 0; seed < 10; seed++) {
        compare(seed, 8, true, 0, seen);
        compare(seed, 8, false, 0.1, seen);
    }
    assert_true(seen[SK_DROP_FAULT] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_with_slow_ports_and_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
