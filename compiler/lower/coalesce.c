// SPDX-License-Identifier: Apache-2.0
//
// coalesce: copies that nobody can tell from the original.
//
// A call has been lowered with its scalar parameters as variables of their own: t = X before the
// body, X = t behind it. Where the body shows that it makes no difference, t is renamed to X and
// the copies go away, so that an action that executes a register with a header field keeps that
// shape:
//
// - an 'out' or 'inout' t becomes X when the body does not touch X otherwise;
// - an 'in' t (never written) becomes X when on no path t is read after X was written.
//
// X counts as written by whatever changes its header's validity. Intrinsic fields with validity of
// their own keep their copies: there the copy itself is visible.
#include "compiler/lower/lower_impl.h"

struct pair {
    struct ir_var *t, *x;
};

// ---- does the body touch X? ---------------------------------------------------------------------

struct touch {
    struct pair p;
    bool found;
};

static bool is_copy(const struct ir_stmt *s, const struct pair *p, bool out) {
    struct ir_var *dst = out ? p->x : p->t, *src = out ? p->t : p->x;
    return s->kind == IR_ASSIGN && !s->slice && s->var == dst && s->e->op == IR_VAR &&
           s->e->var == src;
}

static bool moves_header(const struct ir_stmt *s, const struct ir_header *h) {
    if (!h)
        return false;
    if (s->header == h)
        return true;
    for (size_t i = 0; i < s->headers.n; i++)
        if (s->headers.v[i] == h)
            return true;
    return false;
}

struct writes {
    const struct ir_var *x;
    bool found;
};

static void compare_written(void *ctx, struct ir_var **var) {
    struct writes *w = ctx;
    w->found |= *var == w->x;
}

static bool writes(struct ir_stmt *s, const struct ir_var *x) {
    struct writes w = {.x = x};
    ir_written_vars(s, compare_written, &w);
    return w.found || moves_header(s, x->header);
}

static void touch_stmt(void *ctx, struct ir_stmt *s) {
    struct touch *t = ctx;
    if (!is_copy(s, &t->p, true) && writes(s, t->p.x))
        t->found = true;
}

static void touch_expr(void *ctx, struct ir_expr *e) {
    struct touch *t = ctx;
    if (e->op == IR_VAR && e->var == t->p.x)
        t->found = true;
}

static bool touched(struct ir_block *body, struct pair p) {
    struct touch t = {.p = p};
    ir_visit_block(&(struct ir_visitor){.ctx = &t, .stmt = touch_stmt, .expr = touch_expr}, body);
    return t.found;
}

// ---- is t read after X was written? -------------------------------------------------------------

static bool reads_late(struct ir_block *b, const struct pair *p, bool *written);

static bool stmt_reads(const struct ir_stmt *s, const struct ir_var *t) {
    if (expr_reads(s->e, t) || expr_reads(s->e2, t) || expr_reads(s->e3, t))
        return true;
    for (size_t i = 0; i < s->args.n; i++)
        if (expr_reads(s->args.v[i], t))
            return true;
    for (size_t i = 0; i < s->csum_args.n; i++)
        if (expr_reads(s->csum_args.v[i].e, t))
            return true;
    for (size_t i = 0; s->table && i < s->table->keys.n; i++)
        if (expr_reads(s->table->keys.v[i].expr, t))
            return true;
    return false;
}

// One of several ways the statement may go; '*after' collects what they leave behind.
static bool branch_late(struct ir_block *b, const struct pair *p, bool before, bool *after) {
    bool w = before;
    bool late = reads_late(b, p, &w);
    *after |= w;
    return late;
}

static bool stmt_late(struct ir_stmt *s, const struct pair *p, bool *written) {
    if (*written && stmt_reads(s, p->t))
        return true;
    bool after = *written;
    if (branch_late(s->then_b, p, *written, &after) || branch_late(s->else_b, p, *written, &after))
        return true;
    for (size_t i = 0; i < s->cases.n; i++)
        if (branch_late(s->cases.v[i].body, p, *written, &after))
            return true;
    for (size_t i = 0; s->table && i < s->table->actions.n; i++)
        if (branch_late(s->table->actions.v[i].action->body, p, *written, &after))
            return true;
    if (s->regaction && branch_late(s->regaction->body, p, *written, &after))
        return true;
    *written = after || writes(s, p->x);
    return writes(s, p->t);
}

static bool reads_late(struct ir_block *b, const struct pair *p, bool *written) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        if (stmt_late(b->stmts.v[i], p, written))
            return true;
    return false;
}

// ---- renaming -----------------------------------------------------------------------------------

static void rename_slot(void *ctx, struct ir_var **var) {
    const struct pair *p = ctx;
    if (*var == p->t)
        *var = p->x;
}

// Expressions may be shared, the copies among them too: the statements are all seen before the
// first expression is changed.
static void rename_stmt(void *ctx, struct ir_stmt *s) {
    static struct ir_block nothing;
    const struct pair *p = ctx;
    if (is_copy(s, p, true)) { // done before an exit; nothing is left to do
        s->kind = IR_BLOCK;
        s->then_b = &nothing;
        s->var = NULL;
        s->e = NULL;
    }
    ir_written_vars(s, rename_slot, ctx);
}

static void rename_expr(void *ctx, struct ir_expr *e) {
    const struct pair *p = ctx;
    if (e->op == IR_VAR && e->var == p->t)
        e->var = p->x;
}

static void rename_var(struct ir_block *body, struct pair p) {
    ir_visit_block(&(struct ir_visitor){.ctx = &p, .stmt = rename_stmt}, body);
    ir_visit_block(&(struct ir_visitor){.ctx = &p, .expr = rename_expr}, body);
}

// ---- deciding -----------------------------------------------------------------------------------

static struct ir_var *scalar_var(const struct value *v) {
    return v && v->kind == VAL_BITS && v->e->op == IR_VAR ? v->e->var : NULL;
}

static void drop_copies(struct ir_block *b, const struct pair *p, bool out) {
    size_t n = 0;
    for (size_t i = 0; i < b->stmts.n; i++)
        if (!is_copy(b->stmts.v[i], p, out))
            b->stmts.v[n++] = b->stmts.v[i];
    b->stmts.n = n;
}

static bool other_copies_touch(const struct frame *f, struct pair p) {
    struct ir_block others = {0};
    others.stmts.v = f->copy_out.v;
    others.stmts.n = f->copy_out.n;
    return touched(&others, p);
}

static void coalesce_out(struct call_args *args, struct frame *f, struct bound *b) {
    struct pair p = {.t = scalar_var(b->inside), .x = scalar_var(lvalue_whole(&b->outside))};
    if (!p.t || !p.x || p.t == p.x || p.t->width != p.x->width || p.x->valid)
        return;
    if (b->param->dir == DIR_INOUT && scalar_var(b->in) != p.x)
        return;
    if (touched(args->body, p) || other_copies_touch(f, p))
        return;
    struct ir_block copies = {0};
    copies.stmts.v = f->copy_out.v;
    copies.stmts.n = f->copy_out.n;
    drop_copies(&copies, &p, true);
    f->copy_out.n = copies.stmts.n;
    drop_copies(args->before, &p, false);
    rename_var(args->body, p);
    b->inside = b->outside.alts[0];
}

static void coalesce_in(struct call_args *args, struct bound *b) {
    struct pair p = {.t = scalar_var(b->inside), .x = scalar_var(b->in)};
    bool written = false;
    if (!p.t || !p.x || p.t == p.x || p.t->width != p.x->width)
        return;
    if (reads_late(args->body, &p, &written))
        return;
    drop_copies(args->before, &p, false);
    rename_var(args->body, p);
}

void coalesce_copies(struct lower *lw, struct call_args *args, struct frame *f) {
    (void)lw;
    for (size_t i = 0; i < args->v.n; i++)
        if (args->v.v[i].copied && args->v.v[i].outside.n > 0)
            coalesce_out(args, f, &args->v.v[i]);
    for (size_t i = 0; i < args->v.n; i++)
        if (args->v.v[i].copied && args->v.v[i].outside.n == 0 && !args->v.v[i].data)
            coalesce_in(args, &args->v.v[i]);
}
