// SPDX-License-Identifier: Apache-2.0
//
// match: entries in RAMs (tna-facts 7.3): how many stand in a word, how many words an entry takes,
// how deep the table is then, and the memories that grow with it.
#include <string.h>

#include "compiler/chip/memory/memory_impl.h"

enum {
    MOST_PACKED = 9,
    MOST_PACKED_IN_ROW = 5,
    OVERHEAD_BITS = 64, // of a RAM word that leave the row
    GHOST_BITS = 10,    // of a key that the address of the row says
    WIDE_BYTES = 11,    // that two TCAM blocks side by side match
    NARROW_BYTES = 5,   // that one matches; half a byte more, where the version is
    HALF_BYTE = 4,
    PARTITION_RAMS = 5,     // of an ATCAM's logical table, in a row
    MANY_PARTITIONS = 4096, // from here each RAM is a logical table of its own
    MOST_RAMS = 1 << 20,    // where counting stops: far more than all stages have
};

static unsigned clamp(uint64_t n) {
    return n > MOST_RAMS ? MOST_RAMS : (unsigned)n;
}

// Cells of action data in a word, or words of a cell.
static struct memory_direct data_cells(unsigned bytes) {
    struct memory_direct d = {.per_word = 1, .width = 1, .sram = true};
    if (bytes <= 16)
        d.per_word = 16 / (unsigned)memory_pow2(bytes);
    else
        d.width = bytes / 16;
    return d;
}

static void memory_match_grow(const struct chip_limits *l, struct memory_rams *m,
                              const struct memory_direct *d, uint64_t cells) {
    uint64_t rams = memory_divide(cells, (uint64_t)l->ram_rows * d->per_word) + d->spare;
    m->sram += d->sram ? clamp(rams * d->width) : 0;
    m->map_ram += d->map_ram ? clamp(rams) : 0;
}

// Everything that has a cell for each of 'room' entries.
static void grow_all(const struct chip_limits *l, const struct memory_format *f,
                     const struct memory_option *o, struct memory_rams *m) {
    for (size_t i = 0; i < f->direct.n; i++)
        memory_match_grow(l, m, &f->direct.v[i], m->room);
    if (o->data_bytes) {
        struct memory_direct d = data_cells(o->data_bytes);
        memory_match_grow(l, m, &d, m->room);
    }
    unsigned overhead = f->overhead_bits + o->immediate_bits;
    if (f->match == MEMORY_TERNARY && overhead > 0) {
        unsigned bits = overhead < 8 ? 8 : (unsigned)memory_pow2(overhead);
        struct memory_direct d = {
            .per_word = bits < l->ram_bits ? l->ram_bits / bits : 1, .width = 1, .sram = true};
        memory_match_grow(l, m, &d, m->room);
    }
    m->immediate_bits = o->immediate_bits;
    m->data_bytes = o->data_bytes;
}

// RAMs side by side that hold 'pack' entries; 0: not possible.
static unsigned memory_match_width_of(const struct chip_limits *l, const struct memory_format *f,
                                      const struct memory_option *o, unsigned pack) {
    unsigned overhead = f->overhead_bits + o->immediate_bits;
    unsigned bits = f->match_bits + overhead + f->version_bits;
    unsigned width = (unsigned)memory_divide((uint64_t)pack * bits, l->ram_bits);
    unsigned by_bytes = (unsigned)memory_divide((uint64_t)pack * f->match_bytes, l->ram_bits / 8);
    unsigned by_overhead = (unsigned)memory_divide((uint64_t)pack * overhead, OVERHEAD_BITS);
    unsigned by_row = (unsigned)memory_divide(pack, MOST_PACKED_IN_ROW);
    if (f->match == MEMORY_ATCAM && (by_overhead > 1 || pack > MOST_PACKED_IN_ROW))
        return 0;
    width = by_bytes > width ? by_bytes : width;
    width = by_overhead > width ? by_overhead : width;
    width = by_row > width ? by_row : width;
    width = width ? width : 1;
    // A format that is another one, repeated.
    unsigned low = width > pack ? pack : width;
    unsigned rest = width > pack ? width % pack : pack % width;
    if (rest == 0 && low != 1 && !f->pack)
        return 0;
    return width <= l->sram_rows ? width : 0;
}

// A small key that is its own address needs no ways; else four ways let the table fill up.
static void count_ways(const struct chip_limits *l, const struct memory_format *f, unsigned pack,
                       uint64_t *depth, unsigned *ways) {
    if (f->ways) {
        uint64_t left = *depth, sum = 0;
        for (unsigned i = 0; i < f->ways; i++) {
            uint64_t way = memory_pow2(memory_divide(left ? left : 1, f->ways - i));
            sum += way;
            left = left > way ? left - way : 0;
        }
        *depth = sum;
        *ways = f->ways;
        return;
    }
    unsigned row_bits = memory_log2(l->ram_rows);
    *ways = l->min_way_depth;
    if (f->key_bits < row_bits && *depth == 1) {
        *ways = 1;
        return;
    }
    if (*depth < l->min_way_depth)
        *depth = l->min_way_depth;
    unsigned extra = f->key_bits > row_bits ? f->key_bits - row_bits : 0;
    if (!f->direct_of_default && !f->idle && extra <= 8) {
        uint64_t rams = memory_pow2(memory_divide(UINT64_C(1) << extra, pack));
        if (rams <= *depth) {
            *depth = rams;
            *ways = 1;
        }
    }
}

static bool exact_rams(const struct chip_limits *l, const struct memory_format *f,
                       const struct memory_option *o, unsigned pack, uint64_t entries,
                       struct memory_rams *m) {
    unsigned width = memory_match_width_of(l, f, o, pack), ways = 0;
    if (!width || (pack > 1 && f->selector_length) || (f->pack && pack != f->pack))
        return false;
    uint64_t depth = memory_divide(entries, (uint64_t)l->ram_rows * pack);
    depth = depth ? depth : 1;
    count_ways(l, f, pack, &depth, &ways);
    *m = (struct memory_rams){.pack = pack, .width = width, .ways = ways, .logical = 1};
    m->sram = clamp(depth * width);
    m->deep = depth;
    m->room = depth * pack * l->ram_rows;
    grow_all(l, f, o, m);
    return true;
}

static bool atcam_rams(const struct chip_limits *l, const struct memory_format *f,
                       const struct memory_option *o, unsigned pack, uint64_t entries,
                       struct memory_rams *m) {
    unsigned width = memory_match_width_of(l, f, o, pack);
    if (!width || (f->pack && pack != f->pack))
        return false;
    uint64_t each = memory_divide(entries, f->partitions); // entries of a partition
    uint64_t depth = memory_divide(each ? each : 1, pack);
    uint64_t ways = memory_divide(f->partitions, l->ram_rows);
    *m = (struct memory_rams){.pack = pack, .width = width, .ways = 1};
    m->logical = clamp(memory_divide(depth, PARTITION_RAMS));
    if (f->partitions > MANY_PARTITIONS)
        m->logical = clamp(depth);
    m->sram = clamp(depth * width * ways);
    m->deep = depth * ways;
    m->room = depth * ways * pack * (f->partitions < l->ram_rows ? f->partitions : l->ram_rows);
    grow_all(l, f, o, m);
    return true;
}

// Blocks side by side. Two share the byte between them; an entry's version takes half of it, or of
// the byte that a single block has half of.
static unsigned tcam_width(const struct chip_limits *l, const struct memory_format *f) {
    for (unsigned width = 1;; width++) {
        unsigned bytes = width / 2 * WIDE_BYTES + width % 2 * NARROW_BYTES;
        if (width >= f->ranges && bytes >= f->match_bytes &&
            (width % 2 || f->match_bits + HALF_BYTE <= width * l->tcam_bits))
            return width;
    }
}

static void ternary_rams(const struct chip_limits *l, const struct memory_format *f,
                         const struct memory_option *o, uint64_t entries, struct memory_rams *m) {
    uint64_t depth = memory_divide(entries ? entries : 1, l->tcam_rows);
    unsigned width = tcam_width(l, f);
    *m = (struct memory_rams){.pack = 1, .width = width, .logical = 1};
    m->tcam = clamp(depth * width);
    m->room = depth * l->tcam_rows;
    grow_all(l, f, o, m);
}

// Fewest RAMs, then narrowest, then the one that keeps data with the match.
static bool memory_match_better(const struct memory_rams *a, const struct memory_rams *b) {
    if (!b->logical || a->sram != b->sram)
        return !b->logical || a->sram < b->sram;
    if (a->width != b->width)
        return a->width < b->width;
    if (a->room == b->room && a->pack != b->pack)
        return a->pack < b->pack;
    if (a->data_bytes != b->data_bytes)
        return a->data_bytes < b->data_bytes;
    return a->room > b->room;
}

static void keyless_rams(const struct chip_limits *l, const struct memory_format *f,
                         uint64_t entries, struct memory_rams *best) {
    *best = (struct memory_rams){.logical = 1, .pack = 1, .width = 0, .room = entries};
    const struct memory_option *o = &f->options[f->n_options - 1];
    if (f->match == MEMORY_HASH_ACTION)
        o = &f->options[0];
    best->room = f->match == MEMORY_HASH_ACTION ? entries : 1;
    grow_all(l, f, o, best);
}

// RAMs that are read as one word stand in rows of their own, over one another.
static bool stands(const struct chip_limits *l, const struct memory_rams *m) {
    unsigned columns = l->per_stage[CHIP_SRAM] / l->sram_rows;
    return m->width == 0 || m->deep <= (uint64_t)columns * (l->sram_rows / m->width);
}

struct memory_rams memory_best(const struct chip_report *r, const struct memory_format *f,
                               uint64_t entries, bool in_stage) {
    const struct chip_limits *l = r->limits;
    struct memory_rams best = {0}, m = {0};
    if (f->match == MEMORY_NOTHING || f->match == MEMORY_HASH_ACTION) {
        keyless_rams(l, f, entries, &best);
        return best;
    }
    for (unsigned i = 0; i < f->n_options; i++) {
        if (f->match == MEMORY_TERNARY) {
            ternary_rams(l, f, &f->options[i], entries, &m);
            if (memory_match_better(&m, &best))
                best = m;
            continue;
        }
        for (unsigned pack = 1; pack <= MOST_PACKED; pack++)
            if ((f->match == MEMORY_EXACT ? exact_rams : atcam_rams)(l, f, &f->options[i], pack,
                                                                     entries, &m) &&
                (!in_stage || stands(l, &m)) && memory_match_better(&m, &best))
                best = m;
    }
    return best;
}
