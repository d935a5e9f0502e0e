// SPDX-License-Identifier: Apache-2.0
//
// format: what placement asks of a unit beyond its need[].
//
// A unit's demand on a stage has three parts. What it takes however many entries it has (crossbars,
// ALUs, instructions); what grows with its entries (RAMs); and the memories it reaches by an index
// of their own, which several units may share: those are taken once in a stage.
#ifndef SILKEN_COMPILER_CHIP_MEMORY_FORMAT_H
#define SILKEN_COMPILER_CHIP_MEMORY_FORMAT_H

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

// An index from the packet. Units of a stage whose indices are the same bytes, for cells of the
// same number and width, share what brings it there.
struct memory_index {
    memory_byte_vec of;
    enum chip_access_kind kind;
    unsigned bits, cell_bits;
    unsigned dist; // units of hash distribution
};
bool memory_same_index(const struct memory_index *a, const struct memory_index *b);

struct memory_format {
    enum memory_match match;
    memory_byte_vec exact, ternary; // crossbar bytes
    unsigned key_bits, match_bits, match_bytes;
    unsigned overhead_bits; // without immediate data
    unsigned version_bits;
    unsigned ranges; // keys of TCAMs that are ranges: one in a block
    bool selector_length, direct_of_default, idle;
    unsigned ways, pack; // asked for by annotations, or 0
    uint64_t partitions; // MEMORY_ATCAM
    struct memory_option options[2];
    unsigned n_options;
    unsigned profile_bytes; // of a member's action data
    VEC(struct memory_direct) direct;
    VEC(struct memory_attached) attached;
    VEC(struct memory_index) indices; // within 'fixed', too
    unsigned fixed[CHIP_RESOURCES];
    // An ALPM table first finds the partition, in an earlier stage: what that takes.
    bool alpm;
    unsigned subset; // of an ALPM's prefix, the bits that a partition matches; 0: all
    unsigned first[CHIP_RESOURCES];
    memory_byte_vec first_bytes;
};

// key.c
void memory_byte_add(struct arena *a, memory_byte_vec *out, struct memory_byte byte);
// @name(value) of a table; false without it.
bool memory_annotation(const struct ir_table *t, const char *name, uint64_t *value);
uint64_t memory_divide(uint64_t n, uint64_t by); // rounded up
// memory.c: chip_memory_of() in one stage, without the memories that may be shared; false: not
// possible.
bool memory_own(const struct chip_report *r, const struct chip_unit *u, uint64_t entries,
                unsigned used[CHIP_RESOURCES]);

#endif
