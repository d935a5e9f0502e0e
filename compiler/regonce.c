// SPDX-License-Identifier: Apache-2.0
//
// regonce: one access per register, packet and pass; and one hit per action profile, for tables that
// share one have one memory between them. Choosing a member of a group is an access to the selector's
// memory. Counters and meters too are reached once.
//
// The walk goes through the control in program order and carries the accesses that may lie behind
// it on the way here. Branches start from the same set and their results are united; exit ends a
// path, LEAVE carries its set to the end of its block. Meeting a register that is in the set is a
// conflict, unless the conditions under which the two accesses happen contradict each other.
//
// Conditions are kept as facts: a variable, or some of its bits, lies in certain ranges. They come
// from comparisons with constants, from which action a table ran and whether it hit. A fact speaks
// of one version of its variable; every write begins a new version, so facts about a value that is
// gone never meet facts about the new one. Facts that are too hard are left out, which makes the
// check stricter, never laxer.
#include "compiler/regonce.h"

#include "compiler/ir_build.h"

#define MAX_RANGES 16u

struct range {
    uint64_t lo, hi; // inclusive
};
struct fact {
    const struct ir_var *var;
    unsigned lo, width;
    unsigned version;
    unsigned n;
    struct range r[MAX_RANGES];
};

struct access {
    const void *thing; // what is reached once: a register, a counter, a meter; or null:
    const struct ir_action_profile *profile;
    const struct ir_stmt *stmt;
    const struct ir_table *table; // on the way there, or null
    const struct ir_action *action;
    const struct fact *facts; // n_facts
    size_t n_facts;
};

typedef VEC(const struct access *) access_vec;

// What is known on one path. 'dead': nothing runs here.
struct path {
    access_vec seen;
    bool dead;
};

struct label {
    unsigned id;
    struct path at_end;
};

struct change { // a variable's version before it was written
    const struct ir_var *var;
    unsigned old;
};

struct check {
    struct arena *a;
    struct diag *d;
    const struct ir_table *table; // that is being applied
    const struct ir_action *action;
    unsigned *versions; // by variable id
    unsigned last_version;
    VEC(struct change) log;
    VEC(struct fact) facts; // of the path being walked
    VEC(struct label) labels;
    VEC(const void *) reported;
    bool ok;
};

// ---- facts --------------------------------------------------------------------------------------

static uint64_t all_ones(unsigned width) {
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
    uint64_t next = 0, top = all_ones(f->width);
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
    uint64_t v = big_to_u64(value->value), top = all_ones(f->width);
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

static void learn(struct check *c, const struct ir_expr *e, bool truth) {
    struct fact f;
    if (e->op == (truth ? IR_LAND : IR_LOR)) {
        learn(c, e->a, truth);
        learn(c, e->b, truth);
        return;
    }
    if (e->op == IR_NOT && e->width == 1)
        learn(c, e->a, !truth);
    else if (single_fact(c, e, truth, &f))
        VEC_PUSH(c->a, &c->facts, f);
}

static void learn_value(struct check *c, const struct ir_var *v, uint64_t value) {
    struct fact f = {.var = v, .width = v->width, .version = c->versions[v->id]};
    set_range(&f, value, value);
    VEC_PUSH(c->a, &c->facts, f);
}

// ---- versions -----------------------------------------------------------------------------------

static void begin_version(struct check *c, const struct ir_var *v) {
    struct change ch = {.var = v, .old = c->versions[v->id]};
    VEC_PUSH(c->a, &c->log, ch);
    c->versions[v->id] = ++c->last_version;
}

static void write_slot(void *ctx, struct ir_var **v) {
    begin_version(ctx, *v);
}

static void write_header(struct check *c, const struct ir_header *h) {
    begin_version(c, h->valid);
    for (size_t i = 0; i < h->fields.n; i++)
        begin_version(c, h->fields.v[i]);
}

static void note_writes(struct check *c, struct ir_stmt *s) {
    ir_written_vars(s, write_slot, c);
    if (s->header)
        write_header(c, s->header);
}

// ---- paths --------------------------------------------------------------------------------------

static access_vec copy_seen(struct check *c, const access_vec *v) {
    access_vec copy = {0};
    for (size_t i = 0; i < v->n; i++)
        VEC_PUSH(c->a, &copy, v->v[i]);
    return copy;
}

static void merge(struct check *c, struct path *into, const struct path *from) {
    if (from->dead)
        return;
    if (into->dead) {
        into->dead = false;
        into->seen = copy_seen(c, &from->seen);
        return;
    }
    for (size_t i = 0; i < from->seen.n; i++) {
        bool known = false;
        for (size_t k = 0; k < into->seen.n && !known; k++)
            known = into->seen.v[k] == from->seen.v[i];
        if (!known)
            VEC_PUSH(c->a, &into->seen, from->seen.v[i]);
    }
}

// Several ways from here: each begins with what is known now.
struct fork {
    struct path before, after;
    size_t log, facts;
    VEC(const struct ir_var *) written;
};

static struct fork fork_begin(struct check *c, const struct path *p) {
    struct fork f = {.log = c->log.n, .facts = c->facts.n, .after = {.dead = true}};
    f.before = *p;
    return f;
}

static struct path fork_way(struct check *c, const struct fork *f) {
    struct path p = {.dead = f->before.dead, .seen = copy_seen(c, &f->before.seen)};
    return p;
}

static void fork_way_end(struct check *c, struct fork *f, const struct path *p) {
    merge(c, &f->after, p);
    c->facts.n = f->facts;
    while (c->log.n > f->log) {
        struct change ch = c->log.v[--c->log.n];
        c->versions[ch.var->id] = ch.old;
        VEC_PUSH(c->a, &f->written, ch.var);
    }
}

static void fork_end(struct check *c, struct fork *f, struct path *p) {
    for (size_t i = 0; i < f->written.n; i++)
        begin_version(c, f->written.v[i]);
    *p = f->after;
}

// ---- accesses -----------------------------------------------------------------------------------

static bool exclusive(const struct access *x, const struct access *y) {
    for (size_t i = 0; i < x->n_facts; i++)
        for (size_t k = 0; k < y->n_facts; k++)
            if (same_subject(&x->facts[i], &y->facts[k]) && disjoint(&x->facts[i], &y->facts[k]))
                return true;
    return false;
}

static const char *way(struct check *c, const struct access *x) {
    if (!x->table)
        return "";
    if (!x->action)
        return arena_printf(c->a, ", where table '%s' chooses a member", x->table->name);
    return arena_printf(c->a, ", in action '%s' of table '%s'", x->action->name, x->table->name);
}

// What an access reaches, in words.
struct reached {
    const void *thing;
    const char *kind, *name;
};

static void conflict(struct check *c, const struct access *first, const struct access *second,
                     const struct reached *what) {
    c->ok = false;
    for (size_t i = 0; i < c->reported.n; i++)
        if (c->reported.v[i] == what->thing)
            return;
    VEC_PUSH(c->a, &c->reported, what->thing);
    diag_error(c->d, second->stmt->at,
               "%s '%s' is accessed twice in one pass: here%s, and before; a packet reaches a %s "
               "once, so put the accesses into branches that exclude each other",
               what->kind, what->name, way(c, second), what->kind);
    ir_note_first(c->d, first->stmt, second->stmt,
                  arena_printf(c->a, "the access before is here%s", way(c, first)));
}

static void profile_conflict(struct check *c, const struct access *first,
                             const struct access *second) {
    c->ok = false;
    diag_error(c->d, second->stmt->at,
               "tables '%s' and '%s' share action profile '%s', and a packet may hit both in one "
               "pass; put them into branches that exclude each other",
               first->table->name, second->table->name, second->profile->name);
    ir_note_first(c->d, first->stmt, second->stmt,
                  arena_printf(c->a, "'%s' is applied here", first->table->name));
}

static void access_profile(struct check *c, struct path *p, struct ir_stmt *s) {
    struct access *x = ARENA_NEW(c->a, struct access);
    struct fact *facts = ARENA_ARRAY(c->a, struct fact, c->facts.n + 1);
    for (size_t i = 0; i < c->facts.n; i++)
        facts[i] = c->facts.v[i];
    *x = (struct access){.profile = s->table->profile,
                         .stmt = s,
                         .table = s->table,
                         .facts = facts,
                         .n_facts = c->facts.n};
    for (size_t i = 0; !p->dead && i < p->seen.n; i++)
        if (p->seen.v[i]->profile == x->profile && !exclusive(p->seen.v[i], x)) {
            if (c->ok)
                profile_conflict(c, p->seen.v[i], x);
            break;
        }
    VEC_PUSH(c->a, &p->seen, x);
}

static void access_once(struct check *c, struct path *p, struct reached what,
                        const struct ir_stmt *s) {
    struct access *x = ARENA_NEW(c->a, struct access);
    struct fact *facts = ARENA_ARRAY(c->a, struct fact, c->facts.n + 1);
    for (size_t i = 0; i < c->facts.n; i++)
        facts[i] = c->facts.v[i];
    *x = (struct access){.thing = what.thing,
                         .stmt = s,
                         .table = c->table,
                         .action = c->action,
                         .facts = facts,
                         .n_facts = c->facts.n};
    if (p->dead)
        return;
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i]->thing == what.thing && !exclusive(p->seen.v[i], x)) {
            conflict(c, p->seen.v[i], x, &what);
            break;
        }
    VEC_PUSH(c->a, &p->seen, x);
}

static void access_register(struct check *c, struct path *p, const struct ir_register *r,
                            const struct ir_stmt *s) {
    access_once(c, p, (struct reached){r, r->implied ? "selector memory" : "register", r->name}, s);
}

// Those of a table's entries are reached with the table.
static void access_counter(struct check *c, struct path *p, const struct ir_stmt *s) {
    if (!s->counter->direct)
        access_once(c, p, (struct reached){s->counter, "counter", s->counter->name}, s);
}

static void access_meter(struct check *c, struct path *p, const struct ir_stmt *s) {
    static const char *const kinds[] = {
        [IR_METER] = "meter", [IR_LPF] = "filter", [IR_WRED] = "filter"};
    if (!s->meter->direct)
        access_once(c, p, (struct reached){s->meter, kinds[s->meter->kind], s->meter->name}, s);
}

// ---- statements ---------------------------------------------------------------------------------

static void walk(struct check *c, struct ir_block *b, struct path *p);

static void walk_if(struct check *c, struct ir_stmt *s, struct path *p) {
    struct fork f = fork_begin(c, p);
    struct path yes = fork_way(c, &f);
    learn(c, s->e, true);
    walk(c, s->then_b, &yes);
    fork_way_end(c, &f, &yes);
    struct path no = fork_way(c, &f);
    learn(c, s->e, false);
    walk(c, s->else_b, &no);
    fork_way_end(c, &f, &no);
    fork_end(c, &f, p);
}

// 'truth' of the subject being one of the case's values.
static void learn_case(struct check *c, const struct ir_stmt *s, const struct ir_case *k,
                       bool truth) {
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
        VEC_PUSH(c->a, &c->facts, f);
}

static void walk_switch(struct check *c, struct ir_stmt *s, struct path *p) {
    struct fork f = fork_begin(c, p);
    bool has_default = false;
    for (size_t i = 0; i < s->cases.n; i++)
        has_default |= s->cases.v[i].values.n == 0;
    for (size_t i = 0; i < s->cases.n + !has_default; i++) {
        struct path one = fork_way(c, &f);
        bool other = i == s->cases.n || s->cases.v[i].values.n == 0;
        if (!other)
            learn_case(c, s, &s->cases.v[i], true);
        for (size_t k = 0; other && k < s->cases.n; k++)
            if (s->cases.v[k].values.n > 0)
                learn_case(c, s, &s->cases.v[k], false);
        if (i < s->cases.n)
            walk(c, s->cases.v[i].body, &one);
        fork_way_end(c, &f, &one);
    }
    fork_end(c, &f, p);
}

// Whether the action can run on a hit, on a miss. A default action that is not constant may be
// replaced by any other at run time.
static void when_run(const struct ir_table *t, size_t i, bool *on_hit, bool *on_miss) {
    const struct ir_table_action *a = &t->actions.v[i];
    bool is_default = a->action == t->default_action;
    *on_hit = !a->default_only && t->keys.n > 0;
    *on_miss = is_default || (!t->const_default && !a->table_only);
}

enum ways { ANY_WAY, HIT_ONLY, MISS_ONLY };

// An action without data reads none of the profile's memory; a selector chooses whatever comes of it.
static bool reads_profile(const struct ir_table *t, size_t i) {
    return t->selector || t->actions.v[i].action->params.n > 0;
}

static void walk_action(struct check *c, struct ir_stmt *s, size_t i, enum ways ways,
                        struct path *p) {
    bool on_hit, on_miss;
    when_run(s->table, i, &on_hit, &on_miss);
    on_hit = on_hit && ways != MISS_ONLY;
    on_miss = on_miss && ways != HIT_ONLY;
    if (!on_hit && !on_miss) {
        p->dead = true;
        return;
    }
    if (s->action_run)
        learn_value(c, s->action_run, i);
    if (s->hit && on_hit != on_miss)
        learn_value(c, s->hit, on_hit);
    if (ways == HIT_ONLY && reads_profile(s->table, i))
        access_profile(c, p, s);
    c->table = s->table;
    if (ways == HIT_ONLY && s->table->selector && s->table->selector->memory)
        access_register(c, p, s->table->selector->memory, s);
    c->action = s->table->actions.v[i].action;
    walk(c, s->table->actions.v[i].action->body, p);
    c->table = NULL;
    c->action = NULL;
}

static void walk_apply(struct check *c, struct ir_stmt *s, struct path *p) {
    struct fork f = fork_begin(c, p);
    for (size_t i = 0; i < s->table->actions.n; i++) {
        enum ways ways = s->table->profile ? HIT_ONLY : ANY_WAY;
        for (; ways <= MISS_ONLY; ways++) {
            struct path one = fork_way(c, &f);
            walk_action(c, s, i, ways, &one);
            fork_way_end(c, &f, &one);
            if (ways == ANY_WAY)
                break;
        }
    }
    fork_end(c, &f, p);
}

static struct label *find_label(struct check *c, unsigned id) {
    for (size_t i = c->labels.n; i-- > 0;)
        if (c->labels.v[i].id == id)
            return &c->labels.v[i];
    return NULL;
}

static void walk_labelled(struct check *c, struct ir_stmt *s, struct path *p) {
    struct label l = {.id = s->label, .at_end = {.dead = true}};
    VEC_PUSH(c->a, &c->labels, l);
    walk(c, s->then_b, p);
    struct label *done = &c->labels.v[--c->labels.n];
    merge(c, p, &done->at_end);
}

static void leave_block(struct check *c, struct ir_stmt *s, struct path *p) {
    struct label *l = find_label(c, s->label);
    if (l)
        merge(c, &l->at_end, p);
    p->dead = true;
}

static void walk_stmt(struct check *c, struct ir_stmt *s, struct path *p) {
    note_writes(c, s);
    switch (s->kind) {
    case IR_IF:
        walk_if(c, s, p);
        return;
    case IR_SWITCH:
        walk_switch(c, s, p);
        return;
    case IR_BLOCK:
        walk_labelled(c, s, p);
        return;
    case IR_LEAVE:
        leave_block(c, s, p);
        return;
    case IR_EXIT:
        p->dead = true;
        return;
    case IR_APPLY:
        walk_apply(c, s, p);
        return;
    case IR_REG_EXEC:
        access_register(c, p, s->regaction->reg, s);
        return;
    case IR_REG_READ:
    case IR_REG_WRITE:
        access_register(c, p, s->reg, s);
        return;
    case IR_COUNT:
        access_counter(c, p, s);
        return;
    case IR_METER_EXEC:
        access_meter(c, p, s);
        return;
    default:
        return;
    }
}

// A constant assigned is a fact about the new version of its variable.
static void learn_assignment(struct check *c, const struct ir_stmt *s) {
    if (s->kind == IR_ASSIGN && !s->slice && s->e->op == IR_CONST && s->var->width <= 64)
        learn_value(c, s->var, big_to_u64(s->e->value));
}

static void walk(struct check *c, struct ir_block *b, struct path *p) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        walk_stmt(c, b->stmts.v[i], p);
        learn_assignment(c, b->stmts.v[i]);
    }
}

static bool check_gress(struct arena *a, struct diag *d, const struct ir_gress *g) {
    struct check c = {
        .a = a, .d = d, .ok = true, .versions = ARENA_ARRAY(a, unsigned, g->vars.n + 1)};
    struct path p = {0};
    walk(&c, g->control, &p);
    return c.ok;
}

bool regonce_check(struct arena *a, struct diag *d, const struct ir_program *p) {
    bool ok = true;
    for (size_t i = 0; i < p->pipelines.n; i++)
        for (int k = IR_INGRESS; k <= IR_EGRESS; k++)
            ok = check_gress(a, d, &p->pipelines.v[i]->gress[k]) && ok;
    return ok;
}
