// SPDX-License-Identifier: Apache-2.0
//
// register_layout: registers that are visited together lie together.
//
// What a program keeps of one thing (an aggregator's owner, its bitmap, how many are in it) is in several
// registers of one size, and a packet visits all of them at one index. As an array each they would be as
// many lines of cache, and pages, for a packet. Those whose index is the same expression wherever the
// program uses them become one array of rows: a row has a cell of each, and is in one line.
#include "compiler/print/emit_impl.h"
#include "compiler/ir/build.h"

#define LINE 64 // bytes

// What the control uses registers at; by register.
struct uses {
    struct {
        const struct ir_expr *index; // null: not used yet
        bool differs;                // not at one expression only
    } * v;
};

static void note_use(void *aux, const struct ir_stmt *s) {
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

static unsigned cell_bytes(const struct ir_register *r) {
    const unsigned w = r->width;
    return r->words * (w <= 8 ? 1 : w <= 16 ? 2 : w <= 32 ? 4 : 8);
}

unsigned emit_row_bytes(const struct emit_row *row) {
    unsigned bytes = 0, all = 1;
    for (size_t i = 0; i < row->registers.n; i++)
        bytes += cell_bytes(row->registers.v[i]);
    while (all < bytes)
        all *= 2;
    return all;
}

// Adds what is used as the first of them is, as far as there is room.
static void add_like(struct emit *e, struct emit_row *row) {
    const struct ir_gress *g = e->g;
    const struct emit_plan *p = emit_plan_of(e);
    const struct ir_register *first = row->registers.v[0];
    unsigned bytes = cell_bytes(first);
    for (size_t i = first->id + 1; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        const bool like =
            p->index[i] && r->size == first->size && ir_same(p->index[i], p->index[first->id]);
        if (!like || p->registers[i].banked || p->registers[i].in_row ||
            bytes + cell_bytes(r) > LINE)
            continue;
        bytes += cell_bytes(r);
        VEC_PUSH(e->a, &row->registers, r);
    }
}

void emit_plan_rows(struct emit *e) {
    const struct ir_gress *g = e->g;
    struct emit_plan *p = emit_plan_of(e);
    struct uses u = {.v = arena_alloc(e->a, (g->registers.n + 1) * sizeof *u.v)};
    ir_walk(g->control, note_use, NULL, &u);
    ir_walk(g->deparser, note_use, NULL, &u);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_walk(g->actions.v[i]->body, note_use, NULL, &u);
    p->index = ARENA_ARRAY(e->a, const struct ir_expr *, g->registers.n + 1);
    for (size_t i = 0; i < g->registers.n; i++)
        p->index[i] = u.v[i].differs ? NULL : u.v[i].index;
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        if (!p->index[i] || p->registers[i].banked || p->registers[i].in_row || r->size == 0)
            continue;
        struct emit_row row = {0};
        VEC_PUSH(e->a, &row.registers, r);
        add_like(e, &row);
        if (row.registers.n == 1)
            continue;
        for (size_t k = 0; k < row.registers.n; k++) {
            struct emit_register *at = &p->registers[row.registers.v[k]->id];
            at->in_row = true;
            at->row = (unsigned)p->rows.n;
        }
        VEC_PUSH(e->a, &p->rows, row);
    }
}

static void member(struct emit *e, const struct ir_register *r, const char *align) {
    emit_line(e, "%s%s r%u%s; // %s", align, emit_storage(r->width), r->id,
              r->words == 2 ? "[2]" : "", emit_comment(e, r->name));
}

// The widest first, so that there are no gaps but those that are wanted.
static void members(struct emit *e, const struct emit_row *row, unsigned bytes, const char *align) {
    for (size_t i = 0; i < row->registers.n; i++)
        if (cell_bytes(row->registers.v[i]) / row->registers.v[i]->words == bytes)
            member(e, row->registers.v[i], align);
}

// Words of 4 bytes begin at 8 each where there is room: C compilers make of equal operations on two that
// lie side by side one of a vector, which takes longer to put together than both.
static bool apart(const struct emit_row *row) {
    unsigned at = 0;
    for (unsigned bytes = 8; bytes > 0; bytes /= 2)
        for (size_t i = 0; i < row->registers.n; i++) {
            const struct ir_register *r = row->registers.v[i];
            if (cell_bytes(r) / r->words != bytes)
                continue;
            at = bytes == 4 ? (at + 7) / 8 * 8 : at;
            at += cell_bytes(r);
        }
    return at <= emit_row_bytes(row);
}

void emit_rows(struct emit *e) {
    const struct emit_plan *p = emit_plan_of(e);
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct emit_row *row = &p->rows.v[i];
        const char *align = apart(row) ? "_Alignas(8) " : "";
        emit_open(e, "_Alignas(64) struct {");
        emit_line(e, "_Alignas(%u) struct {", emit_row_bytes(row));
        e->indent++;
        for (unsigned bytes = 8; bytes > 0; bytes /= 2)
            members(e, row, bytes, bytes == 4 ? align : "");
        emit_close(e, "} of;");
        emit_close(e, "} %c_rows%zu[%llu];", emit_gress_letter(e), i,
                   (unsigned long long)row->registers.v[0]->size);
    }
}

const char *emit_row_cell(struct emit *e, const struct ir_register *r, const char *index,
                          const char *word) {
    const char *cell = emit_text(e, "s->%c_rows%u[%s].of.r%u", emit_gress_letter(e),
                                 emit_plan_of(e)->registers[r->id].row, index, r->id);
    return r->words == 2 ? emit_text(e, "%s[%s]", cell, word) : cell;
}
