// SPDX-License-Identifier: Apache-2.0
//
// deparser_facts: which headers a deparser emits, and how many bytes of them at most (tna-facts 7.5).
//
// A header is valid because the parser extracted it, on the one way it took, or because the control
// made it valid. So the most is what the longest way extracts, plus every header that the control
// can add. With loops between states all that is extracted counts.
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

static bool has_emit(const struct ir_stmt *s) {
    bool found = ir_block_has(s->then_b, IR_EMIT) || ir_block_has(s->else_b, IR_EMIT);
    for (size_t i = 0; i < s->cases.n; i++)
        found |= ir_block_has(s->cases.v[i].body, IR_EMIT);
    return found;
}

static bool may_leave(const struct ir_stmt *s) {
    bool found = s->kind == IR_LEAVE || ir_block_has(s->then_b, IR_LEAVE) ||
                 ir_block_has(s->else_b, IR_LEAVE);
    for (size_t i = 0; i < s->cases.n; i++)
        found |= ir_block_has(s->cases.v[i].body, IR_LEAVE);
    return found;
}

// In program order; 'skipped': a statement before may have jumped behind this one.
static void collect_emits(const struct plan *plan, const struct ir_block *b, emit_header_vec *out,
                          bool *skipped, bool report) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        bool plain = s->kind == IR_EMIT || s->kind == IR_BLOCK;
        const bool refused = (s->kind == IR_EMIT && *skipped) || (!plain && has_emit(s));
        if (refused && report)
            diag_error(plan->d, s->at,
                       "emit under a condition; a Tofino's deparser emits every header that is "
                       "valid, so set validity in the control");
        else if (!refused && s->kind == IR_EMIT)
            VEC_PUSH(plan->a, out, s->header);
        else if (!refused && s->kind == IR_BLOCK)
            collect_emits(plan, s->then_b, out, skipped, report);
        *skipped |= may_leave(s);
    }
}

emit_header_vec plan_emits(const struct plan *plan, bool report) {
    emit_header_vec emits = {0};
    bool skipped = false;
    collect_emits(plan, plan->g->deparser, &emits, &skipped, report);
    return emits;
}

struct sizes {
    const struct plan *plan;
    unsigned *bytes; // by header: of all its emits
    bool *added;     // by header: something sets it valid
    unsigned *most;  // by state: extracted from it on; UINT32_MAX: not known yet
};

static void find_added(void *ctx, struct ir_stmt *s) {
    struct sizes *z = ctx;
    if (s->kind == IR_SET_VALID)
        z->added[s->header->id] = true;
}

static unsigned size_of(const struct sizes *z, const struct ir_header *h) {
    return z->added[h->id] ? 0 : z->bytes[h->id];
}

static unsigned extracted(const struct sizes *z, const struct ir_block *b) {
    unsigned total = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        unsigned one = 0;
        if (s->kind == IR_EXTRACT && s->header)
            one = size_of(z, s->header);
        for (size_t k = 0; s->kind == IR_EXTRACT && k < s->headers.n; k++)
            if (size_of(z, s->headers.v[k]) > one)
                one = size_of(z, s->headers.v[k]);
        total += one + extracted(z, s->then_b) + extracted(z, s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            total += extracted(z, s->cases.v[k].body);
    }
    return total;
}

static unsigned most_from(struct sizes *z, int id) {
    if (id < 0)
        return 0;
    if (z->most[id] != UINT32_MAX)
        return z->most[id];
    const struct ir_state *st = z->plan->g->states.v[id];
    unsigned most = st->keys.n == 0 ? most_from(z, st->next) : 0;
    for (size_t i = 0; i < st->cases.n; i++) {
        unsigned one = most_from(z, st->cases.v[i].next);
        most = one > most ? one : most;
    }
    return z->most[id] = most + extracted(z, st->body);
}

unsigned plan_most_bytes(const struct plan *plan, const struct ir_header *const *emits, size_t n) {
    const struct ir_gress *g = plan->g;
    struct sizes z = {.plan = plan,
                      .bytes = arena_alloc(plan->a, (g->headers.n + 1) * sizeof(unsigned)),
                      .added = arena_alloc(plan->a, g->headers.n + 1),
                      .most = arena_alloc(plan->a, (g->states.n + 1) * sizeof(unsigned))};
    const struct ir_visitor v = {.ctx = &z, .stmt = find_added};
    unsigned most = 0;
    for (size_t i = 0; i < n; i++)
        z.bytes[emits[i]->id] += emits[i]->bits / 8;
    ir_visit_block(&v, g->control);
    ir_visit_block(&v, g->deparser);
    for (size_t i = 0; i < g->states.n; i++) {
        ir_visit_block(&v, g->states.v[i]->body);
        z.most[i] = UINT32_MAX;
    }
    if (g->states.n > 0 && !plan_parser_loops(plan))
        most = most_from(&z, 0);
    else
        for (size_t i = 0; i < g->headers.n; i++)
            most += plan->headers[i].extracted ? size_of(&z, g->headers.v[i]) : 0;
    for (size_t i = 0; i < g->headers.n; i++)
        most += z.added[i] ? z.bytes[i] : 0;
    return most;
}

bool plan_is_late(const struct ir_counter *c) {
    return c->true_egress && c->type != IR_COUNT_PACKETS;
}

bool plan_counts_late(const struct plan *plan) {
    for (size_t i = 0; i < plan->g->counters.n; i++)
        if (plan_is_late(plan->g->counters.v[i]))
            return true;
    return false;
}
