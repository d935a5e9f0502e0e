// SPDX-License-Identifier: Apache-2.0
//
// halves.h: 16-bit floats (IEEE 754 binary16, "halves") on a switch that adds integers; internal to
// hosts/. First what p4/switchml/halves.p4 computes and the tables with which it does so, then what
// a worker does with a block of numbers before it sends it.
//
// IN THE SWITCH. A half is turned into a fixed point number of 32 bits in units of 2^-24, the least
// half there is, so exactly. Numbers are added in any order, saturating, and the sum is turned into
// the nearest half, of two equally near ones into the larger (the one nearer to +infinity). So the
// result is that of an exact sum that is rounded once.
//
//      range   A magnitude of 2 or more, an infinity or a NaN is not a number here but SK_HALF_OUT.
//              Up to SK_HALF_WORKERS numbers have a sum below 2^30 units, 64, so a sum from there
//              on (or up to minus that) says that one of them was out of range, whatever the others
//              are: the result is a NaN (0x7e00). Denormals are numbers like others, -0 is 0.
//      tables  coarse[sign, exponent, upper half of the fraction] +
//              fine[lower half of the fraction, sign, exponent] is the number; 2,048 each.
//              A sum is shifted to the right until 14 bits are left, sign included, by 0, 2, ... 18
//              places, which rounds down; rounded[these bits] is the half nearest to that, and the
//              places that were shifted are added to its exponent. With 11 bits or more left before
//              the rounding, what the shift took away does not change which half is nearest.
//
// AT A WORKER. As with integers (quantise.h) a block has an exponent m, all workers' largest, with
// all magnitudes below 2^m, that is known before the block is sent.
//
//      f32     sent as the half nearest to x * 2^-m (below 1, so never out of range), ties to even.
//              A worker errs by at most max(|x| * 2^-11, 2^(m-25)), so the sum of n by n times that
//              of the largest, and the switch by max(|sum| * 2^-11, 2^(m-25)). What is smaller than
//              2^(m-25) is lost.
//      f16     as they are where m <= 1. Else as x * 2^(1-m), which is exact unless it is denormal
//              (then within 2^(m-26)); the result is multiplied back and may become an infinity.
//
// SK_EXPONENT_ZERO and SK_EXPONENT_NOT_FINITE are as in quantise.h: zeros are sent, and the results
// are +0, or NaN.
//
// Halves are big-endian on the wire; there memory needs no alignment.
//
// Concurrency: stateless, and the tables are constant once made; any thread may call anything.
#ifndef SILKEN_HOSTS_CORE_HALVES_H
#define SILKEN_HOSTS_CORE_HALVES_H

#include <stddef.h>
#include <stdint.h>

#define SK_HALF_WORKERS 32
#define SK_HALF_OUT     INT32_MAX
#define SK_HALF_NAN     0x7e00u

#define SK_HALF_LANES   16   // of a pass: each has tables of its own
#define SK_HALF_COARSE  2048 // keys
#define SK_HALF_FINE    2048
#define SK_HALF_ROUNDED 16384

// What the switch computes, step by step: a half as a number, the sum of two, a sum as a half.
int32_t sk_half_number(uint16_t half);
int32_t sk_half_add(int32_t a, int32_t b);
uint16_t sk_half_of_sum(int32_t sum);

// The tables of halves.p4, for each lane ("lanes.number00.coarse"): hands each to 'fill', with its
// action, the values of keys 0 to n - 1 and how many hexadecimal digits one takes. Stops when
// 'fill' returns other than 0, and returns that.
typedef int sk_half_fill(void *aux, const char *table, const char *action, const uint32_t *values,
                         size_t n, unsigned digits);
int sk_halves_fill(sk_half_fill *fill, void *aux);

// The block exponent of n halves: -24..16, or one of the special ones.
int8_t sk_halves_exponent(const uint16_t *src, size_t n);

// What floats are multiplied with before they are sent, and sums after; 0 and 0 of a block of
// zeros, 0 and NaN of one that is not finite.
struct sk_half_scale {
    float factor, inverse;
};
struct sk_half_scale sk_half_scale_f32(int8_t m);
struct sk_half_scale sk_half_scale_f16(int8_t m);

// n numbers to dst[0..2n), n from src[0..2n).
void sk_halves_from_f32(uint8_t *dst, const float *src, size_t n, float factor);
void sk_halves_to_f32(float *dst, const uint8_t *src, size_t n, float inverse);
void sk_halves_from_f16(uint8_t *dst, const uint16_t *src, size_t n, float factor);
void sk_halves_to_f16(uint16_t *dst, const uint8_t *src, size_t n, float inverse);

#endif
