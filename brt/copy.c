// SPDX-License-Identifier: Apache-2.0
//
// Counts and register cells as the chip's driver would have them: packets change the chip's, and
// the driver's copy is as old as the latest write, read from the chip (from_hw) or operation that
// synchronizes. A controller that reads without from_hw is answered from the copy.
//
// Entries have their own copy (stages/table.h). That of cells is here, made when the first of them
// is not as at the program's start. A register's words are kept as what differs from the initial
// ones, so that new memory, which is zero, needs no writing.
#include <stdlib.h>
#include <string.h>

#include "brt/brt_impl.h"

bool brt_has_copy(const struct brt_table *t) {
    return t->kind == BRT_COUNTER || t->kind == BRT_REGISTER;
}

static uint32_t copy_words(const struct brt_table *t) {
    return (uint32_t)(brt_cell_bytes(t) / sizeof(uint64_t));
}

// The words of a cell at the program's start; those of a counter are 0.
static const uint64_t *copy_initial(const struct brt_table *t) {
    static const uint64_t zero[2];
    return t->kind == BRT_COUNTER ? zero : t->object.desc->registers[t->object.index].initial;
}

bool brt_copy_make(struct brt *b, const struct brt_table *t, unsigned pipe) {
    uint64_t **copy = brt_schema_copy(brt_served(b), t, pipe);
    if (!*copy)
        *copy = calloc((size_t)t->size, brt_cell_bytes(t));
    return *copy;
}

void brt_copy_get(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                  uint64_t to, uint64_t *out) {
    const uint64_t *copy = *brt_schema_copy(brt_served(b), t, pipe), *initial = copy_initial(t);
    const uint32_t words = copy_words(t);
    for (uint64_t i = from; i < to; i++)
        for (uint32_t w = 0; w < words; w++)
            *out++ = initial[w] ^ (copy ? copy[i * words + w] : 0);
}

void brt_copy_put(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                  uint64_t to, const uint64_t *cells) {
    uint64_t *copy = *brt_schema_copy(brt_served(b), t, pipe);
    const uint64_t *initial = copy_initial(t);
    const uint32_t words = copy_words(t);
    for (uint64_t i = from; copy && i < to; i++)
        for (uint32_t w = 0; w < words; w++)
            copy[i * words + w] = initial[w] ^ *cells++;
}

void brt_copy_cell(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t index) {
    uint64_t cell[2] = {0};
    brt_cells_copy(b, t, pipe, index, index + 1, cell);
    brt_copy_put(b, t, pipe, index, index + 1, cell);
}

// ---- operations ----

static enum brt_code copy_all_cells(struct brt *b, const struct brt_change *c,
                                    struct sk_error *err) {
    const enum brt_code code = brt_cell_copies(b, c, err);
    for (unsigned i = 0; code == BRT_OK && i < c->pipes.n; i++)
        for (uint64_t index = 0; index < c->table->size; index++) {
            if (index % SK_SLICE == SK_SLICE - 1)
                sk_pauses_breathe(&b->pauses);
            brt_copy_cell(b, c->table, c->pipes.list[i], index);
        }
    return code;
}

void brt_copy_entry(const struct sk_table_desc *d, struct sk_entry *e, unsigned what) {
    if (what & BRT_COPY_COUNTS) {
        e->seen_packets = e->packets;
        e->seen_bytes = e->bytes;
    }
    if (what & BRT_COPY_DIRECT && e->direct)
        memcpy(e->direct + d->direct_words, e->direct, d->direct_words * sizeof *e->direct);
}

struct copy_entries {
    struct brt *b;
    const struct sk_table_desc *desc;
    unsigned what;
    uint64_t n;
};

static bool copy_each(void *aux, const struct sk_entry *e) {
    struct copy_entries *c = aux;
    if (++c->n % SK_SLICE == 0)
        sk_pauses_breathe(&c->b->pauses);
    // entries are found for reading; what is seen of them is this room's
    brt_copy_entry(c->desc, (struct sk_entry *)(uintptr_t)e, c->what);
    return true;
}

enum brt_code brt_copy_table(struct brt *b, const struct brt_change *c, unsigned what,
                             struct sk_error *err) {
    if (brt_has_copy(c->table))
        return copy_all_cells(b, c, err);
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = brt_table_in(b, c->table, c->pipes.list[i]);
        struct copy_entries all = {.b = b, .desc = c->table->desc, .what = what};
        sk_table_each(t, copy_each, &all);
        brt_copy_entry(c->table->desc, sk_table_default(t), what);
    }
    return BRT_OK;
}
