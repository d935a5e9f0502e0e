// SPDX-License-Identifier: Apache-2.0
//
// crc32: the CRC of Ethernet (polynomial 0x04c11db7, reflected), fast: by carry-less multiplication
// where the processor has it, else by tables.
//
//     crc = ~sk_crc32(UINT32_MAX, bytes, n);      as Ethernet, zlib and RoCEv2 have it
//
// Concurrency: any thread may call anything.
#ifndef SILKEN_BASE_CRC32_H
#define SILKEN_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

// What bytes 0 to SK_CRC32_ONES - 1 are taken for: each is ORed with the byte of the same place.
#define SK_CRC32_ONES 64u

// What several runs of bytes end with, so that what it comes to is found once; and what all of them
// begin with: the register, how many bytes are before the end, and what these are taken for.
#define SK_CRC32_TAIL 5120u // bytes at most
struct sk_crc32_tail {
    size_t before;  // 4 to 64
    uint32_t crc;   // the register after the end, if it was 0 before
    uint32_t power; // what a register before the end is multiplied by
    // of the 64 bytes before the end, of which the last ones are there: what each is ORed and then
    // XORed with, and what each 16 of them are multiplied by, of both halves
    uint8_t ones[64], start[64];
    uint64_t factors[4][2];
};

// 'crc' is the register before, and what is returned the one after 'n' bytes. 'ones' (SK_CRC32_ONES
// bytes) may be null: the bytes are taken as they are.
struct sk_crc32 {
    const char *name; // "tables", "pclmul", "vpclmul"
    uint32_t (*run)(uint32_t crc, const uint8_t *bytes, size_t n, const uint8_t *ones);
    // The same of the tail's number of bytes, and the tail.
    uint32_t (*run_before)(const struct sk_crc32_tail *tail, const uint8_t *bytes);
    // What run() returns of each of 'count' runs of bytes from the same register.
    void (*run_each)(uint32_t *after, uint32_t crc, const uint8_t *const *bytes, const size_t *n,
                     unsigned count, const uint8_t *ones);
};

// The fastest implementation that this processor has. Never null.
const struct sk_crc32 *sk_crc32_best(void);
// The implementation of that name, or null when the processor lacks it or there is no such.
const struct sk_crc32 *sk_crc32_named(const char *name);

// 'n' bytes, SK_CRC32_TAIL at most, after 'before' others.
void sk_crc32_tail_of(struct sk_crc32_tail *tail, uint32_t crc, size_t before, const uint8_t *ones,
                      const uint8_t *bytes, size_t n);

static inline uint32_t sk_crc32(uint32_t crc, const uint8_t *bytes, size_t n) {
    return sk_crc32_best()->run(crc, bytes, n, NULL);
}

#endif
