// SPDX-License-Identifier: Apache-2.0
//
// flow_record: what a pass notes of a packet, as C (compiler/plan/flow_record.c). Nothing is
// printed where the pipeline takes no notes.
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/print/emit_impl.h"

static bool emit_record_has_mask(const struct emit *e, const struct ir_header *h) {
    return e->plan->headers[h->id].extracted && h->bits;
}

void emit_record_masks(const struct emit *e) {
    const struct ir_gress *g = e->g;
    if (!plan_records(e->plan))
        return;
    const bool *decides = e->plan->decides;
    emit_line(e, " ");
    emit_line(e, "// Which bits of a header decide what becomes of a packet.");
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        if (!emit_record_has_mask(e, h))
            continue;
        uint8_t *mask = ARENA_ARRAY(e->a, uint8_t, h->bits / 8 + 1);
        for (size_t k = 0; k < h->fields.n; k++) {
            const struct ir_var *f = h->fields.v[k];
            for (unsigned b = 0; decides[f->id] && b < f->width; b++)
                mask[(f->bit_offset + b) / 8] |= (uint8_t)(0x80u >> (f->bit_offset + b) % 8);
        }
        const char *text = "";
        for (unsigned b = 0; b < h->bits / 8; b++)
            text = emit_text(e, "%s%s%u", text, b ? ", " : "", mask[b]);
        emit_line(e, "static const uint8_t %s_decides%zu[] = {%s}; // %s", e->p, i, text,
                  emit_comment(e, h->name));
    }
}

static void emit_record_note(const struct emit *e, const char *call) {
    emit_line(e, "if (__builtin_expect(s->notes != NULL, 0))");
    emit_line(e, "    %s;", call);
}

static void note_lookahead(void *aux, const struct ir_expr *x) {
    const struct emit *e = aux;
    if (x->op == IR_LOOKAHEAD)
        emit_record_note(e, emit_text(e, "sk_note_saw_bits(s->notes, p, %u, %u)", x->lo, x->width));
}

static void record_lookahead(const struct emit *e, const struct ir_expr *x) {
    struct emit of = *e;
    ir_walk_expr(x, note_lookahead, &of);
}

static void note_extract(const struct emit *e, const struct ir_header *h) {
    if (emit_record_has_mask(e, h))
        emit_record_note(e, emit_text(e, "sk_note_saw(s->notes, p, %s_decides%u, %u)", e->p, h->id,
                                      h->bits / 8));
    const unsigned place = plan_emitted_as(e->plan, h);
    if (place)
        emit_record_note(e, emit_text(e, "sk_note_order(s->notes, p, %u)", place));
    else
        emit_record_note(e, emit_text(e, "sk_note_took(s->notes, p, %u)", h->bits / 8));
}

// A header that is added changes nothing about the others when it is the first one.
static void note_added(const struct emit *e, const struct ir_header *h) {
    if (plan_emitted_as(e->plan, h) > 1) {
        emit_line(e, "if (__builtin_expect(s->notes != NULL, 0) && !%s)", emit_ref(e, h->valid));
        emit_line(e, "    sk_note_unfit(s->notes);");
    }
}

static void note_removed(const struct emit *e, const struct ir_header *h) {
    if (!e->plan->headers[h->id].extracted || !plan_emitted_as(e->plan, h))
        return;
    emit_line(e, "if (__builtin_expect(s->notes != NULL, 0) && %s)", emit_ref(e, h->valid));
    emit_line(e, "    sk_note_removed(s->notes, v->at_h%u);", h->id);
}

// By assignment: what a statement does to a header's validity is known otherwise.
static bool record_sets_validity(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_var *results[IR_MAX_RESULTS];
    bool sets = false;
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        sets |= plan_is_validity(e->plan, results[i]);
    return sets;
}

void emit_record_stmt(const struct emit *e, const struct ir_stmt *s) {
    if (!plan_records(e->plan) || e->loop)
        return;
    if (e->in_parser) {
        record_lookahead(e, s->e);
        record_lookahead(e, s->e2);
        record_lookahead(e, s->e3);
        for (size_t i = 0; i < s->args.n; i++)
            record_lookahead(e, s->args.v[i]);
    }
    if (plan_ends_record(s) || record_sets_validity(e, s))
        emit_record_note(e, "sk_note_unfit(s->notes)");
    switch (s->kind) {
    case IR_EXTRACT:
        note_extract(e, s->header);
        break;
    case IR_ADVANCE:
        emit_record_note(e, emit_text(e, "sk_note_took(s->notes, p, %s / 8)", emit_u64(e, s->e)));
        break;
    case IR_SET_VALID:
        note_added(e, s->header);
        break;
    case IR_SET_INVALID:
        note_removed(e, s->header);
        break;
    case IR_CSUM_ADD:
        emit_record_note(e, emit_text(e, "sk_note_summed(s->notes, v->at_h%u, %u)",
                                      plan_summed_header(s)->id, plan_summed_header(s)->bits / 8));
        break;
    default:
        break;
    }
}

void emit_record_keys(const struct emit *e, const struct ir_state *st) {
    for (size_t i = 0; plan_records(e->plan) && i < st->keys.n; i++)
        record_lookahead(e, st->keys.v[i]);
}

void emit_record_action(const struct emit *e, const struct ir_action *a) {
    if (plan_records(e->plan) && plan_writes_packet(e->plan, a))
        emit_record_note(e, "sk_note_unfit(s->notes)");
}

void emit_record_verified(const struct emit *e, const char *wrong) {
    if (plan_records(e->plan))
        emit_record_note(e, emit_text(e, "sk_note_verified(s->notes, %s)", wrong));
}

void emit_record_hit(const struct emit *e, const char *hits, const char *last) {
    if (plan_records(e->plan))
        emit_record_note(e, emit_text(e, "sk_note_hit(s->notes, &%s, %s%s)", hits, last ? "&" : "",
                                      last ? last : "NULL"));
}

void emit_record_count(const struct emit *e, const char *packets, const char *bytes,
                       const char *counted) {
    if (plan_records(e->plan) && packets)
        emit_record_note(e, emit_text(e, "sk_note_packet(s->notes, &%s)", packets));
    if (plan_records(e->plan) && bytes)
        emit_record_note(
            e, emit_text(e, "sk_note_bytes(s->notes, &%s, (uint32_t)%s)", bytes, counted));
}
