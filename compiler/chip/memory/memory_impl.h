// SPDX-License-Identifier: Apache-2.0
//
// memory_impl: what memory*.c share, and what placement asks of a unit beyond its need[].
//
// A unit's demand on a stage has three parts. What it takes however many entries it has (crossbars,
// ALUs, instructions); what grows with its entries (RAMs); and the memories it reaches by an index of
// their own, which several units may share: those are taken once in a stage.
#ifndef SILKEN_COMPILER_CHIP_MEMORY_MEMORY_IMPL_H
#define SILKEN_COMPILER_CHIP_MEMORY_MEMORY_IMPL_H

#include "compiler/chip/memory/memory.h"

// A byte of a header or variable on a crossbar. Units of a stage that read the same byte share it.
struct memory_byte {
    const void *of; // ir_header or ir_var
    unsigned at;
    unsigned bits; // of it that are read
};
typedef VEC(struct memory_byte) memory_byte_vec;

enum memory_match {
    MEMORY_NOTHING,     // keyless, or a gateway
    MEMORY_HASH_ACTION, // the key itself addresses what is attached
    MEMORY_EXACT,
    MEMORY_TERNARY,
    MEMORY_ATCAM, // SRAM blocks in partitions
};

// One way to keep an entry's action data: with the match, and in a memory of its own.
struct memory_option {
    unsigned immediate_bits, data_bytes; // data_bytes: a power of two, or 0
};

// A memory with one cell for each entry.
struct memory_direct {
    unsigned per_word, width; // cells in a word; words of a cell
    bool sram, map_ram, spare;
};

// A memory of its own size.
struct memory_attached {
    const void *object; // the IR's
    const char *name;
    enum chip_access_kind kind;
    bool profile; // an action profile's action data; 'kind' means nothing
    struct loc at;
    uint64_t size;      // cells; 0: as many as the table has entries
    unsigned cell_bits; // of a register
    const struct ir_selector *selector;
    unsigned used[CHIP_RESOURCES];
};

struct memory_format {
    enum memory_match match;
    memory_byte_vec exact, ternary; // crossbar bytes
    unsigned key_bits, match_bits, match_bytes;
    unsigned overhead_bits; // without immediate data
    unsigned version_bits;
    bool has_range, selector_length, direct_of_default, idle;
    unsigned ways, pack; // asked for by annotations, or 0
    uint64_t partitions; // MEMORY_ATCAM
    struct memory_option options[2];
    unsigned n_options;
    unsigned profile_bytes; // of a member's action data
    VEC(struct memory_direct) direct;
    VEC(struct memory_attached) attached;
    unsigned fixed[CHIP_RESOURCES];
    // An ALPM table first finds the partition, in an earlier stage: what that takes.
    bool alpm;
    unsigned subset; // of an ALPM's prefix, the bits that a partition matches; 0: all
    unsigned first[CHIP_RESOURCES];
    memory_byte_vec first_bytes;
};

// What one way to keep entries takes.
struct memory_rams {
    unsigned sram, tcam, map_ram, logical;
    unsigned pack, width, ways, immediate_bits, data_bytes;
    uint64_t room; // entries
    uint64_t deep; // RAMs, each 'width' wide
};

// key.c: adds the bytes that 'b' touches, each once.
void memory_bytes(struct arena *a, memory_byte_vec *out, const struct chip_bits *b, size_t n);
void memory_byte_add(struct arena *a, memory_byte_vec *out, struct memory_byte byte);
unsigned memory_bits_of(const memory_byte_vec *v);
// @name(value) of a table; false without it.
bool memory_annotation(const struct ir_table *t, const char *name, uint64_t *value);
unsigned memory_log2(uint64_t n);                // bits to count to n: 0 for 0 and 1
uint64_t memory_divide(uint64_t n, uint64_t by); // rounded up
uint64_t memory_pow2(uint64_t n);                // the next power of two, at least 1

// attached.c: memories that the unit's actions reach, and their addresses' share of an entry.
void memory_attach(const struct chip_report *r, const struct chip_unit *u, struct memory_format *f);
// match.c: the best format for 'entries', 'in_stage': among those that an empty stage could hold.
// None: logical is 0.
struct memory_rams memory_best(const struct chip_report *r, const struct memory_format *f,
                               uint64_t entries, bool in_stage);
// memory.c: chip_memory_of() in one stage, without the memories that may be shared; false: not possible.
bool memory_own(const struct chip_report *r, const struct chip_unit *u, uint64_t entries,
                unsigned used[CHIP_RESOURCES]);
// limits.c: violations of a unit.
void memory_check(struct chip_report *r, const struct chip_unit *u, const struct memory_format *f);

#endif
