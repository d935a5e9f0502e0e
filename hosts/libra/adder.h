// SPDX-License-Identifier: Apache-2.0
//
// adder.h: the sum of two floats by table look-up (Libra 3.5, figure 9), as a switch without
// floating point makes it. The tables are made here, for the switch and for whoever checks it;
// libra_add() is the switch's arithmetic step by step, in integers, and agrees with it in every
// bit.
//
// For magnitudes x >= y > 0 and l = log2:
//
//      x + y = 2^(l(x) + sigma(z)),  z = l(y) - l(x) <= 0
//      sigma(z) = log2(1 + 2^z) for equal signs, log2(1 - 2^z) for opposite ones
//      l(p) = (e - 127) + log2(m) + 2^(log2(dm) - log2(m ln 2))
//
// where e is the exponent field, m = 1.b1..b11 and dm = 0.b12..b23 * 2^-11 (equation 1; the last
// term is dm / (m ln 2)).
//
// Fixed point. Entries have 16 bits, as the paper's sizes say. The paper does not say where the
// point is. Eight bits of fraction explain its figures, but then long sums stand still. Here:
//
//      exponent   256      e - 127                         16.0   signed
//      log_m      4,096    log2(m)                          0.16
//      log_dm     4,096    -log2(dm)                        5.11  31 for dm = 0, whose term is 0
//      log_mln2   4,096    log2(m ln 2)                     5.11  signed
//      term       65,536   2^-u, u in 5.11                  0.16
//      sigma      65,536   log2(1 + 2^z), -z in 5.11        0.16  65,535 where it is 1
//      power      65,536   2^f - 1, f in 0.16               0.16
//
// These are the paper's seven: 418,304 bytes. It speaks of positive numbers only; opposite signs
// need two more, 135,168 bytes:
//
//      minus      65,536   -log2(1 - 2^z), -z in 5.11       0.16  for -z >= 1
//      near        2,048   the same                         4.12  for -z < 1
//
// A table of 4,096 has a key of 12 bits: that of log_m and log_mln2 is b1..b11, whose upper half is
// not used.
//
// What is not a sum of two ordinary numbers (IEEE 754 decides, but for denormals):
//
//      - x + 0 is x; where sigma is 0, y is too small to matter and x keeps its bits.
//      - equal magnitudes of opposite signs, or such that the tables cannot tell apart, give +0.
//      - a denormal counts as zero, and a result below the smallest normal number is zero; both are
//        told.
//      - a result above the largest finite number is infinity. Infinities and NaN stay; infinities
//        of opposite signs give NaN (0x7fc00000).
//
// Error. Equal signs: relative to the sum below 1.1e-4, which is half a step of sigma's key.
// Opposite signs: no bound relative to the result exists near cancellation; relative to the larger
// operand it is below 4e-4 (2e-4 was seen).
//
// Concurrency: the tables are constant once made; libra_add() may be called by any thread.
#ifndef SILKEN_HOSTS_LIBRA_ADDER_H
#define SILKEN_HOSTS_LIBRA_ADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct libra_adder {
    int16_t exponent[256];
    uint16_t log_m[4096];
    uint16_t log_dm[4096];
    int16_t log_mln2[4096];
    uint16_t term[65536];
    uint16_t sigma[65536];
    uint16_t power[65536];
    uint16_t minus[65536];
    uint16_t near[2048];
};

// The tables, made once (in some 20 ms) by the first caller; any thread.
const struct libra_adder *libra_adder(void);

// The tables of p4/libra, which are these, for each pair that a pass adds ("x0.exponent"): hands
// each to 'fill', with its action and the values of keys 0 to n - 1, as 16 bits. Stops when 'fill'
// returns other than 0, and returns that.
typedef int libra_fill(void *aux, const char *table, const char *action, const uint32_t *values,
                       size_t n);
int libra_adder_fill(const struct libra_adder *a, libra_fill *fill, void *aux);

// log2 of the magnitude of a normal float, in 2^-16. 'bits' without sign, exponent field 1..254.
int32_t libra_log2(const struct libra_adder *a, uint32_t bits);

// The bits of the float x + y. '*flushed' (may be null) is set if a denormal was taken for zero or
// the result was.
uint32_t libra_add(const struct libra_adder *a, uint32_t x, uint32_t y, bool *flushed);

#endif
