// SPDX-License-Identifier: Apache-2.0
//
// Finding lanes: see lanes.h.
#include "compiler/plan/lanes.h"

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#include <string.h>

// --------------------------------------------------------------------------------------------
// How often a variable is named.

// A register action's body counts wherever it is executed.
struct uses {
    unsigned *count;
};

static void count_var(struct uses *u, const struct ir_var *v) {
    if (v)
        u->count[v->id]++;
}

static void count_expr(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        count_var(aux, x->var);
}

static void plan_lanes_count_stmt(void *aux, const struct ir_stmt *s);

static void count_regaction(void *aux, const struct ir_regaction *ra) {
    if (ra)
        ir_walk(ra->body, plan_lanes_count_stmt, count_expr, aux);
}

static void plan_lanes_count_stmt(void *aux, const struct ir_stmt *s) {
    count_regaction(aux, s->regaction);
    if (s->regaction && s->use) {
        count_regaction(aux, s->regaction->reg->overflow);
        count_regaction(aux, s->regaction->reg->underflow);
    }
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        count_var(aux, results[i]);
}

void plan_count_block(const struct ir_block *b, unsigned *named) {
    struct uses u = {named};
    ir_walk(b, plan_lanes_count_stmt, count_expr, &u);
}

void plan_count_stmt(const struct ir_stmt *s, unsigned *named) {
    struct uses u = {named};
    plan_lanes_count_stmt(&u, s);
    if (s->e)
        ir_walk_expr(s->e, count_expr, &u);
}

unsigned *plan_count_uses(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    struct uses u = {ARENA_ARRAY(plan->a, unsigned, g->vars.n + 1)};
    for (size_t i = 0; i < g->states.n; i++) {
        ir_walk(g->states.v[i]->body, plan_lanes_count_stmt, count_expr, &u);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_walk_expr(g->states.v[i]->keys.v[k], count_expr, &u);
    }
    ir_walk(g->control, plan_lanes_count_stmt, count_expr, &u);
    ir_walk(g->deparser, plan_lanes_count_stmt, count_expr, &u);
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        for (size_t k = 0; k < t->keys.n; k++)
            ir_walk_expr(t->keys.v[k].expr, count_expr, &u);
        ir_walk(t->select, plan_lanes_count_stmt, count_expr, &u);
        count_var(&u, t->select_hash);
    }
    for (size_t i = 0; i < g->actions.n; i++)
        ir_walk(g->actions.v[i]->body, plan_lanes_count_stmt, count_expr, &u);
    for (unsigned i = 0; i < IRI_COUNT; i++)
        count_var(&u, g->intrinsic[i]);
    for (size_t i = 0; i < g->headers.n; i++)
        count_var(&u, g->headers.v[i]->valid);
    return u.count;
}

// --------------------------------------------------------------------------------------------
// Lane 0 and another lane side by side.

struct match {
    const struct plan *plan;
    const unsigned *uses;
    struct plan_lanes *l;
    unsigned lane, n, depth; // of the block that is matched: 0 for a lane's own statements
    unsigned *named;         // how often each variable is named in the lanes
    const unsigned *inside;  // or in what may run in their place
    bool exact;              // where printing looks at constants: they are the same
    bool once;               // the lanes run once for a packet at most
};

static struct plan_lane_var *tuple_of(struct match *m, const struct ir_var *first) {
    struct plan_lanes *l = m->l;
    for (size_t i = 0; i < l->vars.n; i++)
        if (l->vars.v[i].of[0] == first)
            return &l->vars.v[i];
    if (m->lane)
        return NULL;
    struct plan_lane_var t = {.of = ARENA_ARRAY(m->plan->a, const struct ir_var *, m->n)};
    VEC_PUSH(m->plan->a, &l->vars, t);
    l->vars.v[l->vars.n - 1].of[0] = first;
    return &l->vars.v[l->vars.n - 1];
}

static bool plan_lanes_bind(struct match *m, const struct ir_var *a, const struct ir_var *b,
                            bool written) {
    if (!a || !b)
        return a == b;
    struct plan_lane_var *t = tuple_of(m, a);
    if (!t || a->width != b->width || plan_is_wide(a->width) ||
        (t->of[m->lane] && t->of[m->lane] != b))
        return false;
    t->of[m->lane] = b;
    t->written |= written;
    return true;
}

static bool match_var(struct match *m, const struct ir_var *a, const struct ir_var *b,
                      bool written) {
    if (b)
        m->named[b->id]++;
    return plan_lanes_bind(m, a, b, written);
}

// Lane 0 is matched with itself first, which makes the tuples.
static bool match_const(struct match *m, const struct ir_expr *a, const struct ir_expr *b) {
    struct plan_lanes *l = m->l;
    for (size_t i = 0; i < l->consts.n; i++)
        if (l->consts.v[i].first == a) {
            big *of = l->consts.v[i].of;
            if (of[m->lane])
                return big_cmp(of[m->lane], b->value) == 0;
            of[m->lane] = b->value;
            return !m->exact || big_cmp(of[0], b->value) == 0;
        }
    if (m->lane)
        return false;
    struct plan_lane_const c = {a, ARENA_ARRAY(m->plan->a, big, m->n)};
    c.of[0] = b->value;
    VEC_PUSH(m->plan->a, &l->consts, c);
    return true;
}

static bool match_expr(struct match *m, const struct ir_expr *a, const struct ir_expr *b);

static bool match_exactly(struct match *m, const struct ir_expr *a, const struct ir_expr *b) {
    bool outer = m->exact;
    m->exact = true;
    bool same = match_expr(m, a, b);
    m->exact = outer;
    return same;
}

static bool match_expr(struct match *m, const struct ir_expr *a, const struct ir_expr *b) {
    if (!a || !b)
        return a == b;
    if (a->op != b->op || a->width != b->width || a->lo != b->lo || a->param != b->param ||
        a->math != b->math || a->op == IR_LOOKAHEAD || plan_is_wide(a->width))
        return false;
    if (a->op == IR_CONST)
        return match_const(m, a, b);
    if (a->op == IR_SHL || a->op == IR_LSHR || a->op == IR_ASHR)
        return match_expr(m, a->a, b->a) && match_exactly(m, a->b, b->b);
    if (a->op == IR_VAR)
        return match_var(m, a->var, b->var, false);
    return match_expr(m, a->a, b->a) && match_expr(m, a->b, b->b) && match_expr(m, a->c, b->c);
}

static bool match_block(struct match *m, const struct ir_block *a, const struct ir_block *b);

static bool match_register(struct match *m, const struct ir_register *a,
                           const struct ir_register *b) {
    struct plan_lanes *l = m->l;
    if (a->direct || b->direct || a->width != b->width || a->words != b->words ||
        a->size != b->size || a->wide != b->wide || a->counting || b->counting || a->of_selector ||
        b->of_selector)
        return false;
    for (size_t i = 0; i < l->registers.n; i++)
        if (l->registers.v[i].of[0] == a) {
            const struct ir_register **of = l->registers.v[i].of;
            if (of[m->lane] && of[m->lane] != b)
                return false;
            of[m->lane] = b;
            return true;
        }
    if (m->lane)
        return false;
    struct plan_lane_reg r = {ARENA_ARRAY(m->plan->a, const struct ir_register *, m->n)};
    r.of[0] = a;
    VEC_PUSH(m->plan->a, &l->registers, r);
    return true;
}

static bool bind_fresh(struct match *m, const struct ir_var *a, const struct ir_var *b) {
    if (!plan_lanes_bind(m, a, b, true))
        return false;
    if (a)
        tuple_of(m, a)->fresh = true;
    return true;
}

static bool match_regaction(struct match *m, const struct ir_regaction *a,
                            const struct ir_regaction *b) {
    if (a->width != b->width || a->words != b->words || a->width != a->reg->width ||
        a->words != a->reg->words || !match_register(m, a->reg, b->reg))
        return false;
    return bind_fresh(m, a->value[0], b->value[0]) && bind_fresh(m, a->value[1], b->value[1]) &&
           bind_fresh(m, a->rv, b->rv) && match_block(m, a->body, b->body);
}

// ---- tables that lanes apply ----

// Its entries are branches, whose hits are counted in the pipe's state and nowhere else, and whose
// actions only compute.
static bool may_branch(const struct plan *plan, const struct ir_stmt *s) {
    const struct ir_table *t = s->table;
    const struct plan_table *p = &plan->tables[t->id];
    bool good = !s->hit && !s->action_run && !s->known && p->branches && !p->followers &&
                p->leader == t->id && !p->needs_entry && p->fixed && t->const_entries &&
                t->const_default && !t->idle_timeout && !t->noted;
    for (size_t i = 0; i <= t->entries.n && good; i++) {
        const struct ir_action *a = plan_action_at(t, i);
        good = a->params.n == 0 && !ir_block_has(a->body, IR_REG_EXEC) &&
               !ir_block_has(a->body, IR_EXIT);
    }
    return good;
}

static struct plan_lane_table *tables_of(struct match *m, const struct ir_table *first) {
    struct plan_lanes *l = m->l;
    for (size_t i = 0; i < l->tables.n; i++)
        if (l->tables.v[i].of[0] == first)
            return &l->tables.v[i];
    if (m->lane)
        return NULL;
    struct plan_lane_table t = {.of = ARENA_ARRAY(m->plan->a, const struct ir_table *, m->n)};
    VEC_PUSH(m->plan->a, &l->tables, t);
    return &l->tables.v[l->tables.n - 1];
}

static bool match_action(struct match *m, const struct ir_action *a, const struct ir_action *b) {
    if (a->params.n != b->params.n)
        return false;
    for (size_t i = 0; i < a->params.n; i++)
        if (!bind_fresh(m, a->params.v[i].var, b->params.v[i].var))
            return false;
    return match_block(m, a->body, b->body);
}

// Also what is run when it is not filled.
static bool match_filled(struct match *m, struct plan_lane_table *t, const struct ir_table *a,
                         const struct ir_table *b) {
    t->number = plan_only_action(a)->params.v[0].var;
    if (a->size != b->size || a->actions.n != b->actions.n)
        return false;
    for (size_t i = 0; i < a->actions.n; i++)
        if ((a->actions.v[i].action == plan_only_action(a)) !=
                (b->actions.v[i].action == plan_only_action(b)) ||
            (a->actions.v[i].action == a->default_action) !=
                (b->actions.v[i].action == b->default_action) ||
            !match_action(m, a->actions.v[i].action, b->actions.v[i].action))
            return false;
    return match_action(m, a->default_action, b->default_action);
}

static bool match_branches(struct match *m, const struct ir_table *a, const struct ir_table *b) {
    if (a->entries.n != b->entries.n)
        return false;
    for (size_t i = 0; i <= a->entries.n; i++) {
        const struct ir_entry *x = i < a->entries.n ? a->entries.v[i] : NULL,
                              *y = x ? b->entries.v[i] : NULL;
        if (x && x->priority != y->priority)
            return false;
        for (size_t k = 0; x && k < a->keys.n; k++)
            if (!ir_same_key(&x->keys.v[k], &y->keys.v[k]))
                return false;
        if (!match_block(m, plan_action_at(a, i)->body, plan_action_at(b, i)->body))
            return false;
    }
    return true;
}

static bool match_apply(struct match *m, const struct ir_stmt *s, const struct ir_stmt *other) {
    const struct plan *plan = m->plan;
    const struct ir_table *a = s->table, *b = other->table;
    const bool filled = plan_looks_up(plan, s);
    if (m->depth || a->keys.n != b->keys.n || plan->tables[a->id].applied != 1 ||
        plan->tables[b->id].applied != 1 || plan->tables[b->id].lane_table ||
        (filled ? !plan_looks_up(plan, other) : !may_branch(plan, s) || !may_branch(plan, other)))
        return false;
    for (size_t i = 0; i < a->keys.n; i++)
        if (a->keys.v[i].match != b->keys.v[i].match ||
            !match_expr(m, a->keys.v[i].expr, b->keys.v[i].expr))
            return false;
    struct plan_lane_table *t = tables_of(m, a);
    if (!t || (t->of[m->lane] && t->of[m->lane] != b))
        return false;
    t->of[m->lane] = b;
    return filled ? match_filled(m, t, a, b) : match_branches(m, a, b);
}

static bool match_stmt(struct match *m, const struct ir_stmt *a, const struct ir_stmt *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case IR_ASSIGN:
        return a->slice == b->slice && a->lo == b->lo && a->width == b->width &&
               match_expr(m, a->e, b->e) && match_var(m, a->var, b->var, true);
    case IR_IF:
        return match_expr(m, a->e, b->e) && match_block(m, a->then_b, b->then_b) &&
               match_block(m, a->else_b, b->else_b);
    case IR_BLOCK:
        return a->label == 0 && b->label == 0 && match_block(m, a->then_b, b->then_b);
    case IR_REG_EXEC:
        return !a->use && !b->use && match_exactly(m, a->e, b->e) &&
               match_var(m, a->var, b->var, true) && match_regaction(m, a->regaction, b->regaction);
    case IR_APPLY:
        return match_apply(m, a, b);
    default:
        return false;
    }
}

static bool match_block(struct match *m, const struct ir_block *a, const struct ir_block *b) {
    size_t n = a ? a->stmts.n : 0;
    if (n != (b ? b->stmts.n : 0))
        return false;
    bool same = true;
    m->depth++;
    for (size_t i = 0; i < n && same; i++)
        same = match_stmt(m, a->stmts.v[i], b->stmts.v[i]);
    m->depth--;
    return same;
}

static bool match_stmts(struct match *m, unsigned lane, const struct ir_stmt *const *a,
                        const struct ir_stmt *const *b, size_t n) {
    m->lane = lane;
    for (size_t i = 0; i < n; i++)
        if (!match_stmt(m, a[i], b[i]))
            return false;
    return true;
}

// --------------------------------------------------------------------------------------------
// May they be a loop?

static bool distinct(const void *const *of, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++)
            if (of[i] == of[k])
                return false;
    return true;
}

// Fields of one header that an array with a stride can be laid over.
static bool on_one_wire(const struct plan *plan, struct plan_lane_var *t, unsigned n) {
    const struct ir_var *f = t->of[0];
    unsigned w = f->width;
    if (!f->header || !plan_home_of(plan, f->header)->on_wire || f->bit_offset % 8 ||
        (w != 8 && w != 16 && w != 32 && w != 64))
        return false;
    int stride = (int)t->of[1]->bit_offset - (int)f->bit_offset;
    for (unsigned i = 1; i < n; i++)
        if (t->of[i]->header != f->header ||
            (int)t->of[i]->bit_offset != (int)f->bit_offset + (int)i * stride)
            return false;
    t->stride = stride / 8;
    t->wire = stride % 8 == 0 && (stride >= (int)w || -stride >= (int)w);
    return t->wire;
}

static bool in_its_lane_only(const struct match *m, const struct plan_lane_var *t) {
    for (unsigned i = 0; i < m->n && !t->fresh; i++) {
        const struct ir_var *v = t->of[i];
        if (v->header || m->inside[v->id] != m->uses[v->id])
            return false;
    }
    return true;
}

static bool is_intrinsic(const struct plan *plan, const struct ir_var *v) {
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (plan->g->intrinsic[i] == v)
            return true;
    return false;
}

// Variables that may be elements of an array in phv, or are.
static bool in_an_array(const struct match *m, struct plan_lane_var *t) {
    const struct plan *plan = m->plan;
    const unsigned array = plan->places[t->of[0]->id].array;
    if (t->fresh || t->initial || t->of[0]->width > 32 ||
        (array && plan->arrays.v[array - 1].n != m->n))
        return false;
    for (unsigned i = 0; i < m->n; i++) {
        const struct ir_var *v = t->of[i];
        const struct plan_place *at = &plan->places[v->id];
        if (v->header || v->valid || plan_is_validity(plan, v) || is_intrinsic(plan, v) ||
            at->array != array || (array && at->lane != i))
            return false;
    }
    t->array = true;
    return true;
}

static bool plan_lanes_holds(const struct plan_lane_var *t, unsigned n, const struct ir_var *v) {
    for (unsigned i = 0; i < n; i++)
        if (t->of[i] == v)
            return true;
    return false;
}

static bool plan_lanes_disturbs(const struct match *m, const struct plan_lane_var *t) {
    const struct plan_lanes *l = m->l;
    for (size_t i = 0; t->written && i < l->vars.n; i++)
        for (unsigned k = 0; &l->vars.v[i] != t && k < m->n; k++)
            if (plan_lanes_holds(t, m->n, l->vars.v[i].of[k]))
                return true;
    return false;
}

static bool var_fits(struct match *m, struct plan_lane_var *t) {
    bool same = true;
    for (unsigned i = 0; i < m->n; i++) {
        if (!t->of[i])
            return false;
        same &= t->of[i] == t->of[0];
    }
    t->varies = !same;
    const bool tables = m->l->tables.n > 0; // between which a variable must keep its value
    if (same)
        return !(tables && t->written);
    return distinct((const void *const *)t->of, m->n) &&
           (on_one_wire(m->plan, t, m->n) || t->fresh || (!tables && in_its_lane_only(m, t)) ||
            in_an_array(m, t));
}

// Is a variable of the lane's own read before it is written? What is there then is zero only the
// first time.
struct order {
    const struct match *m;
    bool *set; // by tuple
    bool early;
};

static void plan_lanes_reads(void *aux, const struct ir_expr *x) {
    struct order *o = aux;
    const struct plan_lanes *l = o->m->l;
    for (size_t i = 0; x->op == IR_VAR && i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        o->early |= t->of[0] == x->var && t->varies && !t->wire && !t->fresh && !t->array &&
                    !t->initial && !o->set[i];
    }
}

static void plan_lanes_writes(struct order *o, const struct ir_var *v) {
    for (size_t i = 0; i < o->m->l->vars.n; i++)
        o->set[i] |= o->m->l->vars.v[i].of[0] == v;
}

static void in_order(struct order *o, const struct ir_stmt *const *s, size_t n);

static void block_in_order(struct order *o, const struct ir_block *b) {
    if (b)
        in_order(o, (const struct ir_stmt *const *)b->stmts.v, b->stmts.n);
}

static void branches_in_order(struct order *o, const struct ir_stmt *s) {
    size_t n = o->m->l->vars.n;
    struct order other = *o;
    other.set = ARENA_ARRAY(o->m->plan->a, bool, n + 1);
    memcpy(other.set, o->set, n * sizeof *o->set);
    block_in_order(o, s->then_b);
    block_in_order(&other, s->else_b);
    o->early |= other.early;
    for (size_t i = 0; i < n; i++)
        o->set[i] &= other.set[i];
}

static void in_order(struct order *o, const struct ir_stmt *const *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (s[i]->e)
            ir_walk_expr(s[i]->e, plan_lanes_reads, o);
        if (s[i]->kind == IR_IF)
            branches_in_order(o, s[i]);
        else
            block_in_order(o, s[i]->regaction ? s[i]->regaction->body : s[i]->then_b);
        if (s[i]->var && !s[i]->slice)
            plan_lanes_writes(o, s[i]->var);
    }
}

static bool reads_early(const struct match *m) {
    struct order o = {m, ARENA_ARRAY(m->plan->a, bool, m->l->vars.n + 1), false};
    in_order(&o, m->l->stmts, m->l->n_stmts);
    return o.early;
}

static bool registers_fit(const struct match *m) {
    const struct plan_lanes *l = m->l;
    for (size_t i = 0; i < l->registers.n; i++) {
        for (unsigned k = 0; k < m->n; k++)
            if (!l->registers.v[i].of[k])
                return false;
        if (!distinct((const void *const *)l->registers.v[i].of, m->n))
            return false;
        for (size_t k = 0; k < i; k++)
            for (unsigned j = 0; j < m->n; j++)
                for (unsigned h = 0; h < m->n; h++)
                    if (l->registers.v[i].of[j] == l->registers.v[k].of[h])
                        return false;
    }
    return true;
}

static bool tables_fit(const struct match *m) {
    const struct plan_lanes *l = m->l;
    for (size_t i = 0; i < l->tables.n; i++)
        for (unsigned k = 0; k < m->n; k++)
            if (!l->tables.v[i].of[k] || !distinct((const void *const *)l->tables.v[i].of, m->n))
                return false;
    return true;
}

// Do lanes without registers and tables go on with what such lanes have?
static bool plan_lanes_go_on(const struct match *m) {
    for (size_t i = 0; i < m->l->vars.n; i++)
        if (m->l->vars.v[i].varies && m->plan->places[m->l->vars.v[i].of[0]->id].array)
            return true;
    return false;
}

static bool plan_lanes_fits(struct match *m, bool plain) {
    struct plan_lanes *l = m->l;
    if ((l->registers.n == 0 && l->tables.n == 0) != plain)
        return false; // not worth it, or not looked for
    if (!registers_fit(m) || !tables_fit(m))
        return false;
    for (size_t i = 0; i < l->vars.n; i++)
        if (!var_fits(m, &l->vars.v[i]))
            return false;
    for (size_t i = 0; i < l->vars.n; i++)
        if (plan_lanes_disturbs(m, &l->vars.v[i]))
            return false;
    if (plain && !plan_lanes_go_on(m))
        return false;
    l->count = m->n;
    return m->once || !reads_early(m);
}

static struct match new_match(const struct plan *plan, const unsigned *uses, unsigned n) {
    unsigned *named = ARENA_ARRAY(plan->a, unsigned, plan->g->vars.n + 1);
    return (struct match){
        .plan = plan,
        .uses = uses,
        .l = ARENA_NEW(plan->a, struct plan_lanes),
        .n = n,
        .named = named,
        .inside = named,
    };
}

// --------------------------------------------------------------------------------------------

static big plan_lanes_arg_of(const struct plan *plan, const big *args, size_t n, size_t i) {
    return i < n ? args[i] : big_u64(plan->a, 0);
}

// 'args': of the other lane's.
static bool match_params(struct match *m, const struct ir_action *a, const struct ir_action *b,
                         const big *args, size_t n) {
    if (a->params.n != b->params.n)
        return false;
    for (size_t i = 0; i < a->params.n; i++) {
        if (!plan_lanes_bind(m, a->params.v[i].var, b->params.v[i].var, false))
            return false;
        struct plan_lane_var *t = tuple_of(m, a->params.v[i].var);
        if (!m->lane)
            t->initial = ARENA_ARRAY(m->plan->a, big, m->n);
        t->initial[m->lane] = plan_lanes_arg_of(m->plan, args, n, i);
    }
    return true;
}

// Its body and what stands after it.
static const struct ir_stmt **plan_lanes_statements(const struct plan *plan,
                                                    const struct plan_lane_action *a) {
    size_t n = a->action->body->stmts.n;
    const struct ir_stmt **s = ARENA_ARRAY(plan->a, const struct ir_stmt *, n + a->n_tail + 1);
    for (size_t i = 0; i < n + a->n_tail; i++)
        s[i] = i < n ? a->action->body->stmts.v[i] : a->tail[i - n];
    return s;
}

struct plan_lanes *plan_lanes_of_actions(const struct plan *plan, const struct plan_lane_group *g) {
    const struct plan_lane_action *first = &g->lanes[0];
    if (g->n < PLAN_MIN_LANES || g->n > PLAN_MAX_LANES || !first->action->body ||
        !first->action->body->stmts.n)
        return NULL;
    struct match m = new_match(plan, g->uses, g->n);
    size_t len = first->action->body->stmts.n;
    m.inside = g->inside;
    m.once = g->once;
    m.l->stmts = plan_lanes_statements(plan, first);
    m.l->n_stmts = len + first->n_tail;
    m.l->name = first->action->name;
    for (unsigned i = 0; i < g->n; i++) {
        const struct plan_lane_action *a = &g->lanes[i];
        m.lane = i;
        if (!a->action->body || a->action->body->stmts.n != len ||
            !match_params(&m, first->action, a->action, a->args, a->n_args) ||
            !match_stmts(&m, i, m.l->stmts, plan_lanes_statements(plan, a), m.l->n_stmts))
            return NULL;
    }
    return plan_lanes_fits(&m, false) ? m.l : NULL;
}

// How many lanes of 'period' statements follow each other?
static unsigned plan_lanes_repetitions(const struct plan *plan, const unsigned *uses,
                                       const struct ir_stmt *const *s, size_t n, size_t period) {
    size_t most = n / period < PLAN_MAX_LANES ? n / period : PLAN_MAX_LANES;
    struct match m = new_match(plan, uses, (unsigned)most);
    for (unsigned i = 0; i < most; i++)
        if (!match_stmts(&m, i, s, s + i * period, period))
            return i;
    return (unsigned)most;
}

static bool executes(const struct ir_stmt *s) {
    if (s->kind == IR_REG_EXEC || s->kind == IR_APPLY)
        return true;
    return s->kind == IR_IF &&
           (ir_block_has(s->then_b, IR_REG_EXEC) || ir_block_has(s->else_b, IR_REG_EXEC));
}

static const char *plan_lanes_name(const struct plan_lanes *l) {
    return l->registers.n ? l->registers.v[0].of[0]->name
           : l->tables.n  ? l->tables.v[0].of[0]->name
                          : l->stmts[0]->var->name;
}

struct plan_lanes *plan_lanes_of_block(const struct plan *plan, const unsigned *uses,
                                       const struct plan_lane_place *at, size_t *stmts) {
    const struct ir_stmt *const *s = (const struct ir_stmt *const *)at->block->stmts.v + at->first;
    const size_t left = at->end - at->first;
    bool worth = false;
    for (size_t period = 1; period <= PLAN_MAX_PERIOD && period * PLAN_MIN_LANES <= left;
         period++) {
        worth |= at->plain ? s[period - 1]->kind == IR_ASSIGN : executes(s[period - 1]);
        if (!worth)
            continue;
        unsigned n = plan_lanes_repetitions(plan, uses, s, left, period);
        if (n < PLAN_MIN_LANES)
            continue;
        struct match m = new_match(plan, uses, n);
        m.once = at->once;
        m.l->stmts = s;
        m.l->n_stmts = period;
        bool matched = true;
        for (unsigned i = 0; i < n && matched; i++)
            matched = match_stmts(&m, i, s, s + i * period, period);
        if (!matched || !plan_lanes_fits(&m, at->plain))
            continue;
        m.l->name = plan_lanes_name(m.l);
        *stmts = n * period;
        return m.l;
    }
    return NULL;
}

bool plan_lane_field_is_plain(const struct plan_lane_var *t) {
    const struct ir_var *f = t->of[0];
    return f->bit_offset % 8 == 0 && f->width % 8 == 0 && f->width <= 64 &&
           t->stride == (int)f->width / 8;
}
