// SPDX-License-Identifier: Apache-2.0
//
// lane_tables: lanes that apply tables, as C (compiler/plan/lanes.h finds them).
//
// A loop over lanes ends at each table, with the keys of all lanes in an array. Of tables that were
// filled with numbers all lanes' are looked up at once (stages/numbers.h), where they are the same
// in all lanes; where they are not, which is asked before, the statements are run one by one.
// Entries that are branches are compared in a loop of their own, each of them in every lane, and
// each action is one condition, of which the C compiler makes masks; entries that ask for nothing
// that differs by lane, if they come first, are compared before it.
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/print/lane_loop.h"

// ---- the pipe's state ----

void emit_lane_members(const struct emit *e) {
    const char c = emit_gress_letter(e);
    for (unsigned i = 1; i <= e->plan->lane_tables.n; i++) {
        const struct plan_lane_tables *t = &e->plan->lane_tables.v[i - 1];
        if (t->filled)
            emit_line(e,
                      "struct sk_table *%c_lane_table%u[%u]; "
                      "const struct sk_numbers *%c_common%u, *%c_of%u[%u]; // %s and others",
                      c, i, t->n, c, i, c, i, t->n, emit_comment(e, t->of[0]->name));
        else
            emit_line(e, "_Alignas(64) struct sk_hits %c_lane_hits%u[%zu]; // %s and others", c, i,
                      (t->of[0]->entries.n + 1) * t->n, emit_comment(e, t->of[0]->name));
    }
}

void emit_lane_tells(const struct emit *e) {
    const char c = emit_gress_letter(e);
    for (unsigned i = 1; i <= e->plan->lane_tables.n; i++) {
        const struct plan_lane_tables *t = &e->plan->lane_tables.v[i - 1];
        for (unsigned k = 0; t->filled && k < t->n; k++) {
            emit_line(e, "s->%c_lane_table%u[%u] = s->%c_table%u;", c, i, k, c, t->of[k]->id);
            emit_line(e,
                      "sk_table_tell_lanes(s->%c_table%u, &(struct sk_lane_numbers){"
                      "&s->%c_common%u, s->%c_of%u, %u}, %u);",
                      c, t->of[k]->id, c, i, c, i, t->n, k);
        }
    }
}

// ---- loops between tables ----

struct lane_tables {
    const struct emit *e; // in a loop
    const struct plan_lanes *l;
    const struct plan_lane_run *waits; // where all lanes choose alike, what follows waits; or null
    bool open;                         // a loop is being printed
};

static void begin_loop(struct lane_tables *to) {
    if (to->open)
        return;
    emit_lane_for(to->e, to->l->count);
    emit_lane_inside(to->e);
    to->open = true;
}

static void end_loop(struct lane_tables *to) {
    if (to->open)
        emit_close(to->e, "}");
    to->open = false;
}

static void action_body(const struct emit *e, const struct ir_action *a) {
    const struct emit of = emit_of_user(e, a);
    emit_block(&of, a->body);
}

static void lane_look_up(struct lane_tables *to, size_t i) {
    const struct plan_lane_table *t = &to->l->tables.v[i];
    begin_loop(to);
    emit_line(to->e, "n%zu[l] = %s; // %s", i, emit_expr(to->e, t->of[0]->keys.v[0].expr),
              emit_comment(to->e, t->of[0]->name));
    end_loop(to);
    emit_line(to->e, "sk_numbers_of(t%zu, n%zu, %u);", i, i, to->l->count);
    begin_loop(to);
    emit_line(to->e, "%s = (%s)n%zu[l];", emit_ref(to->e, t->number),
              emit_storage(t->number->width), i);
    action_body(to->e, plan_only_action(t->of[0]));
}

// ---- entries that are branches ----

struct lane_vary {
    const struct plan_lanes *l;
    bool does;
};

static void vary_expr(void *aux, const struct ir_expr *x) {
    struct lane_vary *v = aux;
    for (size_t i = 0; x->op == IR_VAR && i < v->l->vars.n; i++)
        v->does |= v->l->vars.v[i].of[0] == x->var && v->l->vars.v[i].varies;
    for (size_t i = 0; x->op == IR_CONST && i < v->l->consts.n; i++)
        v->does |= v->l->consts.v[i].first == x;
}

static bool key_varies(const struct plan_lanes *l, const struct ir_key *k) {
    struct lane_vary v = {l, false};
    ir_walk_expr(k->expr, vary_expr, &v);
    return v.does;
}

// What the entry asks for in all lanes alike; null: something else, too.
static const char *alike(const struct lane_tables *to, const struct ir_table *t, size_t position) {
    const char *all = "";
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct ir_key_value *value = &t->entries.v[position]->keys.v[k];
        if (emit_branch_is_any(value))
            continue;
        if (key_varies(to->l, &t->keys.v[k]))
            return NULL;
        const char *one = emit_branch_key_condition(to->e, &t->keys.v[k], k, value);
        all = *all && *one ? emit_text(to->e, "%s && %s", all, one) : *one ? one : all;
    }
    return all;
}

static void key_local(const struct emit *e, const struct ir_key *k, size_t i) {
    emit_line(e, "const %s k%zu = %s; // %s", emit_ctype(k->expr->width), i, emit_expr(e, k->expr),
              emit_comment(e, k->name));
}

static void alike_keys(const struct lane_tables *to, const struct ir_table *t) {
    for (size_t k = 0; k < t->keys.n; k++)
        if (!key_varies(to->l, &t->keys.v[k]))
            key_local(to->e, &t->keys.v[k], k);
}

static const char *lane_hits(const struct lane_tables *to, const struct ir_table *t) {
    return emit_text(to->e, "s->%c_lane_hits%u", to->e->p[2],
                     to->e->plan->tables[t->id].lane_table);
}

static size_t run_index(const struct emit *e, const struct plan_lane_run *run) {
    return (size_t)(run - e->plan->runs.v);
}

// What waits knows the numbers of the tables after it: nobody gives them back before the packet is
// done.
static void note_waiting(const struct lane_tables *to, size_t position) {
    const size_t run = run_index(to->e, to->waits);
    emit_line(to->e, "v->waits%zu = %zu;", run, position + 1);
    for (size_t i = 0; i < to->l->tables.n; i++)
        if (to->l->tables.v[i].number)
            emit_line(to->e, "v->waits%zu_t%zu = t%zu;", run, i, i);
}

static void alike_hit(struct lane_tables *to, const struct ir_table *t, size_t position) {
    emit_line(to->e, "sk_hit_lanes(%s + %zu, %u);", lane_hits(to, t), position * to->l->count,
              to->l->count);
    if (to->waits) {
        note_waiting(to, position);
        return;
    }
    begin_loop(to);
    action_body(to->e, plan_action_at(t, position));
    end_loop(to);
}

// What the table's actions write is in C variables until the end of the loop: what is written under
// a condition is no vector.
static const struct emit_var *held_vars(const struct lane_tables *to, const struct ir_table *t,
                                        bool *held) {
    const struct emit *e = to->e;
    struct ir_effects f = ir_effects_none(e->a, e->g);
    struct emit_var *vars = ARENA_ARRAY(e->a, struct emit_var, to->l->vars.n + 1);
    for (size_t i = 0; i <= t->entries.n; i++)
        ir_effects_add_action(&f, plan_action_at(t, i));
    for (size_t i = 0; i < to->l->vars.n; i++) {
        const struct plan_lane_var *v = &to->l->vars.v[i];
        vars[i] = e->loop->vars[i];
        held[i] = v->varies && (v->wire || v->array) && f.assigned[v->of[0]->id];
        if (!held[i])
            continue;
        vars[i].whole = true;
        vars[i].wire = NULL;
        vars[i].deferred = false;
        vars[i].ref = vars[i].name;
    }
    return vars;
}

// Positions of entries that are not known, best first: how many.
static size_t in_precedence(const struct emit *e, const struct ir_table *t, const bool *known,
                            size_t *order) {
    bool *seen = ARENA_ARRAY(e->a, bool, t->entries.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->entries.n; i++)
        seen[i] = known[i];
    for (size_t at; (at = emit_branch_first(e, t, seen)) < t->entries.n; seen[at] = true)
        order[n++] = at;
    return n;
}

// All its keys.
static const char *asks_for(const struct emit *e, const struct ir_table *t, size_t position) {
    const char *all = "";
    for (size_t k = 0; k < t->keys.n; k++) {
        const char *one =
            emit_branch_key_condition(e, &t->keys.v[k], k, &t->entries.v[position]->keys.v[k]);
        if (*one)
            all = emit_text(e, "%s%s(%s)", all, *all ? " & " : "", one);
    }
    return *all ? all : "true";
}

// The action of entry order[i], or after the last one the default action; null: an earlier one has
// it, too.
static const struct ir_action *new_action(const struct ir_table *t, const size_t *order, size_t i) {
    const struct ir_action *a = plan_action_at(t, order[i]);
    for (size_t k = 0; k < i; k++)
        if (plan_action_at(t, order[k]) == a)
            return NULL;
    return a->body && a->body->stmts.n ? a : NULL;
}

// Whether that action is run, by lane.
static void choose_actions(const struct emit *e, const struct ir_table *t, const size_t *order,
                           size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct ir_action *a = new_action(t, order, i);
        const char *here = "";
        for (size_t k = i; k < n && a; k++)
            if (plan_action_at(t, order[k]) == a)
                here = emit_text(e, "%s%s(at == %zu)", here, *here ? " | " : "", order[k]);
        if (a)
            emit_line(e, "m%zu[l] = %s;", i, here);
    }
}

static void differing_actions(const struct emit *in, const struct ir_table *t, const size_t *order,
                              size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct ir_action *a = new_action(t, order, i);
        if (!a)
            continue;
        emit_open(in, "if (m%zu[l]) {", i);
        action_body(in, a);
        emit_close(in, "}");
    }
}

// C text of an array: which entry each lane has of table 'i'.
static const char *chosen(const struct lane_tables *to, size_t i) {
    return to->waits ? emit_text(to->e, "v->waits%zu_at", run_index(to->e, to->waits))
                     : emit_text(to->e, "n%zu", i);
}

// Of entries that are not 'known'. The C compiler would make jumps of conditions of which it knows
// how they depend on each other, so which entry it is is computed without any.
static void choose(struct lane_tables *to, const struct ir_table *t, size_t i, const bool *known) {
    const struct emit *e = to->e;
    size_t *order = ARENA_ARRAY(e->a, size_t, t->entries.n + 1);
    const size_t n = in_precedence(e, t, known, order);
    begin_loop(to);
    for (size_t k = 0; k < t->keys.n; k++)
        if (key_varies(to->l, &t->keys.v[k]))
            key_local(e, &t->keys.v[k], k);
    emit_line(e, "uint32_t at = %zu;", t->entries.n);
    for (size_t k = n; k-- > 0;)
        emit_line(e, "at ^= (at ^ %zu) & -(uint32_t)(%s);", order[k], asks_for(e, t, order[k]));
    emit_line(e, "%s[l] = at;", chosen(to, i));
    end_loop(to);
    emit_line(e, "sk_hit_each(%s, %s, %u);", lane_hits(to, t), chosen(to, i), to->l->count);
}

// The actions of the chosen entries. Their conditions are loaded from memory, for the same reason.
static void act(struct lane_tables *to, const struct ir_table *t, const char *at,
                const bool *known) {
    const struct emit *e = to->e;
    bool *held = ARENA_ARRAY(e->a, bool, to->l->vars.n + 1);
    const struct emit_loop loop = {to->l, EMIT_STORES, held_vars(to, t, held)};
    struct emit in = *e;
    size_t *order = ARENA_ARRAY(e->a, size_t, t->entries.n + 1);
    const size_t n = in_precedence(e, t, known, order);
    order[n] = t->entries.n;
    in.loop = &loop;
    for (size_t k = 0; k <= n; k++)
        if (new_action(t, order, k))
            emit_line(e, "_Alignas(64) uint32_t m%zu[%u];", k, to->l->count);
    begin_loop(to);
    emit_line(e, "const uint32_t at = %s[l];", at);
    choose_actions(e, t, order, n + 1);
    end_loop(to);
    begin_loop(to);
    for (size_t k = 0; k < to->l->vars.n; k++)
        if (held[k])
            emit_line(e, "%s %s = %s;", emit_ctype(to->l->vars.v[k].of[0]->width),
                      loop.vars[k].name, emit_ref(e, to->l->vars.v[k].of[0]));
    differing_actions(&in, t, order, n + 1);
    for (size_t k = 0; k < to->l->vars.n; k++)
        if (held[k])
            emit_line(e, "%s;", emit_set(e, to->l->vars.v[k].of[0], loop.vars[k].name));
    end_loop(to);
}

// Position of the first entry that is not 'known' if it chooses alike for all lanes, and what it
// asks for; or the end.
static size_t next_alike(const struct lane_tables *to, const struct ir_table *t, const bool *known,
                         const char **cond) {
    const size_t at = emit_branch_first(to->e, t, known);
    *cond = at < t->entries.n ? alike(to, t, at) : NULL;
    return *cond ? at : t->entries.n;
}

static void branches(struct lane_tables *to, size_t i) {
    const struct emit *e = to->e;
    const struct ir_table *t = to->l->tables.v[i].of[0];
    bool *known = ARENA_ARRAY(e->a, bool, t->entries.n + 1);
    const char *cond;
    unsigned opened = 0;
    end_loop(to);
    emit_open(e, "{ // %s", emit_comment(e, t->name));
    alike_keys(to, t);
    for (size_t at; (at = next_alike(to, t, known, &cond)) < t->entries.n; opened++) {
        known[at] = true;
        emit_open(e, "if (%s) {", *cond ? cond : "true");
        alike_hit(to, t, at);
        emit_close(e, "} else {");
        e->to->indent++;
    }
    choose(to, t, i, known);
    if (to->waits)
        note_waiting(to, t->entries.n);
    else
        act(to, t, chosen(to, i), known);
    for (unsigned k = 0; k < opened; k++)
        emit_close(e, "}");
    emit_close(e, "}");
}

static size_t lane_table_of(const struct plan_lanes *l, const struct ir_stmt *s) {
    for (size_t i = 0; i < l->tables.n; i++)
        if (s->kind == IR_APPLY && l->tables.v[i].of[0] == s->table)
            return i;
    return l->tables.n;
}

// Fields of 16 bits side by side are taken out of their header before the loops, and put back after
// them: they would make vectors of other lengths than all else in a loop, and a vector that was
// stored in parts cannot be loaded before that is done.
static bool taken_out(const struct plan_lane_var *v) {
    return v->varies && v->wire && v->of[0]->width == 16 && plan_lane_field_is_plain(v);
}

static void take_out(const struct emit *e, const struct plan_lanes *l, struct emit_var *vars) {
    for (size_t i = 0; i < l->vars.n; i++) {
        vars[i] = emit_lane_vars(e, l, EMIT_STORES)[i];
        if (!taken_out(&l->vars.v[i]))
            continue;
        emit_line(e, "_Alignas(64) uint32_t h%zu[%u];", i, l->count);
        emit_line(e, "sk_lanes_load16(h%zu, w%zu, %u);", i, i, l->count);
        vars[i].wire = NULL;
        vars[i].deferred = false;
        vars[i].whole = true;
        vars[i].ref = emit_text(e, "h%zu[l]", i);
    }
}

static void put_back(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++)
        if (taken_out(&l->vars.v[i]) && l->vars.v[i].written)
            emit_line(e, "sk_lanes_store16(w%zu, h%zu, %u);", i, i, l->count);
}

// The statements from this one on, or of a run of which all but the choice waits that.
static void parts(struct lane_tables *to, size_t from) {
    const struct plan_lanes *l = to->l;
    for (size_t i = from; i < (to->waits ? 1 : l->n_stmts); i++) {
        const size_t t = lane_table_of(l, l->stmts[i]);
        if (t == l->tables.n) {
            begin_loop(to);
            emit_stmt(to->e, l->stmts[i]);
        } else if (l->tables.v[t].number) {
            lane_look_up(to, t);
        } else {
            branches(to, t);
        }
    }
    end_loop(to);
    if (!to->waits)
        put_back(to->e, l);
}

static struct emit_var *begin_parts(const struct emit *e, const struct plan_lanes *l) {
    struct emit_var *vars = ARENA_ARRAY(e->a, struct emit_var, l->vars.n + 1);
    emit_lane_outside(e, l);
    for (size_t i = 0; i < l->tables.n; i++)
        emit_line(e, "_Alignas(64) uint32_t n%zu[%u];", i, l->count);
    take_out(e, l, vars);
    return vars;
}

static void all_parts(const struct emit *e, const struct plan_lane_run *run) {
    if (run->last)
        emit_lane_outside(e, run->lanes);
    const struct emit_loop in_loop = {run->lanes, EMIT_STORES,
                                      run->last ? emit_lane_vars(e, run->lanes, EMIT_STORES)
                                                : begin_parts(e, run->lanes)};
    struct emit in = *e;
    in.loop = &in_loop;
    struct lane_tables to = {&in, run->lanes, run->last ? run : NULL, false};
    parts(&to, 0);
}

// ---- what waits ----

void emit_lane_waiting(const struct emit *e, size_t i) {
    const struct plan_lanes *l = e->plan->runs.v[i].lanes;
    emit_line(e, "uint8_t waits%zu; // which entry of %s all lanes chose, plus one; or of", i,
              emit_comment(e, l->name));
    emit_line(e, "_Alignas(64) uint32_t waits%zu_at[%u];", i, l->count);
    for (size_t k = 0; k < l->tables.n; k++)
        if (l->tables.v[k].number)
            emit_line(e, "const struct sk_numbers *waits%zu_t%zu;", i, k);
}

void emit_lane_waited(const struct emit *e, size_t i) {
    const struct plan_lanes *l = e->plan->runs.v[i].lanes;
    const struct ir_table *t = l->tables.v[0].of[0];
    bool *known = ARENA_ARRAY(e->a, bool, t->entries.n + 1);
    const struct emit_loop in_loop = {l, EMIT_STORES, begin_parts(e, l)};
    struct emit in = *e;
    const char *cond;
    in.loop = &in_loop;
    struct lane_tables to = {&in, l, NULL, false};
    for (size_t k = 0; k < l->tables.n; k++)
        if (l->tables.v[k].number)
            emit_line(e, "const struct sk_numbers *const t%zu = v->waits%zu_t%zu;", k, i, k);
    for (size_t at; (at = next_alike(&to, t, known, &cond)) < t->entries.n;) {
        known[at] = true;
        emit_open(e, "if (v->waits%zu == %zu) {", i, at + 1);
        begin_loop(&to);
        action_body(&in, plan_action_at(t, at));
        end_loop(&to);
        emit_close(e, "}");
    }
    emit_open(e, "if (v->waits%zu == %zu) {", i, t->entries.n + 1);
    act(&to, t, emit_text(e, "v->waits%zu_at", i), known);
    emit_close(e, "}");
    parts(&to, 1);
}

// ---- one lane after the other, where the tables are not filled alike ----

static void one_hit(const struct emit *e, const struct ir_table *t, size_t position) {
    const struct plan_table *p = &e->plan->tables[t->id];
    emit_line(e, "s->%c_lane_hits%u[%zu + l].hits++;", e->p[2], p->lane_table,
              position * e->plan->lane_tables.v[p->lane_table - 1].n);
    action_body(e, plan_action_at(t, position));
}

static void one_miss(const struct emit *e, const struct ir_table *t) {
    one_hit(e, t, t->entries.n);
}

static void one_action(const struct emit *e, const struct ir_table *t, unsigned i) {
    const struct ir_action *a = i < t->actions.n ? t->actions.v[i].action : t->default_action;
    emit_line(e, "case %u:", i);
    e->to->indent++;
    for (size_t k = 0; k < a->params.n; k++)
        emit_line(e, "%s = (%s)data[%zu];", emit_ref(e, a->params.v[k].var),
                  emit_storage(a->params.v[k].var->width), k);
    action_body(e, a);
    emit_line(e, "break;");
    e->to->indent--;
}

static void one_lookup(const struct emit *e, const struct ir_table *t) {
    emit_open(e, "{ // %s", emit_comment(e, t->name));
    emit_line(e, "const struct sk_table *const table = s->%c_lane_table%u[l];", e->p[2],
              e->plan->tables[t->id].lane_table);
    emit_line(e, "struct sk_entry *entry = sk_lookup_index(table, %s);",
              emit_word(e, t->keys.v[0].expr, 0));
    emit_line(e, "entry = entry ? entry : sk_load_slot(&table->dflt);");
    emit_line(e, "SK_HIT(entry->hits, entry->last_hit, v->now);");
    emit_line(e, "const uint64_t *const data = sk_entry_data(entry, 1);");
    emit_open(e, "switch (entry->action) {");
    for (unsigned i = 0; i < emit_n_actions(t); i++)
        one_action(e, t, i);
    emit_line(e, "default:");
    emit_line(e, "    break;");
    emit_close(e, "}");
    emit_close(e, "}");
}

static void one_by_one(const struct emit *e, const struct plan_lanes *l) {
    static const struct emit_chain chain = {one_hit, one_miss};
    const struct emit_loop in_loop = {l, EMIT_STORES, emit_lane_vars(e, l, EMIT_STORES)};
    struct emit in = *e;
    in.loop = &in_loop;
    emit_lane_outside(e, l);
    emit_line(e, "#pragma GCC unroll 1");
    emit_open(e, "for (unsigned l = 0, n = %u; l < n; l++) {", l->count);
    emit_lane_inside(&in);
    for (size_t i = 0; i < l->n_stmts; i++) {
        const size_t t = lane_table_of(l, l->stmts[i]);
        if (t == l->tables.n) {
            emit_stmt(&in, l->stmts[i]);
        } else if (l->tables.v[t].number) {
            one_lookup(&in, l->tables.v[t].of[0]);
        } else {
            emit_open(&in, "{ // %s", emit_comment(e, l->tables.v[t].of[0]->name));
            emit_branches(&in, l->tables.v[t].of[0], NULL, &chain);
            emit_close(&in, "}");
        }
    }
    emit_close(e, "}");
}

void emit_lane_tables(const struct emit *e, const struct plan_lane_run *run) {
    const struct plan_lanes *l = run->lanes;
    const char *all = "";
    emit_open(e, "{ // %s and %u more", emit_comment(e, l->name), l->count - 1);
    for (size_t i = 0; i < l->tables.n; i++) {
        if (!l->tables.v[i].number)
            continue;
        emit_line(e, "const struct sk_numbers *const t%zu = sk_numbers_told(&s->%c_common%u);", i,
                  e->p[2], e->plan->tables[l->tables.v[i].of[0]->id].lane_table);
        all = emit_text(e, "%s%st%zu != NULL", all, *all ? " && " : "", i);
    }
    if (*all)
        emit_open(e, "if (__builtin_expect(%s, 1)) {", all);
    all_parts(e, run);
    if (*all) {
        emit_close(e, "} else {");
        e->to->indent++;
        one_by_one(e, l);
        emit_close(e, "}");
    }
    emit_close(e, "}");
}
