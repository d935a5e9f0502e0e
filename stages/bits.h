// SPDX-License-Identifier: Apache-2.0
//
// bits: big-endian bit fields and fixed-width arithmetic, for generated code.
//
// P4 headers are bit strings in network order: bit 0 is the most significant bit of the first byte.
// sk_bits_get and sk_bits_put move a field of up to 128 bits at any bit offset; with constant
// arguments they compile to a few instructions. Neither touches a byte that holds no bit of the
// field.
//
// Arithmetic is done in unsigned types that are at least as wide as the value, so nothing here or
// in generated code can overflow in C's sense; results are reduced with sk_mask. A signed value is
// carried as its two's complement, reduced to its width.
#ifndef SILKEN_STAGES_BITS_H
#define SILKEN_STAGES_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// __extension__: -Wpedantic knows no 128-bit integers.
__extension__ typedef unsigned __int128 sk_u128;

// For functions whose size depends on constant arguments: inlined whatever they look like before.
#define SK_INLINE static inline __attribute__((always_inline))

static inline sk_u128 sk_u128_of(uint64_t high, uint64_t low) {
    return (sk_u128)high << 64 | low;
}

// The w lowest bits set; w <= 64.
static inline uint64_t sk_mask(unsigned w) {
    return w == 0 ? 0 : ~UINT64_C(0) >> (64 - w);
}
static inline uint32_t sk_mask32(unsigned w) {
    return w == 0 ? 0 : ~UINT32_C(0) >> (32 - w);
}
static inline sk_u128 sk_mask128(unsigned w) {
    return w == 0 ? 0 : ~(sk_u128)0 >> (128 - w);
}

// ---- whole big-endian words ----
static inline uint16_t sk_load16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap16(v);
}
static inline uint32_t sk_load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap32(v);
}
static inline uint64_t sk_load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}
static inline void sk_store16(uint8_t *p, uint16_t v) {
    v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof v);
}
static inline void sk_store32(uint8_t *p, uint32_t v) {
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}
static inline void sk_store64(uint8_t *p, uint64_t v) {
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

// 'bytes' <= 8 bytes as one number.
SK_INLINE uint64_t sk_load_bytes(const uint8_t *p, unsigned bytes) {
    switch (bytes) {
    case 1:
        return p[0];
    case 2:
        return sk_load16(p);
    case 3:
        return (uint64_t)sk_load16(p) << 8 | p[2];
    case 4:
        return sk_load32(p);
    case 5:
        return (uint64_t)sk_load32(p) << 8 | p[4];
    case 6:
        return (uint64_t)sk_load32(p) << 16 | sk_load16(p + 4);
    case 7:
        // the fourth byte is read twice and lies in the same place both times
        return (uint64_t)sk_load32(p) << 24 | sk_load32(p + 3);
    case 8:
        return sk_load64(p);
    default:
        return 0;
    }
}
SK_INLINE void sk_store_bytes(uint8_t *p, unsigned bytes, uint64_t v) {
    switch (bytes) {
    case 1:
        p[0] = (uint8_t)v;
        break;
    case 2:
        sk_store16(p, (uint16_t)v);
        break;
    case 3:
        sk_store16(p, (uint16_t)(v >> 8));
        p[2] = (uint8_t)v;
        break;
    case 4:
        sk_store32(p, (uint32_t)v);
        break;
    case 5:
        sk_store32(p, (uint32_t)(v >> 8));
        p[4] = (uint8_t)v;
        break;
    case 6:
        sk_store32(p, (uint32_t)(v >> 16));
        sk_store16(p + 4, (uint16_t)v);
        break;
    case 7:
        sk_store32(p, (uint32_t)(v >> 24));
        sk_store32(p + 3, (uint32_t)v);
        break;
    case 8:
        sk_store64(p, v);
        break;
    default:
        break;
    }
}

// ---- bit fields ----
// Field of 1..64 bits that starts 'offset' bits after p's first bit.
SK_INLINE uint64_t sk_bits_get(const uint8_t *p, unsigned offset, unsigned width) {
    p += offset / 8;
    offset %= 8;
    unsigned bits = offset + width, bytes = (bits + 7) / 8;
    if (bytes <= 8)
        return sk_load_bytes(p, bytes) >> (bytes * 8 - bits) & sk_mask(width);
    // nine bytes: 64 bits cannot hold them at once
    unsigned last = bits - 64;
    uint64_t head = sk_load64(p) & sk_mask(64 - offset);
    return head << last | p[8] >> (8 - last);
}
SK_INLINE void sk_bits_put(uint8_t *p, unsigned offset, unsigned width, uint64_t v) {
    p += offset / 8;
    offset %= 8;
    unsigned bits = offset + width, bytes = (bits + 7) / 8;
    if (bytes <= 8) {
        unsigned shift = bytes * 8 - bits;
        uint64_t mask = sk_mask(width) << shift;
        uint64_t old = sk_load_bytes(p, bytes);
        sk_store_bytes(p, bytes, (old & ~mask) | (v << shift & mask));
        return;
    }
    unsigned last = bits - 64;
    uint64_t mask = sk_mask(64 - offset);
    sk_store64(p, (sk_load64(p) & ~mask) | (v >> last & mask));
    p[8] = (uint8_t)((p[8] & (0xff >> last)) | (v & sk_mask(last)) << (8 - last));
}
// The same in a word of 1, 2, 4 or 8 bytes that is loaded and stored whole, so that a load that
// follows a store of other bits of the word gets its bytes from one store, and waits for none.
SK_INLINE uint64_t sk_word_get(const uint8_t *word, unsigned bytes, unsigned offset,
                               unsigned width) {
    return sk_load_bytes(word, bytes) >> (bytes * 8 - offset - width) & sk_mask(width);
}
SK_INLINE void sk_word_put(uint8_t *word, unsigned bytes, unsigned offset, unsigned width,
                           uint64_t v) {
    const unsigned shift = bytes * 8 - offset - width;
    const uint64_t mask = sk_mask(width) << shift;
    sk_store_bytes(word, bytes, (sk_load_bytes(word, bytes) & ~mask) | (v << shift & mask));
}
// 1..128 bits.
SK_INLINE sk_u128 sk_bits_get128(const uint8_t *p, unsigned offset, unsigned width) {
    if (width <= 64)
        return sk_bits_get(p, offset, width);
    uint64_t high = sk_bits_get(p, offset, width - 64);
    return sk_u128_of(high, sk_bits_get(p, offset + width - 64, 64));
}
SK_INLINE void sk_bits_put128(uint8_t *p, unsigned offset, unsigned width, sk_u128 v) {
    if (width <= 64) {
        sk_bits_put(p, offset, width, (uint64_t)v);
        return;
    }
    sk_bits_put(p, offset, width - 64, (uint64_t)(v >> 64));
    sk_bits_put(p, offset + width - 64, 64, (uint64_t)v);
}

// 'word' with so many bits from bit 'lo' on replaced by v, if there is a new value.
SK_INLINE uint64_t sk_bits_held(uint64_t word, bool held, uint64_t v, unsigned lo, unsigned width) {
    const uint64_t mask = sk_mask(width) << lo;
    return held ? (word & ~mask) | (v << lo & mask) : word;
}

// A value as an index or a shift amount: what does not fit is as good as the largest number.
static inline uint64_t sk_saturate64(sk_u128 v) {
    return v >> 64 ? UINT64_MAX : (uint64_t)v;
}

// ---- arithmetic on w-bit values, operands reduced ----
// Sign extension to 64 (128) bits; used for comparisons and arithmetic shifts.
static inline int64_t sk_signed(uint64_t v, unsigned w) {
    uint64_t sign = UINT64_C(1) << (w - 1);
    return (int64_t)((v ^ sign) - sign);
}
__extension__ typedef __int128 sk_i128;
static inline sk_i128 sk_signed128(sk_u128 v, unsigned w) {
    sk_u128 sign = (sk_u128)1 << (w - 1);
    return (sk_i128)((v ^ sign) - sign);
}

#define SK_ARITHMETIC(suffix, type, mask_fn)                                                         \
    static inline type sk_shl##suffix(type v, uint64_t n, unsigned w) {                              \
        return n >= w ? 0 : (v << n & mask_fn(w));                                                   \
    }                                                                                                \
    static inline type sk_lshr##suffix(type v, uint64_t n, unsigned w) {                             \
        return n >= w ? 0 : v >> n;                                                                  \
    }                                                                                                \
    static inline type sk_ashr##suffix(type v, uint64_t n, unsigned w) {                             \
        bool negative = v >> (w - 1) & 1;                                                            \
        if (n >= w)                                                                                  \
            return negative ? mask_fn(w) : 0;                                                        \
        type fill = negative ? mask_fn(w) & ~(mask_fn(w) >> n) : 0;                                  \
        return v >> n | fill;                                                                        \
    }                                                                                                \
    static inline type sk_udiv##suffix(type a, type b) {                                             \
        return b ? a / b : 0;                                                                        \
    }                                                                                                \
    static inline type sk_umod##suffix(type a, type b) {                                             \
        return b ? a % b : 0;                                                                        \
    }                                                                                                \
    /* saturation: a sum that wrapped is smaller than its operands (unsigned), or has a sign */      \
    /* that neither operand has (signed). By masks: of conditions in a loop over lanes the C */      \
    /* compiler makes branches when what follows looks at the result. */                             \
    static inline type sk_uadd_sat##suffix(type a, type b, unsigned w) {                             \
        type s = (a + b) & mask_fn(w);                                                               \
        return (s | ((type)0 - (s < a))) & mask_fn(w);                                               \
    }                                                                                                \
    static inline type sk_usub_sat##suffix(type a, type b, unsigned w) {                             \
        (void)w;                                                                                     \
        return (a - b) & ((type)0 - (a >= b));                                                       \
    }                                                                                                \
    static inline type sk_sadd_sat##suffix(type a, type b, unsigned w) {                             \
        type s = (a + b) & mask_fn(w);                                                               \
        type limit = (mask_fn(w) >> 1) + (a >> (w - 1));                                             \
        type over = (type)0 - (((a ^ s) & (b ^ s)) >> (w - 1) & 1);                                  \
        return s ^ ((s ^ limit) & over);                                                             \
    }                                                                                                \
    static inline type sk_ssub_sat##suffix(type a, type b, unsigned w) {                             \
        type s = (a - b) & mask_fn(w);                                                               \
        type limit = (mask_fn(w) >> 1) + (a >> (w - 1));                                             \
        type over = (type)0 - (((a ^ b) & (a ^ s)) >> (w - 1) & 1);                                  \
        return s ^ ((s ^ limit) & over);                                                             \
    }                                                                                                \
    /* flipping the sign bit turns signed order into unsigned order; where the machine has the     \
       width, it has signed order too */ \
    static inline bool sk_slt##suffix(type a, type b, unsigned w) {                                  \
        if (w == 8)                                                                                  \
            return (int8_t)a < (int8_t)b;                                                            \
        if (w == 16)                                                                                 \
            return (int16_t)a < (int16_t)b;                                                          \
        if (w == 32)                                                                                 \
            return (int32_t)a < (int32_t)b;                                                          \
        type sign = (type)1 << (w - 1);                                                              \
        return (a ^ sign) < (b ^ sign);                                                              \
    }                                                                                                \
    static inline type sk_umin##suffix(type a, type b) {                                             \
        return a < b ? a : b;                                                                        \
    }                                                                                                \
    static inline type sk_umax##suffix(type a, type b) {                                             \
        return a < b ? b : a;                                                                        \
    }                                                                                                \
    static inline type sk_smin##suffix(type a, type b, unsigned w) {                                 \
        return sk_slt##suffix(a, b, w) ? a : b;                                                      \
    }                                                                                                \
    static inline type sk_smax##suffix(type a, type b, unsigned w) {                                 \
        return sk_slt##suffix(a, b, w) ? b : a;                                                      \
    }
SK_ARITHMETIC(32, uint32_t, sk_mask32)
SK_ARITHMETIC(, uint64_t, sk_mask)
SK_ARITHMETIC(128, sk_u128, sk_mask128)
#undef SK_ARITHMETIC

#endif
