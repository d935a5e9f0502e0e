// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/verify.h"

#include <math.h>
#include <string.h>

#define SMALLEST_EXPONENT (-126)
#define LARGEST_EXPONENT  126

// NaN counts as infinite, so that it is the largest and is not lost in a comparison.
static double magnitude(float x) {
    return isnan(x) ? INFINITY : fabs((double)x);
}

static double largest_magnitude(const float *const *inputs, unsigned workers, size_t from,
                                size_t to) {
    double largest = 0;

    for (unsigned w = 0; w < workers; w++) {
        for (size_t i = from; i < to; i++) {
            double x = magnitude(inputs[w][i]);
            largest = x > largest ? x : largest;
        }
    }
    return largest;
}

double verify_bound(double largest, unsigned workers) {
    double n = workers, f;
    int m;

    if (largest == 0) {
        return 0;
    }
    if (!isfinite(largest)) {
        return INFINITY;
    }
    frexp(largest, &m); // 2^(m-1) <= largest < 2^m
    if (m > LARGEST_EXPONENT) {
        return INFINITY;
    }
    m = m < SMALLEST_EXPONENT ? SMALLEST_EXPONENT : m;
    f = (0x1p31 - 1) / (n * ldexp(1, m));
    return n / f;
}

static double exact_sum(const float *const *inputs, unsigned workers, size_t i) {
    double sum = 0;

    for (unsigned w = 0; w < workers; w++) {
        sum += (double)inputs[w][i];
    }
    return sum;
}

// Half the distance from 'x' to its neighbour away from zero: 2^(e - 24) for 2^e <= 'x' < 2^(e+1).
// Taken from the bits, since this is done for every element of every sum.
static double half_ulp(float x) {
    uint32_t bits;
    uint64_t exponent;
    double half;

    memcpy(&bits, &x, sizeof bits);
    exponent = bits >> 23 & 0xff; // e + 127, or 0 for the numbers below 2^-126
    exponent = exponent ? exponent : 1;
    exponent = (exponent - 127 - 24 + 1023) << 52;
    memcpy(&half, &exponent, sizeof half);
    return half;
}

static void note_failure(struct verify_tally *t, size_t i, double got, double expected,
                         double bound) {
    if (t->failed++ == 0) {
        t->first.element = i;
        t->first.got = got;
        t->first.expected = expected;
        t->first.bound = bound;
    }
}

static void check_element(float got, double expected, double bound, size_t i,
                          struct verify_tally *t) {
    double allowed = bound > 0 ? bound + half_ulp(got) : 0;
    double error = fabs((double)got - expected);

    if (!(error <= allowed)) { // NaN is never within
        note_failure(t, i, (double)got, expected, allowed);
    } else if (allowed > 0 && error / allowed > t->worst) {
        t->worst = error / allowed;
    }
}

static void verify_check_block(const float *result, const float *const *inputs, unsigned workers,
                               size_t from, size_t to, struct verify_tally *t) {
    double bound = verify_bound(largest_magnitude(inputs, workers, from, to), workers);

    for (size_t i = from; i < to; i++) {
        if (!isinf(bound)) {
            check_element(result[i], exact_sum(inputs, workers, i), bound, i, t);
        } else if (!isnan(result[i])) {
            note_failure(t, i, (double)result[i], (double)NAN, 0);
        }
    }
    t->sums += to - from;
}

typedef void verify_block(const float *result, const float *const *inputs, unsigned workers,
                          size_t from, size_t to, struct verify_tally *t);

static bool verify_blocks(verify_block *check, const float *result, const float *const *inputs,
                          unsigned workers, size_t n, size_t block, struct verify_tally *tally) {
    uint64_t failed = tally->failed;

    for (size_t from = 0; from < n; from += block) {
        size_t to = n - from < block ? n : from + block;
        check(result, inputs, workers, from, to, tally);
    }
    return tally->failed == failed;
}

bool verify_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                 size_t block, struct verify_tally *tally) {
    return verify_blocks(verify_check_block, result, inputs, workers, n, block, tally);
}

// Half a unit in the last place of x, where that is not below 'least'.
static double verify_half_rounding(double x, double least) {
    return fabs(x) * 0x1p-11 > least ? fabs(x) * 0x1p-11 : least;
}

static void verify_check_halves(const float *result, const float *const *inputs, unsigned workers,
                                size_t from, size_t to, struct verify_tally *t) {
    const double largest = largest_magnitude(inputs, workers, from, to);
    const bool number = !isinf(verify_bound(largest, workers));
    int m = SMALLEST_EXPONENT;

    if (number && largest > 0) {
        frexp(largest, &m);
        m = m < SMALLEST_EXPONENT ? SMALLEST_EXPONENT : m;
    }
    for (size_t i = from; i < to; i++) {
        const double exact = exact_sum(inputs, workers, i), least = ldexp(1, m - 25);
        double bound = 0;
        if (!number) {
            if (!isnan(result[i])) {
                note_failure(t, i, (double)result[i], (double)NAN, 0);
            }
            continue;
        }
        for (unsigned w = 0; w < workers && largest > 0; w++) {
            bound += verify_half_rounding((double)inputs[w][i], least);
        }
        bound += largest > 0 ? verify_half_rounding(fabs(exact) + bound, least) : 0;
        check_element(result[i], exact, bound, i, t);
        t->errors += ((double)result[i] - exact) * ((double)result[i] - exact);
        t->squares += exact * exact;
    }
    t->sums += to - from;
}

bool verify_half_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                      size_t block, struct verify_tally *tally) {
    return verify_blocks(verify_check_halves, result, inputs, workers, n, block, tally);
}

bool verify_scaled_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                        double f, struct verify_tally *tally) {
    uint64_t failed = tally->failed;

    for (size_t i = 0; i < n; i++) {
        double expected = exact_sum(inputs, workers, i);
        float rounded = (float)expected;
        if (isfinite(rounded)) {
            check_element(result[i], expected, workers / f, i, tally);
        } else if (isnan(expected) ? !isnan(result[i]) : result[i] != rounded) {
            note_failure(tally, i, (double)result[i], expected, 0);
        }
    }
    tally->sums += n;
    return tally->failed == failed;
}
