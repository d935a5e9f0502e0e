// SPDX-License-Identifier: Apache-2.0
//
// quantise.h: floating point on a switch that only adds integers.
//
// A switch adds 32-bit integers and nothing else, so a worker sends a block of floats as fixed
// point numbers: it multiplies by a factor f, rounds, and sends network byte order; what comes back
// is divided by f (SwitchML 4.6 and appendix E). All workers must use the same f for a block, so
// they first agree on one number, the block exponent m.
//
//      m   the smallest power of two above the largest magnitude h of the block: h < 2^m.
//          It is the float's exponent field minus 126, one 8-bit signed number on the wire.
//      f = 2^31 / (N * 2^m), where N is the smallest power of two that is not below the number n
//          of workers that are summed; of more than 255 workers the smallest above n.
//
// f is a power of two, so scaling is exact, there and back, and rounding to an integer is the only
// error: floats that are whole multiples of 1/f have exact sums. The paper divides by n, and 2^31 -
// 1 instead of 2^31; where n is no power of two that gains up to one bit, and costs a second
// rounding that only double precision makes small enough, at half the speed.
//
// No overflow (theorem 2). h is a float, so h <= 2^m (1 - 2^-24), and h * f <= (2^31 - 128) / N.
// That is a whole number up to N = 128, so rounding does not exceed it, and n <= N of them stay
// below 2^31. With N = 256 it is 2^23 - 1/2, rounded to 2^23; 255 of them are below 2^31 too. From
// there on it is rounded to 2^31 / N, and n < N of them are below 2^31.
//
// Error (theorem 1). Each worker errs by at most 1/2 unit of 1/f, so a sum errs by n/(2f), and the
// conversion back to float adds its own half unit in the last place. With the paper's f the theorem
// has n/f, and ours is more than half of it.
//
// Special blocks, by exponent on the wire:
//
//      SK_EXPONENT_ZERO        (-128) every element is +0 or -0. As the smallest 8-bit number it
//                              loses against any other block in the switch's maximum. When all
//                              workers say so the result is +0 in every element.
//      -126                    the block holds denormals only; 1/f is then N * 2^-157, not above
//                              their own unit of 2^-149.
//      SK_EXPONENT_NOT_FINITE  (127) some element is NaN or infinite, or has a magnitude of 2^126
//                              and above, where the sum is about to leave the float's range. As the
//                              largest 8-bit number it wins the maximum, so that every worker
// learns of it: the result is a quiet NaN in every element of the block, on every worker. A loss
// scaler that looks for NaN sees it everywhere.
//
// A sum of finite elements beyond the float's range becomes an infinity of the right sign.
//
// Every conversion exists as plain C and as AVX2 and AVX-512 code, chosen at run time. They give
// the same bits, which the tests check: products are those of double precision, and the vector code
// takes them in single precision where that is the same. Rounding is to nearest, ties to even: the
// functions follow the thread's rounding mode, and a thread that changes it changes the result.
// Source and destination may be the same memory or apart, but must not overlap otherwise; wire
// memory needs no alignment.
//
// Concurrency: everything here is stateless; any thread may call anything.
#ifndef SILKEN_HOSTS_CORE_QUANTISE_H
#define SILKEN_HOSTS_CORE_QUANTISE_H

#include <stddef.h>
#include <stdint.h>

// Workers of a job over several levels of switches at most.
#define SK_MAX_WORKERS 4096

// Exponents with a meaning of their own; the others are -126..126.
#define SK_EXPONENT_ZERO       (-128)
#define SK_EXPONENT_NOT_FINITE 127

// One implementation of the conversions. `n` counts elements everywhere.
struct sk_quantise {
    // "scalar", "avx2" or "avx512".
    const char *name;

    // The largest magnitude of `src[0..n)` as the bits of a float without sign: an unsigned order
    // in which infinity follows the finite numbers and NaN follows infinity. 0 when n is 0.
    uint32_t (*max_abs_bits)(const float *src, size_t n);

    // Writes round(src[i] * factor) as big-endian 32-bit integers to dst[0..4n). A product that is
    // NaN or does not fit becomes INT32_MIN, as the processor's conversion has it.
    void (*f32_to_wire)(uint8_t *dst, const float *src, size_t n, double factor);

    // Writes (float)(integer * inverse) for the n big-endian integers at src.
    void (*wire_to_f32)(float *dst, const uint8_t *src, size_t n, double inverse);

    // The same for a destination that is large and not read soon: where it can, it writes past the
    // caches, which then need not load what is overwritten. Before another thread reads it, this
    // one calls sk_quantise_flush().
    void (*wire_to_f32_far)(float *dst, const uint8_t *src, size_t n, double inverse);

    // Byte order only.
    void (*i32_to_wire)(uint8_t *dst, const int32_t *src, size_t n);
    void (*wire_to_i32)(int32_t *dst, const uint8_t *src, size_t n);
};

// Orders what wire_to_f32_far() has written before all later stores of this thread.
void sk_quantise_flush(void);

// The fastest implementation this processor has. Never NULL.
const struct sk_quantise *sk_quantise_best(void);

// The implementation called `name`, or NULL when there is none or the processor lacks it.
const struct sk_quantise *sk_quantise_named(const char *name);

// The wire exponent of a block whose largest magnitude has these bits (see max_abs_bits).
int8_t sk_block_exponent(uint32_t max_abs_bits);

// f for a block with global exponent `m` summed over `workers` (1..SK_MAX_WORKERS). For the two
// special exponents this is 0: such a block is sent as zeros.
double sk_block_factor(int8_t m, unsigned workers);

// 1/f, in the same terms: 0 for SK_EXPONENT_ZERO, NaN for SK_EXPONENT_NOT_FINITE.
double sk_block_inverse(int8_t m, unsigned workers);

#endif
