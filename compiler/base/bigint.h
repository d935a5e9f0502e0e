// SPDX-License-Identifier: Apache-2.0
//
// bigint: compile-time integers of any size, immutable.
//
// P4's type `int` has no bounds and bit<W> may be wider than any machine word, so every constant
// in the compiler is a `big`. Values are immutable and live in the compilation's arena; they may
// be shared freely. Arithmetic is exact (GMP does it); wrapping to a width is always an explicit
// call. Shift amounts and widths are bounded by BIG_MAX_BITS so that no P4 text can make the
// compiler allocate without limit: big_shl returns null beyond it, and the caller reports it.
#ifndef SILKEN_COMPILER_BASE_BIGINT_H
#define SILKEN_COMPILER_BASE_BIGINT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/base/arena.h"

#define BIG_MAX_BITS 65536u

typedef const struct bigint *big;

big big_u64(struct arena *a, uint64_t v);
big big_i64(struct arena *a, int64_t v);
// 'digits' in 'base' 2, 8, 10 or 16, underscores skipped; null when a character is no digit.
big big_parse(struct arena *a, const char *digits, int base);

int big_cmp(big x, big y); // <0, 0, >0
int big_sign(big x);       // -1, 0, 1
bool big_fits_u64(big x);
bool big_fits_i64(big x);
uint64_t big_to_u64(big x); // low 64 bits of the two's complement
int64_t big_to_i64(big x);
uint64_t big_word(big x, unsigned i); // i-th 64-bit word of the two's complement, 0 = least
unsigned big_bits(big x);             // bits of |x|; 0 for 0
const char *big_str(struct arena *a, big x, int base); // "-12", "0x1f" for base 16

big big_add(struct arena *a, big x, big y);
big big_sub(struct arena *a, big x, big y);
big big_mul(struct arena *a, big x, big y); // null when the product is wider than BIG_MAX_BITS
big big_div(struct arena *a, big x, big y); // truncating; null when y is 0
big big_mod(struct arena *a, big x, big y); // sign of x; null when y is 0
big big_neg(struct arena *a, big x);
big big_not(struct arena *a, big x); // two's complement, unbounded
big big_and(struct arena *a, big x, big y);
big big_or(struct arena *a, big x, big y);
big big_xor(struct arena *a, big x, big y);
big big_shl(struct arena *a, big x, uint64_t n);
big big_shr(struct arena *a, big x, uint64_t n);    // arithmetic
big big_wrap_u(struct arena *a, big x, unsigned w); // x mod 2^w, in [0, 2^w)
big big_wrap_s(struct arena *a, big x, unsigned w); // in [-2^(w-1), 2^(w-1))
big big_slice(struct arena *a, big x, unsigned hi, unsigned lo);

#endif
