// SPDX-License-Identifier: Apache-2.0
//
// states: states and rows of a parser as the chip has them. A state fills at most four containers
// of each size, sees 32 bytes, and what it does depends on the row that matches: a state of the
// program whose one predecessor is a case of a select is that case's row, states after each other
// without a select in between are one, and what takes more containers than a row can fill goes on
// in further states.
#include "compiler/chip/parde/parde_impl.h"
#include "compiler/chip/report_add.h"

#include <stdlib.h>

#include "compiler/ir/walk.h"

#define MIN_DEPTH  65u // bytes: a shorter egress parser of a Tofino 1 is lengthened (tna-facts 3.4)
#define PAD_HEADER 11u // by so many in one state

// A container that a header fills: where its bytes begin in the header.
struct spot {
    unsigned at, size; // size: 0 1 2 for 1 2 4 bytes
};
typedef VEC(struct spot) spot_vec;

struct filling {
    const struct parde_parser *p;
    const struct chip_limits *l;
    spot_vec *spots; // by header id, in order of the wire
    unsigned used[3], bytes, splits;
};

static int parde_states_by_place(const void *a, const void *b) {
    const struct spot *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void find_spots(struct filling *f, const struct chip_phv *phv, unsigned gress) {
    const struct ir_gress *ir = f->p->ir;
    f->spots = ARENA_ARRAY(f->p->r->arena, spot_vec, ir->headers.n + 1);
    for (size_t i = 0; i < phv->containers.n; i++) {
        const struct chip_container *c = &phv->containers.v[i];
        const struct ir_header *last = NULL;
        for (size_t k = 0; c->gress == (int)gress && k < c->slices.n; k++) {
            const struct chip_slice *s = &c->slices.v[k];
            const struct ir_header *h = s->bits.var->header;
            if (!h || h == last || s->first_stage >= 0)
                continue;
            last = h; // each header of a container once, by its first slice
            unsigned from =
                s->bits.var->bit_offset + s->bits.var->width - s->bits.lo - s->bits.width;
            struct spot spot = {from / 8, c->size == 8 ? 0 : c->size == 16 ? 1 : 2};
            VEC_PUSH(f->p->r->arena, &f->spots[h->id], spot);
        }
    }
    for (size_t i = 0; i < ir->headers.n; i++)
        if (f->spots[i].n > 0)
            qsort(f->spots[i].v, f->spots[i].n, sizeof *f->spots[i].v, parde_states_by_place);
}

static void parde_states_next(struct filling *f) {
    f->splits++;
    f->used[0] = f->used[1] = f->used[2] = f->bytes = 0;
}

static void parde_states_skip(struct filling *f, uint64_t bytes) {
    uint64_t all = f->bytes + bytes;
    if (all <= f->l->parser_window) {
        f->bytes = (unsigned)all;
        return;
    }
    uint64_t states = all / f->l->parser_window;
    parde_states_next(f);
    f->splits += (unsigned)(states < 100000 ? states - 1 : 100000);
    f->bytes = (unsigned)(all % f->l->parser_window);
}

static bool parde_states_is_full(const struct filling *f, unsigned size) {
    if (f->l->parser_extracts[0] > 0)
        return f->used[size] == f->l->parser_extracts[size];
    return f->used[0] + f->used[1] + 2 * f->used[2] + (size == 2) >= f->l->parser_extracts[1];
}

static void parde_states_fill(struct filling *f, const struct ir_header *h) {
    unsigned at = 0;
    for (size_t i = 0; i < f->spots[h->id].n; i++) {
        struct spot s = f->spots[h->id].v[i];
        unsigned bytes = 1u << s.size;
        if (s.at > at)
            parde_states_skip(f, s.at - at);
        if (parde_states_is_full(f, s.size) || f->bytes + bytes > f->l->parser_window)
            parde_states_next(f);
        f->used[s.size]++;
        f->bytes += bytes;
        at = s.at + bytes;
    }
    if (h->bits / 8 > at)
        parde_states_skip(f, h->bits / 8 - at);
}

static void fill_stmt(void *ctx, struct ir_stmt *st) {
    struct filling *f = ctx;
    if (st->kind == IR_EXTRACT && st->header)
        parde_states_fill(f, st->header);
    else if (st->kind == IR_EXTRACT && st->headers.n > 0)
        parde_states_fill(f, st->headers.v[0]);
    else if (st->kind == IR_ADVANCE && st->e && st->e->op == IR_CONST)
        parde_states_skip(f, big_to_u64(st->e->value) / 8);
}

// ---- rows ---------------------------------------------------------------------------------------
// Rows of values and masks that a range takes.
static uint64_t range_rows(const struct ir_select_key_set *k, unsigned width) {
    if (!k->high || width > 63 || !big_fits_u64(k->value) || !big_fits_u64(k->high))
        return 1;
    uint64_t from = big_to_u64(k->value), to = big_to_u64(k->high), rows = 0;
    while (from <= to && rows < 2u * width) {
        uint64_t step = 1;
        while ((from & (2 * step - 1)) == 0 && from + 2 * step - 1 <= to && step < (1ull << 62))
            step *= 2;
        from += step;
        rows++;
    }
    return rows ? rows : 1;
}

static uint64_t case_rows(const struct ir_state *s, const struct ir_select_case *c) {
    uint64_t rows = 1;
    const struct ir_value_set *last = NULL;
    for (size_t i = 0; i < c->sets.n && i < s->keys.n && rows < 100000; i++) {
        const struct ir_select_key_set *k = &c->sets.v[i];
        if (k->set && k->set != last)
            rows *= k->set->size ? k->set->size : 1;
        else if (!k->set)
            rows *= range_rows(k, s->keys.v[i]->width);
        last = k->set;
    }
    return rows < 100000 ? rows : 100000;
}

struct count {
    uint64_t states, rows;
};

// From a state on to the next select, or to one that has several predecessors.
static void count_chain(struct filling *f, size_t head, bool own, struct count *out) {
    const struct ir_gress *ir = f->p->ir;
    uint64_t times = f->p->states[head].visits;
    size_t at = head;
    f->used[0] = f->used[1] = f->used[2] = f->bytes = f->splits = 0;
    struct ir_visitor v = {.ctx = f, .stmt = fill_stmt, .shallow = true};
    for (size_t steps = 0; steps < ir->states.n; steps++) {
        const struct ir_state *s = ir->states.v[at];
        ir_visit_block(&v, s->body);
        if (s->keys.n > 0 || s->next < 0 || (size_t)s->next >= ir->states.n ||
            f->p->states[s->next].ways_in != 1)
            break;
        at = (size_t)s->next;
    }
    uint64_t rows = f->splits + (own ? 1 : 0), states = rows;
    const struct ir_state *end = ir->states.v[at];
    if (end->keys.n > 0) {
        states++;
        for (size_t i = 0; i < end->cases.n; i++)
            rows += case_rows(end, &end->cases.v[i]);
    }
    out->states += states * times;
    out->rows += rows * times;
}

static void count_states(struct chip_report *r, struct chip_pipe *pipe, unsigned g) {
    const struct ir_gress *ir = &pipe->ir->gress[g];
    struct chip_parser *out = &pipe->parser[g];
    struct parde_parser p = {.r = r, .ir = ir};
    struct count n = {0};
    parde_ways(&p);
    if (!p.states) {
        out->states = out->rows = (unsigned)ir->states.n;
    } else {
        struct filling f = {.p = &p, .l = r->limits};
        // How a state is come to: after a state without a select it is part of that one's chain.
        bool *behind = ARENA_ARRAY(r->arena, bool, ir->states.n + 1);
        for (size_t i = 0; i < ir->states.n; i++) {
            const struct ir_state *s = ir->states.v[i];
            if (s->keys.n == 0 && s->next >= 0 && (size_t)s->next < ir->states.n)
                behind[s->next] = true;
        }
        find_spots(&f, &pipe->phv, g);
        for (size_t i = 0; i < ir->states.n; i++) {
            unsigned ways = p.states[i].ways_in;
            if (i == 0 || ways > 1)
                count_chain(&f, i, true, &n);
            else if (ways == 1 && !behind[i])
                count_chain(&f, i, false, &n);
        }
        if (g == IR_EGRESS && r->target == CHIP_TOFINO1 && out->max_depth > 0 &&
            out->min_depth < MIN_DEPTH) {
            unsigned pads = (MIN_DEPTH - out->min_depth + PAD_HEADER - 1) / PAD_HEADER;
            n.states += pads + 1;
            n.rows += 2 * pads + 1;
        }
        out->states = n.states < UINT32_MAX ? (unsigned)n.states : UINT32_MAX;
        out->rows = n.rows < UINT32_MAX ? (unsigned)n.rows : UINT32_MAX;
    }
    if (out->rows <= r->limits->parser_rows)
        return;
    // At the select with the most cases.
    const struct ir_state *most = ir->states.v[0];
    for (size_t i = 0; i < ir->states.n; i++)
        if (ir->states.v[i]->cases.n > most->cases.n)
            most = ir->states.v[i];
    struct chip_violation *v = chip_violate(
        r, "parser-rows", most->at,
        arena_printf(r->arena, "the %s parser takes %u rows of its TCAM; it has %u",
                     g == IR_INGRESS ? "ingress" : "egress", out->rows, r->limits->parser_rows),
        "match on fewer values: with masks, or in a table of the control");
    v->limit = r->limits->parser_rows;
    v->used = out->rows;
}

void chip_parde_states(struct chip_report *r, struct chip_pipe *pipe) {
    for (unsigned g = 0; g < 2; g++)
        count_states(r, pipe, g);
}
