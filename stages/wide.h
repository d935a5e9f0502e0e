// SPDX-License-Identifier: Apache-2.0
//
// wide: fixed-width arithmetic beyond 128 bits, for generated code.
//
// A wide value of w bits is an array of (w + 63) / 64 words, least significant first; bits beyond w
// in the last word are zero. Every function that makes one writes it to 'd', which may not overlap
// its operands, and returns d, so that generated expressions nest; the caller gives it room for the
// result's words. Signed values are carried as two's complement. None fails, allocates, or keeps
// state. Operators: P4_16 specification, "Operations on fixed-width bit types".
#ifndef SILKEN_STAGES_WIDE_H
#define SILKEN_STAGES_WIDE_H

#include "stages/bits.h"

static inline unsigned sk_wide_words(unsigned w) {
    return (w + 63) / 64;
}

// Takes away what lies beyond the width.
static inline uint64_t *sk_wide_trim(uint64_t *d, unsigned w) {
    if (w % 64)
        d[w / 64] &= sk_mask(w % 64);
    return d;
}

// ---- in and out ----
static inline uint64_t *sk_wide_of(uint64_t *d, sk_u128 v, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = i == 0 ? (uint64_t)v : i == 1 ? (uint64_t)(v >> 64) : 0;
    return sk_wide_trim(d, w);
}

// From and to w bits at bit 'offset' of bytes in network order.
static inline uint64_t *sk_wide_load(uint64_t *d, const uint8_t *bytes, unsigned offset,
                                     unsigned w) {
    for (unsigned done = 0; done < w; done += 64) {
        unsigned n = w - done < 64 ? w - done : 64;
        d[done / 64] = sk_bits_get(bytes, offset + w - done - n, n);
    }
    return d;
}
static inline void sk_wide_store(uint8_t *bytes, unsigned offset, unsigned w, const uint64_t *a) {
    for (unsigned done = 0; done < w; done += 64) {
        unsigned n = w - done < 64 ? w - done : 64;
        sk_bits_put(bytes, offset + w - done - n, n, a[done / 64]);
    }
}

// w bits between bytes in network order, at bit offsets; nothing else is written.
static inline void sk_wide_copy(uint8_t *to, unsigned to_offset, const uint8_t *from,
                                unsigned from_offset, unsigned w) {
    for (unsigned done = 0; done < w; done += 64) {
        unsigned n = w - done < 64 ? w - done : 64;
        sk_bits_put(to, to_offset + done, n, sk_bits_get(from, from_offset + done, n));
    }
}

// Bits [lo + n - 1 : lo] of a value of w bits; n <= 64, and <= 128.
static inline uint64_t sk_wide_get(const uint64_t *a, unsigned w, unsigned lo, unsigned n) {
    unsigned i = lo / 64, by = lo % 64;
    uint64_t v = a[i] >> by;
    if (by && i + 1 < sk_wide_words(w))
        v |= a[i + 1] << (64 - by);
    return v & sk_mask(n);
}
static inline sk_u128 sk_wide_get128(const uint64_t *a, unsigned w, unsigned lo, unsigned n) {
    if (n <= 64)
        return sk_wide_get(a, w, lo, n);
    return sk_u128_of(sk_wide_get(a, w, lo + 64, n - 64), sk_wide_get(a, w, lo, 64));
}
// UINT64_MAX for what does not fit.
static inline uint64_t sk_wide_saturate64(const uint64_t *a, unsigned w) {
    for (unsigned i = 1; i < sk_wide_words(w); i++)
        if (a[i])
            return UINT64_MAX;
    return a[0];
}

// ---- changes of width ----
static inline uint64_t *sk_wide_slice(uint64_t *d, const uint64_t *a, unsigned w, unsigned lo,
                                      unsigned n) {
    for (unsigned done = 0; done < n; done += 64)
        d[done / 64] = sk_wide_get(a, w, lo + done, n - done < 64 ? n - done : 64);
    return d;
}
static inline uint64_t *sk_wide_zext(uint64_t *d, const uint64_t *a, unsigned from, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = i < sk_wide_words(from) ? a[i] : 0;
    return d;
}
static inline bool sk_wide_bit(const uint64_t *a, unsigned i) {
    return a[i / 64] >> (i % 64) & 1;
}
static inline uint64_t *sk_wide_sext(uint64_t *d, const uint64_t *a, unsigned from, unsigned w) {
    sk_wide_zext(d, a, from, w);
    if (!sk_wide_bit(a, from - 1))
        return d;
    if (from % 64)
        d[from / 64] |= ~sk_mask(from % 64);
    for (unsigned i = sk_wide_words(from); i < sk_wide_words(w); i++)
        d[i] = UINT64_MAX;
    return sk_wide_trim(d, w);
}

// ---- shifts: amounts of w and more shift everything out ----
static inline uint64_t *sk_wide_shl(uint64_t *d, const uint64_t *a, uint64_t n, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++) {
        uint64_t v = 0;
        if (n < w && i >= n / 64) {
            unsigned k = i - (unsigned)(n / 64), by = (unsigned)(n % 64);
            v = a[k] << by;
            if (by && k > 0)
                v |= a[k - 1] >> (64 - by);
        }
        d[i] = v;
    }
    return sk_wide_trim(d, w);
}
static inline uint64_t *sk_wide_lshr(uint64_t *d, const uint64_t *a, uint64_t n, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = n < w && n + 64 * i < w ? sk_wide_get(a, w, (unsigned)n + 64 * i, 64) : 0;
    return d;
}
static inline uint64_t *sk_wide_ashr(uint64_t *d, const uint64_t *a, uint64_t n, unsigned w) {
    sk_wide_lshr(d, a, n, w);
    if (!sk_wide_bit(a, w - 1))
        return d;
    for (unsigned i = n < w ? w - (unsigned)n : 0; i < w;) {
        unsigned room = 64 - i % 64;
        d[i / 64] |= room == 64 ? UINT64_MAX : sk_mask(room) << (i % 64);
        i += room;
    }
    return sk_wide_trim(d, w);
}

// a ++ b, of wa and wb bits.
static inline uint64_t *sk_wide_concat(uint64_t *d, const uint64_t *a, unsigned wa,
                                       const uint64_t *b, unsigned wb) {
    sk_wide_zext(d, b, wb, wa + wb);
    for (unsigned done = 0; done < wa; done += 64) {
        unsigned n = wa - done < 64 ? wa - done : 64, at = wb + done;
        uint64_t v = a[done / 64];
        d[at / 64] |= v << (at % 64);
        if (at % 64 + n > 64)
            d[at / 64 + 1] |= v >> (64 - at % 64);
    }
    return d;
}

// ---- bits ----
static inline uint64_t *sk_wide_not(uint64_t *d, const uint64_t *a, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = ~a[i];
    return sk_wide_trim(d, w);
}
static inline uint64_t *sk_wide_and(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = a[i] & b[i];
    return d;
}
static inline uint64_t *sk_wide_or(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = a[i] | b[i];
    return d;
}
static inline uint64_t *sk_wide_xor(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = a[i] ^ b[i];
    return d;
}

// ---- comparisons ----
static inline bool sk_wide_eq(const uint64_t *a, const uint64_t *b, unsigned w) {
    return memcmp(a, b, 8 * (size_t)sk_wide_words(w)) == 0;
}
static inline bool sk_wide_ult(const uint64_t *a, const uint64_t *b, unsigned w) {
    for (unsigned i = sk_wide_words(w); i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}
static inline bool sk_wide_slt(const uint64_t *a, const uint64_t *b, unsigned w) {
    bool na = sk_wide_bit(a, w - 1), nb = sk_wide_bit(b, w - 1);
    return na != nb ? na : sk_wide_ult(a, b, w);
}

// ---- sums: modulo 2^w ----
static inline uint64_t *sk_wide_add(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    sk_u128 carry = 0;
    for (unsigned i = 0; i < sk_wide_words(w); i++) {
        carry += (sk_u128)a[i] + b[i];
        d[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return sk_wide_trim(d, w);
}
static inline uint64_t *sk_wide_sub(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    sk_u128 borrow = 0;
    for (unsigned i = 0; i < sk_wide_words(w); i++) {
        sk_u128 v = (sk_u128)a[i] - b[i] - borrow;
        d[i] = (uint64_t)v;
        borrow = v >> 127;
    }
    return sk_wide_trim(d, w);
}
static inline uint64_t *sk_wide_neg(uint64_t *d, const uint64_t *a, unsigned w) {
    uint64_t carry = 1;
    for (unsigned i = 0; i < sk_wide_words(w); i++) {
        d[i] = ~a[i] + carry;
        carry = carry && d[i] == 0;
    }
    return sk_wide_trim(d, w);
}

// All bits set but, for the largest signed value, the sign; and only the sign.
static inline uint64_t *sk_wide_ones(uint64_t *d, unsigned w) {
    for (unsigned i = 0; i < sk_wide_words(w); i++)
        d[i] = UINT64_MAX;
    return sk_wide_trim(d, w);
}
static inline uint64_t *sk_wide_edge(uint64_t *d, bool negative, unsigned w) {
    uint64_t sign = UINT64_C(1) << ((w - 1) % 64);
    sk_wide_ones(d, w);
    for (unsigned i = 0; negative && i < sk_wide_words(w); i++)
        d[i] = 0;
    d[(w - 1) / 64] ^= sign;
    return d;
}
static inline uint64_t *sk_wide_uadd_sat(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                         unsigned w) {
    sk_wide_add(d, a, b, w);
    return sk_wide_ult(d, a, w) ? sk_wide_ones(d, w) : d;
}
static inline uint64_t *sk_wide_usub_sat(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                         unsigned w) {
    return sk_wide_ult(a, b, w) ? sk_wide_of(d, 0, w) : sk_wide_sub(d, a, b, w);
}
static inline uint64_t *sk_wide_sadd_sat(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                         unsigned w) {
    bool na = sk_wide_bit(a, w - 1), nb = sk_wide_bit(b, w - 1);
    sk_wide_add(d, a, b, w);
    return na == nb && sk_wide_bit(d, w - 1) != na ? sk_wide_edge(d, na, w) : d;
}
static inline uint64_t *sk_wide_ssub_sat(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                         unsigned w) {
    bool na = sk_wide_bit(a, w - 1), nb = sk_wide_bit(b, w - 1);
    sk_wide_sub(d, a, b, w);
    return na != nb && sk_wide_bit(d, w - 1) != na ? sk_wide_edge(d, na, w) : d;
}

// ---- products and quotients ----
static inline uint64_t *sk_wide_mul(uint64_t *d, const uint64_t *a, const uint64_t *b, unsigned w) {
    unsigned n = sk_wide_words(w);
    sk_wide_of(d, 0, w);
    for (unsigned i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (unsigned k = 0; i + k < n; k++) {
            sk_u128 v = (sk_u128)a[i] * b[k] + d[i + k] + carry;
            d[i + k] = (uint64_t)v;
            carry = (uint64_t)(v >> 64);
        }
    }
    return sk_wide_trim(d, w);
}

// Long division, bit by bit: 'd' is the quotient or, with 'rest', the remainder; by zero: 0.
static inline uint64_t *sk_wide_divide(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                       unsigned w, bool rest) {
    uint64_t r[64 + 1] = {0}, q[64 + 1] = {0}, zero[64 + 1] = {0};
    unsigned n = sk_wide_words(w);
    bool by_zero = sk_wide_eq(b, zero, w);
    for (unsigned i = w; !by_zero && i-- > 0;) {
        bool carry = sk_wide_bit(r, w - 1);
        for (unsigned k = n; k-- > 0;)
            r[k] = r[k] << 1 | (k > 0 ? r[k - 1] >> 63 : (uint64_t)sk_wide_bit(a, i));
        sk_wide_trim(r, w);
        if (carry || !sk_wide_ult(r, b, w)) {
            uint64_t t[64 + 1];
            sk_wide_sub(t, r, b, w);
            memcpy(r, t, 8 * (size_t)n);
            q[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    memcpy(d, rest ? r : q, 8 * (size_t)n);
    return d;
}
static inline uint64_t *sk_wide_udiv(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_divide(d, a, b, w, false);
}
static inline uint64_t *sk_wide_umod(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_divide(d, a, b, w, true);
}

static inline uint64_t *sk_wide_umin(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_zext(d, sk_wide_ult(a, b, w) ? a : b, w, w);
}
static inline uint64_t *sk_wide_umax(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_zext(d, sk_wide_ult(a, b, w) ? b : a, w, w);
}
static inline uint64_t *sk_wide_smin(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_zext(d, sk_wide_slt(a, b, w) ? a : b, w, w);
}
static inline uint64_t *sk_wide_smax(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                     unsigned w) {
    return sk_wide_zext(d, sk_wide_slt(a, b, w) ? b : a, w, w);
}

#endif
