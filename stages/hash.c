// SPDX-License-Identifier: Apache-2.0
//
// hash: CRC tables. See hash.h.
#include "stages/hash.h"

static uint64_t crc_of_byte(uint64_t byte, unsigned width, uint64_t coeff) {
    if (width < 8) {
        coeff <<= 8 - width;
        width = 8;
    }
    uint64_t top = UINT64_C(1) << (width - 1);
    uint64_t crc = byte << (width - 8);
    for (int i = 0; i < 8; i++)
        crc = crc & top ? crc << 1 ^ coeff : crc << 1;
    return crc & sk_mask(width);
}

static uint64_t crc_of_byte_reflected(uint64_t byte, uint64_t coeff) {
    uint64_t crc = byte;
    for (int i = 0; i < 8; i++)
        crc = crc & 1 ? crc >> 1 ^ coeff : crc >> 1;
    return crc;
}

void sk_crc_table(uint64_t table[256], unsigned width, uint64_t coeff, bool reflect) {
    uint64_t reflected = sk_reflect(coeff, width);
    for (unsigned i = 0; i < 256; i++)
        table[i] = reflect ? crc_of_byte_reflected(i, reflected) : crc_of_byte(i, width, coeff);
}
