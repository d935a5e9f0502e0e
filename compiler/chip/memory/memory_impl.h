// SPDX-License-Identifier: Apache-2.0
//
// memory_impl: what the files of memory share besides units' formats (format.h).
#ifndef SILKEN_COMPILER_CHIP_MEMORY_MEMORY_IMPL_H
#define SILKEN_COMPILER_CHIP_MEMORY_MEMORY_IMPL_H

#include "compiler/chip/memory/format.h"

// What one way to keep entries takes.
struct memory_rams {
    unsigned sram, tcam, map_ram, logical;
    unsigned pack, width, ways, immediate_bits, data_bytes;
    uint64_t room; // entries
    uint64_t deep; // RAMs, each 'width' wide
};

// key.c: adds the bytes that 'b' touches, each once.
void memory_bytes(struct arena *a, memory_byte_vec *out, const struct chip_bits *b, size_t n);
unsigned memory_bits_of(const memory_byte_vec *v);
unsigned memory_log2(uint64_t n); // bits to count to n: 0 for 0 and 1
uint64_t memory_pow2(uint64_t n); // the next power of two, at least 1

// attached.c: memories that the unit's actions reach, and their addresses' share of an entry.
void memory_attach(const struct chip_report *r, const struct chip_unit *u, struct memory_format *f);
// match.c: the best format for 'entries', 'in_stage': among those that an empty stage could hold.
// None: logical is 0.
struct memory_rams memory_best(const struct chip_report *r, const struct memory_format *f,
                               uint64_t entries, bool in_stage);
// limits.c: violations of a unit.
void memory_check(struct chip_report *r, const struct chip_unit *u, const struct memory_format *f);

#endif
