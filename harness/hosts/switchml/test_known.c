// SPDX-License-Identifier: Apache-2.0
//
// The check with a memory (frame.h) gives the verdict of the one without, whatever frames came
// before: answers with other headers that are fine as well, and damaged ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/random.h"
#include "hosts/switchml/frame.h"
#include "hosts/core/udp.h"

#define TTL_AT      22
#define CHECKSUM_AT 24
#define UDP_SUM_AT  40

static const struct swml_flow flow = {
    .worker = {{2, 0, 0, 0, 1, 0}, 0xbee1, 0x0a000001},
    .fabric = {{2, 0, 0, 0, 0, 0xfe}, 0xbee0, 0x0a0000fe},
    .job = 7,
    .k = 32,
};

static void set_ttl(uint8_t *frame, uint8_t ttl) {
    uint16_t sum;

    frame[TTL_AT] = ttl;
    memset(frame + CHECKSUM_AT, 0, 2);
    sum = sk_checksum(frame + 14, 20);
    frame[CHECKSUM_AT] = (uint8_t)(sum >> 8);
    frame[CHECKSUM_AT + 1] = (uint8_t)sum;
}

// RFC 1071, section 4.1, in steps of two bytes, for any length, place and content.
static void test_checksum(void **state) {
    static uint8_t bytes[9100];
    struct sk_random r = sk_random_seeded(5);

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        size_t at = sk_random_below(&r, 8);
        size_t len = sk_random_below(&r, i % 100 ? 80 : sizeof bytes - 8);
        uint64_t sum = 0, kind = sk_random_below(&r, 3);

        for (size_t k = 0; k < len; k++)
            bytes[at + k] = kind == 0 ? 0xff : kind == 1 ? 0 : (uint8_t)sk_random_next(&r);
        for (size_t k = 0; k < len; k++)
            sum += (uint64_t)bytes[at + k] << (k % 2 ? 0 : 8);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        assert_int_equal(sk_checksum(bytes + at, len), (uint16_t)~sum);
    }
}

// An answer with a time to live of its own, now and then with a wrong bit, cut, or with a UDP
// checksum, which is then wrong. Returns its length.
static size_t any_answer(struct sk_random *r, uint8_t *frame) {
    const struct swml_flow back = {flow.fabric, flow.worker, flow.job, flow.k, flow.halves};
    const bool brief = sk_random_below(r, 4) == 0;
    const struct swml_chunk chunk = {
        .slot = (uint16_t)sk_random_below(r, 16384),
        .version = sk_random_below(r, 2),
        .e0 = 3,
        .tsi = (uint32_t)sk_random_next(r),
        .message =
            sk_random_below(r, 3) ? SWML_DATA : (enum swml_message)(12 + sk_random_below(r, 4)),
        .audience = (uint8_t)sk_random_below(r, 65)};
    size_t len = swml_frame_bytes(&flow);

    memset(frame, (int)sk_random_below(r, 256), len);
    if (brief)
        swml_frame_init_empty(frame, &back);
    else
        swml_frame_init(frame, &back);
    swml_frame_set_chunk(frame, &chunk);
    set_ttl(frame, (uint8_t)(60 + sk_random_below(r, 3)));
    if (sk_random_below(r, 3) == 0)
        frame[sk_random_below(r, SWML_HEADER_BYTES)] ^= (uint8_t)(1u << sk_random_below(r, 8));
    if (sk_random_below(r, 16) == 0)
        frame[UDP_SUM_AT] = 1;
    return sk_random_below(r, 16) ? len : sk_random_below(r, len);
}

static void test_same_verdict(void **state) {
    struct sk_random r = sk_random_seeded(11);
    unsigned accepted = 0, refused = 0;
    struct swml_known known;

    (void)state;
    swml_known_init(&known, &flow);
    for (int i = 0; i < 200000; i++) {
        uint8_t frame[SWML_MAX_FRAME];
        size_t len = any_answer(&r, frame);
        struct swml_chunk a = {0}, b = {0};
        enum swml_reason plain = swml_frame_check(&flow, frame, len, &a);
        assert_int_equal(plain, swml_frame_check_known(&flow, &known, frame, len, &b));
        assert_int_equal(a.slot, b.slot);
        assert_int_equal(a.version, b.version);
        assert_int_equal(a.tsi, b.tsi);
        assert_int_equal(a.e0, b.e0);
        *(plain == SWML_ACCEPTED ? &accepted : &refused) += 1;
    }
    assert_true(accepted > 50000 && refused > 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_same_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
