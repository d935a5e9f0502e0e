// SPDX-License-Identifier: Apache-2.0
//
// loop: for loops, break and continue (section "Loop statement").
//
// A switch has no loops: the rounds are written out one after the other, so their number must be
// known here. A variable that the loop's head sets to constants and that the body leaves alone
// stands for its value in each round; the head's condition then folds. A condition that also looks
// at the packet ends the loop early at run time, as 'break' does.
#include "compiler/lower/lower_impl.h"

#define MAX_ROUNDS 1024u

struct loop {
    struct loop *up;
    unsigned break_label, continue_label;
};

// A variable whose value is known in each round.
struct loop_known {
    struct decl *decl;
    struct value *storage; // of one that lives longer than the loop; null for the loop's own
};

struct rounds {
    struct stmt *s;
    VEC(struct loop_known) known;
    bool changed; // a known variable, since the round began
    bool failed;  // and reported
};

// ---- which variables are known ------------------------------------------------------------------

static struct decl *named_var(const struct expr *e) {
    e = strip(e);
    return e && e->kind == EX_NAME && e->decl &&
                   (e->decl->kind == D_VAR || e->decl->kind == D_PARAM)
               ? e->decl
               : NULL;
}

static struct loop_known *find_known(struct rounds *r, const struct decl *d) {
    for (size_t i = 0; d && i < r->known.n; i++)
        if (r->known.v[i].decl == d)
            return &r->known.v[i];
    return NULL;
}

static void know(struct lower *lw, struct rounds *r, struct decl *d, struct value *v,
                 struct value *storage) {
    struct loop_known *k = find_known(r, d);
    if (!k) {
        struct loop_known new_one = {.decl = d, .storage = storage};
        VEC_PUSH(lw->a, &r->known, new_one);
    }
    env_bind(lw, lw->env, d, v);
}

static bool lower_loop_constant(const struct value *v) {
    return v->kind == VAL_INT || (v->kind == VAL_BITS && ir_is_const(v->e));
}

// ---- the head -----------------------------------------------------------------------------------

static void init_decl(struct lower *lw, struct rounds *r, struct stmt *s) {
    struct decl *d = s->decl;
    struct type *t = env_type(lw, d->type);
    bool scalar = is_scalar_type(t) || plain(t)->kind == TY_INT;
    if (d->kind == D_VAR && d->init && scalar && !scan_effects(d->init) &&
        !scan_writes(r->s->body, d)) {
        struct value *v = eval_as(lw, d->init, t);
        if (lower_loop_constant(v)) {
            know(lw, r, d, v, NULL);
            return;
        }
    }
    lower_stmt(lw, s);
}

static void init_stmt(struct lower *lw, struct rounds *r, struct stmt *s) {
    if (s->kind == ST_DECL) {
        init_decl(lw, r, s);
        return;
    }
    lower_stmt(lw, s);
    struct decl *d = s->kind == ST_ASSIGN && s->assign_op < 0 ? named_var(s->a) : NULL;
    struct value *storage = d ? env_find(lw->env, d) : NULL;
    if (!storage || storage->kind != VAL_BITS || scan_effects(s->b) || scan_writes(r->s->body, d) ||
        scan_calls_actions(r->s->body)) // which may name it
        return;
    struct value *v = eval_as(lw, s->b, storage->type);
    if (lower_loop_constant(v))
        know(lw, r, d, v, storage);
}

// A known variable's new value; false when the statement does something else.
static bool update_known(struct lower *lw, struct rounds *r, struct stmt *s) {
    struct decl *d = s->kind == ST_ASSIGN ? named_var(s->a) : NULL;
    struct loop_known *k = find_known(r, d);
    if (!k)
        return false;
    struct value *old = env_find(lw->env, d), *v = eval(lw, s->b);
    if (s->assign_op >= 0)
        v = apply_binary(lw, (enum op)s->assign_op, old, v, old->type, s->at);
    v = convert(lw, v, old->type, s->at);
    if (!lower_loop_constant(v)) {
        lower_error(
            lw, s->at,
            "'%s' counts the iterations of this loop, so its value must be known at compile time",
            d->name);
        r->failed = true;
        return true;
    }
    r->changed = true;
    if (k->storage)
        assign(lw, k->storage, v, s->at);
    env_bind(lw, lw->env, d, v);
    return true;
}

// ---- rounds -------------------------------------------------------------------------------------

static void put_leave(struct lower *lw, unsigned label, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_LEAVE, at);
    s->label = label;
    put(lw, s);
}

static void lower_loop_one_round(struct lower *lw, struct stmt *body, unsigned break_label) {
    struct ir_block *outer = lw->block, *b = ir_block_new(lw->a);
    struct loop loop = {.up = lw->loop, .break_label = break_label, .continue_label = ++lw->labels};
    lw->loop = &loop;
    lw->block = b;
    lower_stmt(lw, body);
    lw->block = outer;
    lw->loop = loop.up;
    put_labelled(lw, b, loop.continue_label, body->at);
}

static void lower_loop_too_many(struct lower *lw, const struct stmt *s) {
    lower_error(lw, s->at,
                "the number of iterations of this loop is not known at compile time, or is above "
                "%u; a switch has no loops, so they are unrolled",
                MAX_ROUNDS);
}

// Leaves the loop unless the condition holds; false when it never does.
static bool check_condition(struct lower *lw, struct expr *e, unsigned break_label) {
    struct ir_expr *c = e ? eval_bool(lw, e) : ir_const_u64(lw->a, 1, 1);
    if (ir_is_const(c))
        return ir_is_true(c);
    struct ir_block *outer = lw->block, *b = ir_block_new(lw->a);
    lw->block = b;
    put_leave(lw, break_label, e->at);
    lw->block = outer;
    put_source_if(lw, ir_not_bool(lw->a, c), b, NULL, e->at,
                  arena_printf(lw->a, "!(%s)", expr_text(lw->a, e)));
    return true;
}

static void lower_loop_run_rounds(struct lower *lw, struct rounds *r, unsigned break_label) {
    struct stmt *s = r->s;
    for (unsigned n = 0; check_condition(lw, s->a, break_label) && !lw->gave_up; n++) {
        r->changed = false;
        lower_loop_one_round(lw, s->body, break_label);
        if (ir_ends(lw->block)) // a body that always leaves
            return;
        for (size_t i = 0; i < s->update.n; i++)
            if (!update_known(lw, r, s->update.v[i]))
                lower_stmt(lw, s->update.v[i]);
        if (r->failed)
            return;
        if (!r->changed || n + 1 >= MAX_ROUNDS) {
            lower_loop_too_many(lw, s);
            return;
        }
    }
}

void lower_for(struct lower *lw, struct stmt *s) {
    struct rounds r = {.s = s};
    struct env *saved = lw->env;
    struct ir_block *outer = lw->block, *all = ir_block_new(lw->a);
    unsigned label = ++lw->labels;
    lw->env = env_new(lw, saved, saved->path);
    lw->block = all;
    for (size_t i = 0; i < s->init.n; i++)
        init_stmt(lw, &r, s->init.v[i]);
    lower_loop_run_rounds(lw, &r, label);
    lw->block = outer;
    lw->env = saved;
    put_labelled(lw, all, label, s->at);
}

// ---- for (x in ...) -----------------------------------------------------------------------------

// The variable takes the next value: as itself when the body leaves it alone, else in storage.
static void lower_loop_take(struct lower *lw, struct stmt *s, struct value *v,
                            struct value *storage) {
    v = convert(lw, v, env_type(lw, s->decl->type), s->at);
    if (storage)
        assign(lw, storage, v, s->at);
    env_bind(lw, lw->env, s->decl, storage ? storage : v);
}

static void over_range(struct lower *lw, struct stmt *s, struct value *storage, unsigned label) {
    struct type *t = env_type(lw, s->decl->type);
    big low = eval_const(lw, s->a->a, "lower end of a loop's range");
    big high = eval_const(lw, s->a->b, "upper end of a loop's range");
    if (!low || !high)
        return;
    unsigned n = 0;
    for (big i = low; big_cmp(i, high) <= 0 && !lw->gave_up;
         i = big_add(lw->a, i, big_u64(lw->a, 1))) {
        if (n++ == MAX_ROUNDS) {
            lower_loop_too_many(lw, s);
            return;
        }
        lower_loop_take(lw, s, value_const(lw, t, i, s->at), storage);
        lower_loop_one_round(lw, s->body, label);
    }
}

static void over_items(struct lower *lw, struct stmt *s, struct value *storage, unsigned label) {
    // Evaluated once: what the body does to the collection does not matter to later rounds.
    struct value *all = value_snapshot(lw, eval(lw, s->a), s->a->at);
    if (all->kind != VAL_TUPLE && all->kind != VAL_STACK) {
        lower_unsupported(lw, s->a->at, "a loop over this");
        return;
    }
    if (all->n > MAX_ROUNDS) {
        lower_loop_too_many(lw, s);
        return;
    }
    for (size_t i = 0; i < all->n && !lw->gave_up; i++) {
        lower_loop_take(lw, s, all->items[i], storage);
        lower_loop_one_round(lw, s->body, label);
    }
}

void lower_for_in(struct lower *lw, struct stmt *s) {
    struct env *saved = lw->env;
    struct ir_block *outer = lw->block, *all = ir_block_new(lw->a);
    unsigned label = ++lw->labels;
    if (!s->decl)
        return;
    lw->env = env_new(lw, saved, saved->path);
    lw->block = all;
    struct value *storage = NULL;
    if (scan_writes(s->body, s->decl))
        storage = storage_new(lw, env_type(lw, s->decl->type), local_name(lw, s->decl->name),
                              s->decl->name_at);
    if (s->a->kind == EX_RANGE)
        over_range(lw, s, storage, label);
    else
        over_items(lw, s, storage, label);
    lw->block = outer;
    lw->env = saved;
    put_labelled(lw, all, label, s->at);
}

void lower_loop_exit(struct lower *lw, struct stmt *s) {
    if (lw->loop)
        put_leave(lw, s->kind == ST_BREAK ? lw->loop->break_label : lw->loop->continue_label,
                  s->at);
}
