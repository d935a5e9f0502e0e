// SPDX-License-Identifier: Apache-2.0
//
// attached: registers, counters, meters, selectors and action profiles of a unit (tna-facts 6.3,
// 7.3): their RAMs, their ALU, and what the address takes in a match entry.
#include <string.h>

#include "compiler/chip/memory/memory_impl.h"

enum { COUNTER_PAIR_BITS = 36, COLOURS_PER_WORD = 4, POOL = 120, MOST_LINES = 31 };

// Cells in a word of the memory. A counter of packets and bytes has 28 and 36 bits, or 64 and 64.
static unsigned counter_per_word(const struct ir_counter *c) {
    if (c->type == IR_COUNT_BOTH)
        return c->width <= COUNTER_PAIR_BITS ? 2 : 1;
    return c->width <= 32 ? 4 : 2;
}

static unsigned register_per_word(const struct chip_limits *l, const struct ir_register *reg) {
    unsigned bits = reg->width * reg->words;
    return bits ? (unsigned)(l->ram_bits / memory_pow2(bits)) : 1;
}

// Lines of a group's memory, each of 120 members.
static unsigned selector_lines(const struct ir_selector *s) {
    uint64_t n = memory_divide(s->max_group_size ? s->max_group_size : 1, POOL);
    return n > UINT32_MAX / POOL ? UINT32_MAX / POOL : (unsigned)n;
}

// Bits of an entry that say how many lines its group has.
static unsigned selector_length(const struct ir_selector *s) {
    unsigned lines = selector_lines(s), shift = 0;
    while (lines >> shift > MOST_LINES)
        shift++;
    if (lines == 1)
        return 0;
    unsigned mod = lines <= MOST_LINES ? memory_log2((lines >> shift) + 1) : 5;
    return mod + (shift ? memory_log2(shift + 1) : 0);
}

static void count_ram(const struct chip_limits *l, unsigned used[CHIP_RESOURCES], uint64_t cells,
                      unsigned per_word, bool spare) {
    uint64_t rams = memory_divide(cells ? cells : 1, (uint64_t)l->ram_rows * per_word) + spare;
    unsigned n = rams > UINT32_MAX / 4 ? UINT32_MAX / 4 : (unsigned)rams;
    used[CHIP_SRAM] += n;
    used[CHIP_MAP_RAM] += n;
}

static struct memory_attached *attached_find(struct memory_format *f, const void *object) {
    for (size_t i = 0; i < f->attached.n; i++)
        if (f->attached.v[i].object == object)
            return &f->attached.v[i];
    return NULL;
}

static void add_direct(struct arena *a, struct memory_format *f, unsigned per_word) {
    struct memory_direct d = {
        .per_word = per_word, .width = 1, .sram = true, .map_ram = true, .spare = true};
    VEC_PUSH(a, &f->direct, d);
}

static void memory_attached_attach_register(const struct chip_report *r, struct memory_format *f,
                                            const struct ir_register *reg,
                                            struct memory_attached *m) {
    unsigned per_word = register_per_word(r->limits, reg);
    m->used[CHIP_STATEFUL_ALUS] = m->used[CHIP_METER_ALUS] = 1;
    if (reg->direct)
        add_direct(r->arena, f, per_word);
    else if (!reg->implied) // the selector's own memory is counted with the selector
        count_ram(r->limits, m->used, reg->size, per_word, true);
    m->size = reg->size;
    m->cell_bits = reg->width * reg->words;
    m->selector = reg->of_selector;
}

static void memory_attached_attach_meter(const struct chip_report *r, struct memory_format *f,
                                         const struct ir_meter *meter, struct memory_attached *m) {
    m->used[CHIP_METER_ALUS] = 1;
    m->size = meter->size;
    if (meter->direct)
        add_direct(r->arena, f, 1);
    else
        count_ram(r->limits, m->used, meter->size, 1, true);
    if (meter->kind != IR_METER)
        return;
    struct memory_direct colours = {.per_word = COLOURS_PER_WORD, .width = 1, .map_ram = true};
    if (meter->direct)
        VEC_PUSH(r->arena, &f->direct, colours);
    else
        m->used[CHIP_MAP_RAM] += (unsigned)memory_divide(
            meter->size, (uint64_t)r->limits->map_ram_rows * COLOURS_PER_WORD);
}

static void attach(const struct chip_report *r, struct memory_format *f,
                   const struct chip_access *x) {
    struct memory_attached m = {.kind = x->kind};
    switch (x->kind) {
    case CHIP_REGISTER:
        m.object = x->reg;
        break;
    case CHIP_COUNTER:
        m.object = x->counter;
        break;
    case CHIP_METER:
        m.object = x->meter;
        break;
    case CHIP_SELECTOR:
        m.object = x->selector;
        break;
    }
    if (!m.object || attached_find(f, m.object))
        return;
    switch (x->kind) {
    case CHIP_REGISTER:
        m.name = x->reg->name, m.at = x->reg->at;
        memory_attached_attach_register(r, f, x->reg, &m);
        break;
    case CHIP_COUNTER:
        m.name = x->counter->name, m.at = x->counter->at;
        m.used[CHIP_STATS_ALUS] = 1;
        m.size = x->counter->size;
        if (x->counter->direct)
            add_direct(r->arena, f, counter_per_word(x->counter));
        else
            count_ram(r->limits, m.used, m.size, counter_per_word(x->counter), true);
        break;
    case CHIP_METER:
        m.name = x->meter->name, m.at = x->meter->at;
        memory_attached_attach_meter(r, f, x->meter, &m);
        break;
    case CHIP_SELECTOR:
        m.name = x->selector->name, m.at = x->selector->at;
        m.selector = x->selector;
        m.used[CHIP_METER_ALUS] = 1;
        m.size = x->selector->n_groups * selector_lines(x->selector);
        count_ram(r->limits, m.used, m.size, 1, true);
        break;
    }
    VEC_PUSH(r->arena, &f->attached, m);
}

// Whether the control plane may make this action the default one.
static bool may_be_default(const struct ir_table *t, const struct chip_action *a) {
    return !t || !t->const_default || a->action == t->default_action;
}

// A table's address of one type is as wide as the largest of its memories; one more bit when not
// all of the actions use it, three when they use it in different ways.
static unsigned address_bits(const struct chip_unit *u, const struct memory_format *f, bool stats) {
    uint64_t size = 0;
    bool any = false, all = true, several = false;
    const void *how = NULL;
    for (size_t i = 0; i < f->attached.n; i++) {
        const struct memory_attached *m = &f->attached.v[i];
        if (m->profile || (m->kind == CHIP_COUNTER) != stats)
            continue;
        any = true;
        size = m->size > size ? m->size : size;
    }
    if (!any)
        return 0;
    for (size_t i = 0; i < u->actions.n; i++) {
        const struct chip_action *a = &u->actions.v[i];
        bool uses = false;
        for (size_t k = 0; k < a->accesses.n; k++) {
            const struct chip_access *x = &a->accesses.v[k];
            if ((x->kind == CHIP_COUNTER) != stats)
                continue;
            uses = true;
            several |= how && x->regaction && how != x->regaction;
            how = x->regaction ? x->regaction : how;
        }
        all &= uses || a->is_default_only;
    }
    unsigned bits = memory_log2(size);
    return (bits < 10 ? 10 : bits) + !all + (several ? 3 : 0);
}

static void attach_table(const struct chip_report *r, const struct ir_table *t,
                         struct memory_format *f) {
    for (size_t i = 0; i < t->direct_counters.n; i++)
        attach(r, f,
               &(struct chip_access){.kind = CHIP_COUNTER, .counter = t->direct_counters.v[i]});
    for (size_t i = 0; i < t->direct_registers.n; i++)
        attach(r, f, &(struct chip_access){.kind = CHIP_REGISTER, .reg = t->direct_registers.v[i]});
    if (t->direct_meter)
        attach(r, f, &(struct chip_access){.kind = CHIP_METER, .meter = t->direct_meter});
    if (!t->selector)
        return;
    attach(r, f, &(struct chip_access){.kind = CHIP_SELECTOR, .selector = t->selector});
    unsigned length = selector_length(t->selector);
    f->overhead_bits += length;
    f->selector_length = length > 0;
}

void memory_attach(const struct chip_report *r, const struct chip_unit *u,
                   struct memory_format *f) {
    if (u->table)
        attach_table(r, u->table, f);
    for (size_t i = 0; i < u->actions.n; i++)
        for (size_t k = 0; k < u->actions.v[i].accesses.n; k++) {
            const struct chip_access *x = &u->actions.v[i].accesses.v[k];
            attach(r, f, x);
            f->direct_of_default |= may_be_default(u->table, &u->actions.v[i]);
        }
    f->overhead_bits += address_bits(u, f, true) + address_bits(u, f, false);
}
