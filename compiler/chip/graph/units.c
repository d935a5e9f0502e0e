// SPDX-License-Identifier: Apache-2.0
//
// units: a simplified control as units, and which of them may both run for a packet.
//
// Statements that follow each other become one table without a key, as long as none reads or
// writes what an earlier one of the run wrote (the result of a hash or a random number excepted:
// it is there on the way) and at most one of them uses an extern. Conditions become gateways; an
// if or a switch on what the table before it did becomes that table's choice of what is next.
//
// On the way the walk carries the set of units that may lie after it: those a new unit runs
// together with.
#include "compiler/chip/graph/graph_impl.h"
#include "compiler/chip/report_add.h"

#include <string.h>

#define SET_WORDS (GRAPH_MAX_UNITS / 64)

struct set {
    graph_word w[SET_WORDS];
};
struct under { // what leads to the statements being looked at
    unsigned unit, branch;
    bool some;
};
struct build {
    struct graph *g;
    struct arena *a;
    int *unit_of_table;     // by table id, -1: none yet
    VEC(struct set) before; // by unit: those that may have run when it does
};

// ---- making units -------------------------------------------------------------------------------

static unsigned add_unit(struct build *b, enum chip_unit_kind kind, const struct ir_stmt *t,
                         const char *name) {
    struct chip_gress *cg = b->g->gress;
    struct chip_unit u = {
        .id = (unsigned)cg->units.n,
        .kind = kind,
        .gress = cg->kind,
        .name = name,
        .at = t->at,
        .stmt = t,
    };
    struct graph_node n = {0};
    struct set none = {0};
    VEC_PUSH(b->a, &cg->units, u);
    VEC_PUSH(b->a, &b->g->nodes, n);
    VEC_PUSH(b->a, &b->before, none);
    return u.id;
}

static bool graph_units_is_full(struct build *b) {
    if (b->g->gress->units.n < GRAPH_MAX_UNITS)
        return false;
    b->g->too_many = true;
    return true;
}

static void graph_units_enter(struct build *b, unsigned unit, struct under under,
                              struct set *path) {
    graph_unite(b->before.v[unit].w, path->w, SET_WORDS);
    graph_set(path->w, unit);
    if (!under.some)
        return;
    struct graph_parent p = {under.unit, under.branch};
    VEC_PUSH(b->a, &b->g->nodes.v[unit].parents, p);
    VEC_PUSH(b->a, &b->g->nodes.v[under.unit].children, unit);
}

static void graph_units_table_actions(struct build *b, struct chip_unit *u) {
    const struct ir_table *tab = u->table;
    for (size_t i = 0; i < tab->actions.n; i++) {
        const struct ir_table_action *ta = &tab->actions.v[i];
        struct chip_action act = {.action = ta->action,
                                  .name = ta->action->name,
                                  .at = ta->action->at,
                                  .is_default_only = ta->default_only};
        graph_action(b->g, &act, b->g->action_bodies[ta->action->id]);
        graph_check_action(b->g, &act, b->g->action_bodies[ta->action->id]);
        VEC_PUSH(b->a, &u->actions, act);
    }
}

static bool graph_units_exits(const struct ir_block *b, unsigned depth) {
    for (size_t i = 0; b && depth < 100 && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        if (t->kind == IR_EXIT || (t->kind == IR_IF && (graph_units_exits(t->then_b, depth + 1) ||
                                                        graph_units_exits(t->else_b, depth + 1))))
            return true;
    }
    return false;
}

static unsigned table_unit(struct build *b, const struct ir_stmt *t) {
    const struct ir_table *tab = t->table;
    if (b->unit_of_table[tab->id] >= 0)
        return (unsigned)b->unit_of_table[tab->id];
    unsigned id = add_unit(b, CHIP_TABLE, t, tab->name);
    struct chip_unit *u = &b->g->gress->units.v[id];
    b->unit_of_table[tab->id] = (int)id;
    u->table = tab;
    u->at = tab->at.line ? tab->at : t->at;
    for (size_t i = 0; i < tab->keys.n; i++)
        graph_expr_bits(b->a, tab->keys.v[i].expr, &u->key);
    graph_units_table_actions(b, u);
    for (size_t i = 0; i < tab->actions.n; i++)
        if (graph_units_exits(b->g->action_bodies[tab->actions.v[i].action->id], 0)) {
            b->g->nodes.v[id].ending |= i < 63 ? UINT64_C(1) << i : 0;
            b->g->nodes.v[id].ends = true;
        }
    return id;
}

static void graph_units_apply(struct build *b, const struct ir_stmt *t, struct under under,
                              struct set *path) {
    if (b->unit_of_table[t->table->id] < 0 && graph_units_is_full(b))
        return;
    unsigned id = table_unit(b, t);
    b->g->nodes.v[id].applied++;
    graph_units_enter(b, id, under, path);
}

// ---- runs of statements -------------------------------------------------------------------------

static bool uses_extern(const struct ir_stmt *t) {
    return t->kind == IR_REG_EXEC || t->kind == IR_REG_READ || t->kind == IR_REG_WRITE ||
           t->kind == IR_COUNT || t->kind == IR_METER_EXEC || t->kind == IR_RANDOM;
}

static bool header_of(const struct ir_stmt *t) {
    return t->kind == IR_SET_VALID || t->kind == IR_SET_INVALID;
}

struct mention {
    const struct ir_var *v;
    bool found;
};
static void graph_units_mention_expr(void *ctx, struct ir_expr *e) {
    struct mention *m = ctx;
    m->found |= e->op == IR_VAR && e->var == m->v;
}

static bool graph_units_touches(const struct ir_stmt *t, const struct ir_var *v) {
    if (t->var == v || t->var2 == v || (header_of(t) && t->header->valid == v))
        return true;
    if (ir_mentions(t->e, v) || ir_mentions(t->e2, v) || ir_mentions(t->e3, v))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (ir_mentions(t->args.v[i], v))
            return true;
    if (!t->regaction)
        return false;
    struct mention m = {v, false};
    const struct ir_visitor look = {.ctx = &m, .expr = graph_units_mention_expr, .shallow = true};
    ir_visit_block(&look, t->regaction->body);
    return m.found;
}

struct run {
    struct ir_block *body;
    VEC(const struct ir_var *) written;
    bool has_extern;
    const struct ir_stmt *last;
};

static bool read_then_write(const struct run *r, const struct ir_stmt *t) {
    return r->last && r->last->kind == IR_REG_READ && t->kind == IR_REG_WRITE &&
           r->last->reg == t->reg;
}

static bool graph_units_joins(const struct run *r, const struct ir_stmt *t) {
    if (!r->body || read_then_write(r, t))
        return true;
    // An action that the control calls is one table, whatever its statements do.
    if (t->action_call != r->last->action_call)
        return false;
    if (t->action_call)
        return true;
    if (t->annotated != r->last->annotated)
        return false;
    if (r->has_extern && uses_extern(t))
        return false;
    // What @in_hash is written before is a block, and that a table.
    if (graph_is_hashed(t) || graph_is_hashed(r->last))
        return false;
    for (size_t i = 0; i < r->written.n; i++)
        if (graph_units_touches(t, r->written.v[i]))
            return false;
    return true;
}

static void add_to_run(struct build *b, struct run *r, struct ir_stmt *t) {
    if (!r->body)
        r->body = ir_block_new(b->a);
    ir_push(b->a, r->body, t);
    r->has_extern |= uses_extern(t);
    r->last = t;
    if (header_of(t))
        VEC_PUSH(b->a, &r->written, t->header->valid);
    if (t->var && t->kind != IR_HASH && t->kind != IR_RANDOM)
        VEC_PUSH(b->a, &r->written, t->var);
    if (t->var2)
        VEC_PUSH(b->a, &r->written, t->var2);
}

static bool graph_units_is_idle(const struct ir_block *body) {
    for (size_t i = 0; i < body->stmts.n; i++)
        if (!body->stmts.v[i]->idle)
            return false;
    return true;
}

static void end_run(struct build *b, struct run *r, struct under under, struct set *path) {
    if (!r->body)
        return;
    struct ir_block *body = r->body;
    *r = (struct run){0};
    if (graph_units_is_full(b) || graph_units_is_idle(body))
        return;
    const struct ir_stmt *t = body->stmts.v[0];
    unsigned id = add_unit(b, CHIP_KEYLESS, t, graph_place(b->g, t->at));
    struct chip_unit *u = &b->g->gress->units.v[id];
    struct chip_action act = {.name = u->name, .at = t->at};
    graph_action(b->g, &act, body);
    graph_check_action(b->g, &act, body);
    VEC_PUSH(b->a, &u->actions, act);
    b->g->nodes.v[id].body = body;
    b->g->nodes.v[id].ends = graph_units_exits(body, 0);
    graph_units_enter(b, id, under, path);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool graph_units_walk(struct build *b, const struct ir_block *block, struct under under,
                             struct set *path);

// What the condition asks is what the table just applied did.
static bool asks_table(const struct ir_stmt *t, const struct ir_stmt *applied) {
    if (!applied)
        return false;
    const struct ir_expr *e = t->e;
    while (e->op == IR_NOT && e->width == 1)
        e = e->a;
    return e->op == IR_VAR && e->var &&
           (e->var == applied->hit || (e->var == applied->action_run && t->kind == IR_SWITCH));
}

// Fills the unit that decides; false: there is no room for it.
static bool decider(struct build *b, const struct ir_stmt *t, const struct ir_stmt *applied,
                    struct under under, struct set *path, unsigned *unit) {
    if (asks_table(t, applied)) {
        int id = b->unit_of_table[applied->table->id];
        *unit = (unsigned)id;
        return id >= 0;
    }
    if (graph_units_is_full(b))
        return false;
    *unit = add_unit(b, CHIP_GATEWAY, t, arena_printf(b->a, "if %s", graph_place(b->g, t->at)));
    struct chip_unit *u = &b->g->gress->units.v[*unit];
    u->condition = t;
    graph_expr_bits(b->a, t->e, &u->gateway);
    graph_check_condition(b->g, t);
    graph_units_enter(b, *unit, under, path);
    return true;
}

// ---- what a table's outcome leads to ------------------------------------------------------------

static uint64_t action_bit(size_t i) {
    return UINT64_C(1) << (i < 63 ? i : 63);
}

// A default action that is not constant may be replaced by any other at run time.
static void when_runs(const struct ir_table *t, size_t i, bool *on_hit, bool *on_miss) {
    const struct ir_table_action *a = &t->actions.v[i];
    *on_hit = !a->default_only && t->keys.n > 0;
    *on_miss = a->action == t->default_action || (!t->const_default && !a->table_only);
}

static uint64_t actions_on(const struct ir_table *t, bool hit) {
    uint64_t set = 0;
    for (size_t i = 0; i < t->actions.n; i++) {
        bool on[2];
        when_runs(t, i, &on[1], &on[0]);
        if (on[hit])
            set |= action_bit(i);
    }
    return set;
}

static uint64_t actions_of_case(const struct ir_stmt *t, const struct ir_case *k) {
    uint64_t set = k->values.n == 0 ? ~UINT64_C(0) : 0;
    for (size_t i = 0; i < k->values.n; i++)
        if (big_fits_u64(k->values.v[i]))
            set |= action_bit(big_to_u64(k->values.v[i]));
    for (size_t i = 0; k->values.n == 0 && i < t->cases.n; i++)
        for (size_t n = 0; n < t->cases.v[i].values.n; n++)
            if (big_fits_u64(t->cases.v[i].values.v[n]) &&
                big_to_u64(t->cases.v[i].values.v[n]) < 63)
                set &= ~action_bit(big_to_u64(t->cases.v[i].values.v[n]));
    return set;
}

// Branches are numbered through all statements under one unit, so that different ones differ.
static unsigned new_branch(struct build *b, unsigned unit, uint64_t after) {
    struct graph_branch br = {(unsigned)b->g->nodes.v[unit].branches.n, after};
    VEC_PUSH(b->a, &b->g->nodes.v[unit].branches, br);
    return br.number;
}

// 'truth' of what the if asks of the table.
static uint64_t actions_of_side(const struct ir_stmt *t, const struct ir_stmt *applied,
                                bool truth) {
    if (!asks_table(t, applied))
        return ~UINT64_C(0);
    for (const struct ir_expr *e = t->e; e->op == IR_NOT; e = e->a)
        truth = !truth;
    return actions_on(applied->table, truth);
}

static bool graph_units_walk_if(struct build *b, const struct ir_stmt *t,
                                const struct ir_stmt *applied, struct under under,
                                struct set *path) {
    struct under yes = {.some = true};
    if (!decider(b, t, applied, under, path, &yes.unit))
        return true;
    struct set other = *path;
    yes.branch = new_branch(b, yes.unit, actions_of_side(t, applied, true));
    bool falls = graph_units_walk(b, t->then_b, yes, path);
    yes.branch = new_branch(b, yes.unit, actions_of_side(t, applied, false));
    bool other_falls = graph_units_walk(b, t->else_b, yes, &other);
    if (!falls)
        *path = other;
    else if (other_falls)
        graph_unite(path->w, other.w, SET_WORDS);
    return falls || other_falls;
}

static bool graph_units_walk_switch(struct build *b, const struct ir_stmt *t,
                                    const struct ir_stmt *applied, struct under under,
                                    struct set *path) {
    struct under one = {.some = true};
    if (!decider(b, t, applied, under, path, &one.unit))
        return true;
    const struct set before = *path;
    struct set after = {0};
    bool falls = false, has_default = false;
    for (size_t i = 0; i < t->cases.n; i++) {
        struct set way = before;
        has_default |= t->cases.v[i].values.n == 0;
        one.branch = new_branch(b, one.unit, actions_of_case(t, &t->cases.v[i]));
        if (graph_units_walk(b, t->cases.v[i].body, one, &way)) {
            graph_unite(after.w, way.w, SET_WORDS);
            falls = true;
        }
    }
    if (!has_default) {
        graph_unite(after.w, before.w, SET_WORDS);
        falls = true;
    }
    *path = after;
    return falls;
}

// Returns whether anything may run after it.
static bool graph_units_walk(struct build *b, const struct ir_block *block, struct under under,
                             struct set *path) {
    struct run run = {0};
    const struct ir_stmt *applied = NULL;
    for (size_t i = 0; block && i < block->stmts.n; i++) {
        struct ir_stmt *t = block->stmts.v[i];
        bool falls = true;
        if (t->kind != IR_IF && t->kind != IR_SWITCH && t->kind != IR_APPLY) {
            if (!graph_units_joins(&run, t))
                end_run(b, &run, under, path);
            add_to_run(b, &run, t);
            applied = NULL;
            if (t->kind != IR_EXIT)
                continue;
            end_run(b, &run, under, path);
            return false;
        }
        end_run(b, &run, under, path);
        if (t->kind == IR_APPLY)
            graph_units_apply(b, t, under, path);
        else if (t->kind == IR_IF)
            falls = graph_units_walk_if(b, t, applied, under, path);
        else
            falls = graph_units_walk_switch(b, t, applied, under, path);
        if (!falls)
            return false;
        if (t->kind == IR_APPLY)
            applied = t;
    }
    end_run(b, &run, under, path);
    return true;
}

// ---- after the control ------------------------------------------------------------------------

// A unit that all packets come to, also after an exit.
static void add_after(struct build *b, const struct ir_stmt *t, const char *what,
                      const chip_bits_vec *reads, bool is_sum) {
    if (graph_units_is_full(b))
        return;
    struct set all = {0};
    for (size_t i = 0; i < b->g->gress->units.n; i++)
        graph_set(all.w, i);
    unsigned id = add_unit(b, CHIP_KEYLESS, t,
                           arena_printf(b->a, "%s at %s", what, graph_place(b->g, t->at)));
    b->g->gress->units.v[id].gateway = *reads;
    b->g->nodes.v[id].is_sum = is_sum;
    graph_units_enter(b, id, (struct under){0}, &all);
}

static void graph_units_checksums(struct build *b) {
    graph_sum_vec sums = graph_sums(b->g);
    for (size_t i = 0; i < sums.n; i++) {
        const struct graph_sum *s = &sums.v[i];
        if (!s->always)
            add_after(b, s->stmt, "checksum's condition", &s->asks, true);
        if (s->twice.n)
            add_after(b, s->stmt, "checksum's copies", &s->twice, false);
    }
}

// ---- order --------------------------------------------------------------------------------------

// Units by the order in which packets meet them: a table that is applied at several places comes
// after what comes before it at any of them.
static void graph_units_sort(struct build *b) {
    struct graph *g = b->g;
    size_t n = g->gress->units.n, done = 0;
    unsigned *order = ARENA_ARRAY(b->a, unsigned, n + 1),
             *place = ARENA_ARRAY(b->a, unsigned, n + 1);
    bool *taken = ARENA_ARRAY(b->a, bool, n + 1);
    struct set left = {0};
    for (size_t i = 0; i < n; i++)
        graph_set(left.w, i);
    while (done < n) {
        size_t pick = n, first = n;
        for (size_t i = 0; i < n && pick == n; i++) {
            if (taken[i])
                continue;
            if (first == n)
                first = i;
            bool waits = false;
            for (size_t w = 0; w < SET_WORDS && !waits; w++) {
                graph_word others = b->before.v[i].w[w] & left.w[w];
                if (i / 64 == w)
                    others &= ~((graph_word)1 << (i % 64));
                waits = others != 0;
            }
            if (!waits)
                pick = i;
        }
        if (pick == n)
            pick = first; // in a circle: the source has them in both orders
        taken[pick] = true;
        graph_clear(left.w, pick);
        place[pick] = (unsigned)done;
        order[done++] = (unsigned)pick;
    }
    struct chip_unit *units = ARENA_ARRAY(b->a, struct chip_unit, n + 1);
    struct graph_node *nodes = ARENA_ARRAY(b->a, struct graph_node, n + 1);
    for (size_t i = 0; i < n; i++) {
        units[i] = g->gress->units.v[order[i]];
        units[i].id = (unsigned)i;
        nodes[i] = g->nodes.v[order[i]];
        for (size_t k = 0; k < nodes[i].parents.n; k++)
            nodes[i].parents.v[k].unit = place[nodes[i].parents.v[k].unit];
        for (size_t k = 0; k < nodes[i].children.n; k++)
            nodes[i].children.v[k] = place[nodes[i].children.v[k]];
    }
    memcpy(g->gress->units.v, units, n * sizeof *units);
    memcpy(g->nodes.v, nodes, n * sizeof *nodes);
    g->words = graph_words(n);
    g->together = ARENA_ARRAY(b->a, graph_word, n * g->words + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (graph_has(b->before.v[order[i]].w, order[k])) {
                graph_set(g->together + i * g->words, k);
                graph_set(g->together + k * g->words, i);
            }
}

void graph_units(struct graph *g) {
    struct build b = {.g = g, .a = g->a};
    b.unit_of_table = ARENA_ARRAY(g->a, int, g->ir->tables.n + 1);
    for (size_t i = 0; i <= g->ir->tables.n; i++)
        b.unit_of_table[i] = -1;
    struct set path = {0};
    graph_units_walk(&b, g->control, (struct under){0}, &path);
    graph_units_checksums(&b);
    if (g->gress->units.n > 0)
        graph_units_sort(&b);
    if (g->too_many)
        chip_violate(g->r, "tables", g->gress->units.n ? g->gress->units.v[0].at : (struct loc){0},
                     arena_printf(g->a,
                                  "more than %u tables and conditions: no Tofino has room for them",
                                  GRAPH_MAX_UNITS),
                     "split the program over several pipes or passes");
}
