// SPDX-License-Identifier: Apache-2.0
//
// parallel: the statements of an action as the chip runs them, all at once.
//
//     t = hdr.a;                                    (nobody reads t)
//     hdr.a = hdr.b;                becomes         hdr.a = hdr.b;
//     hdr.b = t;                                    hdr.b = hdr.a;
//
// An instruction reads what fields hold when the stage begins. So a statement that reads what an
// earlier one of its action has moved reads from where that moved it, and of several writes of one
// field the last one counts. What reads a result that was computed before would need a second
// stage: it is noted (graph.late) and complained of in limits.c, if anybody wants its result. The
// chip's compiler complains of it only if it computes: what is moved or hashed is then the old
// value.
//
// Only for actions without conditions; the others are left as they are.
#include "compiler/chip/graph/graph_impl.h"
#include "compiler/ir/effects.h"

struct moved { // bits that an earlier statement of the action wrote
    struct chip_bits to;
    struct ir_expr *from; // in terms of what fields hold when the stage begins; null: computed
    const struct ir_stmt *by;
};
struct parallel {
    struct graph *g;
    struct arena *a;
    VEC(struct moved) moved; // no two of them meet
    const struct ir_stmt *stmt;
    bool moves; // it only moves or hashes what it reads
};

bool graph_is_plain(const struct ir_stmt *t) {
    return t->kind != IR_IF && t->kind != IR_SWITCH && t->kind != IR_APPLY && t->kind != IR_BLOCK &&
           t->kind != IR_EXIT && t->kind != IR_LEAVE;
}

// ---- what is read -------------------------------------------------------------------------------

static const struct moved *parallel_first_of(const struct parallel *p, struct chip_bits b) {
    const struct moved *found = NULL;
    arena_spend(p->a, p->moved.n);
    for (size_t i = 0; i < p->moved.n; i++)
        if (chip_bits_meet(p->moved.v[i].to, b) && (!found || p->moved.v[i].to.lo < found->to.lo))
            found = &p->moved.v[i];
    return found;
}

// The bits of a variable, from the low end: each piece from where it was moved.
static struct ir_expr *parallel_bits(struct parallel *p, struct ir_var *v, unsigned lo,
                                     unsigned width) {
    struct ir_expr *all = NULL;
    while (width > 0) {
        const struct moved *m = parallel_first_of(p, (struct chip_bits){v, lo, width});
        struct ir_expr *piece;
        unsigned n = !m ? width : m->to.lo > lo ? m->to.lo - lo : m->to.lo + m->to.width - lo;
        n = n < width ? n : width;
        if (m && m->to.lo <= lo && m->from) {
            piece = ir_slice(p->a, m->from, lo - m->to.lo, n);
        } else {
            piece = ir_slice(p->a, ir_ref(p->a, v), lo, n);
            if (m && m->to.lo <= lo) {
                struct graph_late late = {p->stmt, m->by, v, p->moves};
                VEC_PUSH(p->a, &p->g->late, late);
            }
        }
        all = all ? ir_binary(p->a, IR_CONCAT, piece, all) : piece;
        lo += n;
        width -= n;
    }
    return all;
}

static struct ir_expr *parallel_read(struct parallel *p, struct ir_expr *e) {
    if (!e)
        return NULL;
    if (e->op == IR_VAR)
        return parallel_first_of(p, (struct chip_bits){e->var, 0, e->width})
                   ? parallel_bits(p, e->var, 0, e->width)
                   : e;
    if (e->op == IR_SLICE && e->a->op == IR_VAR)
        return parallel_first_of(p, (struct chip_bits){e->a->var, e->lo, e->width})
                   ? parallel_bits(p, e->a->var, e->lo, e->width)
                   : e;
    struct ir_expr *x = parallel_read(p, e->a), *y = parallel_read(p, e->b),
                   *z = parallel_read(p, e->c);
    return x == e->a && y == e->b && z == e->c ? e : graph_rebuilt(p->a, e, x, y, z);
}

// ---- what is written ----------------------------------------------------------------------------

static bool parallel_is_move(const struct ir_expr *e) {
    while (e->op == IR_SLICE || e->op == IR_ZEXT)
        e = e->a;
    if (e->op == IR_CONCAT)
        return parallel_is_move(e->a) && parallel_is_move(e->b);
    return e->op == IR_VAR || e->op == IR_CONST;
}

// What is known of these bits no longer holds; of what reaches beyond them, the rest does.
static void parallel_forget(struct parallel *p, struct chip_bits to) {
    const unsigned end = to.lo + to.width;
    for (size_t i = p->moved.n; i-- > 0;) {
        const struct moved m = p->moved.v[i];
        const unsigned m_end = m.to.lo + m.to.width;
        if (!chip_bits_meet(m.to, to))
            continue;
        p->moved.v[i] = p->moved.v[--p->moved.n];
        if (m.to.lo < to.lo) {
            struct moved low = m;
            low.to.width = to.lo - m.to.lo;
            low.from = m.from ? ir_slice(p->a, m.from, 0, low.to.width) : NULL;
            VEC_PUSH(p->a, &p->moved, low);
        }
        if (m_end > end) {
            struct moved high = m;
            high.to.lo = end;
            high.to.width = m_end - end;
            high.from = m.from ? ir_slice(p->a, m.from, end - m.to.lo, m_end - end) : NULL;
            VEC_PUSH(p->a, &p->moved, high);
        }
    }
}

static void parallel_written(void *aux, const struct ir_var *v) {
    parallel_forget(aux, (struct chip_bits){v, 0, v->width});
}

static void parallel_assign(struct parallel *p, struct ir_stmt *t) {
    struct moved m = {.to = {t->var, 0, t->var->width}, .by = t};
    if (t->slice) {
        m.to.lo = t->lo;
        m.to.width = t->width;
    }
    t->e = parallel_read(p, t->e);
    m.from = parallel_is_move(t->e) ? t->e : NULL;
    parallel_forget(p, m.to);
    if (!graph_is_hashed(t)) // as the result of a hash it is there in the same stage
        VEC_PUSH(p->a, &p->moved, m);
}

// ---- an action ----------------------------------------------------------------------------------

// An assignment all of whose bits a later one of the action writes.
static bool parallel_is_covered(const struct ir_block *b, size_t i, size_t end) {
    const struct ir_stmt *t = b->stmts.v[i];
    if (t->kind != IR_ASSIGN)
        return false;
    const unsigned lo = t->slice ? t->lo : 0, width = t->slice ? t->width : t->var->width;
    for (size_t k = i + 1; k < end; k++) {
        const struct ir_stmt *u = b->stmts.v[k];
        if (u->kind == IR_ASSIGN && u->var == t->var &&
            (!u->slice || (u->lo <= lo && lo + width <= u->lo + u->width)))
            return true;
    }
    return false;
}

// Statements [from, end) of the block are one action. Returns how many there are after it.
static size_t parallel_run(struct graph *g, struct ir_block *b, size_t from, size_t end) {
    struct parallel p = {.g = g, .a = g->a};
    for (size_t i = from; i < end; i++) {
        struct ir_stmt *t = b->stmts.v[i];
        p.stmt = t;
        p.moves = t->kind == IR_HASH || (t->kind == IR_ASSIGN && parallel_is_move(t->e));
        if (t->kind == IR_ASSIGN) {
            parallel_assign(&p, t);
            continue;
        }
        for (size_t k = 0; t->kind == IR_HASH && k < t->args.n; k++)
            t->args.v[k] = parallel_read(&p, t->args.v[k]);
        ir_each_written(t, parallel_written, &p);
    }
    size_t n = from;
    for (size_t i = from; i < end; i++)
        if (!parallel_is_covered(b, i, end))
            b->stmts.v[n++] = b->stmts.v[i];
    for (size_t i = end; i < b->stmts.n; i++)
        b->stmts.v[n + i - end] = b->stmts.v[i];
    b->stmts.n -= end - n;
    return n;
}

// Statements from 'from' on, a plain one, are of one called action, up to the returned index.
static size_t parallel_run_end(const struct ir_block *b, size_t from) {
    size_t end = from;
    while (end < b->stmts.n && graph_is_plain(b->stmts.v[end]) &&
           b->stmts.v[end]->action_call == b->stmts.v[from]->action_call)
        end++;
    return end;
}

static void parallel_calls(struct graph *g, struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n;) {
        struct ir_stmt *t = b->stmts.v[i];
        parallel_calls(g, t->then_b);
        parallel_calls(g, t->else_b);
        for (size_t k = 0; k < t->cases.n; k++)
            parallel_calls(g, t->cases.v[k].body);
        i = t->action_call && graph_is_plain(t) ? parallel_run(g, b, i, parallel_run_end(b, i))
                                                : i + 1;
    }
}

bool graph_is_straight(const struct ir_block *b) {
    for (size_t i = 0; i < b->stmts.n; i++)
        if (!graph_is_plain(b->stmts.v[i]) && b->stmts.v[i]->kind != IR_EXIT)
            return false;
    return true;
}

void graph_parallel(struct graph *g) {
    parallel_calls(g, g->control);
    for (size_t i = 0; i < g->ir->actions.n; i++) {
        struct ir_block *b = g->action_bodies[i];
        if (!b || !graph_is_straight(b))
            continue;
        size_t end = 0;
        while (end < b->stmts.n && b->stmts.v[end]->kind != IR_EXIT)
            end++;
        parallel_run(g, b, 0, end);
    }
}
