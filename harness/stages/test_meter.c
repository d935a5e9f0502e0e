// SPDX-License-Identifier: Apache-2.0
//
// Meters against a model of RFC 2698 in rational numbers of bytes and seconds; filters against
// exp() of the C library and against values published with the driver's tests.
#include <gmp.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stages/hash.h"
#include "stages/meter.h"

#define WRAP (UINT64_C(1) << 48)

// ---- the model: buckets in bytes (or packets), rates in bytes a second, all fractions ----

struct model {
    mpq_t c, p, cir, pir, cbs, pbs, last;
    bool started;
};

static void set_u64(mpq_t q, uint64_t v) {
    mpz_import(mpq_numref(q), 1, 1, sizeof v, 0, 0, &v);
    mpz_set_ui(mpq_denref(q), 1);
}

static void set_ratio(mpq_t q, uint64_t n, uint64_t factor, uint64_t divisor) {
    mpq_t f;
    mpq_init(f);
    set_u64(q, n);
    set_u64(f, factor);
    mpq_mul(q, q, f);
    set_u64(f, divisor);
    mpq_div(q, q, f);
    mpq_clear(f);
}

static void model_set(struct model *m, const struct sk_rate_spec *s, bool bytes) {
    mpq_t *all[] = {&m->c, &m->p, &m->cir, &m->pir, &m->cbs, &m->pbs, &m->last};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mpq_init(*all[i]);
    // a kilobit is 1000 bits is 125 bytes
    set_ratio(m->cir, s->cir, bytes ? 125 : 1, 1);
    set_ratio(m->pir, s->pir, bytes ? 125 : 1, 1);
    set_ratio(m->cbs, s->cbs, bytes ? 125 : 1, 1);
    set_ratio(m->pbs, s->pbs, bytes ? 125 : 1, 1);
    mpq_set(m->c, m->cbs);
    mpq_set(m->p, m->pbs);
    m->started = false;
}

static void model_clear(struct model *m) {
    mpq_clears(m->c, m->p, m->cir, m->pir, m->cbs, m->pbs, m->last, NULL);
}

static void model_fill(mpq_t bucket, const mpq_t rate, const mpq_t seconds, const mpq_t full) {
    mpq_t gain;
    mpq_init(gain);
    mpq_mul(gain, rate, seconds);
    mpq_add(bucket, bucket, gain);
    if (mpq_cmp(bucket, full) > 0)
        mpq_set(bucket, full);
    mpq_clear(gain);
}

// 'ns' counts on and does not wrap.
static enum sk_color model_mark(struct model *m, uint64_t ns, uint64_t size, enum sk_color came) {
    enum sk_color result = SK_RED;
    mpq_t now, b, seconds;
    mpq_inits(now, b, seconds, NULL);
    set_ratio(now, ns, 1, 1000000000);
    set_u64(b, size);
    if (m->started) {
        mpq_sub(seconds, now, m->last);
        model_fill(m->c, m->cir, seconds, m->cbs);
        model_fill(m->p, m->pir, seconds, m->pbs);
    }
    m->started = true;
    mpq_set(m->last, now);
    if (came != SK_RED && mpq_cmp(m->p, b) >= 0) {
        mpq_sub(m->p, m->p, b);
        result = SK_YELLOW;
        if (came == SK_GREEN && mpq_cmp(m->c, b) >= 0) {
            mpq_sub(m->c, m->c, b);
            result = SK_GREEN;
        }
    }
    mpq_clears(now, b, seconds, NULL);
    return result;
}

// ---- random schedules ----

static uint64_t state = 12345;

static uint64_t below(uint64_t n) {
    return sk_prng_next(&state) % n;
}

static uint64_t rough(uint64_t max) { // of any size
    return sk_prng_next(&state) >> below(64) & (max - 1);
}

static void one_schedule(bool bytes, unsigned packets) {
    struct sk_rate_spec s = {.cir = rough(UINT64_C(1) << 39),
                             .cbs = rough(UINT64_C(1) << 33),
                             .pbs = rough(UINT64_C(1) << 33)};
    s.pir = s.cir + rough(UINT64_C(1) << 38);
    struct sk_meter_cell cell;
    struct model m;
    uint64_t ns = rough(WRAP), gap = UINT64_C(1) << below(40);
    sk_meter_set(&cell, &s, bytes);
    model_set(&m, &s, bytes);
    for (unsigned i = 0; i < packets; i++) {
        enum sk_color came = below(2) ? SK_GREEN : (enum sk_color)below(3);
        uint64_t size = bytes ? below(9217) : 1;
        ns += below(4) ? below(gap) : 0;
        enum sk_color got = bytes ? sk_meter_bytes(&cell, ns & (WRAP - 1), (int64_t)size, came)
                                  : sk_meter_packet(&cell, ns & (WRAP - 1), came);
        assert_int_equal(got, model_mark(&m, ns, size, came));
    }
    model_clear(&m);
}

static void meters_do_what_the_model_does(void **unused) {
    (void)unused;
    for (unsigned i = 0; i < 400; i++)
        one_schedule(i & 1, 100);
}

// Near the rates: packets that come as fast as the tokens do, so that every nanosecond counts.
static void meters_do_not_drift(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 20; round++) {
        // 1 to 8 Mbit/s: 125 bytes are 1 ms down to 125 us
        uint64_t rate = 1000 * (1 + below(8)), gap = UINT64_C(1000000000) / rate;
        struct sk_rate_spec s = {.cir = rate, .pir = rate + below(2), .cbs = 3, .pbs = 5};
        struct sk_meter_cell cell;
        struct model m;
        uint64_t ns = WRAP - 1000;
        sk_meter_set(&cell, &s, true);
        model_set(&m, &s, true);
        for (unsigned i = 0; i < 3000; i++) {
            ns += gap - 2 + below(5);
            assert_int_equal(sk_meter_bytes(&cell, ns & (WRAP - 1), 125, SK_GREEN),
                             model_mark(&m, ns, 125, SK_GREEN));
        }
        model_clear(&m);
    }
}

static void limits_hold(void **unused) {
    (void)unused;
    struct sk_rate_spec most = {SK_RATE_MAX, SK_RATE_MAX, SK_BURST_MAX, SK_BURST_MAX};
    struct sk_rate_spec none = {0, 0, 0, 0};
    struct sk_meter_cell cell;
    sk_meter_set(&cell, &most, true);
    assert_int_equal(sk_meter_bytes(&cell, 5, 9216, SK_GREEN), SK_GREEN);
    assert_int_equal(sk_meter_bytes(&cell, 4, INT64_MAX, SK_GREEN), SK_RED);
    assert_int_equal(sk_meter_bytes(&cell, WRAP - 1 - SK_METER_BACK, 9216, SK_GREEN), SK_GREEN);
    sk_meter_set(&cell, &none, true);
    assert_int_equal(sk_meter_bytes(&cell, 7, 1, SK_GREEN), SK_RED);
    // an adjustment that leaves nothing costs nothing
    assert_int_equal(sk_meter_bytes(&cell, 8, -20, SK_GREEN), SK_GREEN);
    sk_meter_reset(&cell);
    assert_int_equal(sk_meter_bytes(&cell, 9, 9216, SK_YELLOW), SK_YELLOW);
    assert_int_equal(sk_meter_packet(NULL, 9, SK_RED), SK_RED);
}

// A packet stamped before the one before it gets no tokens, and takes none from the next.
static void time_may_step_back(void **unused) {
    (void)unused;
    struct sk_rate_spec s = {1000000000, 1000000000, 1, 1}; // one packet a nanosecond
    struct sk_meter_cell cell;
    sk_meter_set(&cell, &s, false);
    assert_int_equal(sk_meter_packet(&cell, 100, SK_GREEN), SK_GREEN);
    assert_int_equal(sk_meter_packet(&cell, 99, SK_GREEN), SK_RED);
    assert_int_equal(sk_meter_packet(&cell, 100, SK_GREEN), SK_RED);
    assert_int_equal(sk_meter_packet(&cell, 101, SK_GREEN), SK_GREEN);
}

// ---- filters ----

static void decay_is_the_exponential(void **unused) {
    (void)unused;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t dt = rough(WRAP), tau = 1 + rough(UINT64_C(1) << 59);
        double want = exp(-(double)dt * 1e6 / (double)tau),
               got = (double)sk_decay(dt, tau) / 0x1p32;
        assert_true(fabs(got - want) < 0x1p-26);
    }
    assert_int_equal(sk_decay(0, 1), UINT64_C(1) << 32);
    assert_int_equal(sk_decay(5, 0), 0);
    assert_int_equal(sk_decay(WRAP - 1, 1), 0);
}

static void filters_do_what_the_formula_says(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 200; round++) {
        struct sk_lpf_spec s = {.rate = round & 1,
                                .gain_fs = 1 + rough(UINT64_C(1) << 50),
                                .decay_fs = 1 + rough(UINT64_C(1) << 50)};
        struct sk_meter_cell cell;
        uint64_t ns = rough(WRAP), last = 0;
        double v = 0;
        sk_lpf_set(&cell, &s);
        for (unsigned i = 0; i < 60; i++) {
            uint32_t x = (uint32_t)rough(1 << 20);
            ns += rough(1 << 20);
            double dt = 1e6 * (double)(ns - last);
            if (i == 0)
                v = x;
            else if (s.rate)
                v = v * exp(-dt / (double)s.decay_fs) + x;
            else
                v = x + (v - x) * exp(-dt / (double)(x >= v ? s.gain_fs : s.decay_fs));
            last = ns;
            uint32_t got = sk_lpf_run(&cell, ns & (WRAP - 1), x, 32);
            assert_true(fabs((double)got - v) <= 1 + 60 * v * 0x1p-26);
        }
    }
}

// Time in ns, output, of a rate filter that gets 20000 each time: what a model of the chip gave
// (open-p4studio, ptf-tests/meters/test.py).
static void rate_mode_is_near_the_chip(void **unused) {
    (void)unused;
    static const struct {
        double tau, ns[6];
        unsigned out[6];
    } runs[] = {
        {104857.6, {819, 935, 1437, 1640, 2570, 4806}, {20000, 40000, 60000, 79533, 98914, 117381}},
        {102.4, {819, 935, 1437, 1640, 2570, 4806}, {20000, 27500, 20482, 22720, 20006, 20000}},
        {51.2, {819, 935, 1437, 1640, 2570, 4806}, {20000, 22656, 20006, 20351, 20000, 20000}},
    };
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        struct sk_lpf_spec s = {.rate = true, .decay_fs = (uint64_t)(runs[r].tau * 1e6)};
        struct sk_meter_cell cell;
        sk_lpf_set(&cell, &s);
        for (unsigned i = 0; i < 6; i++) {
            double got = sk_lpf_run(&cell, (uint64_t)runs[r].ns[i], 20000, 32);
            assert_true(fabs(got / runs[r].out[i] - 1) < 0.05);
        }
    }
}

static void results_fit_their_width(void **unused) {
    (void)unused;
    struct sk_lpf_spec s = {.rate = true, .decay_fs = SK_TAU_MAX_FS};
    struct sk_meter_cell cell;
    sk_lpf_set(&cell, &s);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(sk_lpf_run(&cell, i, 100, 8), i < 3 ? 100 * i : 255);
    for (unsigned i = 0; i < 100; i++)
        sk_lpf_run(&cell, 4, UINT32_MAX, 32);
    assert_int_equal(sk_lpf_run(&cell, 5, UINT32_MAX, 32), UINT32_MAX);
}

static unsigned drops(const struct sk_wred_spec *s, uint32_t depth, unsigned n, uint64_t seed) {
    struct sk_meter_cell cell;
    unsigned dropped = 0;
    sk_wred_set(&cell, s);
    for (unsigned i = 0; i < n; i++)
        dropped += sk_wred_run(&cell, i, depth, &seed);
    return dropped;
}

static void early_drop_follows_its_curve(void **unused) {
    (void)unused;
    const unsigned n = 100000;
    struct sk_wred_spec s = {.min = 100, .max = 300, .probability = UINT64_C(1) << 31};
    static const struct {
        uint32_t depth;
        double p;
    } points[] = {{0, 0}, {100, 0}, {150, .125}, {200, .25}, {299, .4975}, {300, 1}, {9999, 1}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double p = points[i].p, got = drops(&s, points[i].depth, n, 77 + i);
        // six standard deviations of a binomial distribution
        assert_true(fabs(got - n * p) <= 6 * sqrt(n * p * (1 - p)));
    }
    assert_int_equal(drops(&s, 200, n, 5), drops(&s, 200, n, 5));
    assert_int_not_equal(drops(&s, 200, n, 5), drops(&s, 200, n, 6));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meters_do_what_the_model_does),
        cmocka_unit_test(meters_do_not_drift),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(time_may_step_back),
        cmocka_unit_test(decay_is_the_exponential),
        cmocka_unit_test(filters_do_what_the_formula_says),
        cmocka_unit_test(rate_mode_is_near_the_chip),
        cmocka_unit_test(results_fit_their_width),
        cmocka_unit_test(early_drop_follows_its_curve),
    };
    return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
