// SPDX-License-Identifier: Apache-2.0
//
// sums: how many checksum units a parser needs. Two sums of which a packet never needs both share
// one, and so do two residual sums as far as they subtract the same.
#include "compiler/chip/parde/parde_impl.h"

#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"

struct sum {
    const struct ir_checksum *checksum;
    bool residual;
    bool *states; // that add to it or take it, by id
    bool *begins; // those of them that no other leads to
    unsigned unit;
    struct loc at;
};
struct sums {
    struct parde_parser *p;
    VEC(struct sum) v;
    size_t state;
    bool *behind; // [from * states + to]: a way leads from one to the other
};

static void sum_stmt(void *ctx, struct ir_stmt *st) {
    struct sums *s = ctx;
    if (st->kind != IR_CSUM_ADD && st->kind != IR_CSUM_SUBTRACT && st->kind != IR_CSUM_VERIFY &&
        st->kind != IR_CSUM_GET)
        return;
    size_t i = 0;
    while (i < s->v.n && s->v.v[i].checksum != st->checksum)
        i++;
    if (i == s->v.n) {
        struct sum sum = {.checksum = st->checksum,
                          .states = ARENA_ARRAY(s->p->r->arena, bool, s->p->ir->states.n),
                          .at = st->at};
        VEC_PUSH(s->p->r->arena, &s->v, sum);
    }
    s->v.v[i].states[s->state] = true;
    if (st->kind == IR_CSUM_VERIFY || st->kind == IR_CSUM_GET)
        s->v.v[i].at = st->at;
    if (st->kind == IR_CSUM_SUBTRACT || st->kind == IR_CSUM_GET)
        s->v.v[i].residual = true;
}

static void find_ways(struct sums *s) {
    size_t n = s->p->ir->states.n;
    size_t *stack = ARENA_ARRAY(s->p->r->arena, size_t, n + 1);
    s->behind = ARENA_ARRAY(s->p->r->arena, bool, n *n + 1);
    for (size_t from = 0; from < n; from++) {
        bool *row = s->behind + from * n;
        size_t depth = 0;
        stack[depth++] = from;
        while (depth > 0) {
            const struct ir_state *state = s->p->ir->states.v[stack[--depth]];
            for (size_t e = 0; parde_next(state, e) != PARDE_END; e++) {
                int next = parde_next(state, e);
                if (next >= 0 && (size_t)next < n && !row[next]) {
                    row[next] = true;
                    stack[depth++] = (size_t)next;
                }
            }
        }
    }
}

static void find_beginnings(struct sums *s, struct sum *a) {
    size_t n = s->p->ir->states.n;
    a->begins = ARENA_ARRAY(s->p->r->arena, bool, n + 1);
    for (size_t i = 0; i < n; i++)
        a->begins[i] = a->states[i];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; a->states[i] && k < n; k++)
            if (k != i && s->behind[i * n + k])
                a->begins[k] = false;
}

// What a state subtracts from a sum, as the nth statement that does.
static const struct ir_stmt *parde_sums_nth(const struct ir_state *state,
                                            const struct ir_checksum *c, unsigned n) {
    for (size_t i = 0; i < state->body->stmts.n; i++) {
        const struct ir_stmt *st = state->body->stmts.v[i];
        if ((st->kind == IR_CSUM_SUBTRACT || st->kind == IR_CSUM_ADD) && st->checksum == c &&
            n-- == 0)
            return st;
    }
    return NULL;
}

static bool same_here(const struct ir_state *state, const struct sum *a, const struct sum *b) {
    for (unsigned n = 0;; n++) {
        const struct ir_stmt *x = parde_sums_nth(state, a->checksum, n),
                             *y = parde_sums_nth(state, b->checksum, n);
        if (!x || !y)
            return !x && !y;
        if (x->kind != y->kind || x->args.n != y->args.n)
            return false;
        for (size_t i = 0; i < x->args.n; i++)
            if (!ir_same(x->args.v[i], y->args.v[i]))
                return false;
    }
}

static bool parde_sums_may_share(const struct sums *s, const struct sum *a, const struct sum *b) {
    const struct ir_gress *ir = s->p->ir;
    size_t n = ir->states.n;
    for (size_t i = 0; i < n; i++)
        if (a->states[i] && b->states[i] &&
            !(a->residual && b->residual && same_here(ir->states.v[i], a, b)))
            return false;
    if (!a->residual && !b->residual)
        return true;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; a->begins[i] && k < n; k++) {
            if (i == k || !b->begins[k])
                continue;
            if ((a->residual && s->behind[i * n + k]) || (b->residual && s->behind[k * n + i]))
                return false;
        }
    return true;
}

unsigned parde_sum_units(struct parde_parser *p, struct loc *over, unsigned most) {
    struct sums s = {.p = p};
    struct ir_visitor v = {.ctx = &s, .stmt = sum_stmt, .shallow = true};
    if (!p->states)
        return 0;
    for (s.state = 0; s.state < p->ir->states.n; s.state++)
        ir_visit_block(&v, p->ir->states.v[s.state]->body);
    if (s.v.n == 0)
        return 0;
    find_ways(&s);
    for (size_t i = 0; i < s.v.n; i++)
        find_beginnings(&s, &s.v.v[i]);
    unsigned units = 0;
    // Residual sums first; each to the first unit that all on it can share with it.
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s.v.n; i++) {
            struct sum *a = &s.v.v[i];
            if (a->residual != (pass == 0))
                continue;
            for (a->unit = 1; a->unit <= units; a->unit++) {
                bool all = true;
                for (size_t k = 0; k < s.v.n && all; k++)
                    all = k == i || s.v.v[k].unit != a->unit ||
                          parde_sums_may_share(&s, a, &s.v.v[k]);
                if (all)
                    break;
            }
            if (a->unit > units) {
                units = a->unit;
                if (units == most + 1)
                    *over = a->at;
            }
        }
    return units;
}
