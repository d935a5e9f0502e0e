// SPDX-License-Identifier: Apache-2.0
//
// p4/switchml/halves.p4 against hosts/core/halves.c, bit for bit, in the fast, the checked and the
// scalar build: each of the 65,536 halves alone, and pairs of them (PAIRS of them a build, in the
// environment; 60,000), random ones and such of like magnitude. And what that model itself says,
// against arithmetic: numbers are exact, and of sums the nearest half comes out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "harness/hosts/netsim.h"
#include "harness/hosts/random.h"
#include "harness/hosts/switchml/p4_switch.h"
#include "hosts/core/halves.h"
#include "hosts/core/quantise.h"
#include "hosts/core/wire_type.h"

#define HALVES  65536u
#define K       256u
#define WORKERS 2u

// ---- the model ----

static void test_numbers_are_exact(void **state) {
    (void)state;
    for (uint32_t h = 0; h < HALVES; h++) {
        const double value = (double)sk_f16_value((uint16_t)h);
        const int32_t number = sk_half_number((uint16_t)h);
        if (fabs(value) < 2)
            assert_true(value == ldexp(number, -24));
        else // NaN, too
            assert_int_equal(SK_HALF_OUT, number);
    }
}

// The nearest of the two halves around it, of equally near ones the larger.
static void expect_nearest(int32_t sum) {
    const double exact = ldexp(sum, -24);
    const uint16_t half = sk_half_of_sum(sum);
    const double value = (double)sk_f16_value(half);
    // the neighbours: magnitudes follow each other as integers do
    const uint16_t magnitude = half & 0x7fff, sign = half & 0x8000;
    const double above = (double)sk_f16_value((uint16_t)(sign | (magnitude + 1u)));
    const double below = magnitude ? (double)sk_f16_value((uint16_t)(sign | (magnitude - 1u)))
                                   : -(double)sk_f16_value(1);
    const double neighbours[] = {above, below};

    for (unsigned i = 0; i < 2; i++) {
        const double d = fabs(value - exact), other = fabs(neighbours[i] - exact);
        if (d > other || (d == other && neighbours[i] > value))
            fail_msg("%d: %04x", sum, half);
    }
}

static void test_sums_are_rounded_to_the_nearest(void **state) {
    struct sk_random random = sk_random_seeded(7);

    (void)state;
    for (int32_t sum = -70000; sum <= 70000; sum++)
        expect_nearest(sum);
    for (int places = 16; places < 30; places++)
        for (int32_t d = -3000; d <= 3000; d++) {
            expect_nearest((1 << places) + d);
            expect_nearest(-(1 << places) + d);
        }
    for (unsigned i = 0; i < 2000000; i++) {
        const uint64_t bits = sk_random_next(&random);
        expect_nearest(((int32_t)bits >> 1) >> (bits >> 32) % 30);
    }
    assert_int_equal(0, sk_half_of_sum(0));
    assert_int_equal(SK_HALF_NAN, sk_half_of_sum(1 << 30));
    assert_int_equal(SK_HALF_NAN, sk_half_of_sum(INT32_MIN));
}

// One number out of range stays so, whatever the others add; the largest sum of numbers is one.
static void test_what_is_out_of_range_stays_so(void **state) {
    const int32_t largest = sk_half_number(0x3fff), least = sk_half_number(0xbfff);

    (void)state;
    for (unsigned at = 0; at < SK_HALF_WORKERS; at++) {
        int32_t up = 0, down = 0, sum = 0;
        for (unsigned w = 0; w < SK_HALF_WORKERS; w++) {
            up = sk_half_add(up, w == at ? SK_HALF_OUT : largest);
            down = sk_half_add(down, w == at ? SK_HALF_OUT : least);
            sum = sk_half_add(sum, w & 1 && at & 1 ? least : largest);
        }
        assert_int_equal(SK_HALF_NAN, sk_half_of_sum(up));
        assert_int_equal(SK_HALF_NAN, sk_half_of_sum(down));
        assert_int_not_equal(SK_HALF_NAN, sk_half_of_sum(sum));
    }
}

// ---- blocks ----

static void test_conversions_agree(void **state) {
    struct sk_random random = sk_random_seeded(11);
    float in[67], out[67];
    uint8_t wire[2 * 67];
    uint16_t halves[67], back[67];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        const int8_t m = (int8_t)((int)sk_random_below(&random, 250) - 126);
        const struct sk_half_scale scale = sk_half_scale_f32(m);
        const size_t n = 1 + sk_random_below(&random, 67);
        for (size_t i = 0; i < n; i++)
            in[i] = ldexpf((float)(int32_t)sk_random_next(&random),
                           m - 31 - (int)sk_random_below(&random, 30));
        sk_halves_from_f32(wire, in, n, scale.factor);
        sk_halves_to_f32(out, wire, n, scale.inverse);
        for (size_t i = 0; i < n; i++) {
            const uint16_t half = (uint16_t)(wire[2 * i] << 8 | wire[2 * i + 1]);
            const float value = sk_f16_value(half) * scale.inverse;
            assert_int_equal(sk_f16_nearest(in[i] * scale.factor), half);
            assert_memory_equal(&value, &out[i], sizeof value);
            halves[i] = half;
        }
        sk_halves_from_f16(wire, halves, n, 1);
        sk_halves_to_f16(back, wire, n, 1);
        assert_memory_equal(halves, back, n * sizeof *halves);
    }
}

static void test_exponents_of_blocks(void **state) {
    (void)state;
    for (uint32_t h = 0; h < HALVES; h++) {
        const uint16_t block[2] = {(uint16_t)h, 0};
        const int8_t m = sk_halves_exponent(block, 2);
        const double value = fabs((double)sk_f16_value((uint16_t)h));
        if (value == 0)
            assert_int_equal(-128, m);
        else if (!isfinite(value))
            assert_int_equal(127, m);
        else
            assert_true(value < ldexp(1, m) && value >= ldexp(1, m - 1));
    }
}

// ---- errors, as docs/training.md lists them ----

#define BLOCKS 400
#define MOST   32u

enum errors_way { F32_INTEGERS, F32_HALVES, F16_HALVES, BF16_HALVES, ERRORS_WAYS };

// Numbers as gradients have them: of one size, or of sizes from 1 to 2^-20 of the largest.
static float errors_number(struct sk_random *random, bool wide) {
    const double u = (double)sk_random_below(random, 1u << 24) * 0x1p-24 - 0.5;
    double sum = u;

    if (wide)
        return (float)(u * ldexp(1e-3, -(int)sk_random_below(random, 20)));
    for (unsigned i = 0; i < 11; i++) // nearly normal
        sum += (double)sk_random_below(random, 1u << 24) * 0x1p-24 - 0.5;
    return (float)(sum * 1e-3);
}

// One worker's block as what the switch adds up.
static void errors_send(enum errors_way way, const float *x, int8_t m, unsigned n, int32_t *sums) {
    const struct sk_quantise *q = sk_quantise_best();
    uint8_t wire[4 * K];
    int32_t whole[K];

    if (way == F32_INTEGERS) {
        q->f32_to_wire(wire, x, K, sk_block_factor(m, n));
        q->wire_to_i32(whole, wire, K);
    } else {
        const float factor =
            way == F16_HALVES ? sk_half_scale_f16(m).factor : sk_half_scale_f32(m).factor;
        sk_halves_from_f32(wire, x, K, factor);
        for (unsigned i = 0; i < K; i++)
            whole[i] = sk_half_number((uint16_t)(wire[2 * i] << 8 | wire[2 * i + 1]));
    }
    for (unsigned i = 0; i < K; i++)
        sums[i] = sk_half_add(sums[i], whole[i]);
}

static double errors_result(enum errors_way way, int32_t sum, int8_t m, unsigned n) {
    float value;

    if (way == F32_INTEGERS)
        return (double)(float)(sum * sk_block_inverse(m, n));
    value = sk_f16_value(sk_half_of_sum(sum)) *
            (way == F16_HALVES ? sk_half_scale_f16(m).inverse : sk_half_scale_f32(m).inverse);
    return (double)(way == BF16_HALVES ? sk_bf16_value(sk_bf16_nearest(value)) : value);
}

// Root mean square of the errors over that of the exact sums of what the workers have.
static double errors_of(enum errors_way way, bool wide, unsigned n) {
    struct sk_random random = sk_random_seeded(way + 10 * n + wide);
    static float x[MOST][K];
    double errors = 0, squares = 0;

    for (unsigned b = 0; b < BLOCKS; b++) {
        int32_t sums[K] = {0};
        int8_t m = SK_EXPONENT_ZERO;
        for (unsigned w = 0; w < n; w++) {
            for (unsigned i = 0; i < K; i++) {
                const float value = errors_number(&random, wide);
                x[w][i] = way == F16_HALVES    ? sk_f16_value(sk_f16_nearest(value))
                          : way == BF16_HALVES ? sk_bf16_value(sk_bf16_nearest(value))
                                               : value;
            }
            const int8_t own = sk_block_exponent(sk_quantise_best()->max_abs_bits(x[w], K));
            m = own > m ? own : m;
        }
        for (unsigned w = 0; w < n; w++)
            errors_send(way, x[w], m, n, sums);
        for (unsigned i = 0; i < K; i++) {
            double exact = 0;
            for (unsigned w = 0; w < n; w++)
                exact += (double)x[w][i];
            const double error = errors_result(way, sums[i], m, n) - exact;
            errors += error * error;
            squares += exact * exact;
        }
    }
    return sqrt(errors / squares);
}

static void test_errors(void **state) {
    static const char *const names[] = {"f32, integers", "f32, halves", "f16, halves",
                                        "bf16, halves"};
    static const double most[] = {1e-7, 5e-4, 5e-4, 4e-3};

    (void)state;
    for (unsigned way = 0; way < ERRORS_WAYS; way++)
        for (unsigned wide = 0; wide < 2; wide++) {
            double got[3];
            for (unsigned i = 0; i < 3; i++) {
                got[i] = errors_of((enum errors_way)way, wide, 2u << (2 * i));
                assert_true(got[i] < most[way] && got[i] > 0);
            }
            print_message("%-13s %-9s 2 workers %.2e, 8 %.2e, 32 %.2e\n", names[way],
                          wide ? "wide" : "one size", got[0], got[1], got[2]);
        }
}

// ---- the program ----

struct rig {
    struct switch_under_test sut;
    struct sut_job job;
    uint32_t uses;
    uint16_t halves[WORKERS][K]; // what waits to be sent
    unsigned n;
    unsigned answers;
    uint16_t got[K];
};

static void rig_emit(void *context, unsigned port, const uint8_t *frame, size_t len) {
    struct rig *r = context;
    struct swml_chunk chunk;

    assert_int_equal(SWML_ACCEPTED, swml_frame_check(&r->job.flow[port], frame, len, &chunk));
    for (unsigned i = 0; i < K; i++)
        r->got[i] = (uint16_t)(frame[SWML_HEADER_BYTES + 2 * i] << 8 |
                               frame[SWML_HEADER_BYTES + 2 * i + 1]);
    r->answers++;
}

static void rig_begin(struct rig *r, enum net_build build) {
    *r = (struct rig){.sut = p4_switch_of_halves(true, build),
                      .job = netsim_default_job(WORKERS, K, 0, 8)};
    for (unsigned w = 0; w < WORKERS; w++)
        r->job.flow[w].halves = true;
    assert_int_equal(0, r->sut.reset(r->sut.state, &r->job));
}

static void rig_flush(struct rig *r) {
    r->answers = 0;
    for (unsigned w = 0; w < WORKERS; w++) {
        uint8_t frame[SWML_MAX_FRAME];
        const struct swml_chunk chunk = {
            .slot = (uint16_t)(r->uses / 2 % 8), .version = r->uses & 1, .tsi = r->uses};
        swml_frame_init(frame, &r->job.flow[w]);
        swml_frame_set_chunk(frame, &chunk);
        sk_halves_from_f16(frame + SWML_HEADER_BYTES, r->halves[w], K, 1);
        r->sut.deliver(r->sut.state, w, frame, swml_frame_bytes(&r->job.flow[w]), 0, rig_emit, r);
    }
    r->uses++;
    assert_int_equal(WORKERS, r->answers);
    for (unsigned i = 0; i < r->n; i++) {
        const uint16_t a = r->halves[0][i], b = r->halves[1][i];
        const uint16_t want = sk_half_of_sum(sk_half_add(sk_half_number(a), sk_half_number(b)));
        if (r->got[i] != want)
            fail_msg("%04x + %04x: %04x, not %04x", a, b, r->got[i], want);
    }
    r->n = 0;
}

static void rig_pair(struct rig *r, uint32_t a, uint32_t b) {
    r->halves[0][r->n] = (uint16_t)a;
    r->halves[1][r->n] = (uint16_t)b;
    if (++r->n == K)
        rig_flush(r);
}

static void rig_end(struct rig *r) {
    if (r->n > 0)
        rig_flush(r);
    r->sut.free(r->sut.state);
}

static void expect_program(enum net_build build) {
    struct sk_random random = sk_random_seeded(build + 1);
    const char *text = getenv("PAIRS");
    const uint64_t pairs = text ? strtoull(text, NULL, 10) : 60000;
    struct rig r;

    rig_begin(&r, build);
    for (uint32_t h = 0; h < HALVES; h++) {
        rig_pair(&r, h, 0);
        rig_pair(&r, h, h);
    }
    for (uint64_t i = 0; i < pairs; i++) {
        const uint64_t bits = sk_random_next(&random);
        const uint32_t a = bits & 0xffff, b = bits >> 16 & 0xffff;
        // every other one: magnitudes of numbers, near each other
        if (i & 1)
            rig_pair(&r, a & 0xbfff, ((a & 0x3c00) - (bits >> 32 & 0x0c00)) ^ (b & 0x83ff));
        else
            rig_pair(&r, a, b);
    }
    rig_end(&r);
}

static void test_fast(void **state) {
    (void)state;
    expect_program(NET_FAST);
}

static void test_checked(void **state) {
    (void)state;
    expect_program(NET_CHECKED);
}

static void test_scalar(void **state) {
    (void)state;
    expect_program(NET_SCALAR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_sums_are_rounded_to_the_nearest),
        cmocka_unit_test(test_what_is_out_of_range_stays_so),
        cmocka_unit_test(test_conversions_agree),
        cmocka_unit_test(test_exponents_of_blocks),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_fast),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
