// SPDX-License-Identifier: Apache-2.0
//
// register_layout: registers that are visited together lie together.
//
// What a program keeps of one thing (an aggregator's owner, its bitmap, how many are in it) is in
// several registers of one size, and a packet visits all of them at one index. As an array each
// they would be as many lines of cache, and pages, for a packet. Those whose index is the same
// expression wherever the program uses them become one array of rows: a row has a cell of each, and
// is in one line.
//
// Registers of the same shape that loops over lanes have left become banks, too: one array whose
// cell i holds cell i of all of them, first all first words, then all second words.
#include "compiler/plan/plan.h"
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"

#define LINE 64 // bytes

static bool plan_layout_same_shape(const struct ir_register *a, const struct ir_register *b) {
    return !a->direct && !b->direct && a->width == b->width && a->words == b->words &&
           a->size == b->size;
}

static void bank_from(struct plan *plan, size_t first) {
    const struct ir_gress *g = plan->g;
    const struct ir_register *r = g->registers.v[first];
    unsigned lanes = 0;
    for (size_t i = first; i < g->registers.n; i++)
        lanes += !plan->registers[i].banked && plan_layout_same_shape(r, g->registers.v[i]);
    if (lanes < PLAN_MIN_BANK)
        return;
    struct plan_bank bank = {.shape = r, .lanes = lanes};
    unsigned lane = 0;
    for (size_t i = first; i < g->registers.n; i++) {
        if (plan->registers[i].banked || !plan_layout_same_shape(r, g->registers.v[i]))
            continue;
        plan->registers[i] =
            (struct plan_register){.banked = true, .bank = (unsigned)plan->banks.n, .lane = lane};
        lane++;
    }
    VEC_PUSH(plan->a, &plan->banks, bank);
}

void plan_banks(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    for (size_t i = 0; i < g->registers.n && plan->vectorise; i++)
        if (!g->registers.v[i]->direct && !plan->registers[i].banked)
            bank_from(plan, i);
}

// What the control uses registers at; by register.
struct uses {
    struct {
        const struct ir_expr *index; // null: not used yet
        bool differs;                // not at one expression only
    } * v;
};

static void plan_layout_note_use(void *aux, const struct ir_stmt *s) {
    struct uses *u = aux;
    const struct ir_register *r = s->regaction ? s->regaction->reg : s->reg;
    if (!r || r->direct)
        return;
    // cells of another size have other indices, and so have logs
    const bool plain =
        !s->regaction || (s->regaction->width == r->width && s->regaction->words == r->words);
    if (!plain || s->use || !s->e || s->e->op == IR_CONST || r->counting)
        u->v[r->id].differs = true;
    else if (!u->v[r->id].index)
        u->v[r->id].index = s->e;
    else
        u->v[r->id].differs |= !ir_same(u->v[r->id].index, s->e);
}

unsigned plan_cell_bytes(const struct ir_register *r) {
    const unsigned w = r->width;
    return r->words * (w <= 8 ? 1 : w <= 16 ? 2 : w <= 32 ? 4 : 8);
}

unsigned plan_row_bytes(const struct plan_row *row) {
    unsigned bytes = 0, all = 1;
    for (size_t i = 0; i < row->registers.n; i++)
        bytes += plan_cell_bytes(row->registers.v[i]);
    while (all < bytes)
        all *= 2;
    return all;
}

// Adds what is used as the first of them is, as far as there is room.
static void add_like(const struct plan *plan, struct plan_row *row) {
    const struct ir_gress *g = plan->g;
    const struct ir_register *first = row->registers.v[0];
    unsigned bytes = plan_cell_bytes(first);
    for (size_t i = first->id + 1; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        const bool like = plan->index[i] && r->size == first->size &&
                          ir_same(plan->index[i], plan->index[first->id]);
        if (!like || plan->registers[i].banked || plan->registers[i].in_row ||
            bytes + plan_cell_bytes(r) > LINE)
            continue;
        bytes += plan_cell_bytes(r);
        VEC_PUSH(plan->a, &row->registers, r);
    }
}

void plan_rows(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    if (!plan->vectorise && !plan->checked) // the scalar build is what speed is compared with
        return;
    struct uses u = {.v = arena_alloc(plan->a, (g->registers.n + 1) * sizeof *u.v)};
    ir_walk(g->control, plan_layout_note_use, NULL, &u);
    ir_walk(g->deparser, plan_layout_note_use, NULL, &u);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_walk(g->actions.v[i]->body, plan_layout_note_use, NULL, &u);
    plan->index = ARENA_ARRAY(plan->a, const struct ir_expr *, g->registers.n + 1);
    for (size_t i = 0; i < g->registers.n; i++)
        plan->index[i] = u.v[i].differs ? NULL : u.v[i].index;
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        if (!plan->index[i] || plan->registers[i].banked || plan->registers[i].in_row ||
            r->size == 0)
            continue;
        struct plan_row row = {0};
        VEC_PUSH(plan->a, &row.registers, r);
        add_like(plan, &row);
        if (row.registers.n == 1)
            continue;
        for (size_t k = 0; k < row.registers.n; k++) {
            struct plan_register *at = &plan->registers[row.registers.v[k]->id];
            at->in_row = true;
            at->row = (unsigned)plan->rows.n;
        }
        VEC_PUSH(plan->a, &plan->rows, row);
    }
}
