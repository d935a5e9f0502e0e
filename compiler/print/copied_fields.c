// SPDX-License-Identifier: Apache-2.0
//
// copied_fields: neighbours in one header that are copied, statement by statement, to neighbours in
// another header. That is what is left of a copy of a header, and of a header that is handed to a
// control and back. Both headers are in the packet or in homes of their own, which never overlap,
// so the bytes are copied at once. A program of 32 such controls is built in a third of the time.
#include "compiler/print/emit_impl.h"

// Whether the statement copies a field, of the packet's bytes, to one of another header; where the
// two begin within their first byte is the same.
static bool copies_field(const struct emit *e, const struct ir_stmt *s) {
    if (s->kind != IR_ASSIGN || s->slice || s->e->op != IR_VAR)
        return false;
    const struct ir_var *const to = s->var, *const from = s->e->var;
    const struct emit_var *const t = emit_var_of(e, to), *const f = emit_var_of(e, from);
    return to->header && from->header && to->header != from->header && t->wire && f->wire &&
           !t->deferred && !f->deferred && to->width == from->width && !plan_is_wide(to->width) &&
           t->bit == f->bit;
}

size_t emit_copied_fields(const struct emit *e, const struct ir_block *b, size_t first) {
    const struct ir_stmt *const s = b->stmts.v[first];
    if (e->in_parser || e->loop || !copies_field(e, s) || emit_var_of(e, s->var)->bit)
        return 0;
    unsigned bits = 0, bytes = 0;
    size_t whole = 0;
    for (size_t i = first; i < b->stmts.n; i++) {
        const struct ir_stmt *const next = b->stmts.v[i];
        if (!copies_field(e, next) || next->var->header != s->var->header ||
            next->e->var->header != s->e->var->header ||
            next->var->bit_offset != s->var->bit_offset + bits ||
            next->e->var->bit_offset != s->e->var->bit_offset + bits)
            break;
        bits += next->var->width;
        if (bits % 8 == 0)
            whole = i + 1 - first, bytes = bits / 8;
    }
    if (whole < PLAN_MIN_COPIED_FIELDS)
        return 0;
    emit_home_write(e, s->var);
    emit_line(e, "memcpy(%s, %s, %u); // %zu fields of %s", emit_var_of(e, s->var)->wire,
              emit_var_of(e, s->e->var)->wire, bytes, whole, emit_comment(e, s->var->header->name));
    return whole;
}
