// SPDX-License-Identifier: Apache-2.0
//
// note: IR_NOTE as C, and what is noted of hits and counts (stages/notes.h).
//
// A pipe's state has a pointer to the notes, null most of the time; a note costs a packet a test of
// it.
#include "compiler/print/emit_impl.h"

bool emit_takes_notes(const struct emit *e) {
    return e->pipeline->gress[IR_INGRESS].decides != NULL;
}

void emit_note_masks(const struct emit *e) {
    const struct ir_gress *g = e->g;
    if (!g->decides)
        return;
    emit_line(e, " ");
    emit_line(e, "// Which bits of a header decide what becomes of a packet.");
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        if (!e->plan->headers[i].extracted || !h->bits)
            continue;
        uint8_t *mask = ARENA_ARRAY(e->a, uint8_t, h->bits / 8 + 1);
        for (size_t k = 0; k < h->fields.n; k++) {
            const struct ir_var *f = h->fields.v[k];
            for (unsigned b = 0; g->decides[f->id] && b < f->width; b++)
                mask[(f->bit_offset + b) / 8] |= (uint8_t)(0x80u >> (f->bit_offset + b) % 8);
        }
        const char *text = "";
        for (unsigned b = 0; b < h->bits / 8; b++)
            text = emit_text(e, "%s%s%u", text, b ? ", " : "", mask[b]);
        emit_line(e, "static const uint8_t %s_decides%zu[] = {%s}; // %s", e->p, i, text,
                  emit_comment(e, h->name));
    }
}

// A condition beside another; of a variable, as most are, without what an expression has around it.
static const char *note_condition(const struct emit *e, const struct ir_expr *x) {
    if (!x)
        return "";
    if (x->op == IR_VAR)
        return emit_text(e, " && %s", emit_ref(e, x->var));
    if (x->op == IR_NOT && x->a->op == IR_VAR)
        return emit_text(e, " && !%s", emit_ref(e, x->a->var));
    return emit_text(e, " && (%s)", emit_cond(e, x));
}

static void note_call(const struct emit *e, const struct ir_expr *condition, const char *call) {
    emit_line(e, "if (__builtin_expect(s->notes != NULL, 0)%s)", note_condition(e, condition));
    emit_line(e, "    %s;", call);
}

void emit_note(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_header *const h = s->header;
    switch (s->noted) {
    case IR_NOTED_HEADER:
        note_call(
            e, s->e,
            emit_text(e, "sk_note_saw(s->notes, p, %s_decides%u, %u)", e->p, h->id, h->bits / 8));
        break;
    case IR_NOTED_LOOKAHEAD:
        for (size_t i = 0; i < s->args.n; i++)
            note_call(e, s->e,
                      emit_text(e, "sk_note_saw_bits(s->notes, p, %u, %u)", s->args.v[i]->lo,
                                s->args.v[i]->width));
        break;
    case IR_NOTED_TAKEN:
        note_call(e, s->e,
                  s->e2 ? emit_text(e, "sk_note_took(s->notes, p, %s / 8)", emit_u64(e, s->e2))
                        : emit_text(e, "sk_note_took(s->notes, p, %u)", h->bits / 8));
        break;
    case IR_NOTED_ORDER:
        note_call(e, s->e, emit_text(e, "sk_note_order(s->notes, p, %u)", s->lo));
        break;
    case IR_NOTED_REMOVED:
        note_call(e, s->e, emit_text(e, "sk_note_removed(s->notes, v->at_h%u)", h->id));
        break;
    case IR_NOTED_SUMMED:
        note_call(e, s->e,
                  emit_text(e, "sk_note_summed(s->notes, v->at_h%u, %u)", h->id, h->bits / 8));
        break;
    case IR_NOTED_VERIFIED:
        note_call(
            e, s->e,
            emit_text(e, "sk_note_verified(s->notes, sk_csum_wrong(csum%u))", s->checksum->id));
        break;
    case IR_NOTED_UNFIT:
        note_call(e, s->e, "sk_note_unfit(s->notes)");
        break;
    }
}

void emit_note_hit(const struct emit *e, const struct ir_table *t, const char *hits,
                   const char *last) {
    if (t->noted)
        note_call(e, NULL,
                  emit_text(e, "sk_note_hit(s->notes, &%s, %s%s)", hits, last ? "&" : "",
                            last ? last : "NULL"));
}

void emit_note_count(const struct emit *e, const char *packets, const char *bytes,
                     const char *counted) {
    if (packets)
        note_call(e, NULL, emit_text(e, "sk_note_packet(s->notes, &%s)", packets));
    if (bytes)
        note_call(e, NULL,
                  emit_text(e, "sk_note_bytes(s->notes, &%s, (uint32_t)%s)", bytes, counted));
}
