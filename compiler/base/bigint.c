// SPDX-License-Identifier: Apache-2.0
//
// bigint: immutable values around GMP.
//
// A value is a sign and its magnitude's limbs in the arena. Operands are lent to GMP read-only,
// without a copy; every result is computed in a temporary that is copied into the arena and
// cleared before the function returns, so GMP's heap is empty between calls.
#include "compiler/base/bigint.h"

#include <string.h>

#include <gmp.h>

#include "compiler/base/diag.h"

_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t) && GMP_NAIL_BITS == 0,
               "limbs are taken for 64-bit words");

struct bigint {
    bool negative; // never with zero limbs
    uint32_t n;    // limbs; the most significant is not 0
    mp_limb_t limb[];
};

// 'v' (a declared mpz_t) becomes a read-only view of the value.
static mpz_srcptr view(mpz_t v, big x) {
    return mpz_roinit_n(v, x->limb, x->negative ? -(mp_size_t)x->n : (mp_size_t)x->n);
}

// Moves a temporary into the arena.
static big big_keep(struct arena *a, mpz_t v) {
    size_t n = mpz_size(v);
    struct bigint *x = arena_alloc(a, sizeof *x + n * sizeof x->limb[0]);
    x->n = (uint32_t)n;
    x->negative = mpz_sgn(v) < 0;
    if (n)
        memcpy(x->limb, mpz_limbs_read(v), n * sizeof x->limb[0]);
    mpz_clear(v);
    return x;
}

big big_u64(struct arena *a, uint64_t v) {
    struct bigint *x = arena_alloc(a, sizeof *x + sizeof x->limb[0]);
    x->n = v != 0;
    x->limb[0] = v;
    return x;
}

big big_i64(struct arena *a, int64_t v) {
    struct bigint *x = arena_alloc(a, sizeof *x + sizeof x->limb[0]);
    x->n = v != 0;
    x->negative = v < 0;
    x->limb[0] = v < 0 ? -(uint64_t)v : (uint64_t)v;
    return x;
}

static bool is_digit(char c, int base) {
    int v = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;
    return v < base;
}

big big_parse(struct arena *a, const char *digits, int base) {
    char *clean = arena_alloc(a, strlen(digits) + 1);
    size_t n = 0;
    for (const char *p = digits; *p; p++) {
        if (*p == '_')
            continue;
        if (!is_digit(*p, base))
            return NULL;
        clean[n++] = *p;
    }
    if (n == 0)
        return NULL;
    mpz_t v;
    mpz_init_set_str(v, clean, base); // cannot fail: only digits are left
    return big_keep(a, v);
}

int big_cmp(big x, big y) {
    mpz_t vx, vy;
    int c = mpz_cmp(view(vx, x), view(vy, y));
    return (c > 0) - (c < 0);
}

int big_sign(big x) {
    return x->n == 0 ? 0 : x->negative ? -1 : 1;
}

bool big_fits_u64(big x) {
    return !x->negative && x->n <= 1;
}

bool big_fits_i64(big x) {
    if (x->n == 0)
        return true;
    if (x->n > 1)
        return false;
    uint64_t limit = (uint64_t)INT64_MAX + (x->negative ? 1 : 0);
    return x->limb[0] <= limit;
}

uint64_t big_word(big x, unsigned i) {
    uint64_t magnitude = i < x->n ? x->limb[i] : 0;
    if (!x->negative)
        return magnitude;
    // -m = ~(m - 1): the borrow reaches word i when all words below it are 0.
    for (unsigned k = 0; k < i && k < x->n; k++)
        if (x->limb[k] != 0)
            return ~magnitude;
    return i < x->n ? ~(magnitude - 1) : ~magnitude;
}

uint64_t big_to_u64(big x) {
    return big_word(x, 0);
}

int64_t big_to_i64(big x) {
    return (int64_t)big_word(x, 0);
}

unsigned big_bits(big x) {
    mpz_t v;
    return x->n == 0 ? 0 : (unsigned)mpz_sizeinbase(view(v, x), 2);
}

const char *big_str(struct arena *a, big x, int base) {
    mpz_t v;
    view(v, x);
    const char *prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
    char *digits = arena_alloc(a, mpz_sizeinbase(v, base) + 2);
    mpz_get_str(digits, base, v);
    bool negative = digits[0] == '-';
    return arena_printf(a, "%s%s%s", negative ? "-" : "", prefix, digits + negative);
}

typedef void (*binary_fn)(mpz_ptr, mpz_srcptr, mpz_srcptr);

static big big_binary(struct arena *a, binary_fn fn, big x, big y) {
    mpz_t vx, vy, r;
    mpz_init(r);
    fn(r, view(vx, x), view(vy, y));
    return big_keep(a, r);
}

big big_add(struct arena *a, big x, big y) {
    return big_binary(a, mpz_add, x, y);
}

big big_sub(struct arena *a, big x, big y) {
    return big_binary(a, mpz_sub, x, y);
}

big big_mul(struct arena *a, big x, big y) {
    if ((uint64_t)big_bits(x) + big_bits(y) > BIG_MAX_BITS + 1u) // may be one bit less than that
        return NULL;
    big product = big_binary(a, mpz_mul, x, y);
    return big_bits(product) > BIG_MAX_BITS ? NULL : product;
}

big big_div(struct arena *a, big x, big y) {
    return y->n == 0 ? NULL : big_binary(a, mpz_tdiv_q, x, y);
}

big big_mod(struct arena *a, big x, big y) {
    return y->n == 0 ? NULL : big_binary(a, mpz_tdiv_r, x, y);
}

big big_and(struct arena *a, big x, big y) {
    return big_binary(a, mpz_and, x, y);
}

big big_or(struct arena *a, big x, big y) {
    return big_binary(a, mpz_ior, x, y);
}

big big_xor(struct arena *a, big x, big y) {
    return big_binary(a, mpz_xor, x, y);
}

big big_neg(struct arena *a, big x) {
    mpz_t vx, r;
    mpz_init(r);
    mpz_neg(r, view(vx, x));
    return big_keep(a, r);
}

big big_not(struct arena *a, big x) {
    mpz_t vx, r;
    mpz_init(r);
    mpz_com(r, view(vx, x));
    return big_keep(a, r);
}

big big_shl(struct arena *a, big x, uint64_t n) {
    if (x->n == 0)
        return x;
    if (n > BIG_MAX_BITS || n + big_bits(x) > BIG_MAX_BITS)
        return NULL;
    mpz_t vx, r;
    mpz_init(r);
    mpz_mul_2exp(r, view(vx, x), (mp_bitcnt_t)n);
    return big_keep(a, r);
}

big big_shr(struct arena *a, big x, uint64_t n) {
    if (n >= big_bits(x)) // only the sign is left; also keeps n within GMP's range
        return big_i64(a, x->negative ? -1 : 0);
    mpz_t vx, r;
    mpz_init(r);
    mpz_fdiv_q_2exp(r, view(vx, x), (mp_bitcnt_t)n);
    return big_keep(a, r);
}

big big_wrap_u(struct arena *a, big x, unsigned w) {
    if (!x->negative && big_bits(x) <= w)
        return x;
    if (w > BIG_MAX_BITS)
        DIAG_BUG("wrapping to %u bits, more than a width can be", w);
    mpz_t vx, r;
    mpz_init(r);
    mpz_fdiv_r_2exp(r, view(vx, x), w);
    return big_keep(a, r);
}

big big_wrap_s(struct arena *a, big x, unsigned w) {
    if (w == 0)
        return big_u64(a, 0);
    big low = big_wrap_u(a, x, w);
    mpz_t v, r;
    if (!mpz_tstbit(view(v, low), w - 1))
        return low;
    mpz_init_set_ui(r, 1);
    mpz_mul_2exp(r, r, w);
    mpz_sub(r, v, r);
    return big_keep(a, r);
}

big big_slice(struct arena *a, big x, unsigned hi, unsigned lo) {
    if (hi < lo)
        DIAG_BUG("slice [%u:%u]", hi, lo);
    return big_wrap_u(a, big_shr(a, x, lo), hi - lo + 1);
}
