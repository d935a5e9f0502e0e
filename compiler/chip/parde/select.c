// SPDX-License-Identifier: Apache-2.0
//
// select: what a state matches on sits in match registers: one of 16 bits, which takes two
// neighbouring bytes of the packet, and two of 8 (tna-facts 7.5). What a later state matches on,
// too, is loaded again from the parser's window, or stays in its register; that the chip's compiler
// finds a way there is taken for granted.
#include "compiler/chip/parde/parde_impl.h"
#include "compiler/chip/report_add.h"

#include "compiler/ir/walk.h"

#define KEPT 8u // bytes of a set that are remembered: more than any chip has registers for

// A byte of the packet: the nth of a header, or of what a state looks ahead at.
struct byte {
    uint64_t space;
    unsigned at;
};
struct bytes {
    struct byte v[KEPT];
    unsigned n;
    bool more;
};
struct selecting {
    struct parde_parser *p;
    const struct ir_state *state;
    struct bytes *set;
};

static bool parde_select_same(struct byte a, struct byte b) {
    return a.space == b.space && a.at == b.at;
}

static bool parde_select_add(struct bytes *set, struct byte b) {
    for (unsigned i = 0; i < set->n; i++)
        if (parde_select_same(set->v[i], b))
            return false;
    if (set->n < KEPT)
        set->v[set->n++] = b;
    else
        set->more = true;
    return set->n <= KEPT && !set->more;
}

static void parde_select_add_bits(struct bytes *set, uint64_t space, uint64_t first,
                                  unsigned width) {
    uint64_t last = first + (width > 0 ? width - 1 : 0);
    for (uint64_t at = first / 8; at <= last / 8 && !set->more; at++)
        parde_select_add(set, (struct byte){space, (unsigned)at});
}

// ---- what an expression reads of the packet -----------------------------------------------------
struct source {
    const struct ir_var *var;
    const struct ir_expr *value; // the first that the parser assigns to it
};

static void assigned(void *ctx, struct ir_stmt *st) {
    struct source *s = ctx;
    if (!s->value && st->kind == IR_ASSIGN && st->var == s->var && !st->slice)
        s->value = st->e;
}

// A variable that is no field of a header: where its bits come from.
static const struct ir_expr *parde_select_value_of(const struct parde_parser *p,
                                                   const struct ir_var *v) {
    struct source s = {.var = v};
    struct ir_visitor visitor = {.ctx = &s, .stmt = assigned, .shallow = true};
    for (size_t i = 0; i < p->ir->states.n && !s.value; i++)
        ir_visit_block(&visitor, p->ir->states.v[i]->body);
    return s.value;
}

// Bits [lo, lo + width) of an expression.
static void parde_select_reads(struct selecting *s, const struct ir_expr *e, unsigned lo,
                               unsigned width, unsigned depth) {
    if (!e || depth > 16 || width == 0 || lo >= e->width)
        return;
    if (lo + width > e->width)
        width = e->width - lo;
    switch (e->op) {
    case IR_VAR:
        if (e->var->header)
            parde_select_add_bits(s->set, e->var->header->id,
                                  e->var->bit_offset + e->var->width - lo - width, width);
        else
            parde_select_reads(s, parde_select_value_of(s->p, e->var), lo, width, depth + 8);
        break;
    case IR_LOOKAHEAD:
        parde_select_add_bits(s->set, s->p->ir->headers.n + s->state->id,
                              e->lo + e->width - lo - width, width);
        break;
    case IR_SLICE:
        parde_select_reads(s, e->a, lo + e->lo, width, depth + 1);
        break;
    case IR_ZEXT:
    case IR_SEXT:
        parde_select_reads(s, e->a, lo, width, depth + 1);
        break;
    case IR_CONCAT:
        if (lo < e->b->width)
            parde_select_reads(s, e->b, lo, width, depth + 1);
        if (lo + width > e->b->width) {
            unsigned from = lo > e->b->width ? lo - e->b->width : 0;
            parde_select_reads(s, e->a, from, lo + width - e->b->width - from, depth + 1);
        }
        break;
    default: // a counter's value, which is in none of these registers
        break;
    }
}

// A key that every case passes over is not matched.
static bool parde_select_counts(const struct ir_state *s, size_t key) {
    for (size_t i = 0; i < s->cases.n; i++)
        if (key < s->cases.v[i].sets.n) {
            const struct ir_select_key_set *k = &s->cases.v[i].sets.v[key];
            if (k->set || k->high || (k->mask && big_sign(k->mask) != 0))
                return true;
        }
    return false;
}

// ---- registers ----------------------------------------------------------------------------------
static bool parde_select_fits(const struct bytes *set, const struct chip_limits *l) {
    unsigned most = l->parser_match_bits / 8;
    if (set->more || set->n > most)
        return false;
    if (set->n < most || l->parser_extracts[0] == 0)
        return true;
    for (unsigned i = 0; i < set->n; i++) // all registers: the wide one needs two neighbours
        for (unsigned k = 0; k < set->n; k++)
            if (set->v[i].space == set->v[k].space && set->v[i].at + 1 == set->v[k].at)
                return true;
    return false;
}

static void check_registers(struct parde_parser *p, const struct ir_state *s,
                            const struct bytes *keys) {
    unsigned most = p->r->limits->parser_match_bits / 8;
    if (parde_select_fits(keys, p->r->limits))
        return;
    struct chip_violation *v = chip_violate(
        p->r, "select-registers", s->keys.v[0]->at.line ? s->keys.v[0]->at : s->at,
        arena_printf(
            p->r->arena,
            "state %s matches on %u bytes of the packet%s; the parser has registers for %u, two "
            "of them for neighbouring bytes",
            s->name, keys->n, keys->more ? " and more" : "", most),
        "match on fewer bytes, or in two successive states");
    v->limit = most;
    v->used = keys->n;
}

// ---- lookaheads ---------------------------------------------------------------------------------
// The last byte after the cursor that an expression looks at.
static uint64_t looks(const struct ir_expr *e, unsigned lo, unsigned width, unsigned depth) {
    if (!e || depth > 64 || width == 0)
        return 0;
    if (e->op == IR_LOOKAHEAD)
        return lo >= e->width ? 0 : ((uint64_t)e->lo + e->width - lo + 7) / 8;
    if (e->op == IR_SLICE)
        return looks(e->a, lo + e->lo, width, depth + 1);
    uint64_t a = looks(e->a, 0, e->a ? e->a->width : 0, depth + 1);
    uint64_t b = looks(e->b, 0, e->b ? e->b->width : 0, depth + 1);
    uint64_t c = looks(e->c, 0, e->c ? e->c->width : 0, depth + 1);
    a = a > b ? a : b;
    return a > c ? a : c;
}

static void check_look(struct parde_parser *p, const struct ir_expr *e, struct loc at) {
    uint64_t bytes = e ? looks(e, 0, e->width, 0) : 0;
    if (bytes <= p->r->limits->parser_window)
        return;
    struct chip_violation *v = chip_violate(
        p->r, "lookahead", e->at.line ? e->at : at,
        arena_printf(p->r->arena,
                     "looks %llu bytes ahead; the parser sees %u of the packet at a time",
                     (unsigned long long)bytes, p->r->limits->parser_window),
        "extract or skip the bytes between in an earlier state");
    v->limit = p->r->limits->parser_window;
    v->used = bytes;
}

static void parde_select_look_stmt(void *ctx, struct ir_stmt *st) {
    check_look(ctx, st->e, st->at);
}

void parde_selects(struct parde_parser *p) {
    size_t n = p->ir->states.n;
    struct ir_visitor look = {.ctx = p, .stmt = parde_select_look_stmt, .shallow = true};
    for (size_t i = 0; i < n; i++) {
        const struct ir_state *s = p->ir->states.v[i];
        struct bytes keys = {0};
        struct selecting sel = {.p = p, .state = s, .set = &keys};
        bool wide = false;
        ir_visit_block(&look, s->body);
        for (size_t k = 0; k < s->keys.n; k++) {
            const struct ir_expr *e = s->keys.v[k];
            check_look(p, e, s->at);
            if (!parde_select_counts(s, k))
                continue;
            if (e->width > p->r->limits->parser_match_bits) {
                wide = true;
                struct chip_violation *v = chip_violate(
                    p->r, "select-width", e->at.line ? e->at : s->at,
                    arena_printf(p->r->arena,
                                 "a select on %u bits; the parser matches on at most %u", e->width,
                                 p->r->limits->parser_match_bits),
                    "match on slices of it in several states");
                v->limit = p->r->limits->parser_match_bits;
                v->used = e->width;
            }
            parde_select_reads(&sel, e, 0, e->width, 0);
        }
        if (!wide)
            check_registers(p, s, &keys);
    }
}
