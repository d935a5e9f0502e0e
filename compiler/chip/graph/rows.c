// SPDX-License-Identifier: Apache-2.0
//
// rows: a condition as the rows of a gateway.
//
//     if (a != 0 && b != 0)        becomes        a == 0    no
//                                                 b == 0    no
//                                                 else      yes
//
// The rows are asked one after another, and the first that holds decides. Each compares fields for
// equality only: one that would have to ask whether fields differ is negated and goes to the end,
// as the chip's compiler does it.
#include "compiler/chip/graph/graph_impl.h"

#define MAX_ROWS   64u // of a condition; the chip's compiler gives up at 32
#define MAX_TRIALS 2u  // of turning rows round, as many as the chip's compiler makes
#define MAX_DEPTH  1000u

static bool rows_has(const struct graph_row *r, const struct ir_expr *e, bool truth) {
    for (size_t i = 0; i < r->tests.n; i++)
        if (r->tests.v[i].e == e && r->tests.v[i].truth == truth)
            return true;
    return false;
}

static struct graph_row rows_copy(struct arena *a, const struct graph_row *r) {
    struct graph_row n = {.yes = r->yes};
    for (size_t i = 0; i < r->tests.n; i++)
        VEC_PUSH(a, &n.tests, r->tests.v[i]);
    return n;
}

// 'both' becomes what holds where it and 'other' do: each row of the one with each of the other.
static bool rows_and(struct arena *a, graph_row_vec *both, const graph_row_vec *other) {
    graph_row_vec out = {0};
    for (size_t i = 0; i < both->n; i++)
        for (size_t k = 0; k < other->n; k++) {
            struct graph_row r = rows_copy(a, &both->v[i]);
            bool never = false;
            for (size_t n = 0; n < other->v[k].tests.n; n++) {
                const struct graph_test t = other->v[k].tests.v[n];
                never |= rows_has(&r, t.e, !t.truth);
                if (!rows_has(&r, t.e, t.truth))
                    VEC_PUSH(a, &r.tests, t);
            }
            if (never)
                continue;
            if (out.n >= MAX_ROWS)
                return false;
            VEC_PUSH(a, &out, r);
        }
    *both = out;
    return true;
}

// Where 'e' is 'truth'.
static bool rows_of(struct arena *a, const struct ir_expr *e, bool truth, graph_row_vec *out,
                    unsigned depth) {
    if (depth > MAX_DEPTH)
        return false;
    if (e->op == IR_NOT && e->width == 1)
        return rows_of(a, e->a, !truth, out, depth + 1);
    if (e->op != IR_LAND && e->op != IR_LOR) {
        struct graph_row r = {.yes = true};
        VEC_PUSH(a, &r.tests, ((struct graph_test){e, truth}));
        VEC_PUSH(a, out, r);
        return true;
    }
    graph_row_vec right = {0};
    if (!rows_of(a, e->a, truth, out, depth + 1) || !rows_of(a, e->b, truth, &right, depth + 1))
        return false;
    if (e->op == (truth ? IR_LAND : IR_LOR))
        return rows_and(a, out, &right);
    for (size_t i = 0; i < right.n; i++)
        VEC_PUSH(a, out, right.v[i]);
    return out->n <= MAX_ROWS;
}

// It asks whether fields of more than a bit differ.
static bool rows_differs(const struct graph_row *r) {
    for (size_t i = 0; i < r->tests.n; i++) {
        const struct graph_test *t = &r->tests.v[i];
        if (t->e->op == (t->truth ? IR_NE : IR_EQ) && t->e->a->width > 1)
            return true;
    }
    return false;
}

static bool rows_any_differs(const graph_row_vec *rows) {
    for (size_t i = 0; i < rows->n; i++)
        if (rows_differs(&rows->v[i]))
            return true;
    return false;
}

// Adds to 'rows' that none of 'turned' holds which decide otherwise than they do.
static bool rows_and_none_of(struct arena *a, graph_row_vec *rows, const graph_row_vec *turned,
                             size_t from, bool yes) {
    for (size_t i = from; i < turned->n; i++) {
        graph_row_vec not_it = {0};
        if (turned->v[i].yes == yes)
            continue;
        for (size_t k = 0; k < turned->v[i].tests.n; k++) {
            struct graph_row r = {.yes = yes};
            struct graph_test t = turned->v[i].tests.v[k];
            t.truth = !t.truth;
            VEC_PUSH(a, &r.tests, t);
            VEC_PUSH(a, &not_it, r);
        }
        if (!rows_and(a, rows, &not_it))
            return false;
    }
    return true;
}

static bool rows_take(struct arena *a, graph_row_vec *out, const graph_row_vec *from) {
    for (size_t i = 0; i < from->n; i++)
        VEC_PUSH(a, out, from->v[i]);
    return out->n <= MAX_ROWS;
}

// Rows that ask whether fields differ go to the end, negated. '*otherwise' is what is decided where
// no row holds.
static bool rows_turn(struct arena *a, graph_row_vec *rows, bool *otherwise) {
    graph_row_vec turned = {0}, out = {0};
    for (size_t i = 0; i < rows->n; i++) {
        graph_row_vec one = {0};
        if (rows_differs(&rows->v[i])) {
            VEC_PUSH(a, &turned, rows->v[i]);
            continue;
        }
        VEC_PUSH(a, &one, rows->v[i]);
        if (!rows_and_none_of(a, &one, &turned, 0, rows->v[i].yes) || !rows_take(a, &out, &one))
            return false;
    }
    for (size_t i = 0; i < turned.n; i++) {
        graph_row_vec last = {0};
        bool any = false;
        for (size_t k = i; k < turned.n; k++)
            any |= turned.v[k].yes != *otherwise;
        if (!any)
            continue;
        VEC_PUSH(a, &last, ((struct graph_row){.yes = *otherwise}));
        if (!rows_and_none_of(a, &last, &turned, i, *otherwise) || !rows_take(a, &out, &last))
            return false;
        *otherwise = turned.v[turned.n - 1].yes;
    }
    *rows = out;
    return true;
}

// Each test is a row by itself.
static void rows_tests(struct arena *a, const struct ir_expr *e, graph_row_vec *out,
                       unsigned depth) {
    if (depth > MAX_DEPTH)
        return;
    if (e->op == IR_LAND || e->op == IR_LOR || (e->op == IR_NOT && e->width == 1)) {
        rows_tests(a, e->a, out, depth + 1);
        if (e->op != IR_NOT)
            rows_tests(a, e->b, out, depth + 1);
        return;
    }
    struct graph_row r = {0};
    VEC_PUSH(a, &r.tests, ((struct graph_test){e, true}));
    VEC_PUSH(a, out, r);
}

graph_row_vec graph_rows(struct arena *a, const struct ir_expr *e) {
    graph_row_vec rows = {0}, tests = {0};
    bool otherwise = false, found = rows_of(a, e, true, &rows, 0);
    for (unsigned trial = 0; found && rows_any_differs(&rows); trial++)
        found = trial < MAX_TRIALS && rows_turn(a, &rows, &otherwise);
    if (!found)
        rows_tests(a, e, &tests, 0);
    return found ? rows : tests;
}
