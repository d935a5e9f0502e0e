// SPDX-License-Identifier: Apache-2.0
//
// table: the application of a table: one C function per table that builds the key, finds the
// entry and runs the action. It returns what happened: SK_APPLY_* bits and the action's index.
//
// A table whose few entries are fixed by the program becomes branches with the actions' data as
// constants (branch.c); other tables are looked up in memory (stages/table_impl.h).
#include "compiler/print/checked/checked.h"
#include "compiler/print/lane_loop.h"
#include "compiler/print/checked/trace.h"

unsigned emit_n_actions(const struct ir_table *t) {
    return emit_action_index(t, t->default_action) == t->actions.n ? (unsigned)t->actions.n + 1
                                                                   : (unsigned)t->actions.n;
}

// A default action that is not among the table's actions gets the index after them.
unsigned emit_action_index(const struct ir_table *t, const struct ir_action *a) {
    for (unsigned i = 0; i < t->actions.n; i++)
        if (t->actions.v[i].action == a)
            return i;
    return (unsigned)t->actions.n;
}

static const struct ir_action *emit_table_action_at(const struct ir_table *t, unsigned i) {
    return i < t->actions.n ? t->actions.v[i].action : t->default_action;
}

unsigned emit_direct_word(const struct ir_gress *g, const struct ir_register *r) {
    for (size_t i = 0; i < g->tables.n; i++) {
        unsigned word = 0;
        for (size_t k = 0; k < g->tables.v[i]->direct_registers.n; k++) {
            if (g->tables.v[i]->direct_registers.v[k] == r)
                return word;
            word += g->tables.v[i]->direct_registers.v[k]->words;
        }
    }
    return 0; // of no table: refused by emit_check
}

const char *emit_table_ref(const struct emit *e, const struct ir_table *t) {
    return emit_text(e, "s->%c_table%u", e->p[2], t->id);
}

// --------------------------------------------------------------------------------------------

static unsigned key_words(const struct ir_table *t) {
    unsigned words = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        words += (t->keys.v[i].expr->width + 63) / 64;
    return words;
}

bool emit_has_match(const struct ir_table *t, enum ir_match m) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match == m)
            return true;
    return false;
}

static bool is_exact(const struct ir_table *t) {
    return !emit_has_match(t, IR_MATCH_TERNARY) && !emit_has_match(t, IR_MATCH_LPM) &&
           !emit_has_match(t, IR_MATCH_RANGE);
}

static void run_action(const struct emit *e, const struct ir_action *a, const char *args) {
    bool exits = ir_block_has(a->body, IR_EXIT);
    const char *call = emit_text(e, "%s_action%u(s, v, entry%s)", e->p, a->id, args);
    if (!exits) {
        emit_line(e, "%s;", call);
        return;
    }
    emit_line(e, "if (%s)", call);
    emit_line(e, "    r |= SK_APPLY_EXIT;");
}

// Parameters out of the entry's data words.
static const char *args_from_data(const struct emit *e, const struct ir_action *a) {
    const char *args = "";
    unsigned word = 0;
    for (size_t i = 0; i < a->params.n; i++) {
        unsigned width = a->params.v[i].var->width;
        if (width <= 64)
            args = emit_text(e, "%s, (%s)data[%u]", args, emit_storage(width), word);
        else if (plan_is_wide(width))
            args = emit_text(e, "%s, data + %u", args, word);
        else
            args = emit_text(e, "%s, sk_u128_of(data[%u], data[%u])", args, word + 1, word);
        word += (width + 63) / 64;
    }
    return args;
}

// By what stands before its entries' data in place of the key.
static bool is_found_by_word(const struct emit *e, const struct ir_table *t) {
    return t->proxy || emit_key_is_packed(e, t);
}

static void dispatch_entry(const struct emit *e, const struct ir_table *t) {
    if (is_exact(t))
        emit_line(e, "const uint64_t *data = sk_entry_data(entry, %u);",
                  is_found_by_word(e, t) ? 1 : key_words(t));
    else
        emit_line(e, "const uint64_t *data = entry->data;");
    emit_trace_table(e, t, "entry->action");
    emit_line(e, "r |= entry->action;");
    emit_open(e, "switch (entry->action) {");
    for (unsigned i = 0; i < emit_n_actions(t); i++) {
        emit_line(e, "case %u:", i);
        e->to->indent++;
        run_action(e, emit_table_action_at(t, i), args_from_data(e, emit_table_action_at(t, i)));
        emit_line(e, "break;");
        e->to->indent--;
    }
    emit_line(e, "default:");
    emit_line(e, "    break;");
    emit_close(e, "}");
}

// The action and data are the entry's own, or those of the member that it names, or of the member
// that the hash chooses in the group that it names.
static void emit_table_dispatch(const struct emit *e, const struct ir_table *t) {
    if (!t->profile) {
        dispatch_entry(e, t);
        return;
    }
    emit_line(e, "struct sk_entry *member = NULL;");
    if (t->selector) {
        const struct ir_expr hash = {
            .op = IR_VAR, .width = t->select_hash->width, .var = t->select_hash};
        emit_open(e, "if (entry->action == %u) {", emit_n_actions(t) + 1);
        emit_block(e, t->select);
        emit_line(e, "member = sk_selector_pick(s->%c_selector%u, (uint32_t)entry->data[0], %s);",
                  e->p[2], t->selector->id, emit_word(e, &hash, 0));
        emit_open(e, "if (!member) { // none is up");
        emit_line(e, "r = 0;");
        emit_line(e, "entry = sk_load_slot(&%s->dflt);", emit_table_ref(e, t));
        emit_close(e, "}");
        emit_close(e, "}");
    }
    emit_line(e, "if (entry->action == %u)", emit_n_actions(t));
    emit_line(e, "    member = sk_lookup_again(s->%c_profile%u, entry->data[0], &s->%c_last[%u]);",
              e->p[2], t->profile->id, e->p[2], t->id);
    emit_open(e, "if (member) {");
    emit_line(e, "const uint64_t *data = member->data;");
    emit_open(e, "switch (member->action) {");
    for (unsigned i = 0; i < t->profile->actions.n; i++) {
        const struct ir_action *a = t->profile->actions.v[i].action;
        emit_line(e, "case %u:", i);
        e->to->indent++;
        emit_trace_table(e, t, emit_text(e, "%u", emit_action_index(t, a)));
        emit_line(e, "r |= %u;", emit_action_index(t, a));
        run_action(e, a, args_from_data(e, a));
        emit_line(e, "break;");
        e->to->indent--;
    }
    emit_line(e, "default:");
    emit_line(e, "    break;");
    emit_close(e, "}");
    emit_close(e, "} else {");
    e->to->indent++;
    dispatch_entry(e, t);
    e->to->indent--;
    emit_line(e, "}");
}

// --------------------------------------------------------------------------------------------
// Actions of entries that are branches.

static const char *const_args(const struct emit *e, const struct ir_action *a, const big *values,
                              size_t n) {
    const char *args = "";
    for (size_t i = 0; i < a->params.n; i++) {
        big value = i < n ? values[i] : big_u64(e->a, 0);
        unsigned width = a->params.v[i].var->width;
        args = emit_text(e, "%s, %s", args,
                         plan_is_wide(width) ? emit_wide_const(e, value, width)
                                             : emit_const(e, value, width));
    }
    return args;
}

bool emit_counts_hits(const struct emit *e, const struct ir_table *t) {
    const struct plan_table *p = &e->plan->tables[t->id];
    return p->branches && !p->needs_entry;
}

// When an entry was hit last is of use where something can come of it: what is the program's own
// for good does not age (stages/table.h, sk_table_tells_last_hit).
static void count_hit(const struct emit *e, const struct ir_table *t, size_t position) {
    const struct plan_table *p = &e->plan->tables[t->id];
    const char *at =
        p->lane_table ? emit_text(e, "s->%c_lane_hits%u[%zu]", e->p[2], p->lane_table,
                                  position * e->plan->lane_tables.v[p->lane_table - 1].n + p->lane)
                      : emit_text(e, "s->%c_hits%u[%zu]", e->p[2], p->leader, position);
    const bool own = position < t->entries.n ? t->const_entries : t->const_default || t->hidden;
    const bool timed = !own || t->idle_timeout;
    if (timed)
        emit_line(e, "SK_HIT(%s.hits, %s.last, v->now);", at, at);
    else
        emit_line(e, "%s.hits++;", at);
    emit_note_hit(e, t, emit_text(e, "%s.hits", at), timed ? emit_text(e, "%s.last", at) : NULL);
}

static void const_action(const struct emit *e, const struct ir_action *a, const big *args,
                         size_t n) {
    if (a->body && a->body->stmts.n)
        run_action(e, a, const_args(e, a, args, n));
}

static void fixed_entry(const struct emit *e, const struct ir_table *t, size_t position) {
    const struct ir_entry *entry = t->entries.v[position];
    emit_line(e, "r = SK_APPLY_HIT | %u;", emit_action_index(t, entry->action));
    if (emit_counts_hits(e, t)) {
        count_hit(e, t, position);
    } else {
        emit_line(e, "entry = %s->fixed[%zu];", emit_table_ref(e, t), position);
        emit_line(e, "SK_HIT(entry->hits, entry->last_hit, v->now);");
        emit_note_hit(e, t, "entry->hits", "entry->last_hit");
    }
    const_action(e, entry->action, entry->args.v, entry->args.n);
}

static void miss(const struct emit *e, const struct ir_table *t) {
    bool fixed = e->plan->tables[t->id].fixed, counted = fixed && emit_counts_hits(e, t);
    if (counted) {
        count_hit(e, t, t->entries.n);
    } else {
        emit_line(e, "entry = sk_load_slot(&%s->dflt);", emit_table_ref(e, t));
        emit_line(e, "SK_HIT(entry->hits, entry->last_hit, v->now);");
        emit_note_hit(e, t, "entry->hits", "entry->last_hit");
    }
    if (!fixed || e->checked) {
        emit_table_dispatch(e, t);
        return;
    }
    emit_line(e, "r = %u;", emit_action_index(t, t->default_action));
    const_action(e, t->default_action, t->default_args.v, t->default_args.n);
}

// ---- a fused group: the leader's branches, in each of them every table's action ----

static void each_of_group(const struct emit *e, const struct ir_table *leader,
                          void (*fn)(const struct emit *e, const struct ir_table *t,
                                     size_t position),
                          size_t position) {
    const struct plan *p = e->plan;
    for (unsigned id = leader->id;; id = p->tables[id].next) {
        fn(e, e->g->tables.v[id], position);
        if (p->tables[id].next == id)
            break;
    }
}

static void tail(const struct emit *e, const struct ir_table *t) {
    const struct plan_table *p = &e->plan->tables[t->id];
    for (size_t i = 0; i < p->n_tail; i++)
        emit_stmt(e, p->tail[i]);
}

static void entry_action(const struct emit *e, const struct ir_table *t, size_t position) {
    const struct ir_entry *entry = t->entries.v[position];
    const_action(e, entry->action, entry->args.v, entry->args.n);
    tail(e, t);
}

static void emit_table_default_action(const struct emit *e, const struct ir_table *t,
                                      size_t position) {
    (void)position;
    const_action(e, t->default_action, t->default_args.v, t->default_args.n);
    tail(e, t);
}

static bool emit_table_loop(const struct emit *e, const struct ir_table *leader, size_t position) {
    const struct plan_table *p = &e->plan->tables[leader->id];
    if (emit_note_sunk(e, leader, position))
        return true;
    if (!p->loops || !p->loops[position])
        return false;
    emit_lane_loop(e, p->loops[position]);
    return true;
}

static void group_hit(const struct emit *e, const struct ir_table *t, size_t position) {
    count_hit(e, t, position);
    if (!emit_table_loop(e, t, position))
        each_of_group(e, t, entry_action, position);
}

static void group_miss(const struct emit *e, const struct ir_table *t) {
    count_hit(e, t, t->entries.n);
    if (!emit_table_loop(e, t, t->entries.n))
        each_of_group(e, t, emit_table_default_action, 0);
}

void emit_fused(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_table *leader = s->table;
    static const struct emit_chain chain = {group_hit, group_miss};
    emit_open(e, "{ // %s and %u tables like it", emit_comment(e, leader->name),
              e->plan->tables[leader->id].followers);
    emit_line(e, "struct sk_entry *const entry = NULL; // none of the actions uses it");
    if (leader->keys.n)
        emit_branches(e, leader, s->known, &chain);
    else
        group_miss(e, leader);
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------

static void lookup_word(const struct emit *e, const char *table, const char *word,
                        const char *last) {
    if (last)
        emit_line(e, "entry = sk_lookup_again(%s, %s, %s);", table, word, last);
    else
        emit_line(e, "entry = sk_lookup_u64(%s, %s);", table, word);
}

// A table that has nothing but one number for each key is filled as a whole where it is large
// (sk_table_may_be_filled): the number is read where it stands, and no entry is looked at. Whoever
// watches sees the entry, as of any table.
static void table_flat_lookup(const struct emit *e, const struct ir_table *t) {
    const struct ir_action *a = plan_only_action(t);
    const unsigned width = a->params.v[0].var->width;
    emit_line(e, "const uint%u_t *const flat = sk_lookup_flat(%s);", width <= 16 ? 16 : 32,
              emit_table_ref(e, t));
    emit_open(e, "if (__builtin_expect(flat != NULL, 1)) {");
    emit_line(e, "const %s value = (%s)flat[key[0]];", emit_storage(width), emit_storage(width));
    emit_line(e, "r = SK_APPLY_HIT | %u;", emit_action_index(t, a));
    run_action(e, a, ", value");
    emit_line(e, "return r;");
    emit_close(e, "}");
}

static void emit_table_lookup(const struct emit *e, const struct ir_table *t) {
    emit_open(e, "const uint64_t key[%u] = {", key_words(t));
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_expr *x = t->keys.v[i].expr;
        for (unsigned w = 0; w < (x->width + 63) / 64; w++)
            emit_line(e, "%s, // %s", emit_word(e, x, w), emit_comment(e, t->keys.v[i].name));
    }
    emit_close(e, "};");
    emit_checked_key(e, t);
    if (plan_may_be_filled(e->plan, t))
        table_flat_lookup(e, t);
    const char *ref = emit_table_ref(e, t);
    bool exact = is_exact(t);
    const bool by_word = is_found_by_word(e, t);
    // one of a profile keeps the place of its member; one that is looked up ahead has other keys
    // each time
    const bool again = !t->profile && t != e->plan->prefetch.table;
    const char *last = emit_text(e, "&s->%c_last[%u]", e->p[2], t->id);
    if (by_word)
        emit_line(e, "const uint64_t word = %s_t%u_proxy(key);", e->p, t->id);
    if (t == e->plan->prefetch.table) {
        emit_line(e, "entry = v->ahead;");
        emit_line(e, "if (!sk_is_entry(entry, %s, %u))", by_word ? "&word" : "key",
                  by_word ? 1 : key_words(t));
    }
    if (by_word) {
        lookup_word(e, ref, "word", again ? last : NULL);
    } else if (t->key_masks) {
        emit_line(e, "entry = sk_table_lookup(%s, key);", ref);
    } else if (exact && t->keys.n == 1 && t->keys.v[0].expr->width <= PLAN_MAX_INDEX)
        emit_line(e, "entry = sk_lookup_index(%s, key[0]);", ref);
    else if (exact && key_words(t) == 1)
        lookup_word(e, ref, "key[0]", again ? last : NULL);
    else if (exact && again)
        emit_line(e, "entry = sk_lookup_key_again(%s, key, %u, %s);", ref, key_words(t), last);
    else if (exact)
        emit_line(e, "entry = sk_lookup_hash(%s, key, %u);", ref, key_words(t));
    else
        emit_line(e, "entry = sk_lookup_filled(%s, key);", ref);
    emit_open(e, "if (entry) {");
    emit_line(e, "r = SK_APPLY_HIT;");
    emit_close(e, "} else {");
    emit_line(e, "    entry = sk_load_slot(&%s->dflt);", ref);
    emit_line(e, "}");
    emit_line(e, "SK_HIT(entry->hits, entry->last_hit, v->now);");
    emit_note_hit(e, t, "entry->hits", "entry->last_hit");
    emit_table_dispatch(e, t);
}

static struct emit emit_of_table(const struct emit *e, const struct ir_table *t) {
    struct emit of = emit_of_user(e, t);
    of.at = t->at;
    return of;
}

static void emit_table_one(const struct emit *e, const struct ir_table *t) {
    emit_line(e, " ");
    emit_line(e, "// table %s", emit_comment(e, t->name));
    emit_open(e, "%s uint32_t %s_table%u(struct p%u_state *s, struct %s_phv *restrict v) {",
              emit_inline(e), e->p, t->id, e->pipeline_index, e->p);
    const struct emit of = emit_of_table(e, t);
    emit_line(e, "uint32_t r = 0;");
    emit_line(e, "struct sk_entry *entry = NULL;");
    if (t->keys.n == 0)
        miss(&of, t);
    else if (e->plan->tables[t->id].branches)
        emit_branches(&of, t, NULL, &(struct emit_chain){fixed_entry, miss});
    else
        emit_table_lookup(&of, t);
    emit_line(e, "return r;");
    emit_close(e, "}");
}

void emit_table_filled(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_table *t = s->table;
    const struct emit of = emit_of_table(e, t);
    const struct ir_action *a = plan_only_action(t);
    const unsigned width = a->params.v[0].var->width;
    emit_open(&of, "{ // table %s", emit_comment(e, t->name));
    emit_line(&of, "struct sk_entry *const entry = NULL;");
    emit_line(&of, "const uint%u_t *const filled = sk_filled_told(&s->%c_filled%u);",
              width <= 16 ? 16 : 32, e->p[2], t->id);
    emit_line(&of, "const %s value = (%s)filled[%s];", emit_storage(width), emit_storage(width),
              emit_word(&of, t->keys.v[0].expr, 0));
    run_action(&of, a, ", value");
    emit_close(&of, "}");
}

void emit_table_here(const struct emit *e, const struct ir_stmt *s) {
    const struct emit of = emit_of_table(e, s->table);
    emit_line(e, "struct sk_entry *entry = NULL;");
    emit_branches(&of, s->table, s->known, &(struct emit_chain){fixed_entry, miss});
}

void emit_tables(const struct emit *e) {
    const struct plan *p = e->plan;
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (p->tables[i].leader == i && p->tables[i].followers == 0)
            emit_table_one(e, e->g->tables.v[i]);
}
