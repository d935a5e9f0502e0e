// SPDX-License-Identifier: Apache-2.0
//
// The engine: where packets go between ingress and egress, the bytes the parsers see, order,
// limits, and that every packet is accounted for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/switch/core.h"

struct sent {
    uint16_t port;
    uint32_t length;
    uint8_t bytes[2048];
};

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct sent sent[600];
    size_t n_sent;
    bool refuse;
};

static bool collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct bench *b = aux;
    if (b->refuse)
        return false;
    assert_true(b->n_sent < 600 && length <= 2048);
    struct sent *s = &b->sent[b->n_sent++];
    s->port = port;
    s->length = length;
    memcpy(s->bytes, frame, length);
    return true;
}

static void start(struct bench *b, struct sk_switch_options opt) {
    opt.tx = collect;
    opt.aux = b;
    b->sw = toy_switch(b->prog, &opt);
}

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    b->prog = toy_load();
    start(b, (struct sk_switch_options){.n_packets = 64});
    *state = b;
    return 0;
}

// rx + copies = tx + drops, and every buffer is back.
static void check_accounts(const struct bench *b, uint32_t n_packets) {
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    uint64_t drops = 0, port_drops = 0, port_tx = 0;
    for (int r = 0; r < SK_DROP_COUNT; r++)
        drops += s.drops[r];
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats ps;
        sk_switch_port_stats(b->sw, port, &ps);
        port_tx += ps.tx_packets;
        for (int r = 0; r < SK_DROP_COUNT; r++)
            port_drops += ps.drops[r];
    }
    assert_int_equal(s.rx_packets + s.copies, s.tx_packets + drops);
    assert_int_equal(port_tx, s.tx_packets);
    assert_int_equal(port_drops, drops);
    assert_int_equal(sk_switch_buffers_free(b->sw), n_packets);
}

static int teardown(void **state) {
    struct bench *b = *state;
    sk_switch_free(b->sw);
    sk_program_free(b->prog);
    free(b);
    return 0;
}

static void restart(struct bench *b, struct sk_switch_options opt) {
    sk_switch_free(b->sw);
    start(b, opt);
}

static void send_wish(struct bench *b, uint16_t port, const struct toy_wish *w, uint64_t now) {
    uint8_t frame[64];
    toy_frame(frame, w);
    sk_switch_rx(b->sw, port, frame, sizeof frame, now);
    sk_switch_run(b->sw, now);
}

static uint64_t drops(const struct bench *b, enum sk_drop_reason r) {
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    return s.drops[r];
}

static void test_unicast(void **state) {
    struct bench *b = *state;
    uint8_t frame[64];
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 131};
    toy_frame(frame, &w);
    assert_true(sk_switch_rx(b->sw, 5, frame, 64, 1));
    assert_int_equal(b->n_sent, 0);
    sk_switch_run(b->sw, 1);
    assert_int_equal(b->n_sent, 1);
    assert_int_equal(b->sent[0].port, 131);
    assert_int_equal(b->sent[0].length, 64);
    assert_memory_equal(b->sent[0].bytes, frame, 64);
    check_accounts(b, 64);
}

static void test_ingress_bytes(void **state) {
    struct bench *b = *state;
    const uint8_t md[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    sk_switch_port_metadata(b->sw, 0x182, md, 8);
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_SHOW_INGRESS | TOY_BYPASS};
    send_wish(b, 0x182, &w, 0x7f01020304050607);
    // resubmit_flag 0, ingress_port in the low 9 bits, 48 bits of time, port metadata
    const uint8_t want[16] = {0x01, 0x82, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(b->sent[0].length, 80);
    assert_memory_equal(b->sent[0].bytes, want, 16);
}

static void test_egress_bytes(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {
        .flags = TOY_UCAST | TOY_SHOW_EGRESS, .ucast_port = 0x102, .qid = 21, .cos = 5};
    send_wish(b, 1, &w, 0x12345678);
    uint8_t want[27] = {0x01, 0x02};
    want[7] = 0; // enq_tstamp: 18 bits of 0x12345678 in 4 bytes at 6
    want[6] = 0x00, want[7] = 0x00, want[8] = 0x56, want[9] = 0x78;
    want[22] = 21, want[23] = 5, want[26] = 68; // pkt_length counts 4 bytes of FCS
    assert_int_equal(b->sent[0].length, 64 + 27);
    assert_memory_equal(b->sent[0].bytes, want, 27);
}

// What ingress puts in front does not count, until the packet comes around with it.
static void test_length_is_that_of_ingress(void **state) {
    struct bench *b = *state;
    struct toy_wish w = {.flags = TOY_UCAST | TOY_GROW | TOY_SHOW_EGRESS, .ucast_port = 4};
    for (w.hops = 0; w.hops < 3; w.hops++) {
        b->n_sent = 0;
        send_wish(b, 1, &w, 0);
        assert_int_equal(b->n_sent, 1);
        const uint8_t *const bytes = b->sent[0].bytes;
        const unsigned came = 64 + w.hops * (TOY_GROWTH + SK_EGRESS_PREFIX);
        assert_int_equal(b->sent[0].length, came + TOY_GROWTH + SK_EGRESS_PREFIX);
        assert_int_equal(bytes[25] << 8 | bytes[26], came + 4);
    }
}

static void test_enqueue_time_has_18_bits(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_SHOW_EGRESS, .ucast_port = 2};
    send_wish(b, 1, &w, 0xffffffffffff);
    const uint8_t want[4] = {0, 3, 0xff, 0xff};
    assert_memory_equal(b->sent[0].bytes + 6, want, 4);
}

static void test_drop_ctl(void **state) {
    struct bench *b = *state;
    struct toy_wish w = {.flags = TOY_UCAST | TOY_CPU, .ucast_port = 2, .drop_ctl = 1};
    sk_switch_port_up(b->sw, 64, true);
    send_wish(b, 1, &w, 1); // bit 0 spares the CPU's copy
    assert_int_equal(b->n_sent, 1);
    assert_int_equal(b->sent[0].port, 64);
    w.drop_ctl = 2; // bit 1 kills only that
    send_wish(b, 1, &w, 2);
    assert_int_equal(b->n_sent, 2);
    assert_int_equal(b->sent[1].port, 2);
    w.drop_ctl = 3;
    send_wish(b, 1, &w, 3);
    assert_int_equal(b->n_sent, 2);
    assert_int_equal(drops(b, SK_DROP_INGRESS_DROP), 1);
    check_accounts(b, 64);
}

static void test_drops_by_reason(void **state) {
    struct bench *b = *state;
    const struct {
        struct toy_wish w;
        enum sk_drop_reason reason;
    } cases[] = {
        {{.flags = 0}, SK_DROP_NO_DESTINATION},
        {{.flags = TOY_UCAST, .ucast_port = SK_PORT_INVALID}, SK_DROP_PORT_DOWN},
        {{.flags = TOY_UCAST, .ucast_port = 72}, SK_DROP_PORT_DOWN},
        {{.flags = TOY_UCAST, .ucast_port = 64}, SK_DROP_PORT_DOWN},
        {{.flags = TOY_GROUP_A, .group_a = 9}, SK_DROP_MCAST_EMPTY},
        {{.flags = TOY_UCAST | TOY_EGRESS_DROP}, SK_DROP_EGRESS_DROP},
        {{.flags = TOY_PARSER_DROP | TOY_UCAST}, SK_DROP_PARSER_ERROR},
        {{.flags = TOY_RESUBMIT_AGAIN}, SK_DROP_RESUBMIT_TWICE},
        {{.flags = TOY_UCAST, .hops = 65}, SK_DROP_RECIRC_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t before = drops(b, cases[i].reason);
        send_wish(b, 7, &cases[i].w, i);
        assert_int_equal(drops(b, cases[i].reason), before + 1);
        assert_int_equal(b->n_sent, 0);
    }
    check_accounts(b, 64);
}

static void test_frames_refused_at_once(void **state) {
    struct bench *b = *state;
    static uint8_t frame[9217];
    assert_false(sk_switch_rx(b->sw, 0, frame, 13, 0));
    assert_false(sk_switch_rx(b->sw, 0, frame, 0, 0));
    assert_int_equal(drops(b, SK_DROP_TOO_SHORT), 2);
    assert_false(sk_switch_rx(b->sw, 0, frame, 9217, 0));
    assert_int_equal(drops(b, SK_DROP_TOO_LONG), 1);
    assert_true(sk_switch_rx(b->sw, 0, frame, 14, 0));
    for (int i = 0; i < 64; i++)
        sk_switch_rx(b->sw, 0, frame, 9216, 0);
    assert_int_equal(drops(b, SK_DROP_NO_BUFFER), 1);
    assert_false(sk_switch_rx(b->sw, 72, frame, 64, 0));
    sk_switch_run(b->sw, 0);
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.drops[SK_DROP_PORT_DOWN], 1);
    assert_int_equal(s.rx_packets, 69);
    assert_int_equal(sk_switch_buffers_free(b->sw), 64);
}

static void test_port_refuses(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 3};
    b->refuse = true;
    send_wish(b, 1, &w, 0);
    assert_int_equal(drops(b, SK_DROP_TX_FULL), 1);
    b->refuse = false;
    send_wish(b, 1, &w, 0);
    sk_core_tx_lost(sk_switch_core(b->sw, 0), 3, &(struct sk_packet){.len = 64});
    assert_int_equal(drops(b, SK_DROP_TX_FULL), 2);
    check_accounts(b, 64);
}

static void test_resubmit(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_RESUBMIT | TOY_SHOW_INGRESS,
                               .ucast_port = 9};
    send_wish(b, 0x85, &w, 0);
    assert_int_equal(b->n_sent, 1);
    const uint8_t want[16] = "\x80\x85\0\0\0\0\0\0resubmit";
    assert_memory_equal(b->sent[0].bytes, want, 16);
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.resubmitted, 1);
    check_accounts(b, 64);
}

static void test_recirculation(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 9, .hops = 3};
    send_wish(b, 0x85, &w, 0);
    assert_int_equal(b->n_sent, 1);
    assert_int_equal(b->sent[0].port, 9);
    struct sk_switch_stats s;
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.recirculated, 3);
    // it came in at 0x85 once and at port 68 of pipe 1 three times
    const struct sk_pipeline_desc *d = sk_switch_pipeline(b->sw, 1);
    assert_int_equal(d->register_read(sk_switch_pipe(b->sw, 1), 0, 0x85, 0), 1);
    assert_int_equal(d->register_read(sk_switch_pipe(b->sw, 1), 0, 128 + 68, 0), 3);
    check_accounts(b, 64);
}

static void test_loopback_port(void **state) {
    struct bench *b = *state;
    sk_switch_port_loopback(b->sw, 10, true);
    // 10 loops to itself until the limit
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_BYPASS, .ucast_port = 10};
    send_wish(b, 3, &w, 0);
    assert_int_equal(b->n_sent, 0);
    assert_int_equal(drops(b, SK_DROP_RECIRC_LIMIT), 1);
    sk_switch_port_loopback(b->sw, 10, false);
    send_wish(b, 3, &w, 0);
    assert_int_equal(b->n_sent, 1);
    check_accounts(b, 64);
}

static void test_growth(void **state) {
    struct bench *b = *state;
    // 5 passes of 320 bytes more: beyond the headroom of a fresh packet, so it must be moved
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_GROW, .ucast_port = 4, .hops = 4};
    uint8_t frame[64];
    toy_frame(frame, &w);
    send_wish(b, 1, &w, 0);
    assert_int_equal(b->n_sent, 1);
    assert_int_equal(b->sent[0].length, 64 + 5 * TOY_GROWTH);
    frame[TOY_WISH_AT + 3] = 0; // hops left
    assert_memory_equal(b->sent[0].bytes + 5 * TOY_GROWTH, frame, 64);
    check_accounts(b, 64);
}

// A port may take more of a frame that has a tag: by its first type, not by what it is sent for.
static void test_longest_of_a_port(void **state) {
    struct bench *b = *state;
    const struct {
        uint32_t length;
        uint16_t type;
        bool sent;
    } cases[] = {{100, 0x0800, true},  {101, 0x0800, false}, {100, 0x8100, true},
                 {104, 0x8100, true},  {105, 0x8100, false}, {104, 0x88a8, false},
                 {104, 0x8101, false}, {104, 0x0081, false}, {900, 0x8100, false}};
    uint64_t refused = 0;
    sk_switch_port_longest(b->sw, 3, 100, 104);
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_SHOW_INGRESS | TOY_BYPASS, .ucast_port = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        // what is in front of the packet as it is sent: its type is two bytes of the port's
        // metadata
        const uint8_t md[8] = {0, 0, 0, 0, (uint8_t)(cases[i].type >> 8), (uint8_t)cases[i].type};
        uint8_t frame[1024] = {0};
        toy_frame(frame, &w);
        sk_switch_port_metadata(b->sw, 1, md, 8);
        sk_switch_rx(b->sw, 1, frame, cases[i].length - 16, i);
        sk_switch_run(b->sw, i);
        refused += !cases[i].sent;
        assert_int_equal(b->n_sent, i + 1 - refused);
        assert_int_equal(drops(b, SK_DROP_TOO_LONG), refused);
    }
    assert_int_equal(b->sent[2].length, 104);
    assert_int_equal(b->sent[2].bytes[12], 0x81);
    check_accounts(b, 64);
}

static void test_outgrown(void **state) {
    struct bench *b = *state;
    restart(b, (struct sk_switch_options){.n_packets = 4, .packet_bytes = 512});
    struct toy_wish w = {.flags = TOY_UCAST | TOY_GROW, .ucast_port = 4, .hops = 1};
    send_wish(b, 1, &w, 0); // 704 bytes are no frame for a port
    assert_int_equal(drops(b, SK_DROP_TOO_LONG), 1);
    w.hops = 60;
    send_wish(b, 1, &w, 0); // and at some time no buffer holds it
    assert_int_equal(drops(b, SK_DROP_TOO_LONG), 2);
    w.hops = 0;
    send_wish(b, 1, &w, 0);
    assert_int_equal(b->n_sent, 1);
    check_accounts(b, 4);
}

static void make_group(struct bench *b, uint16_t mgid, const uint16_t rids[2]) {
    const uint16_t first[] = {1, 2}, second[] = {130, 3};
    assert_int_equal(sk_pre_node_set(b->sw, mgid * 10u, rids[0], first, 2), 0);
    assert_int_equal(sk_pre_node_set(b->sw, mgid * 10u + 1, rids[1], second, 2), 0);
    const struct sk_pre_member members[] = {
        {.node = mgid * 10u, .l1_xid_valid = true, .l1_xid = 77}, {.node = mgid * 10u + 1}};
    assert_int_equal(sk_pre_group_set(b->sw, mgid, members, 2), 0);
}

static void expect_ports(struct bench *b, const uint16_t *ports, size_t n) {
    assert_int_equal(b->n_sent, n);
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < n && b->sent[j].port != ports[i])
            j++;
        assert_true(j < n);
    }
    b->n_sent = 0;
}

static void test_multicast(void **state) {
    struct bench *b = *state;
    make_group(b, 5, (const uint16_t[]){100, 100});
    make_group(b, 0, (const uint16_t[]){7, 8});
    sk_switch_port_up(b->sw, 64, true);
    struct toy_wish w = {.flags = TOY_GROUP_A | TOY_SHOW_EGRESS, .group_a = 5, .cos = 3};
    send_wish(b, 9, &w, 0);
    size_t first = 0;
    for (size_t i = 0; i < b->n_sent; i++) {
        const uint8_t *md = b->sent[i].bytes;
        assert_int_equal(md[0] << 8 | md[1], b->sent[i].port);
        assert_int_equal(md[19] << 8 | md[20], 100);
        assert_int_equal(md[23], 3);
        first += md[21];
        assert_memory_equal(md + 27, b->sent[0].bytes + 27, 64);
    }
    assert_int_equal(first, 1);
    expect_ports(b, (const uint16_t[]){1, 2, 130, 3}, 4);
    w = (struct toy_wish){.flags = TOY_GROUP_A | TOY_GROUP_B | TOY_UCAST | TOY_CPU,
                          .group_a = 5,
                          .group_b = 0,
                          .ucast_port = 40};
    send_wish(b, 9, &w, 0);
    assert_int_equal(b->n_sent, 10);
    check_accounts(b, 64);
}

static void test_exclusion(void **state) {
    struct bench *b = *state;
    make_group(b, 5, (const uint16_t[]){100, 200});
    struct toy_wish w = {.flags = TOY_GROUP_A, .group_a = 5, .l1_xid = 77};
    send_wish(b, 9, &w, 0);
    expect_ports(b, (const uint16_t[]){130, 3}, 2);
    const uint16_t prune[] = {1, 3};
    assert_int_equal(sk_pre_prune_set(b->sw, 17, prune, 2), 0);
    // level 2: only where the rid is the node's
    w = (struct toy_wish){.flags = TOY_GROUP_A, .group_a = 5, .l2_xid = 17, .rid = 200};
    send_wish(b, 9, &w, 0);
    expect_ports(b, (const uint16_t[]){1, 2, 130}, 3);
    w.rid = 5;
    send_wish(b, 9, &w, 0);
    expect_ports(b, (const uint16_t[]){1, 2, 130, 3}, 4);
    // everything pruned counts as an empty group
    const uint16_t all[] = {130, 3};
    assert_int_equal(sk_pre_prune_set(b->sw, 17, all, 2), 0);
    w = (struct toy_wish){
        .flags = TOY_GROUP_A, .group_a = 5, .l1_xid = 77, .l2_xid = 17, .rid = 200};
    send_wish(b, 9, &w, 0);
    expect_ports(b, NULL, 0);
    assert_int_equal(drops(b, SK_DROP_MCAST_EMPTY), 1);
    check_accounts(b, 64);
}

static void test_first_copy_of_a_pruned_node(void **state) {
    struct bench *b = *state;
    make_group(b, 5, (const uint16_t[]){100, 100});
    // the node excluded at level 1 would have had the first copy
    const struct toy_wish w = {.flags = TOY_GROUP_A | TOY_SHOW_EGRESS, .group_a = 5, .l1_xid = 77};
    send_wish(b, 9, &w, 0);
    assert_int_equal(b->n_sent, 2);
    assert_int_equal(b->sent[0].bytes[21] + b->sent[1].bytes[21], 1);
}

static void test_replication_engine_errors(void **state) {
    struct bench *b = *state;
    make_group(b, 5, (const uint16_t[]){1, 2});
    const uint16_t bad[] = {72}, twice[] = {4, 4}, good[] = {4};
    assert_true(sk_pre_node_set(b->sw, 1, 0, bad, 1) < 0);
    assert_true(sk_pre_node_set(b->sw, 1, 0, twice, 2) < 0);
    assert_true(sk_pre_node_delete(b->sw, 1) < 0);
    assert_true(sk_pre_node_delete(b->sw, 50) < 0); // in use
    const struct sk_pre_member missing = {.node = 999}, same[] = {{.node = 50}, {.node = 50}};
    assert_true(sk_pre_group_set(b->sw, 5, &missing, 1) < 0);
    assert_true(sk_pre_group_set(b->sw, 5, same, 2) < 0);
    assert_true(sk_pre_group_delete(b->sw, 6) < 0);
    assert_true(sk_pre_prune_set(b->sw, 288, good, 1) < 0);
    // nothing of that changed the group
    const struct toy_wish w = {.flags = TOY_GROUP_A, .group_a = 5};
    send_wish(b, 9, &w, 0);
    expect_ports(b, (const uint16_t[]){1, 2, 130, 3}, 4);
    assert_int_equal(sk_pre_node_set(b->sw, 50, 1, good, 1), 0);
    send_wish(b, 9, &w, 0);
    expect_ports(b, (const uint16_t[]){4, 130, 3}, 3);
    assert_int_equal(sk_pre_group_delete(b->sw, 5), 0);
    assert_int_equal(sk_pre_node_delete(b->sw, 50), 0);
}

static void test_no_buffer_for_a_copy(void **state) {
    struct bench *b = *state;
    restart(b, (struct sk_switch_options){.n_packets = 2});
    make_group(b, 5, (const uint16_t[]){1, 2});
    // of ports with a speed: copies wait there, each in a buffer
    const struct sk_port_queue slow = {.speed_mbps = 1};
    assert_int_equal(sk_switch_port_queue(b->sw, 1, &slow), 0);
    assert_int_equal(sk_switch_port_queue(b->sw, 2, &slow), 0);
    const struct toy_wish w = {.flags = TOY_GROUP_A, .group_a = 5};
    send_wish(b, 9, &w, 0);
    sk_switch_run(b->sw, 1000000000);
    // those of 1 and of 3, which is the packet itself, and of 130, which takes no buffer
    assert_int_equal(b->n_sent, 3);
    assert_int_equal(drops(b, SK_DROP_NO_BUFFER), 1);
    check_accounts(b, 2);
}

// A group with the recirculation port in it doubles packets at each pass: it ends all the same.
static void test_multicast_storm(void **state) {
    struct bench *b = *state;
    const uint16_t ports[] = {68}, other[] = {68};
    sk_pre_node_set(b->sw, 1, 1, ports, 1);
    sk_pre_node_set(b->sw, 2, 2, other, 1);
    const struct sk_pre_member members[] = {{.node = 1}, {.node = 2}};
    assert_int_equal(sk_pre_group_set(b->sw, 1, members, 2), 0);
    const struct toy_wish w = {.flags = TOY_GROUP_A, .group_a = 1};
    send_wish(b, 9, &w, 0);
    assert_int_equal(b->n_sent, 0);
    check_accounts(b, 64);
}

// Packets of a port leave in the order in which they came, whatever path others take.
static void test_order(void **state) {
    struct bench *b = *state;
    restart(b, (struct sk_switch_options){.n_packets = 512});
    for (unsigned i = 0; i < 500; i++) {
        const struct toy_wish w = {
            .flags = TOY_UCAST | (i % 3 ? 0 : TOY_BYPASS), .ucast_port = 20, .rid = (uint16_t)i};
        uint8_t frame[64];
        toy_frame(frame, &w);
        sk_switch_rx(b->sw, 6, frame, 64, i);
    }
    sk_switch_run(b->sw, 1000);
    assert_int_equal(b->n_sent, 500);
    for (unsigned i = 0; i < 500; i++)
        assert_int_equal(
            b->sent[i].bytes[TOY_WISH_AT + 14] << 8 | b->sent[i].bytes[TOY_WISH_AT + 15], i);
    check_accounts(b, 512);
}

static void test_pipes_have_their_own_state(void **state) {
    struct bench *b = *state;
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 3};
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (unsigned n = 0; n <= pipe; n++)
            send_wish(b, (uint16_t)(pipe << 7 | 1), &w, 0);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct sk_pipeline_desc *d = sk_switch_pipeline(b->sw, pipe);
        for (unsigned other = 0; other < SK_PIPES; other++)
            assert_int_equal(d->register_read(sk_switch_pipe(b->sw, pipe), 0, other << 7 | 1, 0),
                             other == pipe ? pipe + 1 : 0);
    }
}

static unsigned lose(struct bench *b, double loss, uint64_t seed, uint64_t *fingerprint) {
    const struct toy_wish w = {.flags = TOY_UCAST, .ucast_port = 3};
    sk_switch_faults(b->sw, loss, seed);
    b->n_sent = 0;
    *fingerprint = 0;
    for (int i = 0; i < 500; i++) {
        size_t before = b->n_sent;
        send_wish(b, 1, &w, 0);
        *fingerprint = *fingerprint * 31 + (b->n_sent - before);
    }
    return (unsigned)(500 - b->n_sent);
}

static void test_injected_loss(void **state) {
    struct bench *b = *state;
    uint64_t one, again, other;
    unsigned n = lose(b, 0.1, 1, &one);
    assert_in_range(n, 60, 130); // 19 % of 500 are 95
    assert_int_equal(lose(b, 0.1, 1, &again), n);
    assert_int_equal(one, again);
    lose(b, 0.1, 2, &other);
    assert_int_not_equal(one, other);
    assert_int_equal(lose(b, 0, 1, &one), 0);
    assert_int_equal(lose(b, 1, 1, &one), 500);
    check_accounts(b, 64);
}

static void test_options_refused(void **state) {
    struct bench *b = *state;
    const struct sk_switch_options bad[] = {
        {.tx = NULL},
        {.tx = collect, .packet_bytes = 13},
        {.tx = collect, .packet_bytes = 65000},
        {.tx = collect, .max_recirculation = 256},
        {.tx = collect, .cpu_port = 72},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char error[256] = "";
        assert_null(sk_switch_new(b->prog, &bad[i], error, sizeof error));
        assert_true(strlen(error) > 10);
    }
}

static void test_every_reason_has_a_text(void **state) {
    (void)state;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(sk_drop_text(i), sk_drop_text(j));
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_unicast),
        T(test_ingress_bytes),
        T(test_egress_bytes),
        T(test_length_is_that_of_ingress),
        T(test_enqueue_time_has_18_bits),
        T(test_drop_ctl),
        T(test_drops_by_reason),
        T(test_frames_refused_at_once),
        T(test_port_refuses),
        T(test_resubmit),
        T(test_recirculation),
        T(test_loopback_port),
        T(test_growth),
        T(test_longest_of_a_port),
        T(test_outgrown),
        T(test_multicast),
        T(test_exclusion),
        T(test_first_copy_of_a_pruned_node),
        T(test_replication_engine_errors),
        T(test_no_buffer_for_a_copy),
        T(test_multicast_storm),
        T(test_order),
        T(test_pipes_have_their_own_state),
        T(test_injected_loss),
        T(test_options_refused),
        T(test_every_reason_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
