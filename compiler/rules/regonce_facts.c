// SPDX-License-Identifier: Apache-2.0
//
// regonce_facts: what is known on the path that regonce.c walks. See regonce_impl.h.
#include "compiler/ir/effects.h"
#include "compiler/rules/regonce_impl.h"

// ---- facts --------------------------------------------------------------------------------------

static uint64_t regonce_facts_all_ones(unsigned width) {
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

// The part of a variable that an expression reads unchanged.
static bool subject_of(const struct check *c, const struct ir_expr *e, struct fact *f) {
    *f = (struct fact){.width = e->width};
    while (e->op == IR_ZEXT)
        e = e->a;
    if (e->op == IR_SLICE) {
        f->lo = e->lo;
        f->width = e->width;
        e = e->a;
    } else {
        f->width = e->width;
    }
    if (e->op != IR_VAR || f->width > 64)
        return false;
    f->var = e->var;
    f->version = c->versions[e->var->id];
    return true;
}

static bool same_subject(const struct fact *x, const struct fact *y) {
    return x->var == y->var && x->lo == y->lo && x->width == y->width && x->version == y->version;
}

static void set_range(struct fact *f, uint64_t lo, uint64_t hi) {
    f->n = 0;
    if (lo <= hi)
        f->r[f->n++] = (struct range){lo, hi};
}

static void sort_ranges(struct fact *f) {
    for (unsigned i = 1; i < f->n; i++)
        for (unsigned k = i; k > 0 && f->r[k].lo < f->r[k - 1].lo; k--) {
            struct range t = f->r[k];
            f->r[k] = f->r[k - 1];
            f->r[k - 1] = t;
        }
}

static bool complement(struct fact *f) {
    struct fact out = *f;
    uint64_t next = 0, top = regonce_facts_all_ones(f->width);
    bool open = true; // something above 'next' is left
    out.n = 0;
    sort_ranges(f);
    for (unsigned i = 0; i < f->n && open; i++) {
        if (f->r[i].lo > next) {
            if (out.n == MAX_RANGES)
                return false;
            out.r[out.n++] = (struct range){next, f->r[i].lo - 1};
        }
        open = f->r[i].hi < top;
        if (open && f->r[i].hi + 1 > next)
            next = f->r[i].hi + 1;
    }
    if (open && out.n == MAX_RANGES)
        return false;
    if (open)
        out.r[out.n++] = (struct range){next, top};
    *f = out;
    return true;
}

static bool unite(struct fact *f, const struct fact *g) {
    for (unsigned i = 0; i < g->n; i++) {
        if (f->n == MAX_RANGES)
            return false;
        f->r[f->n++] = g->r[i];
    }
    return true;
}

static bool disjoint(const struct fact *x, const struct fact *y) {
    for (unsigned i = 0; i < x->n; i++)
        for (unsigned k = 0; k < y->n; k++)
            if (x->r[i].lo <= y->r[k].hi && y->r[k].lo <= x->r[i].hi)
                return false;
    return true;
}

static bool compare_fact(const struct check *c, const struct ir_expr *e, struct fact *f) {
    bool left = e->b->op == IR_CONST; // variable on the left
    const struct ir_expr *value = left ? e->b : e->a;
    if (value->op != IR_CONST || !big_fits_u64(value->value) ||
        !subject_of(c, left ? e->a : e->b, f))
        return false;
    uint64_t v = big_to_u64(value->value), top = regonce_facts_all_ones(f->width);
    if (v > top)
        return false;
    switch (e->op) {
    case IR_EQ:
        set_range(f, v, v);
        return true;
    case IR_NE:
        set_range(f, v, v);
        return complement(f);
    case IR_ULT:
        if (left ? v == 0 : v == top)
            f->n = 0;
        else
            set_range(f, left ? 0 : v + 1, left ? v - 1 : top);
        return true;
    case IR_ULE:
        set_range(f, left ? 0 : v, left ? v : top);
        return true;
    default:
        return false;
    }
}

// The one fact that 'e' being 'truth' amounts to, if it amounts to one.
static bool single_fact(const struct check *c, const struct ir_expr *e, bool truth,
                        struct fact *f) {
    struct fact g;
    if (e->op == IR_NOT && e->width == 1)
        return single_fact(c, e->a, !truth, f);
    if (e->op == (truth ? IR_LOR : IR_LAND))
        return single_fact(c, e->a, truth, f) && single_fact(c, e->b, truth, &g) &&
               same_subject(f, &g) && unite(f, &g);
    if (e->op == IR_EQ || e->op == IR_NE || e->op == IR_ULT || e->op == IR_ULE)
        return compare_fact(c, e, f) && (truth || complement(f));
    if (e->width == 1 && subject_of(c, e, f)) {
        set_range(f, truth, truth);
        return true;
    }
    return false;
}

// Along a path versions of a variable only grow, so facts about this one are the newest of the
// variable's.
static size_t contradicted(const struct fact_list *older, const struct fact *f) {
    size_t least = 0;
    for (; older && older->fact.version == f->version; older = older->of_same_var)
        if (same_subject(&older->fact, f) && disjoint(&older->fact, f))
            least = older->n;
    return least;
}

static void add_fact(struct check *c, const struct fact *f) {
    struct fact_list *l = ARENA_NEW(c->a, struct fact_list);
    const struct fact_list **of_var = &c->facts_of[f->var->id];
    *l = (struct fact_list){.fact = *f,
                            .older = c->facts,
                            .of_same_var = *of_var,
                            .n = c->facts ? c->facts->n + 1 : 1,
                            .contradicts = contradicted(*of_var, f)};
    l->impossible = l->contradicts || (c->facts && c->facts->impossible);
    c->facts = *of_var = l;
}

void forget(struct check *c, const struct fact_list *older) {
    for (; c->facts != older; c->facts = c->facts->older)
        c->facts_of[c->facts->fact.var->id] = c->facts->of_same_var;
}

void learn(struct check *c, const struct ir_expr *e, bool truth) {
    struct fact f;
    if (e->op == (truth ? IR_LAND : IR_LOR)) {
        learn(c, e->a, truth);
        learn(c, e->b, truth);
        return;
    }
    if (e->op == IR_NOT && e->width == 1)
        learn(c, e->a, !truth);
    else if (single_fact(c, e, truth, &f))
        add_fact(c, &f);
}

void learn_value(struct check *c, const struct ir_var *v, uint64_t value) {
    struct fact f = {.var = v, .width = v->width, .version = c->versions[v->id]};
    set_range(&f, value, value);
    add_fact(c, &f);
}

void learn_case(struct check *c, const struct ir_stmt *s, const struct ir_case *k, bool truth) {
    struct fact f;
    if (!subject_of(c, s->e, &f))
        return;
    for (size_t i = 0; i < k->values.n; i++) {
        if (f.n == MAX_RANGES || !big_fits_u64(k->values.v[i]))
            return;
        uint64_t v = big_to_u64(k->values.v[i]);
        f.r[f.n++] = (struct range){v, v};
    }
    if (truth || complement(&f))
        add_fact(c, &f);
}

static size_t facts_n(const struct fact_list *l) {
    return l ? l->n : 0;
}

static bool contradict(const struct fact_list *x, const struct fact_list *y,
                       const struct fact_list *common) {
    for (; x != common; x = x->older)
        for (const struct fact_list *l = y; l != common; l = l->older)
            if (same_subject(&x->fact, &l->fact) && disjoint(&x->fact, &l->fact))
                return true;
    return false;
}

// A fact of 'l' that is not common contradicts one that is.
static bool contradicts_common(const struct fact_list *l, const struct fact_list *common) {
    for (; l != common; l = l->older)
        if (l->contradicts && l->contradicts <= facts_n(common))
            return true;
    return false;
}

bool exclusive(struct check *c, const struct access *x, const struct access *y) {
    const struct fact_list *common = x->facts, *l = y->facts;
    while (common != l) {
        const size_t n = facts_n(common), m = facts_n(l);
        common = n >= m ? common->older : common;
        l = m >= n ? l->older : l;
    }
    return (common && common->impossible) || contradicts_common(x->facts, common) ||
           contradicts_common(y->facts, common) || contradict(x->facts, y->facts, common) ||
           parsed_apart(c, x->facts, y->facts);
}

// ---- versions -----------------------------------------------------------------------------------

void begin_version(struct check *c, const struct ir_var *v) {
    struct change ch = {.var = v, .old = c->versions[v->id]};
    VEC_PUSH(c->a, &c->log, ch);
    c->versions[v->id] = ++c->last_version;
}

static void write_var(void *ctx, const struct ir_var *v) {
    begin_version(ctx, v);
}

void note_writes(struct check *c, const struct ir_stmt *s) {
    ir_each_written(s, write_var, c);
}
