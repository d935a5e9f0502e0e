// SPDX-License-Identifier: Apache-2.0
//
// The recorder: what ports received and sent, by time, with what became of it; rings that are full;
// readers in other threads, other mappings, and of bad will.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/observe/recorder_impl.h"
#include "pipeline/switch/core.h"

#define SMALL_RING (64u << 10)

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct sk_recorder *recorder;
    struct sk_record_reader *reader;
    bool refuse; // what is sent
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    const struct bench *b = aux;
    (void)port, (void)frame, (void)length;
    return !b->refuse;
}

static void open_switch(struct bench *b, unsigned cores) {
    struct sk_switch_options opt = {.tx = tx, .aux = b, .packet_bytes = 2048, .n_packets = 256};
    toy_spread(&opt, cores);
    b->refuse = false;
    b->sw = toy_switch(b->prog, &opt);
}

static void record(struct bench *b, struct sk_recorder_options opt) {
    char error[256] = "";
    opt.n_cores = sk_switch_cores(b->sw);
    opt.ring_bytes = opt.ring_bytes ? opt.ring_bytes : SMALL_RING;
    b->recorder = sk_recorder_new(&opt, error, sizeof error);
    if (!b->recorder)
        fail_msg("%s", error);
    b->reader = sk_record_reader_of(b->recorder);
    sk_switch_record(b->sw, b->recorder);
}

static void close_bench(struct bench *b) {
    sk_switch_record(b->sw, NULL);
    sk_record_reader_close(b->reader);
    sk_recorder_free(b->recorder);
    sk_switch_free(b->sw);
    b->recorder = NULL;
    b->reader = NULL;
}

static void rx(struct bench *b, uint16_t port, const struct toy_wish *w, uint64_t now) {
    uint8_t frame[64];
    toy_frame(frame, w);
    sk_core_rx(sk_switch_core(b->sw, sk_switch_core_of(b->sw, sk_port_pipe(port))), port, frame,
               sizeof frame, now);
}

static void run(struct bench *b, uint64_t now) {
    for (unsigned c = 0; c < sk_switch_cores(b->sw); c++)
        sk_core_run(sk_switch_core(b->sw, c), now);
}

// The next record, which must be of that kind, at that port and time.
static struct sk_record expect(struct bench *b, enum sk_record_kind kind, uint16_t port,
                               uint64_t time_ns, uint64_t serial) {
    struct sk_record r;
    if (!sk_record_next(b->reader, &r))
        fail_msg("no record");
    assert_int_equal(r.kind, kind);
    assert_int_equal(r.port, port);
    assert_int_equal(r.time_ns, time_ns);
    assert_int_equal(r.serial, serial);
    return r;
}

static void expect_none(struct bench *b) {
    struct sk_record r;
    assert_false(sk_record_next(b->reader, &r));
}

static void expect_drop(const struct sk_record *r, unsigned i, enum sk_drop_reason reason,
                        uint16_t port) {
    assert_true(i < r->n_drops);
    assert_int_equal(r->drops[i].reason, reason);
    assert_int_equal(r->drops[i].port, port);
}

static int setup(void **state) {
    return toy_setup(state, sizeof(struct bench));
}

static const struct toy_wish to_5 = {.flags = TOY_UCAST, .ucast_port = 5};

static void test_in_and_out(void **state) {
    struct bench *b = *state;
    uint8_t frame[64];
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    rx(b, 1, &to_5, 100);
    expect_none(b); // not before the switch ran
    run(b, 100);
    toy_frame(frame, &to_5);
    struct sk_record r = expect(b, SK_RECORD_RECEIVED, 1, 100, 1);
    assert_int_equal(r.length, 64);
    assert_int_equal(r.wire_length, 64);
    assert_memory_equal(r.bytes, frame, 64);
    assert_int_equal(r.n_drops, 0);
    r = expect(b, SK_RECORD_SENT, 5, 100, 1);
    assert_int_equal(r.ingress_port, 1);
    assert_memory_equal(r.bytes, frame, 64);
    assert_int_equal(r.n_drops, 0);
    expect_none(b);
    assert_false(sk_record_ended(b->reader));
    rx(b, 2, &to_5, 200);
    run(b, 200);
    sk_switch_record(b->sw, NULL);
    rx(b, 2, &to_5, 300); // nobody records this
    run(b, 300);
    expect(b, SK_RECORD_RECEIVED, 2, 200, 2);
    expect(b, SK_RECORD_SENT, 5, 200, 2);
    expect_none(b);
    assert_true(sk_record_ended(b->reader));
    close_bench(b);
}

// Frames of all lengths, of which whole lines and what is left are copied apart.
static void test_lengths(void **state) {
    struct bench *b = *state;
    uint8_t frame[400];
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    for (uint32_t length = 14; length < sizeof frame; length++) {
        toy_frame(frame, &to_5);
        for (uint32_t i = 64; i < length; i++)
            frame[i] = (uint8_t)(i * 7 + length);
        sk_switch_rx(b->sw, 1, frame, length, length);
        run(b, length);
        struct sk_record r = expect(b, SK_RECORD_RECEIVED, 1, length, length - 13);
        assert_int_equal(r.length, length);
        assert_memory_equal(r.bytes, frame, length);
        while (sk_record_next(b->reader, &r))
            ;
    }
    close_bench(b);
}

static void test_drops(void **state) {
    struct bench *b = *state;
    uint8_t frame[4096];
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    const uint16_t members[] = {2, 3};
    assert_int_equal(sk_pre_node_set(b->sw, 1, 7, members, 2), 0);
    const struct sk_pre_member node = {.node = 1};
    assert_int_equal(sk_pre_group_set(b->sw, 9, &node, 1), 0);
    sk_switch_port_up(b->sw, 6, false);

    // what is known before it can be read stands at the received packet
    rx(b, 1, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 5, .drop_ctl = 1}, 10);
    rx(b, 1, &(struct toy_wish){.flags = TOY_UCAST | TOY_EGRESS_DROP, .ucast_port = 5}, 10);
    rx(b, 1, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 6}, 10);
    rx(b, 1, &(struct toy_wish){.flags = TOY_GROUP_A | TOY_EGRESS_DROP, .group_a = 9}, 10);
    toy_frame(frame, &to_5);
    sk_switch_rx(b->sw, 1, frame, 4096, 10);
    sk_switch_rx(b->sw, 1, frame, 13, 10);
    run(b, 10);
    struct sk_record r = expect(b, SK_RECORD_RECEIVED, 1, 10, 1);
    assert_int_equal(r.n_drops, 1);
    expect_drop(&r, 0, SK_DROP_INGRESS_DROP, 1);
    r = expect(b, SK_RECORD_RECEIVED, 1, 10, 2);
    expect_drop(&r, 0, SK_DROP_EGRESS_DROP, 5);
    r = expect(b, SK_RECORD_RECEIVED, 1, 10, 3);
    expect_drop(&r, 0, SK_DROP_PORT_DOWN, 6);
    r = expect(b, SK_RECORD_RECEIVED, 1, 10, 4);
    assert_int_equal(r.n_drops, 2);
    expect_drop(&r, 0, SK_DROP_EGRESS_DROP, 2);
    expect_drop(&r, 1, SK_DROP_EGRESS_DROP, 3);
    r = expect(b, SK_RECORD_RECEIVED, 1, 10, 5);
    expect_drop(&r, 0, SK_DROP_TOO_LONG, 1);
    assert_int_equal(r.length, 0); // its bytes need not be in one piece
    assert_int_equal(r.wire_length, 4096);
    r = expect(b, SK_RECORD_RECEIVED, 1, 10, 6);
    expect_drop(&r, 0, SK_DROP_TOO_SHORT, 1);
    assert_int_equal(r.length, 13);
    expect_none(b);

    // what the port does not take is there with its bytes, since a replay will send it
    b->refuse = true;
    rx(b, 1, &to_5, 20);
    run(b, 20);
    b->refuse = false;
    r = expect(b, SK_RECORD_RECEIVED, 1, 20, 7);
    assert_int_equal(r.n_drops, 0);
    r = expect(b, SK_RECORD_SENT, 5, 20, 7);
    assert_memory_equal(r.bytes, frame, 64);
    assert_int_equal(r.n_drops, 1);
    expect_drop(&r, 0, SK_DROP_TX_FULL, 5);

    // so is what its device did not take later, with a note; of a copy it is not known whose
    for (unsigned i = 0; i < 2; i++) {
        rx(b, 1, &to_5, 25);
        run(b, 25);
        expect(b, SK_RECORD_RECEIVED, 1, 25, 8 + i);
        assert_int_equal(expect(b, SK_RECORD_SENT, 5, 25, 8 + i).n_drops, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t serial = i ? 0 : 8;
        sk_core_tx_lost(sk_switch_core(b->sw, 0), 5,
                        &(struct sk_packet){.serial = serial, .ingress_port = 1, .len = 64});
        r = expect(b, SK_RECORD_DROPPED, 5, 25, serial);
        assert_int_equal(r.ingress_port, 1);
        assert_int_equal(r.n_drops, 1);
        expect_drop(&r, 0, SK_DROP_TX_FULL, 5);
    }

    // one that waited has a record of its own
    assert_int_equal(
        sk_switch_port_queue(b->sw, 4, &(struct sk_port_queue){.speed_mbps = 1, .limit_green = 9}),
        0);
    const struct toy_wish to_4 = {.flags = TOY_UCAST, .ucast_port = 4};
    rx(b, 1, &to_4, 30);
    rx(b, 1, &to_4, 30);
    run(b, 30);
    expect(b, SK_RECORD_RECEIVED, 1, 30, 10);
    expect(b, SK_RECORD_RECEIVED, 1, 30, 11);
    expect(b, SK_RECORD_SENT, 4, 30, 10);
    expect_none(b);
    sk_switch_stop(b->sw, 40);
    run(b, 40);
    r = expect(b, SK_RECORD_DROPPED, 4, 40, 11);
    expect_drop(&r, 0, SK_DROP_STOPPED, 4);
    assert_int_equal(r.ingress_port, 1);
    assert_int_equal(r.length, 0);
    expect_none(b);
    close_bench(b);
}

// More copies end than a record lists.
static void test_many_drops(void **state) {
    struct bench *b = *state;
    uint16_t ports[10];
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    for (uint16_t i = 0; i < 10; i++)
        ports[i] = i;
    assert_int_equal(sk_pre_node_set(b->sw, 1, 7, ports, 10), 0);
    const struct sk_pre_member node = {.node = 1};
    assert_int_equal(sk_pre_group_set(b->sw, 9, &node, 1), 0);
    rx(b, 1, &(struct toy_wish){.flags = TOY_GROUP_A | TOY_EGRESS_DROP, .group_a = 9}, 10);
    run(b, 10);
    struct sk_record r = expect(b, SK_RECORD_RECEIVED, 1, 10, 1);
    assert_int_equal(r.n_drops, SK_RECORD_DROPS);
    assert_int_equal(r.more_drops, 10 - SK_RECORD_DROPS);
    close_bench(b);
}

// A port with a speed sends at its own times.
static void test_times(void **state) {
    struct bench *b = *state;
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    // 64 bytes, 24 more on the wire, at 8 Mbit/s: 88 us
    assert_int_equal(sk_switch_port_queue(b->sw, 5, &(struct sk_port_queue){.speed_mbps = 8}), 0);
    for (unsigned i = 0; i < 3; i++)
        rx(b, 1, &to_5, 1000);
    run(b, 1000);
    run(b, 1000000);
    for (unsigned i = 0; i < 3; i++)
        expect(b, SK_RECORD_RECEIVED, 1, 1000, i + 1);
    expect(b, SK_RECORD_SENT, 5, 1000, 1);
    expect(b, SK_RECORD_SENT, 5, 1000 + 88000, 2);
    expect(b, SK_RECORD_SENT, 5, 1000 + 2 * 88000, 3);
    close_bench(b);
}

static void test_snaplen_and_ports(void **state) {
    struct bench *b = *state;
    bool ports[SK_PORTS] = {[5] = true};
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){.snaplen = 20, .ports = ports});
    ports[5] = false; // it was copied
    rx(b, 1, &to_5, 1);
    rx(b, 5, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 1}, 1);
    rx(b, 5, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 1, .drop_ctl = 1}, 1);
    rx(b, 1, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 1, .drop_ctl = 1}, 1);
    run(b, 1);
    struct sk_record r = expect(b, SK_RECORD_RECEIVED, 5, 1, 2);
    r = expect(b, SK_RECORD_RECEIVED, 5, 1, 3);
    expect_drop(&r, 0, SK_DROP_INGRESS_DROP, 5);
    r = expect(b, SK_RECORD_SENT, 5, 1, 1);
    assert_int_equal(r.length, 20);
    assert_int_equal(r.wire_length, 64);
    expect_none(b);
    close_bench(b);
}

// A full ring loses records, says how many, and goes on when there is room; packets are not
// touched.
static void test_full(void **state) {
    struct bench *b = *state;
    struct sk_switch_stats s;
    struct sk_record r;
    uint64_t seen = 0, told = 0;
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 1000; i++) { // 128 bytes a record, two a packet: 512 fit
            rx(b, 1, &to_5, i + round * 1000);
            run(b, i + round * 1000);
        }
        while (sk_record_next(b->reader, &r)) {
            seen++;
            told += r.lost;
        }
    }
    rx(b, 1, &to_5, 9000);
    run(b, 9000);
    while (sk_record_next(b->reader, &r)) {
        seen++;
        told += r.lost;
    }
    assert_in_range(seen, 3 * 500, 3 * 512 + 2);
    assert_int_equal(seen + told, 2 * 3001);
    assert_int_equal(sk_record_lost(b->reader, SK_PORTS), told);
    assert_int_equal(sk_record_lost(b->reader, 1) + sk_record_lost(b->reader, 5), told);
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.tx_packets, 3001);
    close_bench(b);
}

// What a reader does to the memory is its own loss.
static void test_bad_reader(void **state) {
    struct bench *b = *state;
    struct sk_switch_stats s;
    char error[256];
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    struct sk_record_reader *other =
        sk_record_reader_open(sk_recorder_fd(b->recorder), error, sizeof error);
    assert_non_null(other);
    assert_int_equal(ftruncate(sk_recorder_fd(b->recorder), 0), -1); // sealed
    const size_t bytes = record_memory_bytes(1, SMALL_RING);
    struct record_memory *m =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sk_recorder_fd(b->recorder), 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    uint64_t noise = 1;
    struct record_ring *ring = record_ring_of(m, 0, SMALL_RING);
    for (unsigned i = 0; i < 5000; i++) {
        rx(b, 1, &to_5, i);
        // everything but what the core keeps for itself
        uint8_t *at = (uint8_t *)m;
        for (unsigned k = 0; k < 200; k++) {
            noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407u;
            at[(noise >> 20) % bytes] = (uint8_t)(noise >> 56);
        }
        atomic_store(&ring->taken, noise);
        rx(b, 1, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = 5, .drop_ctl = 1}, i);
        run(b, i);
    }
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.tx_packets, 5000);
    munmap(m, bytes);
    // and a reader that finds nonsense says so
    struct sk_record r;
    for (unsigned i = 0; i < 100000 && sk_record_next(other, &r); i++)
        ;
    sk_record_reader_close(other);
    close_bench(b);
}

static void test_other_memory(void **state) {
    (void)state;
    char error[256] = "";
    uint8_t page[4096] = {0};
    int fd = memfd_create("test", 0);
    assert_null(sk_record_reader_open(fd, error, sizeof error));
    assert_int_equal(write(fd, page, sizeof page), sizeof page);
    assert_null(sk_record_reader_open(fd, error, sizeof error));
    assert_non_null(strstr(error, "is invalid"));
    close(fd);
    assert_null(sk_record_reader_open(-1, error, sizeof error));
    const struct sk_recorder_options large = {.n_cores = 1, .ring_bytes = UINT64_C(1) << 40};
    assert_null(sk_recorder_new(&large, error, sizeof error));
    assert_non_null(strstr(error, "too large"));
}

// Several cores: by time, and no earlier than it is certain that none comes before.
static void test_cores(void **state) {
    struct bench *b = *state;
    open_switch(b, 2);
    record(b, (struct sk_recorder_options){0});
    const struct toy_wish near = {.flags = TOY_UCAST, .ucast_port = 0x85},
                          across = {.flags = TOY_UCAST, .ucast_port = 0x85};
    struct sk_core *first = sk_switch_core(b->sw, 0), *second = sk_switch_core(b->sw, 1);
    rx(b, 0x80, &near, 50);
    sk_core_run(second, 50);
    expect_none(b); // the first core may still have something before
    rx(b, 1, &across, 40);
    sk_core_run(first, 40);
    expect(b, SK_RECORD_RECEIVED, 1, 40, 1);
    expect_none(b);
    sk_core_run(first, 60);
    expect(b, SK_RECORD_RECEIVED, 0x80, 50, (UINT64_C(1) << 56) + 1);
    expect(b, SK_RECORD_SENT, 0x85, 50, (UINT64_C(1) << 56) + 1);
    sk_core_run(second, 70); // the packet that crossed
    sk_core_run(first, 80);
    struct sk_record r = expect(b, SK_RECORD_SENT, 0x85, 70, 1);
    assert_int_equal(r.ingress_port, 1);
    close_bench(b);
}

// ---- threads ----

#define THREAD_PACKETS 60000u

struct pump {
    struct bench *b;
    atomic_bool done;
};

static void *pump(void *aux) {
    struct pump *p = aux;
    for (unsigned i = 0; i < THREAD_PACKETS; i++) {
        uint8_t frame[64];
        toy_frame(frame, &to_5);
        memcpy(frame + 40, &i, sizeof i);
        sk_switch_rx(p->b->sw, 1, frame, sizeof frame, i + 1);
        if (i % 7 == 6)
            sk_switch_run(p->b->sw, i + 1);
    }
    sk_switch_run(p->b->sw, THREAD_PACKETS);
    sk_switch_record(p->b->sw, NULL);
    atomic_store(&p->done, true);
    return NULL;
}

// Everything comes once, in order, with its bytes; what does not come is counted.
static void test_threads(void **state) {
    struct bench *b = *state;
    struct pump p = {.b = b};
    pthread_t thread;
    struct sk_record r;
    uint64_t received = 0, sent = 0, told = 0, last[2] = {0, 0};
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){0});
    assert_int_equal(pthread_create(&thread, NULL, pump, &p), 0);
    while (!sk_record_ended(b->reader))
        while (sk_record_next(b->reader, &r)) {
            unsigned number;
            memcpy(&number, r.bytes + 40, sizeof number);
            assert_int_equal(r.serial, number + 1);
            uint64_t *before = &last[r.kind == SK_RECORD_SENT];
            assert_true(r.serial > *before);
            *before = r.serial;
            received += r.kind == SK_RECORD_RECEIVED;
            sent += r.kind == SK_RECORD_SENT;
            told += r.lost;
        }
    pthread_join(thread, NULL);
    const uint64_t lost = sk_record_lost(b->reader, SK_PORTS);
    assert_true(told <= lost); // those after the last record are told by the count only
    assert_int_equal(received + sent + lost, 2 * THREAD_PACKETS);
    assert_true(received > 0 && sent > 0);
    close_bench(b);
}

static void note(struct bench *b, const char *text, uint64_t now) {
    sk_record_note(b->recorder, 64, text, (uint32_t)strlen(text), now);
}

static void expect_note(struct bench *b, const char *text, uint64_t time_ns) {
    const struct sk_record r = expect(b, SK_RECORD_NOTE, 64, time_ns, 0);
    assert_int_equal(r.length, strlen(text));
    assert_memory_equal(r.bytes, text, r.length);
}

// Notes of another thread are among the packets by their times, and packets wait until it is known
// that no earlier note comes.
static void test_notes(void **state) {
    struct bench *b = *state;
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){.notes = true});
    note(b, "begin", 50);
    rx(b, 1, &to_5, 100);
    run(b, 100);
    expect_note(b, "begin", 50);
    expect_none(b);
    sk_record_quiet(b->recorder, 101);
    expect(b, SK_RECORD_RECEIVED, 1, 100, 1);
    expect(b, SK_RECORD_SENT, 5, 100, 1);
    note(b, "frames", 150);
    expect_none(b); // a packet of then may come
    rx(b, 2, &to_5, 200);
    run(b, 200);
    expect_note(b, "frames", 150);
    note(b, "", 300);
    sk_switch_record(b->sw, NULL);
    expect(b, SK_RECORD_RECEIVED, 2, 200, 2);
    expect(b, SK_RECORD_SENT, 5, 200, 2);
    expect_note(b, "", 300);
    expect_none(b);
    assert_true(sk_record_ended(b->reader));
    close_bench(b);
}

// Those that do not fit are counted, and the next one says so.
static void test_notes_that_do_not_fit(void **state) {
    struct bench *b = *state;
    char text[2000];
    struct sk_record r;
    uint64_t kept = 0, now = 0;
    memset(text, 'x', sizeof text);
    open_switch(b, 1);
    record(b, (struct sk_recorder_options){.notes = true});
    for (; now < 100; now++)
        sk_record_note(b->recorder, 64, text, sizeof text, now);
    run(b, now);
    while (sk_record_next(b->reader, &r))
        kept++;
    assert_in_range(kept, 10, 90);
    assert_int_equal(sk_record_lost(b->reader, 64), 100 - kept);
    note(b, "more", now);
    run(b, now + 1);
    r = expect(b, SK_RECORD_NOTE, 64, now, 0);
    assert_int_equal(r.lost, 100 - kept);
    close_bench(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_and_out),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_drops),
        cmocka_unit_test(test_many_drops),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_snaplen_and_ports),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_bad_reader),
        cmocka_unit_test(test_other_memory),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_notes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, setup, toy_teardown);
}
