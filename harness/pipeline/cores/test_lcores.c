// SPDX-License-Identifier: Apache-2.0
//
// Pipes on cores: packets that cross, buffers that come home, threads that give what one core
// gives, and control calls that find no packet under way.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/cores/lcores.h"
#include "pipeline/switch/core.h"

#define PER_PORT 1500u // packets
#define IN_PORTS 3u    // of each pipe
#define BURST    16u
#define MARK_AT  40u // of the frame: where it came in and which one it was

struct out {
    uint32_t from;
    uint32_t sequence;
};
struct lane { // what an output port sent
    struct out *sent;
    size_t n, room;
};
struct feed { // of an input port
    uint16_t port;
    uint32_t next;
};

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct lane lanes[SK_PORTS];
    struct feed feeds[SK_PIPES][IN_PORTS];
    // which wish the packet has
    void (*wish)(uint16_t port, uint32_t sequence, struct toy_wish *w);
    struct sk_lcores *lcores;
    atomic_uint fed;         // cores that have nothing more to feed
    unsigned control, wrong; // control calls made, and what was wrong in them
};

static bool collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct bench *b = aux;
    struct lane *l = &b->lanes[port];
    if (length < MARK_AT + 6)
        return false;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->sent = realloc(l->sent, l->room * sizeof *l->sent);
        if (!l->sent)
            abort();
    }
    struct out *o = &l->sent[l->n++];
    uint16_t from;
    memcpy(&from, frame + MARK_AT, sizeof from);
    o->from = from;
    memcpy(&o->sequence, frame + MARK_AT + 2, 4);
    return true;
}

static void open_bench(struct bench *b, struct sk_switch_options opt) {
    *b = (struct bench){.prog = b->prog};
    opt.tx = collect;
    opt.aux = b;
    opt.packet_bytes = opt.packet_bytes ? opt.packet_bytes : 256;
    b->sw = toy_switch(b->prog, &opt);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (unsigned i = 0; i < IN_PORTS; i++)
            b->feeds[pipe][i].port = (uint16_t)(pipe << 7 | i);
    atomic_init(&b->fed, 0);
}

static void close_bench(struct bench *b) {
    sk_switch_free(b->sw);
    for (unsigned i = 0; i < SK_PORTS; i++)
        free(b->lanes[i].sent);
}

static struct sk_switch_options cores(unsigned n) {
    struct sk_switch_options opt = {.n_packets = 1024};
    toy_spread(&opt, n);
    return opt;
}

static int setup(void **state) {
    return toy_setup(state, sizeof(struct bench));
}

static uint64_t all_drops(const struct sk_switch_stats *s) {
    uint64_t n = 0;
    for (int r = 0; r < SK_DROP_COUNT; r++)
        n += s->drops[r];
    return n;
}

static void check_accounts(const struct bench *b) {
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.rx_packets + s.copies + s.generated, s.tx_packets + all_drops(&s));
    assert_int_equal(sk_switch_inside(b->sw), 0);
    uint64_t tx = 0, rx = 0, drops = 0;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats p;
        sk_switch_port_stats(b->sw, port, &p);
        tx += p.tx_packets;
        rx += p.rx_packets;
        for (int r = 0; r < SK_DROP_COUNT; r++)
            drops += p.drops[r];
    }
    assert_int_equal(tx, s.tx_packets);
    assert_int_equal(rx, s.rx_packets);
    assert_int_equal(drops, all_drops(&s));
}

static void put_frame(uint8_t frame[64], const struct toy_wish *w, uint16_t port,
                      uint32_t sequence) {
    toy_frame(frame, w);
    memcpy(frame + MARK_AT, &port, 2);
    memcpy(frame + MARK_AT + 2, &sequence, 4);
}

// ---- by hand, on one thread ----

static void send_one(struct bench *b, uint16_t port, const struct toy_wish *w, uint32_t sequence,
                     uint64_t now) {
    uint8_t frame[64];
    struct sk_core *core = sk_switch_core(b->sw, sk_switch_core_of(b->sw, sk_port_pipe(port)));
    put_frame(frame, w, port, sequence);
    sk_core_rx(core, port, frame, sizeof frame, now);
    sk_core_run(core, now);
}

static void test_crossing(void **state) {
    struct bench *b = *state;
    open_bench(b, cores(4));
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 0x185};
    send_one(b, 1, &w, 7, 100);
    assert_int_equal(b->lanes[0x185].n, 0); // on its way
    assert_int_equal(sk_switch_inside(b->sw), 1);
    assert_int_equal(sk_core_run(sk_switch_core(b->sw, 3), 90), 1);
    assert_int_equal(b->lanes[0x185].n, 1);
    assert_int_equal(b->lanes[0x185].sent[0].sequence, 7);
    assert_int_equal(sk_core_now(sk_switch_core(b->sw, 3)), 100); // not before it left
    assert_int_equal(sk_switch_inside(b->sw), 0);
    sk_switch_settle(b->sw, 100);
    // counted where it came in and where it went out, once
    struct sk_port_stats in, out;
    sk_switch_port_stats(b->sw, 1, &in);
    sk_switch_port_stats(b->sw, 0x185, &out);
    assert_int_equal(in.rx_packets, 1);
    assert_int_equal(out.tx_packets, 1);
    check_accounts(b);
    close_bench(b);
}

static void test_multicast_crosses(void **state) {
    struct bench *b = *state;
    open_bench(b, cores(4));
    const uint16_t near[] = {2, 0x82}, far[] = {0x102, 0x183};
    assert_int_equal(sk_pre_node_set(b->sw, 1, 10, near, 2), 0);
    assert_int_equal(sk_pre_node_set(b->sw, 2, 20, far, 2), 0);
    const struct sk_pre_member members[] = {{.node = 1}, {.node = 2}};
    assert_int_equal(sk_pre_group_set(b->sw, 9, members, 2), 0);
    const struct toy_wish w = {.flags = TOY_GROUP_A, .group_a = 9};
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        send_one(b, (uint16_t)(pipe << 7), &w, pipe, 5);
    sk_switch_settle(b->sw, 5);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(b->lanes[near[i]].n, 4);
        assert_int_equal(b->lanes[far[i]].n, 4);
    }
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.copies, 4 * 3);
    check_accounts(b);
    close_bench(b);
}

static void test_behind(void **state) {
    struct bench *b = *state;
    struct sk_switch_options opt = cores(2);
    opt.n_packets = 64;
    open_bench(b, opt);
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 0x85};
    struct sk_switch_stats s;
    for (unsigned i = 0; i < 100; i++) // pipe 1's core does not run
        send_one(b, 1, &w, i, i);
    sk_switch_stats(b->sw, &s);
    assert_true(s.drops[SK_DROP_CROSSING_FULL] > 0);
    assert_int_equal(s.drops[SK_DROP_CROSSING_FULL] + sk_switch_inside(b->sw), 100);
    uint32_t inside = sk_switch_inside(b->sw);
    const struct toy_wish near = {.flags = TOY_UCAST, .ucast_port = 0x105}; // the same core's
    send_one(b, 1, &near, 0, 101);
    assert_int_equal(b->lanes[0x105].n, 1); // does not suffer
    sk_switch_settle(b->sw, 200);
    assert_int_equal(b->lanes[0x85].n, inside);
    for (uint32_t i = 0; i < inside; i++)
        assert_int_equal(b->lanes[0x85].sent[i].sequence, i);
    check_accounts(b);
    close_bench(b);
}

// A port with a speed belongs to its pipe's core; a packet that its queue does not take is
// deflected from there, to a third core.
static void test_queue_beyond(void **state) {
    struct bench *b = *state;
    open_bench(b, cores(4));
    // 92 bytes on the wire at 8 Mbit/s: a packet each 92 us; 64 bytes and FCS are one cell
    assert_int_equal(sk_switch_port_queue(
                         b->sw, 0x85, &(struct sk_port_queue){.speed_mbps = 8, .limit_green = 3}),
                     0);
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 0x85};
    for (unsigned i = 0; i < 5; i++)
        send_one(b, 1, &w, i, 1000);
    sk_switch_settle(b->sw, 1000);
    assert_int_equal(b->lanes[0x85].n, 1);
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.drops[SK_DROP_QUEUE_FULL], 5 - 3);
    assert_int_equal(sk_switch_inside(b->sw), 2);
    sk_switch_settle(b->sw, 1000 + 92000);
    assert_int_equal(b->lanes[0x85].n, 2);
    sk_switch_stop(b->sw, 1000 + 92001);
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.drops[SK_DROP_STOPPED], 1);
    check_accounts(b);
    close_bench(b);
}

static void test_options(void **state) {
    struct bench *b = *state;
    char error[256];
    const struct sk_switch_options bad[] = {
        {.tx = collect, .n_cores = 5},
        {.tx = collect, .n_cores = 2, .core_of = {0, 1, 2, 0}},
        {.tx = collect, .n_cores = 2},
    };
    const char *const words[] = {"at most as many cores", "pipe 2 is on core 2",
                                 "core 1 has no pipe"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sk_switch_new(b->prog, &bad[i], error, sizeof error));
        assert_non_null(strstr(error, words[i]));
    }
}

// ---- on threads ----

static bool feed_burst(struct bench *b, struct sk_core *core, struct feed *f, uint64_t now) {
    uint32_t end = f->next + BURST < PER_PORT ? f->next + BURST : PER_PORT;
    for (; f->next < end; f->next++) {
        struct toy_wish w = {0};
        uint8_t frame[64];
        b->wish(f->port, f->next, &w);
        put_frame(frame, &w, f->port, f->next);
        sk_core_rx(core, f->port, frame, sizeof frame, now);
    }
    return f->next < PER_PORT;
}

// Few enough packets are under way that none is lost.
static bool turn(void *aux, unsigned lcore) {
    struct bench *b = aux;
    struct sk_core *core = sk_switch_core(b->sw, lcore);
    uint64_t now = 1000;
    bool more = false, before = false;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (unsigned i = 0; sk_switch_core_of(b->sw, pipe) == lcore && i < IN_PORTS; i++) {
            struct feed *f = &b->feeds[pipe][i];
            before |= f->next < PER_PORT;
            more |= feed_burst(b, core, f, now);
        }
    bool worked = sk_core_run(core, now) > 0 || before;
    if (before && !more)
        atomic_fetch_add(&b->fed, 1);
    return worked;
}

static bool turn_until_fed(void *aux, unsigned lcore) {
    struct bench *b = aux;
    bool worked = turn(b, lcore);
    if (lcore == 0 && atomic_load(&b->fed) == sk_switch_cores(b->sw))
        sk_lcores_stop(b->lcores);
    return worked;
}

static void run_threads(struct bench *b, unsigned n, bool (*a_turn)(void *aux, unsigned lcore)) {
    char error[256] = "";
    b->lcores = sk_lcores_new(
        &(struct sk_lcores_options){.n = n, .idle_sleep_us = 50, .turn = a_turn, .aux = b}, error,
        sizeof error);
    assert_non_null(b->lcores);
    if (!sk_lcores_run(b->lcores, error, sizeof error))
        fail_msg("%s", error);
    sk_lcores_free(b->lcores);
    sk_switch_stop(b->sw, 1000);
}

static void stay_in_pipe(uint16_t port, uint32_t sequence, struct toy_wish *w) {
    *w = (struct toy_wish){.flags = sequence % 7 == 3 ? TOY_UCAST | TOY_RESUBMIT : TOY_UCAST,
                           .hops = sequence % 3,
                           .ucast_port = (uint16_t)((port & 0x180) | (sequence * 5 % 60))};
    if (sequence % 11 == 0)
        *w = (struct toy_wish){.flags = TOY_GROUP_A, .group_a = (uint16_t)(1 + sk_port_pipe(port))};
}

// All pipes alike, with a group of three ports in each.
static void make_groups(struct bench *b) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const uint16_t ports[] = {(uint16_t)(pipe << 7 | 3), (uint16_t)(pipe << 7 | 9),
                                  (uint16_t)(pipe << 7 | 61)};
        assert_int_equal(sk_pre_node_set(b->sw, pipe, (uint16_t)pipe, ports, 3), 0);
        assert_int_equal(
            sk_pre_group_set(b->sw, (uint16_t)(1 + pipe), &(struct sk_pre_member){.node = pipe}, 1),
            0);
    }
}

static bool same_registers(struct bench *a, struct bench *b) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct sk_pipeline_desc *d = sk_switch_pipeline(a->sw, pipe);
        for (uint32_t r = 0; r < d->n_registers; r++)
            for (uint64_t i = 0; i < d->registers[r].size; i++)
                for (uint32_t word = 0; word < d->registers[r].words; word++)
                    if (d->register_read(sk_switch_pipe(a->sw, pipe), r, i, word) !=
                        d->register_read(sk_switch_pipe(b->sw, pipe), r, i, word))
                        return false;
    }
    return true;
}

// What stays in its pipe comes out of each port packet for packet as from one core.
static void test_same_on_any_number_of_cores(void **state) {
    struct bench *one = *state;
    open_bench(one, cores(1));
    one->wish = stay_in_pipe;
    make_groups(one);
    run_threads(one, 1, turn_until_fed);
    check_accounts(one);
    for (unsigned n = 2; n <= 4; n++) {
        struct bench *b = calloc(1, sizeof *b);
        b->prog = one->prog;
        open_bench(b, cores(n));
        b->wish = stay_in_pipe;
        make_groups(b);
        run_threads(b, n, turn_until_fed);
        check_accounts(b);
        for (unsigned port = 0; port < SK_PORTS; port++) {
            assert_int_equal(b->lanes[port].n, one->lanes[port].n);
            if (b->lanes[port].n > 0)
                assert_memory_equal(b->lanes[port].sent, one->lanes[port].sent,
                                    b->lanes[port].n * sizeof *b->lanes[port].sent);
        }
        assert_true(same_registers(one, b));
        close_bench(b);
        free(b);
    }
    close_bench(one);
}

static void go_everywhere(uint16_t port, uint32_t sequence, struct toy_wish *w) {
    // some of those that do not recirculate pass by egress, and other cores do not look at them
    *w = (struct toy_wish){.flags = sequence % 6 == 2 ? TOY_UCAST | TOY_BYPASS : TOY_UCAST,
                           .hops = sequence % 2,
                           .ucast_port = (uint16_t)((port + sequence * 0x83) & 0x1ff)};
    if (sk_port_local(w->ucast_port) >= 64)
        w->ucast_port &= 0x1bf;
    if (sequence % 5 == 0)
        *w = (struct toy_wish){.flags = TOY_GROUP_A, .group_a = 50};
}

static void make_wide_group(struct bench *b) {
    const uint16_t ports[] = {60, 0x80 | 60, 0x100 | 60, 0x180 | 60};
    assert_int_equal(sk_pre_node_set(b->sw, 50, 1, ports, 4), 0);
    assert_int_equal(sk_pre_group_set(b->sw, 50, &(struct sk_pre_member){.node = 50}, 1), 0);
}

static int by_source(const void *a, const void *b) {
    const struct out *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

// Packets of one input port leave an output port in their order, when they take the same way: with
// the same number of recirculations.
static void check_order(const struct lane *l) {
    uint32_t last[SK_PORTS][2];
    bool seen[SK_PORTS][2] = {{false}};
    for (size_t i = 0; i < l->n; i++) {
        const struct out *o = &l->sent[i];
        unsigned way = o->sequence % 5 != 0 && o->sequence % 2;
        if (seen[o->from][way])
            assert_true(last[o->from][way] < o->sequence);
        seen[o->from][way] = true;
        last[o->from][way] = o->sequence;
    }
}

static void test_all_to_all(void **state) {
    struct bench *one = *state;
    struct sk_switch_options opt = cores(1);
    opt.n_packets = 1 << 13;
    open_bench(one, opt);
    one->wish = go_everywhere;
    make_wide_group(one);
    run_threads(one, 1, turn_until_fed);
    for (unsigned n = 2; n <= 4; n += 2) {
        struct bench *b = calloc(1, sizeof *b);
        b->prog = one->prog;
        opt = cores(n);
        opt.n_packets = 1 << 14; // no ring can be full, whatever the system's scheduler does
        open_bench(b, opt);
        b->wish = go_everywhere;
        make_wide_group(b);
        run_threads(b, n, turn_until_fed);
        check_accounts(b);
        for (unsigned port = 0; port < SK_PORTS; port++) {
            struct lane *got = &b->lanes[port], *want = &one->lanes[port];
            assert_int_equal(got->n, want->n);
            check_order(got);
            if (got->n == 0)
                continue;
            qsort(got->sent, got->n, sizeof *got->sent, by_source);
            if (n == 2)
                qsort(want->sent, want->n, sizeof *want->sent, by_source);
            for (size_t i = 0; i < got->n; i++)
                assert_int_equal(by_source(&got->sent[i], &want->sent[i]), 0);
        }
        assert_true(same_registers(one, b));
        close_bench(b);
        free(b);
    }
    close_bench(one);
}

// A thread that is no lcore changes what all of them use, and reads what all of them write.
static void *control_thread(void *aux) {
    struct bench *b = aux;
    while (atomic_load(&b->fed) < sk_switch_cores(b->sw) || b->control <= 200) {
        sk_lcores_pause(b->lcores);
        uint16_t port = (uint16_t)(b->control % 4 << 7 | 60);
        sk_switch_port_up(b->sw, port, b->control / 4 % 2);
        sk_pre_group_delete(b->sw, 50);
        make_wide_group(b);
        struct sk_switch_stats s;
        sk_switch_stats(b->sw, &s);
        // nothing is half done: what is inside is in buffers
        b->wrong +=
            s.rx_packets + s.copies - s.tx_packets - all_drops(&s) != sk_switch_inside(b->sw);
        const struct sk_pipeline_desc *d = sk_switch_pipeline(b->sw, 3);
        d->register_write(sk_switch_pipe(b->sw, 3), 0, 0, 0, b->control);
        b->control++;
        sk_lcores_resume(b->lcores, true);
        if (b->control % 16 == 0) // else one pause follows the other at once
            usleep(50);
    }
    sk_lcores_stop(b->lcores);
    return NULL;
}

static void run_controlled(struct bench *b, unsigned n, uint32_t idle_sleep_us) {
    char error[256] = "";
    pthread_t thread;
    open_bench(b, cores(n));
    b->wish = go_everywhere;
    make_wide_group(b);
    b->lcores = sk_lcores_new(
        &(struct sk_lcores_options){.n = n, .idle_sleep_us = idle_sleep_us, .turn = turn, .aux = b},
        error, sizeof error);
    assert_non_null(b->lcores);
    assert_int_equal(pthread_create(&thread, NULL, control_thread, b), 0);
    if (!sk_lcores_run(b->lcores, error, sizeof error))
        fail_msg("%s", error);
    pthread_join(thread, NULL);
    // nobody runs any more
    sk_lcores_pause(b->lcores);
    sk_lcores_resume(b->lcores, true);
    sk_lcores_free(b->lcores);
    sk_switch_stop(b->sw, 1000);
    assert_true(b->control > 200);
    assert_int_equal(b->wrong, 0);
    check_accounts(b);
    close_bench(b);
}

static void test_control_while_running(void **state) {
    struct bench *b = *state;
    for (unsigned n = 1; n <= 4; n++)
        run_controlled(b, n, n % 2 ? 50 : 0);
}

static bool cannot_enter(void *aux, unsigned lcore) {
    (void)aux;
    return lcore != 2;
}
static bool idle(void *aux, unsigned lcore) {
    (void)aux;
    (void)lcore;
    return false;
}

static void test_cannot_start(void **state) {
    (void)state;
    char error[256] = "";
    struct sk_lcores_options opt = {
        .n = 3, .idle_sleep_us = 50, .turn = idle, .enter = cannot_enter};
    struct sk_lcores *l = sk_lcores_new(&opt, error, sizeof error);
    assert_non_null(l);
    assert_false(sk_lcores_run(l, error, sizeof error));
    assert_string_equal(error, "an lcore could not be started");
    sk_lcores_free(l);
    const int cpus[] = {-1, 1023};
    opt = (struct sk_lcores_options){.n = 2, .cpus = cpus, .idle_sleep_us = 50, .turn = idle};
    l = sk_lcores_new(&opt, error, sizeof error);
    assert_false(sk_lcores_run(l, error, sizeof error));
    assert_non_null(strstr(error, "cannot run lcore 1 on its processor"));
    sk_lcores_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crossing),     cmocka_unit_test(test_multicast_crosses),
        cmocka_unit_test(test_behind),       cmocka_unit_test(test_queue_beyond),
        cmocka_unit_test(test_options),      cmocka_unit_test(test_same_on_any_number_of_cores),
        cmocka_unit_test(test_all_to_all),   cmocka_unit_test(test_control_while_running),
        cmocka_unit_test(test_cannot_start),
    };
    return cmocka_run_group_tests(tests, setup, toy_teardown);
}
