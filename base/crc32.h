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

// The register, which was 'crc', after 'n' bytes. 'ones' (SK_CRC32_ONES bytes) may be null: the
// bytes are taken as they are.
struct sk_crc32 {
    const char *name; // "tables", "pclmul", "vpclmul"
    uint32_t (*run)(uint32_t crc, const uint8_t *bytes, size_t n, const uint8_t *ones);
};

// The fastest implementation that this processor has. Never null.
const struct sk_crc32 *sk_crc32_best(void);
// The implementation of that name, or null when the processor lacks it or there is no such.
const struct sk_crc32 *sk_crc32_named(const char *name);

static inline uint32_t sk_crc32(uint32_t crc, const uint8_t *bytes, size_t n) {
    return sk_crc32_best()->run(crc, bytes, n, NULL);
}

#endif
