// SPDX-License-Identifier: Apache-2.0
//
// parser_facts: what is known of a gress's parser: the bytes in front of the packet, lookahead, loops between
// states, and how headers are cut into segments.
#include "compiler/ir/walk.h"
#include "compiler/ir/emitted.h"
#include "compiler/plan/plan.h"

#define MIN_TAIL 64u
#define MAX_TAIL 2048u

// --------------------------------------------------------------------------------------------
// How headers are cut into segments.

static bool raw_fields(const struct emit *e, const struct ir_header *h, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (e->vars[h->fields.v[i]->id].touched)
            return false;
    return true;
}

static void add_segment(struct emit *e, struct emit_header *eh, struct emit_segment s) {
    struct emit_segment *last = eh->segments.n ? &eh->segments.v[eh->segments.n - 1] : NULL;
    if (s.raw && last && last->raw) {
        last->count += s.count;
        last->bits += s.bits;
        return;
    }
    VEC_PUSH(e->a, &eh->segments, s);
}

static void add_group(struct emit *e, const struct ir_header *h, size_t from, size_t to) {
    struct emit_header *eh = &e->headers[h->id];
    const struct ir_var *first = h->fields.v[from], *last = h->fields.v[to - 1];
    unsigned bits = last->bit_offset + last->width - first->bit_offset;
    bool raw = raw_fields(e, h, from, to);
    if (raw || bits <= 64 || to - from == 1) {
        add_segment(e, eh,
                    (struct emit_segment){(unsigned)from, (unsigned)(to - from), first->bit_offset,
                                          bits, raw});
        return;
    }
    for (size_t i = from; i < to; i++) {
        const struct ir_var *f = h->fields.v[i];
        add_segment(e, eh, (struct emit_segment){(unsigned)i, 1, f->bit_offset, f->width, false});
    }
}

static void segment_header(struct emit *e, const struct ir_header *h) {
    size_t from = 0;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if ((f->bit_offset + f->width) % 8)
            continue;
        add_group(e, h, from, i + 1);
        from = i + 1;
    }
    if (from < h->fields.n)
        DIAG_BUG("header %s does not end at a byte boundary", h->name);
}

void emit_segments(struct emit *e) {
    for (size_t i = 0; i < e->g->headers.n; i++) {
        const struct ir_header *h = e->g->headers.v[i];
        struct emit_header *eh = &e->headers[i];
        if ((!eh->extracted && !eh->emitted) || emit_home_of(e, h)->on_wire)
            continue;
        segment_header(e, h);
        for (size_t k = 0; k < eh->segments.n; k++)
            for (unsigned f = 0; f < eh->segments.v[k].count && !eh->segments.v[k].raw; f++)
                if (eh->emitted)
                    e->vars[h->fields.v[eh->segments.v[k].first + f]->id].shared = true;
    }
}

// --------------------------------------------------------------------------------------------

unsigned emit_prefix_bytes(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? e->program->ingress_prefix : e->program->egress_prefix;
}

void emit_lookahead_bytes(void *aux, const struct ir_expr *x) {
    unsigned *bytes = aux;
    if (x->op == IR_LOOKAHEAD && emit_bytes(x->lo + x->width) > *bytes)
        *bytes = emit_bytes(x->lo + x->width);
}

bool emit_parser_loops(const struct emit *e) {
    return ir_parser_loops(e->a, e->g);
}

unsigned emit_tail_bytes(const struct emit *e) {
    unsigned bytes = MIN_TAIL;
    for (size_t i = 0; i < e->g->headers.n; i++)
        if (e->headers[i].extracted && e->g->headers.v[i]->bits / 8 > bytes)
            bytes = e->g->headers.v[i]->bits / 8;
    return bytes < MAX_TAIL ? bytes + 4 : MAX_TAIL;
}
