// SPDX-License-Identifier: Apache-2.0
//
// emitted: which headers a deparser emits, and how many bytes of them at most (tna-facts 7.5).
//
// A header is valid because the parser extracted it, on the one way it took, or because the control
// made it valid. So the most is what the longest way extracts, plus every header that the control
// can add. With loops between states all that is extracted counts.
#include "compiler/ir/build.h"
#include "compiler/ir/emitted.h"
#include "compiler/ir/walk.h"

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

// In program order; 'skipped': a statement before may have jumped past this one.
static void collect_emits(struct arena *a, struct diag *d, const struct ir_block *b,
                          ir_header_vec *out, bool *skipped) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        bool plain = s->kind == IR_EMIT || s->kind == IR_BLOCK;
        const bool refused = (s->kind == IR_EMIT && *skipped) || (!plain && has_emit(s));
        if (refused && d)
            diag_error(d, s->at,
                       "emit under a condition; a Tofino's deparser emits every header that is "
                       "valid, so set validity in the control");
        else if (!refused && s->kind == IR_EMIT)
            VEC_PUSH(a, out, s->header);
        else if (!refused && s->kind == IR_BLOCK)
            collect_emits(a, d, s->then_b, out, skipped);
        *skipped |= may_leave(s);
    }
}

ir_header_vec ir_emits(struct arena *a, const struct ir_gress *g, struct diag *d) {
    ir_header_vec emits = {0};
    bool skipped = false;
    collect_emits(a, d, g->deparser, &emits, &skipped);
    return emits;
}

// Depth-first: true when a state is reached again from itself. mark: 1 on the path, 2 finished.
static bool cyclic(const struct ir_gress *g, int id, uint8_t *mark) {
    if (id < 0 || mark[id] == 2)
        return false;
    if (mark[id] == 1)
        return true;
    mark[id] = 1;
    const struct ir_state *st = g->states.v[id];
    bool found = st->keys.n == 0 && cyclic(g, st->next, mark);
    for (size_t i = 0; i < st->cases.n && !found; i++)
        found = cyclic(g, st->cases.v[i].next, mark);
    mark[id] = 2;
    return found;
}

bool ir_parser_loops(struct arena *a, const struct ir_gress *g) {
    return g->states.n && cyclic(g, 0, arena_alloc(a, g->states.n));
}

struct sizes {
    const struct ir_gress *g;
    unsigned *bytes; // by header: of all its emits
    bool *added;     // by header: something sets it valid
    bool *extracted; // by header: a state extracts it
    unsigned *most;  // by state: extracted from it on; UINT32_MAX: not known yet
};

static void find_added(void *ctx, struct ir_stmt *s) {
    struct sizes *z = ctx;
    if (s->kind == IR_SET_VALID)
        z->added[s->header->id] = true;
}

static void find_extracted(void *ctx, struct ir_stmt *s) {
    struct sizes *z = ctx;
    if (s->kind == IR_EXTRACT && s->header)
        z->extracted[s->header->id] = true;
    for (size_t i = 0; s->kind == IR_EXTRACT && i < s->headers.n; i++)
        z->extracted[s->headers.v[i]->id] = true;
    find_added(ctx, s);
}

static unsigned ir_emitted_size_of(const struct sizes *z, const struct ir_header *h) {
    return z->added[h->id] ? 0 : z->bytes[h->id];
}

static unsigned ir_emitted_extracted(const struct sizes *z, const struct ir_block *b) {
    unsigned total = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        unsigned one = 0;
        if (s->kind == IR_EXTRACT && s->header)
            one = ir_emitted_size_of(z, s->header);
        for (size_t k = 0; s->kind == IR_EXTRACT && k < s->headers.n; k++)
            if (ir_emitted_size_of(z, s->headers.v[k]) > one)
                one = ir_emitted_size_of(z, s->headers.v[k]);
        total += one + ir_emitted_extracted(z, s->then_b) + ir_emitted_extracted(z, s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            total += ir_emitted_extracted(z, s->cases.v[k].body);
    }
    return total;
}

static unsigned most_from(struct sizes *z, int id) {
    if (id < 0)
        return 0;
    if (z->most[id] != UINT32_MAX)
        return z->most[id];
    const struct ir_state *st = z->g->states.v[id];
    unsigned most = st->keys.n == 0 ? most_from(z, st->next) : 0;
    for (size_t i = 0; i < st->cases.n; i++) {
        unsigned one = most_from(z, st->cases.v[i].next);
        most = one > most ? one : most;
    }
    return z->most[id] = most + ir_emitted_extracted(z, st->body);
}

unsigned ir_most_emitted(struct arena *a, const struct ir_gress *g) {
    const ir_header_vec emits = ir_emits(a, g, NULL);
    struct sizes z = {.g = g,
                      .bytes = ARENA_ARRAY(a, unsigned, g->headers.n + 1),
                      .added = ARENA_ARRAY(a, bool, g->headers.n + 1),
                      .extracted = ARENA_ARRAY(a, bool, g->headers.n + 1),
                      .most = ARENA_ARRAY(a, unsigned, g->states.n + 1)};
    const struct ir_visitor added = {.ctx = &z, .stmt = find_added};
    const struct ir_visitor parsed = {.ctx = &z, .stmt = find_extracted};
    unsigned most = 0;
    for (size_t i = 0; i < emits.n; i++)
        z.bytes[emits.v[i]->id] += emits.v[i]->bits / 8;
    ir_visit_block(&added, g->control);
    ir_visit_block(&added, g->deparser);
    for (size_t i = 0; i < g->states.n; i++) {
        ir_visit_block(&parsed, g->states.v[i]->body);
        z.most[i] = UINT32_MAX;
    }
    if (g->states.n > 0 && !ir_parser_loops(a, g))
        most = most_from(&z, 0);
    else
        for (size_t i = 0; i < g->headers.n; i++)
            most += z.extracted[i] ? ir_emitted_size_of(&z, g->headers.v[i]) : 0;
    for (size_t i = 0; i < g->headers.n; i++)
        most += z.added[i] ? z.bytes[i] : 0;
    return most;
}
