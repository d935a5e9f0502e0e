// SPDX-License-Identifier: Apache-2.0
//
// Invariant CRCs of RoCEv2 (@silken_invariant_crc): frames of a burst, and frames that stay where
// they are, are taken in or not as each by itself, and copies leave as each copy by itself would;
// all that is sent has the CRC that the definition gives, bit by bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/net/program.h"
#include "harness/pipeline/sides.h"
#include "pipeline/switch/core.h"
#include "wire/roce.h"

#define LONGEST 900u
#define FRAME   1024u

static uint32_t crc_by_definition(const uint8_t *frame) {
    const uint8_t *const end = roce_crc_of(frame);
    uint32_t crc = UINT32_MAX;
    for (int i = -8; i < end - frame - ROCE_IPV4_AT; i++) {
        const bool ones =
            i < 0 || i == 1 || i == 8 || i == 10 || i == 11 || i == 26 || i == 27 || i == 32;
        crc ^= ones ? 0xff : frame[ROCE_IPV4_AT + i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t crc_there(const uint8_t *frame) {
    const uint8_t *const at = roce_crc_of(frame);
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// Most are of RoCEv2, of these most with a right CRC, and most bursts of few lengths.
static uint32_t make_frame(uint8_t *frame, uint64_t *random, uint32_t usual) {
    static const uint8_t opcodes[] = {0x26, 0x27, 0x29, 0x2a, 0x2b};
    static const uint16_t ports[] = {1, 2, 3, 7, 130, 387, 8};
    const uint32_t bytes = side_draw(random) % 4 ? usual : side_draw(random) % 840;
    const uint32_t ipv4 = 28 + 12 + bytes + 4, padding = side_draw(random) % 4 ? 0 : 2;
    const bool copied = side_draw(random) % 4;
    for (unsigned i = 0; i < FRAME; i++)
        frame[i] = (uint8_t)side_draw(random);
    frame[0] = copied ? 1 + side_draw(random) % 8 / 7 : 0;
    const uint16_t where = copied ? 1 + side_draw(random) % 2 : ports[side_draw(random) % 7];
    frame[4] = (uint8_t)(where >> 8);
    frame[5] = (uint8_t)where;
    memcpy(frame + 12, "\x08\x00\x45", 3);
    frame[16] = (uint8_t)(ipv4 >> 8);
    frame[17] = (uint8_t)ipv4;
    memcpy(frame + 20, "\x40\x00", 2);
    frame[23] = 17;
    memcpy(frame + 36, "\x12\xb7", 2);
    frame[42] = opcodes[side_draw(random) % 5];
    const uint32_t length = ROCE_IPV4_AT + ipv4 + padding;
    const uint32_t crc = crc_by_definition(frame);
    for (unsigned i = 0; i < 4; i++)
        roce_crc_of(frame)[i] = (uint8_t)(crc >> 8 * i);
    switch (side_draw(random) % 24) {
    case 0: // damaged, where the CRC covers it or where not
        frame[side_draw(random) % length] ^= 1u << side_draw(random) % 8;
        break;
    case 1: // its end is missing
        return side_draw(random) % 2 ? length - padding - 1 : 42 + side_draw(random) % 16;
    case 2: // no RoCE
        frame[37]++;
        break;
    case 3:
        return 13;
    default:
        break;
    }
    return length;
}

// What was sent: how many frames of RoCEv2, of which each has a right CRC.
static uint64_t check_sent(const struct side *s) {
    uint64_t n = 0;
    for (unsigned port = 0; port < SK_PORTS; port++) {
        uint32_t length;
        for (size_t at = 0; at < s->port[port].n; at += sizeof length + length) {
            memcpy(&length, s->port[port].bytes + at, sizeof length);
            const uint8_t *const frame = s->port[port].bytes + at + sizeof length;
            if (!roce_is(frame, length))
                continue;
            assert_int_equal(crc_there(frame), crc_by_definition(frame));
            n++;
        }
    }
    return n;
}

static void run_round(struct side *one, struct side *burst, struct side *lent, uint64_t *random,
                      uint64_t now) {
    static const uint16_t in[] = {1, 2, 9, 140, 260, 400};
    static uint8_t memory[SK_LENT_FRONT + SIDE_BURST * FRAME + SK_LENT_BEHIND];
    struct sk_lent_frame frames[SIDE_BURST];
    struct sk_packet *packets[SIDE_BURST];
    const uint16_t port = in[side_draw(random) % 6];
    const unsigned n = 1 + side_draw(random) % SIDE_BURST;
    const uint32_t usual = side_draw(random) % 840;
    uint8_t *at = memory + SK_LENT_FRONT;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t length = make_frame(at, random, usual);
        frames[i] = (struct sk_lent_frame){now, at, length, port};
        at += length; // the next one lies right after it
        packets[i] = side_get(burst);
        assert_non_null(packets[i]);
        packets[i]->head = SK_POOL_START;
        packets[i]->len = length;
        memcpy(packets[i]->buf + SK_POOL_START, frames[i].bytes, length);
        sk_switch_rx(one->sw, port, frames[i].bytes, length, now);
        sk_switch_run(one->sw, now);
    }
    sk_core_rx_burst(sk_switch_core(burst->sw, 0), port, packets, n, now);
    sk_core_rx_lent(sk_switch_core(lent->sw, 0), frames, n);
    sk_switch_run(lent->sw, now);
    sides_check_same(one, burst);
    sides_check_same(one, lent);
}

static void test_program(const char *path) {
    struct sk_program *prog = net_program(path);
    struct side *one = side_start(prog, false), *burst = side_start(prog, true),
                *lent = side_start(prog, false);
    uint64_t random = 1, now = 1000;
    for (unsigned round = 0; round < 150; round++)
        run_round(one, burst, lent, &random, now += 1000);
    assert_true(check_sent(one) > 3000);
    struct sk_switch_stats s;
    sk_switch_stats(one->sw, &s);
    assert_true(s.drops[SK_DROP_ROCE_CRC] > 50);
    side_end(one);
    side_end(burst);
    side_end(lent);
    sk_program_free(prog);
}

static void test_much_is_changed(void **state) {
    (void)state;
    test_program("harness/pipeline/switch/roce_crcs.p4");
}

static void test_little_is_changed(void **state) {
    (void)state;
    test_program("harness/pipeline/switch/roce_crcs_little.p4");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_much_is_changed),
                                       cmocka_unit_test(test_little_is_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
