// SPDX-License-Identifier: Apache-2.0
//
// coalesce: copies that nobody can tell from the original.
//
// A call has been lowered with its parameters as variables of their own: t = X before the body, X =
// t after it, for each scalar in them. Where the body shows that it makes no difference, t is
// renamed to X and the copies go away, so that an action that executes a register with a header
// field keeps that shape:
//
// - an 'out' or 'inout' t becomes X when the body does not touch X otherwise;
// - an 'in' t (never written) becomes X when on no path t is read after X was written.
//
// X counts as written by whatever changes its header's validity. A field with a validity of its own
// and its copy are renamed together with those, or not at all.
#include "compiler/ir/effects.h"
#include "compiler/lower/lower_impl.h"

struct pair {
    struct arena *a;
    struct ir_var *t, *x;
};

// ---- does the body touch X? ---------------------------------------------------------------------

struct touch {
    struct pair p;
    bool found;
};

static bool lower_coalesce_is_copy(const struct ir_stmt *s, const struct pair *p, bool out) {
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

static bool lower_coalesce_writes(const struct ir_stmt *s, const struct ir_var *x) {
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        if (results[i] == x)
            return true;
    return moves_header(s, x->header);
}

static void touch_stmt(void *ctx, struct ir_stmt *s) {
    struct touch *t = ctx;
    if (!lower_coalesce_is_copy(s, &t->p, true) && lower_coalesce_writes(s, t->p.x))
        t->found = true;
}

static void touch_expr(void *ctx, struct ir_expr *e) {
    struct touch *t = ctx;
    if (e->op == IR_VAR && e->var == t->p.x)
        t->found = true;
}

static bool lower_coalesce_touched(struct ir_block *body, struct pair p) {
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
    *written = after || lower_coalesce_writes(s, p->x);
    return lower_coalesce_writes(s, p->t);
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
    const struct pair *p = ctx;
    if (lower_coalesce_is_copy(s, p, true)) { // done before an exit; nothing is left to do
        s->kind = IR_BLOCK;
        s->then_b = ARENA_NEW(p->a, struct ir_block);
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

static void lower_coalesce_drop_copies(struct ir_block *b, const struct pair *p, bool out) {
    size_t n = 0;
    for (size_t i = 0; i < b->stmts.n; i++)
        if (!lower_coalesce_is_copy(b->stmts.v[i], p, out))
            b->stmts.v[n++] = b->stmts.v[i];
    b->stmts.n = n;
}

static bool other_copies_touch(const struct frame *f, struct pair p) {
    struct ir_block others = {0};
    others.stmts.v = f->copy_out.v;
    others.stmts.n = f->copy_out.n;
    return lower_coalesce_touched(&others, p);
}

static void drop_copies_out(struct frame *f, const struct pair *p) {
    struct ir_block copies = {0};
    copies.stmts.v = f->copy_out.v;
    copies.stmts.n = f->copy_out.n;
    lower_coalesce_drop_copies(&copies, p, true);
    f->copy_out.n = copies.stmts.n;
}

// The parameter's scalar 't' stands for 'x', of which 'in' went in (null: nothing).
static void coalesce_out_one(struct call_args *args, struct frame *f, struct pair p,
                             const struct ir_var *in, bool goes_in) {
    if (!p.t || !p.x || p.t == p.x || p.t->width != p.x->width || (goes_in && in != p.x))
        return;
    struct pair validity = {.a = p.a, .t = p.t->valid, .x = p.x->valid};
    if (!validity.t != !validity.x)
        return;
    if (lower_coalesce_touched(args->body, p) || other_copies_touch(f, p))
        return;
    if (validity.x &&
        (lower_coalesce_touched(args->body, validity) || other_copies_touch(f, validity)))
        return;
    drop_copies_out(f, &p);
    lower_coalesce_drop_copies(args->before, &p, false);
    rename_var(args->body, p);
    if (validity.x) {
        drop_copies_out(f, &validity);
        lower_coalesce_drop_copies(args->before, &validity, false);
        rename_var(args->body, validity);
    }
}

// Structs field by field; the headers in them keep their copies.
static void coalesce_out(struct lower *lw, struct call_args *args, struct frame *f,
                         const struct value *inside, const struct value *outside,
                         const struct value *in, bool goes_in) {
    if (inside->kind == VAL_TUPLE && outside->kind == VAL_TUPLE) {
        for (size_t i = 0; i < inside->n && i < outside->n; i++)
            coalesce_out(lw, args, f, inside->items[i], outside->items[i],
                         in && i < in->n ? in->items[i] : NULL, goes_in);
        return;
    }
    struct pair p = {.a = lw->a, .t = scalar_var(inside), .x = scalar_var(outside)};
    coalesce_out_one(args, f, p, scalar_var(in), goes_in);
}

static void coalesce_in(struct lower *lw, struct call_args *args, const struct value *inside,
                        const struct value *in) {
    if (inside->kind == VAL_TUPLE && in->kind == VAL_TUPLE) {
        for (size_t i = 0; i < inside->n && i < in->n; i++)
            coalesce_in(lw, args, inside->items[i], in->items[i]);
        return;
    }
    struct pair p = {.a = lw->a, .t = scalar_var(inside), .x = scalar_var(in)};
    bool written = false;
    if (!p.t || !p.x || p.t == p.x || p.t->width != p.x->width)
        return;
    struct pair validity = {.a = p.a, .t = p.t->valid, .x = p.x->valid};
    if (!validity.t != !validity.x || reads_late(args->body, &p, &written))
        return;
    written = false;
    if (validity.x && reads_late(args->body, &validity, &written))
        return;
    lower_coalesce_drop_copies(args->before, &p, false);
    rename_var(args->body, p);
    if (validity.x) {
        lower_coalesce_drop_copies(args->before, &validity, false);
        rename_var(args->body, validity);
    }
}

void coalesce_copies(struct lower *lw, struct call_args *args, struct frame *f) {
    for (size_t i = 0; i < args->v.n; i++) {
        const struct bound *b = &args->v.v[i];
        const struct value *outside = b->outside.n > 0 ? lvalue_whole(&b->outside) : NULL;
        if (b->copied && outside)
            coalesce_out(lw, args, f, b->inside, outside, b->in, b->param->dir == DIR_INOUT);
    }
    for (size_t i = 0; i < args->v.n; i++) {
        const struct bound *b = &args->v.v[i];
        if (b->copied && b->outside.n == 0 && !b->data && b->in)
            coalesce_in(lw, args, b->inside, b->in);
    }
}
