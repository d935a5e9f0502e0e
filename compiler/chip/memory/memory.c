// SPDX-License-Identifier: Apache-2.0
//
// memory: a unit's format from its key, actions and annotations, and what it takes. See
// memory_impl.h.
#include "compiler/chip/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/chip/memory/memory_impl.h"

enum {
    ACTIONS_BY_MAP = 8, // that an entry names through a map; more take an instruction's address
    INSTRUCTION_BITS = 6,
    VERSION_BITS = 4,
    GHOST_BITS = 10,
    MOST_RANGE_LINES = 8,
    RANGE_PERCENT = 25, // of the entries use ranges, if nothing else is said
    WAY_BITS = 13, // of a hash group's 52 that a way has for itself: 10 of the row, 3 of the RAM
    DIST_BITS = 16,
    SALU_BUS = 4, // bytes that a stateful ALU or meter puts on the action data bus
    LOAD_BITS = 21,
};

// ---- action data --------------------------------------------------------------------------------

// Bytes that an operation takes of the action data bus.
static unsigned op_data(const struct chip_limits *l, const struct chip_op *op) {
    unsigned bytes = (op->to.width + 7) / 8;
    if (op->dead)
        return 0;
    if (op->data_bits)
        return bytes;
    if (!op->constant || !op->value)
        return 0;
    bool small = big_fits_i64(op->value) && big_to_i64(op->value) >= l->action_const_low &&
                 big_to_i64(op->value) <= l->action_const_high;
    if (small || (op->kind == CHIP_OP_SET && big_bits(op->value) < LOAD_BITS))
        return 0;
    return bytes;
}

// Action data of the largest action: in bytes, and in bits without what is after the last field.
static void action_data(const struct chip_limits *l, const struct chip_unit *u, unsigned *bytes,
                        unsigned *bits) {
    *bytes = *bits = 0;
    for (size_t i = 0; i < u->actions.n; i++) {
        const struct chip_action *a = &u->actions.v[i];
        unsigned sum = 0, saved = 0;
        for (size_t k = 0; k < a->ops.n; k++) {
            unsigned b = op_data(l, &a->ops.v[k]);
            unsigned slack = b * 8 - (b ? a->ops.v[k].to.width : 0);
            sum += b;
            saved = slack > saved ? slack : saved; // the last field's
        }
        if (sum * 8 - saved > *bits)
            *bits = sum * 8 - saved;
        if (sum > *bytes)
            *bytes = sum;
    }
}

// Data in a memory of its own, and as much as fits with the match.
static void action_options(const struct chip_report *r, const struct chip_unit *u,
                           struct memory_format *f) {
    const struct chip_limits *l = r->limits;
    unsigned bytes, bits, near_bytes = l->immediate_bits / 8;
    uint64_t wanted;
    action_data(l, u, &bytes, &bits);
    struct memory_option all = {.data_bytes = bytes ? (unsigned)memory_pow2(bytes) : 0};
    struct memory_option near = {.immediate_bits = bits};
    if (bytes > near_bytes) {
        near.immediate_bits = l->immediate_bits;
        near.data_bytes = (unsigned)memory_pow2(bytes - near_bytes);
    }
    f->fixed[CHIP_ACTION_BUS] += bytes;
    if (u->table && u->table->profile) { // members are kept once, whole
        struct memory_attached m = {.object = u->table->profile,
                                    .name = u->table->profile->name,
                                    .profile = true,
                                    .at = u->table->profile->at,
                                    .size = u->table->profile->size};
        f->profile_bytes = all.data_bytes;
        unsigned words = all.data_bytes <= 16 ? 1 : all.data_bytes / 16;
        unsigned per_word = all.data_bytes <= 16
                                ? 16 / (unsigned)memory_pow2(all.data_bytes ? all.data_bytes : 1)
                                : 1;
        unsigned address = memory_log2(m.size);
        uint64_t rams = memory_divide(m.size, (uint64_t)l->ram_rows * per_word) * words;
        m.used[CHIP_SRAM] = rams > INT32_MAX ? INT32_MAX : (unsigned)rams;
        f->overhead_bits += (address < 10 ? 10 : address) + 1;
        VEC_PUSH(r->arena, &f->attached, m);
        f->options[f->n_options++] = (struct memory_option){0};
        return;
    }
    bool no_near = u->table && memory_annotation(u->table, "immediate", &wanted) && wanted == 0;
    bool only_near =
        u->table && memory_annotation(u->table, "force_immediate", &wanted) && wanted == 1;
    if (!only_near || !bytes)
        f->options[f->n_options++] = all;
    if (bytes && !no_near)
        f->options[f->n_options++] = near;
}

// ---- what does not grow -------------------------------------------------------------------------

static bool memory_same_action(const struct chip_action *a, const struct chip_action *b) {
    return a->action && a->action == b->action;
}

static void memory_count_actions(const struct chip_report *r, const struct chip_unit *u,
                                 struct memory_format *f) {
    for (size_t i = 0; i < u->actions.n; i++) {
        const struct chip_action *a = &u->actions.v[i];
        bool counted = a->ops.n == 0 && a->accesses.n == 0;
        for (size_t k = 0; k < i; k++)
            counted |= memory_same_action(&u->actions.v[k], a);
        f->fixed[CHIP_VLIW] += !counted;
        unsigned slices = (a->hash_bits + DIST_BITS - 1) / DIST_BITS;
        f->fixed[CHIP_HASH_DIST] += slices;
        f->fixed[CHIP_HASH_BITS] += a->hash_bits;
        f->fixed[CHIP_ACTION_BUS] += slices * DIST_BITS / 8;
        memory_bytes(r->arena, &f->exact, a->hashed.v, a->hashed.n);
    }
}

bool memory_same_index(const struct memory_index *a, const struct memory_index *b) {
    bool same = a->kind == b->kind && a->bits == b->bits && a->cell_bits == b->cell_bits &&
                a->of.n == b->of.n;
    for (size_t i = 0; same && i < a->of.n; i++)
        same = a->of.v[i].of == b->of.v[i].of && a->of.v[i].at == b->of.v[i].at &&
               a->of.v[i].bits == b->of.v[i].bits;
    return same;
}

// Indices from the packet reach their memory as a hash does; one access of an object counts.
static void count_indices(const struct chip_report *r, const struct chip_unit *u,
                          struct memory_format *f) {
    VEC(const void *) seen = {0};
    for (size_t i = 0; i < u->actions.n; i++)
        for (size_t k = 0; k < u->actions.v[i].accesses.n; k++) {
            const struct chip_access *x = &u->actions.v[i].accesses.v[k];
            const void *object = x->reg       ? (const void *)x->reg
                                 : x->counter ? (const void *)x->counter
                                 : x->meter   ? (const void *)x->meter
                                              : (const void *)x->selector;
            uint64_t size = x->reg       ? x->reg->size
                            : x->counter ? x->counter->size
                            : x->meter   ? x->meter->size
                                         : 1;
            memory_bytes(r->arena, &f->exact, x->index.v, x->index.n);
            memory_bytes(r->arena, &f->exact, x->operands.v, x->operands.n);
            bool again = false;
            for (size_t s = 0; s < seen.n; s++)
                again |= seen.v[s] == object;
            if (again)
                continue;
            VEC_PUSH(r->arena, &seen, object);
            if (x->kind != CHIP_COUNTER && x->kind != CHIP_SELECTOR)
                f->fixed[CHIP_ACTION_BUS] += SALU_BUS;
            if (!x->index_is_hash && (x->index_is_data || x->index_is_constant || !x->index.n))
                continue;
            struct memory_index index = {.kind = x->kind, .bits = memory_log2(size)};
            index.cell_bits = x->reg ? x->reg->width * x->reg->words : 0;
            index.dist = index.bits > DIST_BITS + 7 ? 2 : 1;
            f->fixed[CHIP_HASH_DIST] += index.dist;
            f->fixed[CHIP_HASH_BITS] += index.bits;
            memory_bytes(r->arena, &index.of, x->index.v, x->index.n);
            if (!x->index_is_hash)
                VEC_PUSH(r->arena, &f->indices, index);
        }
}

static void count_fixed(const struct chip_report *r, const struct chip_unit *u,
                        struct memory_format *f) {
    f->fixed[CHIP_LOGICAL_TABLES] = 1;
    if (u->gateway.n || u->kind == CHIP_GATEWAY || u->condition) {
        memory_byte_vec bytes = {0};
        f->fixed[CHIP_GATEWAYS] = 1;
        memory_bytes(r->arena, &bytes, u->gateway.v, u->gateway.n);
        memory_bytes(r->arena, &f->exact, u->gateway.v, u->gateway.n);
        if (bytes.n > r->limits->gateway_bytes) // the rest comes through the hash
            f->fixed[CHIP_HASH_BITS] += r->limits->gateway_bits - 8 * r->limits->gateway_bytes;
    }
    memory_count_actions(r, u, f);
    count_indices(r, u, f);
    if (u->table && u->table->selector) {
        unsigned bits = u->table->select_hash ? u->table->select_hash->width : 0;
        f->fixed[CHIP_HASH_BITS] += bits;
    }
}

// ---- the key ------------------------------------------------------------------------------------

static bool ternary_key(const struct ir_table *t) {
    uint64_t asked = 0;
    if (memory_annotation(t, "ternary", &asked) && asked == 1)
        return true;
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match != IR_MATCH_EXACT)
            return true;
    return false;
}

// Lines of an entry with ranges: two for each nibble of the widest one, but one.
static unsigned range_lines(const struct ir_table *t) {
    unsigned lines = 1;
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match == IR_MATCH_RANGE) {
            unsigned n = 2 * ((t->keys.v[i].expr->width + 3) / 4) - 1;
            n = n > MOST_RANGE_LINES ? MOST_RANGE_LINES : n;
            lines = n > lines ? n : lines;
        }
    return lines;
}

static uint64_t entries_of(const struct chip_unit *u) {
    const struct ir_table *t = u->table;
    if (!t || t->keys.n == 0)
        return 0;
    uint64_t n = t->size ? t->size : t->const_entries ? t->entries.n : CHIP_TABLE_SIZE;
    uint64_t with = 0;
    n = n < t->entries.n ? t->entries.n : n;
    n = n ? n : 1;
    unsigned bits = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        bits += t->keys.v[i].expr->width;
    if (u->format->match == MEMORY_EXACT && bits < memory_log2(n))
        n = UINT64_C(1) << bits; // all that there are
    if (u->format->alpm)
        n += u->format->partitions; // a spare entry each, for changes in one step
    unsigned lines = range_lines(t);
    if (lines == 1)
        return n;
    with = n * RANGE_PERCENT / 100;
    uint64_t asked;
    if (memory_annotation(t, "entries_with_ranges", &asked) && asked > 0)
        with = asked < n ? asked : n;
    return n - with + with * lines;
}

// Bits of a key that the second part of an ALPM table leaves out (@alpm_atcam_exclude_field_msbs).
static unsigned left_out(const struct ir_table *t, const struct ir_key *k) {
    static const char name[] = "@alpm_atcam_exclude_field_msbs";
    size_t n = strlen(k->name);
    for (size_t i = 0; i < t->annotations.n; i++) {
        const char *s = t->annotations.v[i];
        if (strncmp(s, name, sizeof name - 1) != 0 || !s[sizeof name - 1])
            continue;
        s += sizeof name; // and the bracket
        if (strncmp(s, k->name, n) != 0 || (s[n] != ')' && s[n] != ','))
            continue;
        unsigned long bits = s[n] == ',' ? strtoul(s + n + 1, NULL, 0) : k->expr->width;
        return bits < k->expr->width ? (unsigned)bits : k->expr->width;
    }
    return 0;
}

// What an entry in a partition stores: not the partition's number; a prefix and a mask for what is
// matched with wildcards.
static void partition_format(const struct ir_table *t, struct memory_format *f) {
    f->match_bits = f->subset ? 1 : 0; // which of the subtrees
    f->match_bytes = f->subset ? 1 : 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_key *k = &t->keys.v[i];
        unsigned width = k->expr->width - left_out(t, k);
        if (k->partition || (f->subset && k->match == IR_MATCH_EXACT))
            continue;
        if (f->subset && k->match == IR_MATCH_LPM)
            width = f->subset;
        bool twice = k->match != IR_MATCH_EXACT;
        f->match_bits += width * (twice ? 2 : 1);
        f->match_bytes += (width + 7) / 8 * (twice ? 2 : 1);
    }
}

// The table before an ALPM's partitions: one line for each subtree, which names its partition.
static void first_format(const struct chip_report *r, const struct chip_unit *u,
                         struct memory_format *f, uint64_t subtrees) {
    memory_byte_vec bytes = {0};
    memory_bytes(r->arena, &bytes, u->key.v, u->key.n);
    f->first_bytes = bytes;
    struct memory_format first = {.match = MEMORY_TERNARY, .match_bytes = (unsigned)bytes.n};
    first.overhead_bits =
        memory_log2(f->partitions) + (f->subset ? INSTRUCTION_BITS + f->subset : 0);
    first.n_options = 1;
    struct memory_rams m = memory_best(r, &first, f->partitions * subtrees, false);
    f->first[CHIP_LOGICAL_TABLES] = f->first[CHIP_TERNARY_TABLES] = 1;
    f->first[CHIP_TCAM] = m.tcam;
    f->first[CHIP_SRAM] = m.sram;
    f->first[CHIP_TERNARY_XBAR] = (unsigned)bytes.n;
    f->first[CHIP_VLIW] = 1;
    f->first[CHIP_ACTION_BUS] = (first.overhead_bits + 7) / 8;
}

// Tables whose entries are in partitions (tna-facts 4.12), said by a property or an annotation.
static void find_partitions(const struct chip_report *r, const struct chip_unit *u,
                            struct memory_format *f) {
    const struct ir_table *t = u->table;
    const struct ir_partitions *p = t->partitions;
    uint64_t asked = 0, subtrees = CHIP_ALPM_SUBTREES, subset = p ? p->subset_width : 0;
    unsigned index_bits = 0;
    bool alpm = p ? p->alpm : memory_annotation(t, "alpm", &asked) && asked == 1;
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].partition)
            index_bits = t->keys.v[i].expr->width;
    if (!alpm && !(p && index_bits))
        return;
    f->match = MEMORY_ATCAM;
    f->alpm = alpm;
    f->partitions =
        alpm ? CHIP_ALPM_PARTITIONS : UINT64_C(1) << (index_bits < 16 ? index_bits : 16);
    memory_annotation(t, "alpm_partitions", &f->partitions);
    memory_annotation(t, "alpm_subtrees_per_partition", &subtrees);
    memory_annotation(t, "alpm_atcam_subset_width", &subset);
    if (p && p->count)
        f->partitions = p->count;
    if (p && p->subtrees)
        subtrees = p->subtrees;
    for (size_t i = 0; alpm && i < t->keys.n; i++) // as long as the whole prefix, it is none
        if (t->keys.v[i].match == IR_MATCH_LPM && subset < t->keys.v[i].expr->width)
            f->subset = (unsigned)subset;
    f->partitions = f->partitions ? f->partitions : 1;
    if (alpm)
        first_format(r, u, f, subtrees ? subtrees : 1);
}

// Bits and bytes of the stored key: ghost bits are not stored; wildcards in SRAM and ranges take
// two for one.
static void key_format(const struct chip_report *r, const struct chip_unit *u,
                       struct memory_format *f) {
    const struct ir_table *t = u->table;
    memory_byte_vec bytes = {0};
    memory_bytes(r->arena, &bytes, u->key.v, u->key.n);
    f->key_bits = f->match_bits = memory_bits_of(&bytes);
    f->match_bytes = (unsigned)bytes.n;
    for (size_t i = 0; i < t->keys.n; i++) {
        unsigned width = t->keys.v[i].expr->width;
        enum ir_match m = t->keys.v[i].match;
        bool twice = m == IR_MATCH_RANGE;
        f->ranges += m == IR_MATCH_RANGE;
        if (twice) {
            f->match_bits += width;
            f->match_bytes += (width + 7) / 8;
        }
    }
    if (f->match == MEMORY_EXACT) {
        unsigned left = GHOST_BITS;
        f->match_bits -= f->match_bits < left ? f->match_bits : left;
        for (unsigned size = 1; size <= 8; size++) // whole bytes, small ones first
            for (size_t i = 0; i < bytes.n; i++)
                if ((unsigned)__builtin_popcount(bytes.v[i].bits) == size && left >= size) {
                    left -= size;
                    f->match_bytes--;
                }
    }
    if (f->match == MEMORY_ATCAM)
        partition_format(t, f);
    memory_byte_vec *bar = f->match == MEMORY_TERNARY ? &f->ternary : &f->exact;
    for (size_t i = 0; i < bytes.n; i++)
        memory_byte_add(r->arena, bar, bytes.v[i]);
    if (t->proxy) {
        f->match_bits = t->proxy->width;
        f->match_bytes = (t->proxy->width + 7) / 8;
    }
}

static void entry_overhead(const struct chip_unit *u, struct memory_format *f) {
    unsigned hits = 0;
    for (size_t i = 0; i < u->actions.n; i++)
        hits += !u->actions.v[i].is_default_only;
    if (hits > 0)
        f->overhead_bits += hits <= ACTIONS_BY_MAP ? memory_log2(hits) : INSTRUCTION_BITS;
}

// The key says where, and there is one thing to do: no entry needs to be stored.
static bool hash_action(const struct chip_unit *u, const struct memory_format *f) {
    const struct ir_table *t = u->table;
    uint64_t asked = 1;
    if (memory_annotation(t, "use_hash_action", &asked) && asked == 0)
        return false;
    return f->match == MEMORY_EXACT && !f->idle && t->actions.n == 1 && !t->proxy && !t->profile &&
           f->key_bits < 32 && t->size == UINT64_C(1) << f->key_bits;
}

static void idle_time(const struct chip_report *r, const struct ir_table *t,
                      struct memory_format *f) {
    uint64_t bits = 3;
    if (!t->idle_timeout)
        return;
    memory_annotation(t, "idletime_precision", &bits);
    struct memory_direct d = {.width = 1, .map_ram = true};
    d.per_word = bits == 1 ? 8 : bits == 2 ? 4 : bits == 3 ? 2 : 1;
    VEC_PUSH(r->arena, &f->direct, d);
    f->idle = true;
}

static void table_format(const struct chip_report *r, const struct chip_unit *u,
                         struct memory_format *f) {
    const struct ir_table *t = u->table;
    uint64_t asked;
    f->match = ternary_key(t) ? MEMORY_TERNARY : MEMORY_EXACT;
    f->version_bits = VERSION_BITS;
    if (memory_annotation(t, "ways", &asked) && asked >= 1 && asked <= r->limits->max_ways)
        f->ways = (unsigned)asked;
    if (memory_annotation(t, "pack", &asked) && asked >= 1 && asked <= 9)
        f->pack = (unsigned)asked;
    idle_time(r, t, f);
    find_partitions(r, u, f);
    key_format(r, u, f);
    entry_overhead(u, f);
    if (hash_action(u, f))
        f->match = MEMORY_HASH_ACTION;
}

static struct memory_format *format_of(const struct chip_report *r, const struct chip_unit *u) {
    struct memory_format *f = ARENA_NEW(r->arena, struct memory_format);
    if (u->table && u->table->keys.n > 0)
        table_format(r, u, f);
    memory_attach(r, u, f);
    action_options(r, u, f);
    count_fixed(r, u, f);
    if (f->match == MEMORY_TERNARY)
        f->fixed[CHIP_TERNARY_TABLES] = 1;
    if (f->match == MEMORY_HASH_ACTION) // the address of each memory comes through the hash
        f->fixed[CHIP_HASH_DIST] += (unsigned)f->direct.n + (f->options[0].data_bytes > 0);
    f->fixed[CHIP_EXACT_XBAR] = (unsigned)f->exact.n;
    f->fixed[CHIP_TERNARY_XBAR] = (unsigned)f->ternary.n;
    return f;
}

// ---- entry points -------------------------------------------------------------------------------

static void add_rams(const struct memory_format *f, const struct memory_rams *m,
                     unsigned used[CHIP_RESOURCES]) {
    used[CHIP_SRAM] += m->sram;
    used[CHIP_TCAM] += m->tcam;
    used[CHIP_MAP_RAM] += m->map_ram;
    used[CHIP_LOGICAL_TABLES] += m->logical > 1 ? m->logical - 1 : 0;
    if (f->match == MEMORY_EXACT)
        used[CHIP_HASH_BITS] += m->ways * WAY_BITS;
    if (f->match == MEMORY_ATCAM)
        used[CHIP_HASH_BITS] += WAY_BITS;
}

bool memory_own(const struct chip_report *r, const struct chip_unit *u, uint64_t entries,
                unsigned used[CHIP_RESOURCES]) {
    struct memory_rams m = memory_best(r, u->format, entries, true);
    memcpy(used, u->format->fixed, sizeof u->format->fixed);
    add_rams(u->format, &m, used);
    return m.logical > 0;
}

void chip_memory_of(const struct chip_report *r, const struct chip_unit *u, uint64_t entries,
                    unsigned used[CHIP_RESOURCES]) {
    struct memory_rams m = memory_best(r, u->format, entries, false);
    memcpy(used, u->format->fixed, sizeof u->format->fixed);
    add_rams(u->format, &m, used);
    for (size_t i = 0; i < u->format->attached.n; i++)
        for (unsigned k = 0; k < CHIP_RESOURCES; k++)
            used[k] += u->format->attached.v[i].used[k];
}

static bool may_split(const struct memory_format *f) {
    if (f->match == MEMORY_NOTHING || f->match == MEMORY_HASH_ACTION)
        return false;
    for (size_t i = 0; i < f->attached.n; i++)
        if (!f->attached.v[i].profile && f->attached.v[i].size &&
            (f->attached.v[i].kind == CHIP_REGISTER || f->attached.v[i].kind == CHIP_METER))
            return false; // its cells are in one stage; what else is attached is there twice
    return true;
}

void chip_memory(struct chip_report *r, struct chip_pipe *pipe) {
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < pipe->gress[g].units.n; i++) {
            struct chip_unit *u = &pipe->gress[g].units.v[i];
            struct memory_format *f = format_of(r, u);
            u->format = f;
            u->entries = entries_of(u);
            u->may_split = may_split(f);
            struct memory_rams m = memory_best(r, f, u->entries, false);
            u->ways = m.ways;
            u->pack_entries = m.pack;
            u->pack_width = m.width;
            u->immediate_bits = m.immediate_bits;
            u->overhead_bits = f->overhead_bits + m.immediate_bits;
            u->entry_bits = f->match_bits + f->version_bits + u->overhead_bits;
            chip_memory_of(r, u, u->entries, u->need);
            memory_check(r, u, f);
        }
}
