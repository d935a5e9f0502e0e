// SPDX-License-Identifier: Apache-2.0
//
// egress: what the engine may know of an egress so as to do less for it.
//
// An idle one need not be run: it takes no more than the intrinsic metadata, which is always there,
// has nothing to do and emits nothing that it took. An egress writes into the packet's own bytes
// only where its parser took them, since headers on the wire are written in place and those that
// are emitted lie before what was not taken: so a copy that only differs by its egress needs no
// other bytes of its own.
#include "compiler/plan/plan.h"

// What a block takes at most, in bytes; UINT32_MAX: any number.
static uint32_t taken_by(const struct ir_block *b);

static uint32_t plus(uint32_t a, uint32_t b) {
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

static uint32_t taken_by_stmt(const struct ir_stmt *s) {
    uint32_t one = 0;
    if (s->kind == IR_EXTRACT && s->header)
        one = s->header->bits / 8;
    for (size_t i = 0; s->kind == IR_EXTRACT && i < s->headers.n; i++)
        one = s->headers.v[i]->bits / 8 > one ? s->headers.v[i]->bits / 8 : one;
    if (s->kind == IR_ADVANCE)
        one = s->e->op == IR_CONST ? (uint32_t)(big_to_u64(s->e->value) / 8) : UINT32_MAX;
    one = plus(plus(one, taken_by(s->then_b)), taken_by(s->else_b));
    for (size_t i = 0; i < s->cases.n; i++)
        one = plus(one, taken_by(s->cases.v[i].body));
    return one;
}

static uint32_t taken_by(const struct ir_block *b) {
    uint32_t all = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++)
        all = plus(all, taken_by_stmt(b->stmts.v[i]));
    return all;
}

// By each state once, which is as much as a parser without loops takes at most.
uint32_t plan_reach(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    const uint32_t prefix = plan_prefix_bytes(plan);
    uint32_t all = 0;
    for (size_t i = 0; i < g->states.n; i++)
        all = plus(all, taken_by(g->states.v[i]->body));
    if (all == UINT32_MAX || ir_parser_loops(plan->a, plan->g))
        return UINT32_MAX;
    return all > prefix ? all - prefix : 0;
}

static bool emits(const struct ir_gress *g, const struct ir_header *h) {
    for (size_t i = 0; g->deparser && i < g->deparser->stmts.n; i++)
        if (g->deparser->stmts.v[i]->kind == IR_EMIT && g->deparser->stmts.v[i]->header == h)
            return true;
    return false;
}

// It only takes bytes, none of which are emitted, as many as are always there.
static bool parser_is_idle(const struct plan *plan, const struct ir_gress *g) {
    if (g->states.n == 0)
        return true;
    const struct ir_state *s = g->states.v[0];
    if (g->states.n > 1 || s->keys.n || s->cases.n || s->next != IR_ACCEPT)
        return false;
    for (size_t i = 0; s->body && i < s->body->stmts.n; i++) {
        const struct ir_stmt *x = s->body->stmts.v[i];
        bool extract = x->kind == IR_EXTRACT && !x->headers.n && !emits(g, x->header);
        if (!extract && x->kind != IR_ADVANCE && x->kind != IR_NOTE)
            return false;
    }
    return taken_by(s->body) <= plan->program->egress_prefix;
}

bool plan_egress_idle(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    if (plan->checked || (g->control && g->control->stmts.n) || !parser_is_idle(plan, g))
        return false;
    for (size_t i = 0; g->deparser && i < g->deparser->stmts.n; i++)
        if (g->deparser->stmts.v[i]->kind != IR_EMIT)
            return false;
    return true;
}
