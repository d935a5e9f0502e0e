// SPDX-License-Identifier: Apache-2.0
//
// dynhash: a hash that the control plane has changed (tna-facts 4.6; BF Runtime's tables
// <hash>.configure and <hash>.algorithm).
//
// A hash that the program uses at one place can get other fields, in another order, and another
// algorithm while the switch runs. Generated code computes it as it was compiled as long as the
// pipe's pointer to one of these is null. One is made whole and never changed; the control plane
// puts it in place between packets and frees the one before.
#ifndef SILKEN_STAGES_DYNHASH_H
#define SILKEN_STAGES_DYNHASH_H

#include "stages/hash.h"

#pragma GCC visibility push(default) // compiled programs call these

enum sk_hash_kind { SK_HASH_IDENTITY, SK_HASH_RANDOM, SK_HASH_XOR, SK_HASH_CRC };
struct sk_hash_algorithm {
    enum sk_hash_kind kind;
    unsigned width;                // SK_HASH_CRC: 1 to 64; SK_HASH_XOR: 8, 16 or 32
    uint64_t coeff, init, xor_out; // CRC: as in hash.h
    bool reversed, extended;       // CRC
    unsigned rotate;               // the result to the left, in its own width; less than that
};

struct sk_hash_field {
    const char *name;
    uint32_t width;
    bool constant;
    uint64_t value; // of a constant, its low 64 bits
    int32_t twin;   // field that may change places with this one (@symmetric), or -1
};
// A hash as compiled. 'fields' are in order, the first most significant; a hash of something that
// is no list has none.
struct sk_hash_desc {
    const char *name;
    const struct sk_hash_field *fields;
    uint32_t n_fields;
    uint32_t bits;  // of the input
    uint32_t width; // of the result, 1 to 128
    uint32_t used;  // the low bits of it that the program reads
    struct sk_hash_algorithm algorithm;
};

// Bits start to start + length - 1 of a field, counted from its least significant.
struct sk_hash_slice {
    uint32_t field, start, length;
    // The slice that may change places with this one, as long as it is, by its position counted
    // from 1; 0: none. Both places hold the two, exclusive or, as the driver sets hashes up; where
    // the compiler sets @symmetric fields up, the later place alone does (lower/hash.c).
    uint32_t twin;
};

struct sk_dynhash {
    const struct sk_hash_desc *desc;
    struct sk_hash_algorithm algorithm;
    struct sk_hash_slice *slices; // in order; none: the input as it is
    uint32_t n_slices, bits;      // of the input that is hashed
    uint64_t table[256];          // of a CRC
};

// Copies everything but the description. The slices lie in their fields, which are the
// description's, and have at most SK_HASH_MAX_BYTES together. Null when memory is short.
struct sk_dynhash *sk_dynhash_new(const struct sk_hash_desc *desc,
                                  const struct sk_hash_algorithm *algorithm,
                                  const struct sk_hash_slice *slices, uint32_t n_slices);
void sk_dynhash_free(struct sk_dynhash *h); // may be null
// 'input' is the compiled hash's: desc->bits bits, zero bits in front to whole bytes.
sk_u128 sk_dynhash_run(const struct sk_dynhash *h, const uint8_t *input);

#pragma GCC visibility pop

#endif
