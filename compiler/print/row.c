// SPDX-License-Identifier: Apache-2.0
//
// row: registers side by side, as C (compiler/plan/register_layout.c).
#include "compiler/print/emit_impl.h"

static void emit_row_member(const struct emit *e, const struct ir_register *r, const char *align) {
    emit_line(e, "%s%s r%u%s; // %s", align, emit_storage(r->width), r->id,
              r->words == 2 ? "[2]" : "", emit_comment(e, r->name));
}

// The widest first, so that there are no gaps but those that are wanted.
static void members(const struct emit *e, const struct plan_row *row, unsigned bytes,
                    const char *align) {
    for (size_t i = 0; i < row->registers.n; i++)
        if (plan_cell_bytes(row->registers.v[i]) / row->registers.v[i]->words == bytes)
            emit_row_member(e, row->registers.v[i], align);
}

// Words of 4 bytes begin at 8 each where there is room: C compilers make of equal operations on two
// that lie side by side one of a vector, which takes longer to put together than both.
static bool emit_row_is_spaced(const struct plan_row *row) {
    unsigned at = 0;
    for (unsigned bytes = 8; bytes > 0; bytes /= 2)
        for (size_t i = 0; i < row->registers.n; i++) {
            const struct ir_register *r = row->registers.v[i];
            if (plan_cell_bytes(r) / r->words != bytes)
                continue;
            at = bytes == 4 ? (at + 7) / 8 * 8 : at;
            at += plan_cell_bytes(r);
        }
    return at <= plan_row_bytes(row);
}

void emit_rows(const struct emit *e) {
    const struct plan *p = e->plan;
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct plan_row *row = &p->rows.v[i];
        const char *align = emit_row_is_spaced(row) ? "_Alignas(8) " : "";
        emit_open(e, "_Alignas(64) struct {");
        emit_line(e, "_Alignas(%u) struct {", plan_row_bytes(row));
        e->to->indent++;
        for (unsigned bytes = 8; bytes > 0; bytes /= 2)
            members(e, row, bytes, bytes == 4 ? align : "");
        emit_close(e, "} of;");
        emit_close(e, "} %c_rows%zu[%llu];", emit_gress_letter(e), i,
                   (unsigned long long)row->registers.v[0]->size);
    }
}

const char *emit_row_cell(const struct emit *e, const struct ir_register *r, const char *index,
                          const char *word) {
    const char *cell = emit_text(e, "s->%c_rows%u[%s].of.r%u", emit_gress_letter(e),
                                 e->plan->registers[r->id].row, index, r->id);
    return r->words == 2 ? emit_text(e, "%s[%s]", cell, word) : cell;
}
