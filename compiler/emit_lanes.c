// SPDX-License-Identifier: Apache-2.0
//
// Finding lanes: see emit_lanes.h.
#include "compiler/emit_lanes.h"

#define MAX_PERIOD 8u // statements of one lane in a block
#define MAX_LANES  1024u

// --------------------------------------------------------------------------------------------
// How often a variable is named.

struct uses {
    unsigned *count;
};

static void count_var(struct uses *u, const struct ir_var *v) {
    if (v)
        u->count[v->id]++;
}

static void count_stmt(void *aux, const struct ir_stmt *s) {
    count_var(aux, s->var);
    count_var(aux, s->var2);
    count_var(aux, s->hit);
    count_var(aux, s->action_run);
}

static void count_expr(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        count_var(aux, x->var);
}

unsigned *emit_count_uses(struct emit *e) {
    const struct ir_gress *g = e->g;
    struct uses u = {ARENA_ARRAY(e->a, unsigned, g->vars.n + 1)};
    for (size_t i = 0; i < g->states.n; i++) {
        emit_walk(g->states.v[i]->body, count_stmt, count_expr, &u);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            emit_walk_expr(g->states.v[i]->keys.v[k], count_expr, &u);
    }
    emit_walk(g->control, count_stmt, count_expr, &u);
    emit_walk(g->deparser, count_stmt, count_expr, &u);
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        for (size_t k = 0; k < t->keys.n; k++)
            emit_walk_expr(t->keys.v[k].expr, count_expr, &u);
        emit_walk(t->select, count_stmt, count_expr, &u);
        count_var(&u, t->select_hash);
    }
    for (size_t i = 0; i < g->actions.n; i++)
        emit_walk(g->actions.v[i]->body, count_stmt, count_expr, &u);
    for (size_t i = 0; i < g->regactions.n; i++)
        emit_walk(g->regactions.v[i]->body, count_stmt, count_expr, &u);
    for (unsigned i = 0; i < IRI_COUNT; i++)
        count_var(&u, g->intrinsic[i]);
    for (size_t i = 0; i < g->headers.n; i++)
        count_var(&u, g->headers.v[i]->valid);
    return u.count;
}

// --------------------------------------------------------------------------------------------
// Lane 0 and another lane side by side.

struct match {
    struct emit *e;
    const unsigned *uses;
    struct emit_lanes *l;
    unsigned lane, n;
    unsigned *named;                       // how often each variable is named in the lanes
    VEC(const struct ir_regaction *) done; // in this lane
};

static struct emit_lane_var *tuple_of(struct match *m, const struct ir_var *first) {
    struct emit_lanes *l = m->l;
    for (size_t i = 0; i < l->vars.n; i++)
        if (l->vars.v[i].of[0] == first)
            return &l->vars.v[i];
    if (m->lane)
        return NULL;
    struct emit_lane_var t = {.of = ARENA_ARRAY(m->e->a, const struct ir_var *, m->n)};
    VEC_PUSH(m->e->a, &l->vars, t);
    l->vars.v[l->vars.n - 1].of[0] = first;
    return &l->vars.v[l->vars.n - 1];
}

static bool bind(struct match *m, const struct ir_var *a, const struct ir_var *b, bool written) {
    if (!a || !b)
        return a == b;
    struct emit_lane_var *t = tuple_of(m, a);
    if (!t || a->width != b->width || emit_is_wide(a->width) ||
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
    return bind(m, a, b, written);
}

static bool match_expr(struct match *m, const struct ir_expr *a, const struct ir_expr *b) {
    if (!a || !b)
        return a == b;
    if (a->op != b->op || a->width != b->width || a->lo != b->lo || a->param != b->param ||
        a->math != b->math || a->op == IR_LOOKAHEAD || emit_is_wide(a->width))
        return false;
    if (a->op == IR_CONST)
        return big_cmp(a->value, b->value) == 0;
    if (a->op == IR_VAR)
        return match_var(m, a->var, b->var, false);
    return match_expr(m, a->a, b->a) && match_expr(m, a->b, b->b) && match_expr(m, a->c, b->c);
}

static bool match_block(struct match *m, const struct ir_block *a, const struct ir_block *b);

static bool match_register(struct match *m, const struct ir_register *a,
                           const struct ir_register *b) {
    struct emit_lanes *l = m->l;
    if (a->direct || b->direct || a->width != b->width || a->words != b->words ||
        a->size != b->size || a->wide != b->wide || a->counting || b->counting)
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
    struct emit_lane_reg r = {ARENA_ARRAY(m->e->a, const struct ir_register *, m->n)};
    r.of[0] = a;
    VEC_PUSH(m->e->a, &l->registers, r);
    return true;
}

static bool match_regaction(struct match *m, const struct ir_regaction *a,
                            const struct ir_regaction *b) {
    if (a->width != b->width || a->words != b->words || a->width != a->reg->width ||
        a->words != a->reg->words || !match_register(m, a->reg, b->reg))
        return false;
    for (unsigned w = 0; w < 2; w++)
        if (!bind(m, a->value[w], b->value[w], true))
            return false;
    if (!bind(m, a->rv, b->rv, true))
        return false;
    for (size_t i = 0; i < m->done.n; i++)
        if (m->done.v[i] == b)
            return true; // what it names has been seen
    VEC_PUSH(m->e->a, &m->done, b);
    return match_block(m, a->body, b->body);
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
        return !a->use && !b->use && match_expr(m, a->e, b->e) &&
               match_var(m, a->var, b->var, true) && match_regaction(m, a->regaction, b->regaction);
    default:
        return false;
    }
}

static bool match_block(struct match *m, const struct ir_block *a, const struct ir_block *b) {
    size_t n = a ? a->stmts.n : 0;
    if (n != (b ? b->stmts.n : 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!match_stmt(m, a->stmts.v[i], b->stmts.v[i]))
            return false;
    return true;
}

static bool match_stmts(struct match *m, unsigned lane, const struct ir_stmt *const *a,
                        const struct ir_stmt *const *b, size_t n) {
    m->lane = lane;
    m->done.n = 0;
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
static bool on_one_wire(struct emit *e, struct emit_lane_var *t, unsigned n) {
    const struct ir_var *f = t->of[0];
    unsigned w = f->width;
    if (!f->header || !emit_home_of(e, f->header)->on_wire || f->bit_offset % 8 ||
        (w != 8 && w != 16 && w != 32 && w != 64))
        return false;
    unsigned stride = t->of[1]->bit_offset - f->bit_offset;
    for (unsigned i = 1; i < n; i++)
        if (t->of[i]->header != f->header || t->of[i]->bit_offset != f->bit_offset + i * stride)
            return false;
    t->stride = stride / 8;
    t->wire = stride % 8 == 0 && stride >= w;
    return t->wire;
}

static bool in_its_lane_only(const struct match *m, const struct emit_lane_var *t) {
    for (unsigned i = 0; i < m->n; i++) {
        const struct ir_var *v = t->of[i];
        if (v->header || m->named[v->id] != m->uses[v->id])
            return false;
    }
    return true;
}

static bool holds(const struct emit_lane_var *t, unsigned n, const struct ir_var *v) {
    for (unsigned i = 0; i < n; i++)
        if (t->of[i] == v)
            return true;
    return false;
}

static bool disturbs(const struct match *m, const struct emit_lane_var *t) {
    const struct emit_lanes *l = m->l;
    for (size_t i = 0; t->written && t->varies && i < l->vars.n; i++)
        for (unsigned k = 0; &l->vars.v[i] != t && k < m->n; k++)
            if (holds(t, m->n, l->vars.v[i].of[k]))
                return true;
    return false;
}

static bool var_fits(struct match *m, struct emit_lane_var *t) {
    bool same = true;
    for (unsigned i = 0; i < m->n; i++) {
        if (!t->of[i])
            return false;
        same &= t->of[i] == t->of[0];
    }
    t->varies = !same;
    if (same)
        return !t->written;
    return distinct((const void *const *)t->of, m->n) &&
           (on_one_wire(m->e, t, m->n) || in_its_lane_only(m, t));
}

static bool fits(struct match *m) {
    struct emit_lanes *l = m->l;
    if (l->registers.n == 0)
        return false; // not worth it
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
    for (size_t i = 0; i < l->vars.n; i++)
        if (!var_fits(m, &l->vars.v[i]))
            return false;
    for (size_t i = 0; i < l->vars.n; i++)
        if (disturbs(m, &l->vars.v[i]))
            return false;
    l->count = m->n;
    return true;
}

static struct match new_match(struct emit *e, const unsigned *uses, unsigned n) {
    return (struct match){
        .e = e,
        .uses = uses,
        .l = ARENA_NEW(e->a, struct emit_lanes),
        .n = n,
        .named = ARENA_ARRAY(e->a, unsigned, e->g->vars.n + 1),
    };
}

// --------------------------------------------------------------------------------------------

static big arg_of(struct emit *e, const big *args, size_t n, size_t i) {
    return i < n ? args[i] : big_u64(e->a, 0);
}

static bool match_params(struct match *m, const struct ir_action *a, const struct ir_action *b,
                         const big *x, size_t nx, const big *y, size_t ny) {
    if (a->params.n != b->params.n)
        return false;
    for (size_t i = 0; i < a->params.n; i++) {
        big initial = arg_of(m->e, x, nx, i);
        if (!bind(m, a->params.v[i].var, b->params.v[i].var, false) ||
            big_cmp(initial, arg_of(m->e, y, ny, i)))
            return false;
        tuple_of(m, a->params.v[i].var)->initial = initial;
    }
    return true;
}

struct emit_lanes *emit_lanes_of_actions(struct emit *e, const unsigned *uses,
                                         const struct ir_action *const *actions,
                                         const big *const *args, const size_t *n_args, unsigned n) {
    if (n < EMIT_MIN_LANES || n > MAX_LANES || !actions[0]->body || !actions[0]->body->stmts.n)
        return NULL;
    struct match m = new_match(e, uses, n);
    for (unsigned i = 0; i < n; i++) {
        const struct ir_action *a = actions[0], *b = actions[i];
        size_t len = a->body->stmts.n;
        if (!b->body || b->body->stmts.n != len)
            return NULL;
        m.lane = i;
        if (!match_params(&m, a, b, args[0], n_args[0], args[i], n_args[i]) ||
            !match_stmts(&m, i, (const struct ir_stmt *const *)a->body->stmts.v,
                         (const struct ir_stmt *const *)b->body->stmts.v, len))
            return NULL;
    }
    if (!fits(&m))
        return NULL;
    m.l->stmts = (const struct ir_stmt *const *)actions[0]->body->stmts.v;
    m.l->n_stmts = actions[0]->body->stmts.n;
    m.l->name = actions[0]->name;
    return m.l;
}

// How many lanes of 'period' statements follow each other?
static unsigned repetitions(struct emit *e, const unsigned *uses, const struct ir_stmt *const *s,
                            size_t n, size_t period) {
    size_t most = n / period < MAX_LANES ? n / period : MAX_LANES;
    struct match m = new_match(e, uses, (unsigned)most);
    for (unsigned i = 0; i < most; i++)
        if (!match_stmts(&m, i, s, s + i * period, period))
            return i;
    return (unsigned)most;
}

static bool executes(const struct ir_stmt *s) {
    if (s->kind == IR_REG_EXEC)
        return true;
    return s->kind == IR_IF &&
           (emit_block_has(s->then_b, IR_REG_EXEC) || emit_block_has(s->else_b, IR_REG_EXEC));
}

struct emit_lanes *emit_lanes_of_block(struct emit *e, const unsigned *uses,
                                       const struct ir_block *b, size_t first, size_t *stmts) {
    const struct ir_stmt *const *s = (const struct ir_stmt *const *)b->stmts.v + first;
    size_t left = b->stmts.n - first;
    bool worth = false;
    for (size_t period = 1; period <= MAX_PERIOD && period * EMIT_MIN_LANES <= left; period++) {
        worth |= executes(s[period - 1]);
        if (!worth)
            continue;
        unsigned n = repetitions(e, uses, s, left, period);
        if (n < EMIT_MIN_LANES)
            continue;
        struct match m = new_match(e, uses, n);
        bool matched = true;
        for (unsigned i = 0; i < n && matched; i++)
            matched = match_stmts(&m, i, s, s + i * period, period);
        if (!matched || !fits(&m))
            continue;
        m.l->stmts = s;
        m.l->n_stmts = period;
        m.l->name = m.l->registers.v[0].of[0]->name;
        *stmts = n * period;
        return m.l;
    }
    return NULL;
}
