// SPDX-License-Identifier: Apache-2.0
//
// parser_facts: what is known of a gress's parser: the bytes before the packet, lookahead, loops
// between states, and how headers are cut into segments.
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

#define MIN_TAIL 64u
#define MAX_TAIL 2048u

// --------------------------------------------------------------------------------------------
// How headers are cut into segments.

static bool raw_fields(const struct plan *plan, const struct ir_header *h, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (plan->vars[h->fields.v[i]->id].touched)
            return false;
    return true;
}

static void add_segment(const struct plan *plan, struct plan_header *eh, struct plan_segment s) {
    struct plan_segment *last = eh->segments.n ? &eh->segments.v[eh->segments.n - 1] : NULL;
    if (s.raw && last && last->raw) {
        last->count += s.count;
        last->bits += s.bits;
        return;
    }
    VEC_PUSH(plan->a, &eh->segments, s);
}

static void plan_parser_facts_add_group(struct plan *plan, const struct ir_header *h, size_t from,
                                        size_t to) {
    struct plan_header *eh = &plan->headers[h->id];
    const struct ir_var *first = h->fields.v[from], *last = h->fields.v[to - 1];
    unsigned bits = last->bit_offset + last->width - first->bit_offset;
    bool raw = raw_fields(plan, h, from, to);
    if (raw || bits <= 64 || to - from == 1) {
        add_segment(plan, eh,
                    (struct plan_segment){(unsigned)from, (unsigned)(to - from), first->bit_offset,
                                          bits, raw});
        return;
    }
    for (size_t i = from; i < to; i++) {
        const struct ir_var *f = h->fields.v[i];
        add_segment(plan, eh,
                    (struct plan_segment){(unsigned)i, 1, f->bit_offset, f->width, false});
    }
}

static void segment_header(struct plan *plan, const struct ir_header *h) {
    size_t from = 0;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if ((f->bit_offset + f->width) % 8)
            continue;
        plan_parser_facts_add_group(plan, h, from, i + 1);
        from = i + 1;
    }
    if (from < h->fields.n)
        DIAG_BUG("header %s does not end at a byte boundary", h->name);
}

void plan_segments(struct plan *plan) {
    for (size_t i = 0; i < plan->g->headers.n; i++) {
        const struct ir_header *h = plan->g->headers.v[i];
        struct plan_header *eh = &plan->headers[i];
        if ((!eh->extracted && !eh->emitted) || plan_home_of(plan, h)->on_wire)
            continue;
        segment_header(plan, h);
        for (size_t k = 0; k < eh->segments.n; k++)
            for (unsigned f = 0; f < eh->segments.v[k].count && !eh->segments.v[k].raw; f++)
                if (eh->emitted)
                    plan->vars[h->fields.v[eh->segments.v[k].first + f]->id].shared = true;
    }
}

// --------------------------------------------------------------------------------------------
// Whose ends residual checksums ask for.

static void facts_note_header(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR && x->var->header)
        *(bool *)aux = true;
}

const struct ir_expr *plan_last_part(const struct ir_stmt *s) {
    const struct ir_expr *last = NULL;
    for (size_t i = 0; i < s->args.n; i++) {
        bool has = false;
        ir_walk_expr(s->args.v[i], facts_note_header, &has);
        last = has ? s->args.v[i] : last;
    }
    return last;
}

static void facts_needs_end(void *aux, const struct ir_expr *x) {
    struct plan *plan = aux;
    if (x->op == IR_VAR && x->var->header)
        plan->headers[x->var->header->id].needs_end = true;
}

static void facts_find_residual(void *aux, const struct ir_stmt *s) {
    if (s->kind == IR_CSUM_SUBTRACT && plan_last_part(s))
        ir_walk_expr(plan_last_part(s), facts_needs_end, aux);
}

void plan_ends(struct plan *plan) {
    for (size_t i = 0; i < plan->g->states.n; i++)
        ir_walk(plan->g->states.v[i]->body, facts_find_residual, NULL, plan);
}

// --------------------------------------------------------------------------------------------

unsigned plan_prefix_bytes(const struct plan *plan) {
    return plan->g->kind == IR_INGRESS ? plan->program->ingress_prefix
                                       : plan->program->egress_prefix;
}

void plan_lookahead_bytes(void *aux, const struct ir_expr *x) {
    unsigned *bytes = aux;
    if (x->op == IR_LOOKAHEAD && plan_bytes(x->lo + x->width) > *bytes)
        *bytes = plan_bytes(x->lo + x->width);
}

unsigned plan_tail_bytes(const struct plan *plan) {
    unsigned bytes = MIN_TAIL;
    for (size_t i = 0; i < plan->g->headers.n; i++)
        if (plan->headers[i].extracted && plan->g->headers.v[i]->bits / 8 > bytes)
            bytes = plan->g->headers.v[i]->bits / 8;
    return bytes < MAX_TAIL ? bytes + 4 : MAX_TAIL;
}
