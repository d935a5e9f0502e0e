// SPDX-License-Identifier: Apache-2.0
//
// Bit fields, arithmetic, hashes and checksums against one-bit-at-a-time versions and published
// check values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/hosts/random.h"
#include "stages/checksum.h"
#include "stages/hash.h"

static bool bit(const uint8_t *p, unsigned i) {
    return p[i / 8] >> (7 - i % 8) & 1;
}

static void test_fields_at_every_offset_and_width(void **state) {
    (void)state;
    struct sk_random r = sk_random_seeded(3);
    for (unsigned offset = 0; offset < 20; offset++)
        for (unsigned width = 1; width <= 128; width++) {
            uint8_t old[20], now[20];
            for (unsigned i = 0; i < sizeof old; i++)
                old[i] = now[i] = (uint8_t)sk_random_below(&r, 256);
            sk_u128 v = sk_bits_get128(old, offset, width);
            for (unsigned i = 0; i < width; i++)
                assert_int_equal((unsigned)(v >> (width - 1 - i)) & 1, bit(old, offset + i));
            sk_u128 w =
                sk_u128_of(sk_random_below(&r, UINT64_MAX), sk_random_below(&r, UINT64_MAX));
            w &= sk_mask128(width);
            sk_bits_put128(now, offset, width, w);
            assert_true(sk_bits_get128(now, offset, width) == w);
            for (unsigned i = 0; i < 8 * sizeof old; i++)
                if (i < offset || i >= offset + width)
                    assert_int_equal(bit(now, i), bit(old, i));
        }
}

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static void test_arithmetic_of_five_bits(void **state) {
    (void)state;
    for (uint64_t a = 0; a < 32; a++)
        for (uint64_t b = 0; b < 32; b++) {
            int64_t sa = sk_signed(a, 5), sb = sk_signed(b, 5);
            assert_int_equal(sk_uadd_sat(a, b, 5), a + b > 31 ? 31 : a + b);
            assert_int_equal(sk_usub_sat(a, b, 5), a < b ? 0 : a - b);
            assert_int_equal(sk_signed(sk_sadd_sat(a, b, 5), 5), clamp(sa + sb, -16, 15));
            assert_int_equal(sk_signed(sk_ssub_sat(a, b, 5), 5), clamp(sa - sb, -16, 15));
            assert_int_equal(sk_slt(a, b, 5), sa < sb);
            assert_int_equal(sk_shl(a, b, 5), b >= 5 ? 0 : a << b & 31);
            assert_int_equal(sk_lshr(a, b, 5), b >= 5 ? 0 : a >> b);
            assert_int_equal(sk_signed(sk_ashr(a, b, 5), 5), sa >> (b > 5 ? 5 : b));
            assert_int_equal((uint64_t)sk_ashr128(a, b, 5), sk_ashr(a, b, 5));
            assert_int_equal((uint64_t)sk_sadd_sat128(a, b, 5), sk_sadd_sat(a, b, 5));
            assert_int_equal(sk_udiv(a, b), b ? a / b : 0);
            assert_int_equal(sk_umod(a, b), b ? a % b : 0);
        }
    uint64_t top = UINT64_C(1) << 63;
    assert_int_equal(sk_sadd_sat(top, top, 64), top);
    assert_int_equal(sk_sadd_sat(top - 1, 1, 64), top - 1);
    assert_int_equal(sk_uadd_sat(UINT64_MAX, 1, 64), UINT64_MAX);
    assert_int_equal(sk_shl(1, 64, 64), 0);
    assert_int_equal(sk_ashr(top, 200, 64), UINT64_MAX);
    assert_true(sk_uadd_sat128(~(sk_u128)0, 2, 128) == ~(sk_u128)0);
    assert_true(sk_signed128((sk_u128)1 << 127, 128) < 0);
}

// The catalogue's check values: the CRC of the nine digits.
static void test_crc_check_values(void **state) {
    (void)state;
    const struct {
        unsigned width;
        uint64_t coeff;
        bool reflect;
        uint64_t init, xor_out, check;
    } crcs[] = {
        {8, 0x07, false, 0, 0, 0xf4},                                // CRC-8/SMBUS
        {3, 0x3, false, 0, 7, 0x4},                                  // CRC-3/GSM
        {3, 0x3, true, 7, 0, 0x6},                                   // CRC-3/ROHC
        {4, 0x3, false, 0xf, 0xf, 0xb},                              // CRC-4/INTERLAKEN
        {5, 0x09, false, 0x09, 0, 0x00},                             // CRC-5/EPC-C1G2
        {5, 0x05, true, 0x1f, 0x1f, 0x19},                           // CRC-5/USB
        {7, 0x09, false, 0, 0, 0x75},                                // CRC-7/MMC
        {10, 0x233, false, 0, 0, 0x199},                             // CRC-10/ATM
        {15, 0x4599, false, 0, 0, 0x059e},                           // CRC-15/CAN
        {24, 0x864cfb, false, 0xb704ce, 0, 0x21cf02},                // CRC-24/OPENPGP
        {24, 0x00065b, true, 0x555555, 0, 0xc25a56},                 // CRC-24/BLE
        {31, 0x04c11db7, false, 0x7fffffff, 0x7fffffff, 0x0ce9e46c}, // CRC-31/PHILIPS
        {40, 0x0004820009, false, 0, 0xffffffffff, 0xd4164fc646},    // CRC-40/GSM
        {8, 0x31, true, 0, 0, 0xa1},                                 // CRC-8/MAXIM-DOW
        {16, 0x1021, false, 0, 0, 0x31c3},                           // CRC-16/XMODEM
        {16, 0x8005, true, 0xffff, 0, 0x4b37},                       // CRC-16/MODBUS
        {32, 0x04c11db7, false, 0xffffffff, 0, 0x0376e6e7},          // CRC-32/MPEG-2
        {16, 0x8005, true, 0, 0, 0xbb3d},                            // CRC-16/ARC
        {16, 0x1021, false, 0xffff, 0, 0x29b1},                      // CRC-16/IBM-3740
        {16, 0x1021, true, 0xb2aa, 0, 0x63d0},                       // CRC-16/RIELLO: init reflects
        {32, 0x04c11db7, true, 0xffffffff, 0xffffffff, 0xcbf43926},  // CRC-32/ISO-HDLC
        {32, 0x1edc6f41, true, 0xffffffff, 0xffffffff, 0xe3069283},  // CRC-32/ISCSI
        {32, 0x04c11db7, false, 0xffffffff, 0xffffffff, 0xfc891918}, // CRC-32/BZIP2
        {64, 0x42f0e1eba9ea3693, false, 0, 0, 0x6c40df5f0b497347},   // CRC-64/ECMA-182
        {64, 0x42f0e1eba9ea3693, true, UINT64_MAX, UINT64_MAX, 0x995dc9bbdf1939fa}, // CRC-64/XZ
    };
    for (size_t i = 0; i < sizeof crcs / sizeof *crcs; i++) {
        uint64_t table[256];
        sk_crc_table(table, crcs[i].width, crcs[i].coeff, crcs[i].reflect);
        uint64_t start = sk_crc_start(crcs[i].width, crcs[i].reflect, crcs[i].init);
        uint64_t crc = sk_crc(table, crcs[i].width, crcs[i].reflect, start, crcs[i].xor_out,
                              (const uint8_t *)"123456789", 9);
        assert_int_equal(crc, crcs[i].check);
    }
    assert_true(sk_crc_widen(0xab, 8, 4, true) == 0xb);
    assert_true(sk_crc_widen(0xab, 8, 20, true) == 0xbabab);
    assert_true(sk_crc_widen(0xab, 8, 20, false) == 0xab);
}

static void set_entry(uint8_t *table, unsigned bytes, unsigned i, uint64_t v) {
    memcpy(table + (size_t)i * bytes, &v, bytes); // little endian, as the machine is
}

static void test_crc_slices(void **state) {
    (void)state;
    _Alignas(8) static uint8_t tables[SK_CRC_SLICES * 256 * 8];
    uint64_t table[256];
    for (unsigned width = 1; width <= 64; width++)
        for (int reflect = width < 8; reflect < 2; reflect++) {
            const uint64_t coeff = 0x42f0e1eba9ea3693 & sk_mask(width),
                           init = 0x9e3779b97f4a7c15 & sk_mask(width), out = ~init & sk_mask(width);
            const unsigned bytes = width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : 8;
            sk_crc_table(table, width, coeff, reflect);
            for (unsigned i = 0; i < 256; i++)
                set_entry(tables, bytes, i, table[i]);
            for (unsigned i = 256; i < SK_CRC_SLICES * 256; i++) { // with zero bytes behind it
                const uint8_t message[SK_CRC_SLICES] = {(uint8_t)i};
                set_entry(tables, bytes, i,
                          sk_crc(table, width, reflect, 0, 0, message, i / 256 + 1));
            }
            uint8_t message[41];
            for (size_t i = 0; i < sizeof message; i++)
                message[i] = (uint8_t)(i * 37 + width * 11 + 5);
            const uint64_t start = sk_crc_start(width, reflect, init);
            for (size_t n = 0; n <= sizeof message; n++)
                assert_int_equal(
                    sk_crc_sliced(tables, bytes, width, reflect, start, out, message, n),
                    sk_crc(table, width, reflect, start, out, message, n));
        }
}

static void test_other_hashes(void **state) {
    (void)state;
    const uint8_t d[] = {1, 2, 3, 4, 5};
    assert_int_equal(sk_hash_xor(8, d, 40), 1 ^ 2 ^ 3 ^ 4 ^ 5);
    assert_int_equal(sk_hash_xor(16, d, 40), 0x0102 ^ 0x0304 ^ 0x0500);
    assert_int_equal(sk_hash_xor(32, d, 40), 0x01020304 ^ 0x05000000);
    // 33 bits: 0x1 0x02030405
    assert_int_equal(sk_hash_xor(8, d, 33), 0x81 ^ 0x01 ^ 0x82 ^ 0x02 ^ 0x80);
    assert_int_equal(sk_hash_xor(16, d, 33), 0x8101 ^ 0x8202 ^ 0x8000);
    assert_int_equal(sk_hash_xor(32, d, 33), 0x81018202 ^ 0x80000000);
    assert_true(sk_hash_identity(d, 5) == 0x0102030405);
    // linear, and blind to zeros in front
    const uint8_t e[] = {9, 8, 7, 6, 5};
    uint8_t x[6] = {0};
    for (int i = 0; i < 5; i++)
        x[i + 1] = (uint8_t)(d[i] ^ e[i]);
    assert_true((sk_hash_random(d, 5) ^ sk_hash_random(e, 5)) == sk_hash_random(x, 6));
    uint64_t s = sk_prng_seed(0, 0);
    assert_int_not_equal(sk_prng_next(&s), sk_prng_next(&s));
}

static void test_checksum(void **state) {
    (void)state;
    // RFC 1071's example
    const uint8_t d[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    assert_int_equal(sk_csum_fold(sk_csum_bytes(0, d, 8)), 0xddf2);
    assert_int_equal(sk_csum_result(sk_csum_bytes(0, d, 8), false), 0x220d);
    assert_int_equal(sk_csum_fold(sk_csum_add(0, UINT64_C(0x0001f203f4f5f6f7))), 0xddf2);
    assert_false(sk_csum_wrong(sk_csum_add(sk_csum_bytes(0, d, 8), 0x220d)));
    assert_true(sk_csum_wrong(sk_csum_add(sk_csum_bytes(0, d, 8), 0x220e)));
    assert_int_equal(sk_csum_result(0xffff, true), 0xffff);
    assert_int_equal(sk_csum_result(0xffff, false), 0);
    assert_int_equal(sk_csum_fold(sk_csum_bytes(0, d, 3)), 0xf201);
    // the complements of the words; zero only when all are ones
    const uint8_t ones[] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0xff, 0xff};
    assert_int_equal(sk_csum_fold(sk_csum_subtract_bytes(d, 8)), 0x220d);
    assert_int_equal(sk_csum_fold(sk_csum_subtract_bytes(d + 2, 1)), 0x0dff);
    assert_int_equal(sk_csum_fold(sk_csum_subtract_bytes(ones, 4)), 0);
    assert_int_equal(sk_csum_fold(sk_csum_subtract_bytes(ones + 6, 2)), 0);
    assert_int_equal(sk_csum_fold(sk_csum_subtract_bytes(ones, 6)), 0xffff);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_at_every_offset_and_width),
        cmocka_unit_test(test_arithmetic_of_five_bits),
        cmocka_unit_test(test_crc_check_values),
        cmocka_unit_test(test_crc_slices),
        cmocka_unit_test(test_other_hashes),
        cmocka_unit_test(test_checksum),
    };
    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
