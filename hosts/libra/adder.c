// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/adder.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define SIGN      UINT32_C(0x80000000)
#define INFINITE  UINT32_C(0x7f800000)
#define NAN_BITS  UINT32_C(0x7fc00000)
#define SMALLEST  UINT32_C(0x00800000) // normal
#define ONE       65536                // in 2^-16
#define Z_SHIFT   5                    // from 2^-16 to 5.11
#define NEAR_KEYS 2048u
#define DM_ZERO   (31u << 11)

static struct libra_adder adder_tables;
static pthread_once_t adder_once = PTHREAD_ONCE_INIT;

// To the nearest, within 16 bits.
static uint16_t adder_round16(double value) {
    long r = lround(value);
    return (uint16_t)(r > 65535 ? 65535 : r);
}

static void adder_make_logarithms(struct libra_adder *a) {
    for (int e = 0; e < 256; e++)
        a->exponent[e] = (int16_t)(e - 127);
    for (unsigned i = 0; i < 4096; i++) {
        double m = 1 + (i & 2047) / 2048.0;
        a->log_m[i] = adder_round16(log2(m) * ONE);
        a->log_mln2[i] = (int16_t)nearbyint(log2(m * M_LN2) * 2048);
        a->log_dm[i] = i ? adder_round16(-log2(ldexp(i, -23)) * 2048) : DM_ZERO;
    }
}

static void adder_make_powers(struct libra_adder *a) {
    for (unsigned i = 0; i < 65536; i++) {
        double z = i / 2048.0;
        a->term[i] = adder_round16(exp2(-z) * ONE);
        a->sigma[i] = adder_round16(log2(1 + exp2(-z)) * ONE);
        a->power[i] = adder_round16((exp2(i / 65536.0) - 1) * ONE);
    }
}

// The entries of 'minus' below 1 are not used: 'near' has them.
static void adder_make_differences(struct libra_adder *a) {
    a->near[0] = 65535;
    for (unsigned i = 1; i < 65536; i++) {
        double minus = -log2(1 - exp2(-(double)i / 2048));
        if (i < NEAR_KEYS)
            a->near[i] = adder_round16(minus * 4096);
        else
            a->minus[i] = adder_round16(minus * ONE);
    }
}

static void adder_make(void) {
    adder_make_logarithms(&adder_tables);
    adder_make_powers(&adder_tables);
    adder_make_differences(&adder_tables);
}

const struct libra_adder *libra_adder(void) {
    pthread_once(&adder_once, adder_make);
    return &adder_tables;
}

// The tables as the program has them: of logarithms in ingress, for x and y; the others in egress.
#define ADDER_LANES 2u
struct adder_table {
    const char *name, *action;
    const void *values; // 16 bits each
    size_t n;
};

static int adder_fill_table(const struct adder_table *t, const char *instance, libra_fill *fill,
                            void *aux) {
    static _Thread_local uint32_t values[65536];
    char name[32];
    for (size_t i = 0; i < t->n; i++)
        values[i] = ((const uint16_t *)t->values)[i];
    snprintf(name, sizeof name, "%s.%s", instance, t->name);
    return fill(aux, name, t->action, values, t->n);
}

static int adder_fill_tables(const struct adder_table *list, size_t n, const char *what,
                             libra_fill *fill, void *aux) {
    for (unsigned lane = 0; lane < ADDER_LANES; lane++)
        for (size_t i = 0; i < n; i++) {
            char instance[8];
            snprintf(instance, sizeof instance, "%s%u", what, lane);
            int rc = adder_fill_table(&list[i], instance, fill, aux);
            if (rc)
                return rc;
        }
    return 0;
}

int libra_adder_fill(const struct libra_adder *a, libra_fill *fill, void *aux) {
    const struct adder_table logarithms[] = {
        {"exponent", "set_exponent", a->exponent, 256},
        {"log_m", "set_log_m", a->log_m, 2048},
        {"log_dm", "set_log_dm", a->log_dm, 4096},
        {"log_mln2", "set_log_mln2", a->log_mln2, 2048},
        {"term", "set_term", a->term, 65536},
    };
    const struct adder_table sums[] = {
        {"sigmas", "set_sigma", a->sigma, 65536},
        {"minus", "set_minus", a->minus, 65536},
        {"near", "set_near", a->near, 2048},
        {"power", "set_power", a->power, 65536},
    };
    int rc = adder_fill_tables(logarithms, 5, "x", fill, aux);
    rc = rc ? rc : adder_fill_tables(logarithms, 5, "y", fill, aux);
    return rc ? rc : adder_fill_tables(sums, 4, "sum", fill, aux);
}

int32_t libra_log2(const struct libra_adder *a, uint32_t bits) {
    uint32_t m = bits >> 12 & 0x7ff, dm = bits & 0xfff;
    int32_t u = a->log_dm[dm] + a->log_mln2[m];
    return a->exponent[bits >> 23 & 0xff] * ONE + a->log_m[m] + a->term[(uint16_t)u];
}

// The float 2^(t * 2^-16) with this sign.
static uint32_t adder_power(const struct libra_adder *a, int32_t t, uint32_t sign, bool *flushed) {
    int32_t exponent = (t >> 16) + 127;
    if (exponent >= 255)
        return sign | INFINITE;
    if (exponent <= 0) {
        *flushed = true;
        return sign;
    }
    return sign | (uint32_t)exponent << 23 | (uint32_t)a->power[t & 0xffff] << 7;
}

// x and y have ordinary magnitudes, that of x is not below that of y.
static uint32_t adder_add_ordered(const struct libra_adder *a, uint32_t x, uint32_t y,
                                  bool *flushed) {
    int32_t l = libra_log2(a, x & ~SIGN);
    int32_t z = l - libra_log2(a, y & ~SIGN);
    // the logarithms of neighbours may be in the wrong order by a unit
    uint32_t key = z < 0 ? 0 : ((uint32_t)z + (1u << (Z_SHIFT - 1))) >> Z_SHIFT;
    if (key > 65535)
        return x;
    bool minus = (x ^ y) & SIGN;
    if (minus && key == 0)
        return 0;
    int32_t sigma = !minus            ? a->sigma[key]
                    : key < NEAR_KEYS ? -(a->near[key] * 16)
                                      : -a->minus[key];
    return sigma == 0 ? x : adder_power(a, l + sigma, x & SIGN, flushed);
}

// One of them is infinite or NaN.
static uint32_t adder_add_special(uint32_t x, uint32_t y) {
    uint32_t p = x & ~SIGN, q = y & ~SIGN;
    if (p > INFINITE || q > INFINITE || (p == q && x != y))
        return NAN_BITS;
    return p == INFINITE ? x : y;
}

// Zero for what is too small to be a normal number.
static uint32_t adder_flush(uint32_t x, bool *flushed) {
    if ((x & ~SIGN) >= SMALLEST)
        return x;
    *flushed |= (x & ~SIGN) != 0;
    return x & SIGN;
}

uint32_t libra_add(const struct libra_adder *a, uint32_t x, uint32_t y, bool *flushed) {
    bool ignored = false;
    flushed = flushed ? flushed : &ignored;
    *flushed = false;
    if ((x & ~SIGN) >= INFINITE || (y & ~SIGN) >= INFINITE)
        return adder_add_special(x, y);
    x = adder_flush(x, flushed);
    y = adder_flush(y, flushed);
    if ((y & ~SIGN) == 0)
        return (x & ~SIGN) == 0 ? x & y : x; // -0 only of two of them
    if ((x & ~SIGN) == 0)
        return y;
    return (x & ~SIGN) >= (y & ~SIGN) ? adder_add_ordered(a, x, y, flushed)
                                      : adder_add_ordered(a, y, x, flushed);
}
