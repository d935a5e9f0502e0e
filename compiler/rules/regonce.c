// SPDX-License-Identifier: Apache-2.0
//
// regonce: one access per register, packet and pass; and one hit per action profile, for tables
// that share one have one memory between them. Choosing a member of a group is an access to the
// selector's memory. Counters and meters too are reached once.
//
// The walk goes through the control in program order and carries the accesses that may lie after
// it on the way here. Branches start from the same set and their results are united; exit ends a
// path, LEAVE carries its set to the end of its block. Meeting a register that is in the set is a
// conflict, unless the conditions under which the two accesses happen contradict each other.
//
// Conditions are kept as facts (regonce_impl.h), which say what contradicts what.
#include "compiler/rules/regonce_impl.h"

// ---- paths --------------------------------------------------------------------------------------

// Several ways from here: each begins with what is known now.
struct fork {
    struct path before, after;
    size_t log;
    const struct fact_list *facts;
    const struct way_list *ways;
    VEC(const struct ir_var *) written;
};

static struct fork fork_begin(struct check *c, const struct path *p) {
    struct fork f = {.log = c->log.n, .facts = c->facts, .ways = c->ways, .after = {.dead = true}};
    f.before = *p;
    return f;
}

static void fork_way_end(struct check *c, struct fork *f, const struct path *p) {
    merge(c, &f->after, p);
    forget(c, f->facts);
    c->ways = f->ways;
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

// 'x' with what is known on the way to it. Said to whom it concerns when one on the path so far
// meets it.
static void regonce_reach(struct check *c, struct path *p, struct access x) {
    if (p->dead)
        return;
    struct access *kept = ARENA_NEW(c->a, struct access);
    *kept = x;
    kept->facts = c->facts;
    kept->ways = c->ways;
    c->met.n = 0;
    for (const struct access_list *l = seen_of(c, p, x.slot); l && !c->reported[x.slot];
         l = l->older)
        if (!exclusive(c, l->access, kept))
            VEC_PUSH(c->a, &c->met, l->access);
    for (size_t i = c->met.n; i-- > 0;)
        c->meet(c, c->met.v[i], kept);
    see(c, p, kept);
}

static unsigned regonce_slot_of(enum access_kind kind, unsigned id) {
    return id * ACCESS_KINDS + kind;
}

static void access_profile(struct check *c, struct path *p, const struct ir_stmt *s) {
    regonce_reach(c, p,
                  (struct access){.profile = s->table->profile,
                                  .slot = regonce_slot_of(ACCESS_PROFILE, s->table->profile->id),
                                  .kind = "action profile",
                                  .name = s->table->profile->name,
                                  .stmt = s,
                                  .table = s->table});
}

static void access_once(struct check *c, struct path *p, const void *thing, unsigned slot,
                        const char *kind, const char *name, const struct ir_stmt *s) {
    regonce_reach(c, p,
                  (struct access){.thing = thing,
                                  .slot = slot,
                                  .kind = kind,
                                  .name = name,
                                  .stmt = s,
                                  .table = c->table,
                                  .action = c->action});
}

static void regonce_access_register(struct check *c, struct path *p, const struct ir_register *r,
                                    const struct ir_stmt *s) {
    access_once(c, p, r, regonce_slot_of(ACCESS_REGISTER, r->id),
                r->implied ? "selector memory" : "register", r->name, s);
}

// Those of a table's entries are reached with the table.
static void access_counter(struct check *c, struct path *p, const struct ir_stmt *s) {
    if (!s->counter->direct)
        access_once(c, p, s->counter, regonce_slot_of(ACCESS_COUNTER, s->counter->id), "counter",
                    s->counter->name, s);
}

static void access_meter(struct check *c, struct path *p, const struct ir_stmt *s) {
    static const char *const kinds[] = {
        [IR_METER] = "meter", [IR_LPF] = "filter", [IR_WRED] = "filter"};
    if (!s->meter->direct)
        access_once(c, p, s->meter, regonce_slot_of(ACCESS_METER, s->meter->id),
                    kinds[s->meter->kind], s->meter->name, s);
}

// ---- statements ---------------------------------------------------------------------------------

static void regonce_walk(struct check *c, struct ir_block *b, struct path *p);

static void go(struct check *c, enum way_kind kind, const struct ir_stmt *s, size_t index) {
    struct way_list *l = ARENA_NEW(c->a, struct way_list);
    *l = (struct way_list){.way = {.kind = kind, .stmt = s, .index = index},
                           .older = c->ways,
                           .n = c->ways ? c->ways->n + 1 : 1};
    c->ways = l;
}

static void regonce_walk_if(struct check *c, struct ir_stmt *s, struct path *p) {
    struct fork f = fork_begin(c, p);
    struct path yes = f.before;
    go(c, WAY_TRUE, s, 0);
    learn(c, s->e, true);
    regonce_walk(c, s->then_b, &yes);
    fork_way_end(c, &f, &yes);
    struct path no = f.before;
    go(c, WAY_FALSE, s, 0);
    learn(c, s->e, false);
    regonce_walk(c, s->else_b, &no);
    fork_way_end(c, &f, &no);
    fork_end(c, &f, p);
    if (yes.dead != no.dead) // there is one way past it
        go(c, yes.dead ? WAY_FALSE : WAY_TRUE, s, 0);
}

static void regonce_walk_switch(struct check *c, struct ir_stmt *s, struct path *p) {
    struct fork f = fork_begin(c, p);
    bool has_default = false;
    for (size_t i = 0; i < s->cases.n; i++)
        has_default |= s->cases.v[i].values.n == 0;
    for (size_t i = 0; i < s->cases.n + !has_default; i++) {
        struct path one = f.before;
        bool other = i == s->cases.n || s->cases.v[i].values.n == 0;
        go(c, WAY_CASE, s, other ? s->cases.n : i);
        if (!other)
            learn_case(c, s, &s->cases.v[i], true);
        for (size_t k = 0; other && k < s->cases.n; k++)
            if (s->cases.v[k].values.n > 0)
                learn_case(c, s, &s->cases.v[k], false);
        if (i < s->cases.n)
            regonce_walk(c, s->cases.v[i].body, &one);
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

// An action without data reads none of the profile's memory; a selector chooses whatever comes of
// it.
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
    go(c, WAY_ACTION, s, i);
    if (s->action_run)
        learn_value(c, s->action_run, i);
    if (s->hit && on_hit != on_miss)
        learn_value(c, s->hit, on_hit);
    if (ways == HIT_ONLY && reads_profile(s->table, i))
        access_profile(c, p, s);
    c->table = s->table;
    if (ways == HIT_ONLY && s->table->selector && s->table->selector->memory)
        regonce_access_register(c, p, s->table->selector->memory, s);
    c->action = s->table->actions.v[i].action;
    regonce_walk(c, s->table->actions.v[i].action->body, p);
    c->table = NULL;
    c->action = NULL;
}

static void regonce_walk_apply(struct check *c, struct ir_stmt *s, struct path *p) {
    if (s->action_run)
        VEC_PUSH(c->a, &c->applies, s);
    struct fork f = fork_begin(c, p);
    for (size_t i = 0; i < s->table->actions.n; i++) {
        enum ways ways = s->table->profile ? HIT_ONLY : ANY_WAY;
        for (; ways <= MISS_ONLY; ways++) {
            struct path one = f.before;
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
    const struct way_list *ways = c->ways;
    VEC_PUSH(c->a, &c->labels, l);
    regonce_walk(c, s->then_b, p);
    struct label *done = &c->labels.v[--c->labels.n];
    if (!done->at_end.dead) // choices in the block were not the only way past it
        c->ways = ways;
    merge(c, p, &done->at_end);
}

static void regonce_leave_block(struct check *c, struct ir_stmt *s, struct path *p) {
    struct label *l = find_label(c, s->label);
    if (l)
        merge(c, &l->at_end, p);
    p->dead = true;
}

static void regonce_walk_stmt(struct check *c, struct ir_stmt *s, struct path *p) {
    note_writes(c, s);
    switch (s->kind) {
    case IR_IF:
        regonce_walk_if(c, s, p);
        return;
    case IR_SWITCH:
        regonce_walk_switch(c, s, p);
        return;
    case IR_BLOCK:
        walk_labelled(c, s, p);
        return;
    case IR_LEAVE:
        regonce_leave_block(c, s, p);
        return;
    case IR_EXIT:
        p->dead = true;
        return;
    case IR_APPLY:
        regonce_walk_apply(c, s, p);
        return;
    case IR_REG_EXEC:
        regonce_access_register(c, p, s->regaction->reg, s);
        return;
    case IR_REG_READ:
    case IR_REG_WRITE:
        if (!s->continues)
            regonce_access_register(c, p, s->reg, s);
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

static void regonce_walk(struct check *c, struct ir_block *b, struct path *p) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        regonce_walk_stmt(c, b->stmts.v[i], p);
        learn_assignment(c, b->stmts.v[i]);
    }
}

static struct check check_new(struct arena *a, const struct ir_gress *g) {
    struct check c = {.a = a,
                      .ok = true,
                      .versions = ARENA_ARRAY(a, unsigned, g->vars.n + 1),
                      .facts_of = ARENA_ARRAY(a, const struct fact_list *, g->vars.n + 1)};
    seen_init(&c, g);
    regonce_parser_begin(&c, g);
    return c;
}

// Two executions that meet only where entries or packets say so. Others of the register may be an
// error still.
static bool is_guarded(struct check *c, const struct access *first, const struct access *second) {
    struct arena *a = c->a;
    const struct regonce_pair pair = regonce_pair_of(a, first, second);
    const bool executes = first->stmt->kind == IR_REG_EXEC && second->stmt->kind == IR_REG_EXEC;
    if (pair.straight || !executes || !regonce_is_taken(&pair))
        return false;
    struct ir_register *r = c->g->registers.v[first->slot / ACCESS_KINDS];
    if (!r->guarded) {
        diag_warning(
            c->d, second->stmt->at,
            "register '%s' may be accessed twice in one pass: here%s, and earlier; a packet "
            "that comes here so is dropped, and counted as 'register reached twice'",
            r->name, pair.second_place);
        ir_note_first(c->d, first->stmt, second->stmt,
                      arena_printf(a, "the earlier access is here%s", pair.first_place));
    }
    r->guarded = true;
    return true;
}

// The first pair of each thing, as an error.
static void meet_error(struct check *c, const struct access *first, const struct access *second) {
    struct arena *a = c->a;
    if (c->reported[first->slot] || is_guarded(c, first, second))
        return;
    c->ok = false;
    c->reported[first->slot] = true;
    if (first->profile) {
        diag_error(
            c->d, second->stmt->at,
            "tables '%s' and '%s' share action profile '%s', and a packet may hit both in one "
            "pass; put them into branches that exclude each other",
            first->table->name, second->table->name, second->name);
        ir_note_first(c->d, first->stmt, second->stmt,
                      arena_printf(a, "'%s' is applied here", first->table->name));
        return;
    }
    diag_error(c->d, second->stmt->at,
               "%s '%s' is accessed twice in one pass: here%s, and earlier; a packet reaches a %s "
               "once, so put the accesses into branches that exclude each other",
               second->kind, second->name, access_place(a, second), second->kind);
    ir_note_first(c->d, first->stmt, second->stmt,
                  arena_printf(a, "the earlier access is here%s", access_place(a, first)));
}

static bool regonce_check_gress(struct arena *a, struct diag *d, const struct ir_gress *g) {
    struct check c = check_new(a, g);
    struct path p = {0};
    c.d = d;
    c.meet = meet_error;
    regonce_walk(&c, g->control, &p);
    return c.ok;
}

struct regonce_pairs regonce_find(struct arena *a, const struct ir_gress *g) {
    struct regonce_pairs pairs = {0};
    struct check c = check_new(a, g);
    struct path p = {0};
    c.pairs = &pairs;
    c.meet = meet_pair;
    regonce_walk(&c, g->control, &p);
    return pairs;
}

bool regonce_check(struct arena *a, struct diag *d, const struct ir_program *p) {
    bool ok = true;
    for (size_t i = 0; i < p->pipelines.n; i++)
        for (int k = IR_INGRESS; k <= IR_EGRESS; k++)
            ok = regonce_check_gress(a, d, &p->pipelines.v[i]->gress[k]) && ok;
    return ok;
}
