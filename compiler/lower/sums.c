// SPDX-License-Identifier: Apache-2.0
//
// sums: where in a word each part of a parser's checksum begins.
//
// The chip goes on in the word where the call before ended, in whichever state that was (tna-facts
// 4.8). A statement of the IR begins with a word of its own, so one that begins in the middle of a
// word gets a byte of zeros before its fields.
#include "compiler/lower/lower_impl.h"

// After an even or an odd number of bytes; a state that several ways lead to may have both. A way
// on which nothing was taken yet does not count, as for the chip's compiler.
enum { SUMS_EVEN = 1, SUMS_ODD = 2 };

struct sums {
    struct lower *lw;
    const struct ir_checksum *sum;
    unsigned char *begins; // by state
};

static bool sums_takes(const struct ir_stmt *s, const struct ir_checksum *sum) {
    return s->checksum == sum && (s->kind == IR_CSUM_ADD || s->kind == IR_CSUM_SUBTRACT);
}

static bool sums_is_odd(const struct ir_stmt *s) {
    unsigned bits = 0;
    for (size_t i = 0; i < s->args.n; i++)
        bits += s->args.v[i]->width;
    return bits / 8 % 2 != 0;
}

static unsigned char sums_behind(const struct sums *x, const struct ir_stmt *s,
                                 unsigned char before) {
    if (!sums_takes(s, x->sum) || (before && !sums_is_odd(s)))
        return before;
    if (!before)
        return sums_is_odd(s) ? SUMS_ODD : SUMS_EVEN;
    return (unsigned char)((before & SUMS_EVEN ? SUMS_ODD : 0) |
                           (before & SUMS_ODD ? SUMS_EVEN : 0));
}

static bool sums_reach(struct sums *x, int state, unsigned char how) {
    if (state < 0 || (how & ~x->begins[state]) == 0)
        return false;
    x->begins[state] |= how;
    return true;
}

static bool sums_lead_on(struct sums *x, const struct ir_state *s) {
    unsigned char how = x->begins[s->id];
    for (size_t i = 0; i < s->body->stmts.n; i++)
        how = sums_behind(x, s->body->stmts.v[i], how);
    bool more = sums_reach(x, s->next, how);
    for (size_t i = 0; i < s->cases.n; i++)
        more = sums_reach(x, s->cases.v[i].next, how) || more;
    return more;
}

static void sums_begin_odd(struct lower *lw, struct ir_stmt *s) {
    ir_expr_vec args = {0};
    VEC_PUSH(lw->a, &args, ir_const_u64(lw->a, 8, 0));
    for (size_t i = 0; i < s->args.n; i++)
        VEC_PUSH(lw->a, &args, s->args.v[i]);
    s->args = args;
}

static void sums_in_state(struct sums *x, const struct ir_state *state) {
    unsigned char how = x->begins[state->id];
    for (size_t i = 0; i < state->body->stmts.n; i++) {
        struct ir_stmt *s = state->body->stmts.v[i];
        const unsigned char behind = sums_behind(x, s, how);
        if (sums_takes(s, x->sum) && how == (SUMS_EVEN | SUMS_ODD)) {
            lower_error(x->lw, s->at,
                        "checksum '%s' has taken an odd number of bytes on one way to here and an "
                        "even number on another; add(8w0) on one of them",
                        x->sum->name);
            return;
        }
        if (sums_takes(s, x->sum) && how == SUMS_ODD)
            sums_begin_odd(x->lw, s);
        how = behind;
    }
}

static void sums_one(struct lower *lw, const struct ir_checksum *sum, size_t from) {
    const struct ir_gress *g = lw->gress;
    struct sums x = {lw, sum, ARENA_ARRAY(lw->a, unsigned char, g->states.n + 1)};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = from; i < g->states.n; i++)
            more = sums_lead_on(&x, g->states.v[i]) || more;
    }
    for (size_t i = from; i < g->states.n; i++)
        sums_in_state(&x, g->states.v[i]);
}

// A checksum of which all parts are words needs nothing.
void sums_place(struct lower *lw, size_t from) {
    VEC(const struct ir_checksum *) done = {0};
    for (size_t i = from; i < lw->gress->states.n; i++) {
        const struct ir_block *body = lw->gress->states.v[i]->body;
        csum_check_state(lw, body);
        for (size_t k = 0; k < body->stmts.n; k++) {
            const struct ir_stmt *s = body->stmts.v[k];
            bool known = !sums_takes(s, s->checksum) || !sums_is_odd(s);
            for (size_t m = 0; m < done.n; m++)
                known |= done.v[m] == s->checksum;
            if (!known)
                VEC_PUSH(lw->a, &done, s->checksum);
        }
    }
    for (size_t m = 0; m < done.n; m++)
        sums_one(lw, done.v[m], from);
}
