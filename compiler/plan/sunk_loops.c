// SPDX-License-Identifier: Apache-2.0
//
// sunk_loops: loops over lanes that run when it is known what becomes of the packet.
//
// Most packets of an aggregation end in the switch, or are resubmitted as they were received: what their
// lanes would write into the packet is of no use to anybody. The tables that decide this stand behind the
// lanes. So a fused group of tables whose actions are loops only notes which loop it is, in phv, and the
// loop runs behind the deparser's statements: with its results stored into the packet where the packet
// leaves with that header, without them otherwise. What such loops write needs no copy of the header
// either when the packet may be asked for as it was received (in_place.c).
//
// That is exact when nothing behind the group looks at what the loops write, writes what they look at, uses
// their registers or puts a header of theirs into the packet. It is looked for in groups that stand in the
// control itself, not in an action or under another statement.
#include "compiler/ir/effects.h"
#include "compiler/print/lane_loop.h"

// --------------------------------------------------------------------------------------------
// Which groups.

static const struct ir_table *next_of_group(struct emit *e, const struct ir_table *t) {
    const struct emit_plan *p = emit_plan_of(e);
    return p->tables[t->id].next == t->id ? NULL : e->g->tables.v[p->tables[t->id].next];
}

static const struct ir_action *action_of(const struct ir_table *t, size_t position) {
    return position < t->entries.n ? t->entries.v[position]->action : t->default_action;
}

static bool same_args(const struct ir_table *t, size_t a, size_t b) {
    const bool in_a = a < t->entries.n, in_b = b < t->entries.n;
    const size_t n = in_a ? t->entries.v[a]->args.n : t->default_args.n;
    const big *x = in_a ? t->entries.v[a]->args.v : t->default_args.v;
    const big *y = in_b ? t->entries.v[b]->args.v : t->default_args.v;
    if (n != (in_b ? t->entries.v[b]->args.n : t->default_args.n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (big_cmp(x[i], y[i]))
            return false;
    return true;
}

// The first position of which the group does the same as of this one.
static size_t first_like(struct emit *e, const struct ir_table *leader, size_t position) {
    for (size_t i = 0; i < position; i++) {
        bool same = true;
        for (const struct ir_table *t = leader; t && same; t = next_of_group(e, t))
            same = action_of(t, i) == action_of(t, position) && same_args(t, i, position);
        if (same)
            return i;
    }
    return position;
}

static bool does_nothing(struct emit *e, const struct ir_table *leader, size_t position) {
    for (const struct ir_table *t = leader; t; t = next_of_group(e, t)) {
        const struct ir_block *b = action_of(t, position)->body;
        if ((b && b->stmts.n) || emit_plan_of(e)->tables[t->id].n_tail)
            return false;
    }
    return true;
}

static bool may_wait(const struct ir_effects *behind, const struct emit_lanes *l, bool *writes) {
    for (size_t i = 0; i < l->registers.n; i++)
        for (unsigned k = 0; k < l->count; k++)
            if (behind->registers[l->registers.v[i].of[k]->id])
                return false;
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        if (t->written && !t->varies)
            return false;
        if (t->written && t->wire && !emit_lane_field_is_plain(t))
            return false;
        *writes |= t->written && t->wire;
        for (unsigned k = 0; k < (t->varies ? l->count : 1); k++) {
            const struct ir_var *v = t->of[k];
            if (behind->assigned[v->id] || (t->written && behind->reads[v->id]) ||
                (v->header && ir_effects_may_add(behind, v->header)))
                return false;
        }
    }
    return true;
}

// 'i': the group's first statement in the control.
static bool group_may_wait(struct emit *e, const struct ir_table *leader, size_t i) {
    const struct emit_table *p = &emit_plan_of(e)->tables[leader->id];
    const struct ir_block *control = e->g->control;
    struct ir_effects behind = ir_effects_none(e->a, e->g);
    bool writes = false;
    for (i += (p->followers + 1) * (1 + p->n_tail); i < control->stmts.n; i++)
        ir_effects_add_stmt(&behind, control->stmts.v[i]);
    ir_effects_add_block(&behind, e->g->deparser);
    for (size_t k = 0; k <= leader->entries.n; k++)
        if (p->loops[k] ? !may_wait(&behind, p->loops[k], &writes) : !does_nothing(e, leader, k))
            return false;
    return writes;
}

// Fields that nothing but loops that wait writes.
static void only_last(struct emit *e, bool *only) {
    const struct ir_gress *g = e->g;
    const struct emit_plan *p = emit_plan_of(e);
    struct ir_effects others = ir_effects_none(e->a, g);
    for (size_t i = 0; i < g->tables.n; i++)
        others.has_table[i] = p->tables[p->tables[i].leader].last;
    ir_effects_add_parser(&others);
    ir_effects_add_block(&others, g->control);
    ir_effects_add_block(&others, g->deparser);
    for (size_t i = 0; i < g->vars.n; i++)
        only[i] = g->vars.v[i]->header && !others.assigned[i];
}

void emit_plan_last(struct emit *e) {
    struct emit_plan *p = emit_plan_of(e);
    const struct ir_block *control = e->g->control;
    bool any = false;
    for (size_t i = 0; control && i < control->stmts.n; i++) {
        const struct ir_expr *guard;
        const struct ir_stmt *s = emit_application(control->stmts.v[i], &guard);
        struct emit_table *t = s ? &p->tables[s->table->id] : NULL;
        if (!t || !t->followers || !t->loops)
            continue;
        t->last = group_may_wait(e, s->table, i);
        any |= t->last;
    }
    if (!any)
        return;
    p->only_last = ARENA_ARRAY(e->a, bool, e->g->vars.n + 1);
    only_last(e, p->only_last);
}

// What the loops load is looked at by a function of its own.
void emit_share_last(struct emit *e) {
    const struct emit_plan *p = emit_plan_of(e);
    for (size_t i = 0; i < e->g->tables.n; i++)
        for (size_t k = 0; p->tables[i].last && k <= e->g->tables.v[i]->entries.n; k++) {
            const struct emit_lanes *l = p->tables[i].loops[k];
            for (size_t n = 0; l && n < l->vars.n; n++)
                if (!l->vars.v[n].varies)
                    e->vars[l->vars.v[n].of[0]->id].shared = true;
        }
}

// --------------------------------------------------------------------------------------------
// Printing.

static bool any_last(struct emit *e) {
    return emit_plan_of(e)->only_last != NULL;
}

void emit_last_members(struct emit *e) {
    const struct emit_plan *p = emit_plan_of(e);
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (p->tables[i].last)
            emit_line(e, "uint8_t last%zu; // which loop of %s is to run, plus one", i,
                      emit_comment(e, e->g->tables.v[i]->name));
}

bool emit_note_last(struct emit *e, const struct ir_table *leader, size_t position) {
    const struct emit_table *p = &emit_plan_of(e)->tables[leader->id];
    if (!p->last)
        return false;
    if (p->loops[position])
        emit_line(e, "v->last%u = %zu; // %s and %u more", leader->id,
                  first_like(e, leader, position) + 1, emit_comment(e, p->loops[position]->name),
                  p->loops[position]->count - 1);
    return true;
}

// C text: one of the headers that the loop writes leaves with the packet. Empty: it writes to none.
static const char *leaves_with(struct emit *e, const struct emit_lanes *l) {
    const char *text = "";
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        if (t->written && t->wire)
            text = emit_text(e, "%s%s%s", text, *text ? " || " : "",
                             emit_ref(e, t->of[0]->header->valid));
    }
    return text;
}

// Does the loop change registers? Otherwise there is nothing to do where its results are not needed.
static bool changes_registers(struct emit *e, const struct emit_lanes *l) {
    struct ir_effects f = ir_effects_none(e->a, e->g);
    for (size_t i = 0; i < l->n_stmts; i++) {
        const struct ir_regaction *ra = l->stmts[i]->regaction;
        if (!ra)
            return true; // not looked into
        ir_effects_add_regaction(&f, ra);
        if (f.cells[ra->reg->id])
            return true;
    }
    return false;
}

static const char *function_name(struct emit *e, size_t table, size_t position, bool keeps) {
    return emit_text(e, "%s_loop%zu_%zu%s", e->p, table, position + 1, keeps ? "" : "_only");
}

// The functions of a loop: with its results, and without them.
static void functions(struct emit *e, const struct emit_lanes *l, size_t table, size_t position) {
    if (*leaves_with(e, l)) {
        e->lane_stores = EMIT_STORES_APART;
        emit_lane_function(e, l, function_name(e, table, position, true));
    }
    e->lane_stores = EMIT_STORES_NOTHING;
    if (changes_registers(e, l))
        emit_lane_function(e, l, function_name(e, table, position, false));
    e->lane_stores = EMIT_STORES;
}

static void call(struct emit *e, const struct emit_lanes *l, size_t table, size_t position) {
    const char *header = leaves_with(e, l);
    const bool changes = changes_registers(e, l);
    if (*header) {
        emit_open(e, "if (leaves && (%s)) {", header);
        emit_lane_call(e, l, function_name(e, table, position, true));
        emit_close(e, changes ? "} else {" : "}");
    }
    e->lane_stores = EMIT_STORES_NOTHING;
    if (changes) {
        e->indent += *header != 0;
        emit_lane_call(e, l, function_name(e, table, position, false));
        if (*header)
            emit_close(e, "}");
    }
    e->lane_stores = EMIT_STORES;
}

static void each_loop(struct emit *e, size_t i,
                      void (*fn)(struct emit *e, const struct emit_lanes *l, size_t table,
                                 size_t position),
                      bool in_switch) {
    const struct ir_table *t = e->g->tables.v[i];
    const struct emit_table *p = &emit_plan_of(e)->tables[i];
    for (size_t k = 0; k <= t->entries.n; k++) {
        if (!p->loops[k] || first_like(e, t, k) != k)
            continue;
        if (in_switch)
            emit_line(e, "case %zu:", k + 1);
        e->indent += in_switch;
        fn(e, p->loops[k], i, k);
        if (in_switch)
            emit_line(e, "break;");
        e->indent -= in_switch;
    }
}

void emit_last(struct emit *e) {
    const struct emit_plan *p = emit_plan_of(e);
    if (!any_last(e))
        return;
    e->user = e->g->control;
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (p->tables[i].last)
            each_loop(e, i, functions, false);
    emit_line(e, " ");
    emit_line(e, "// What waits until it is known whether the packet leaves.");
    emit_open(
        e, "%s void %s_last(struct p%u_state *s, struct %s_phv *restrict v, const bool leaves) {",
        emit_inline(e), e->p, e->pipeline_index, e->p);
    for (size_t i = 0; i < e->g->tables.n; i++) {
        if (!p->tables[i].last)
            continue;
        emit_open(e, "switch (v->last%zu) { // %s and %u tables like it", i,
                  emit_comment(e, e->g->tables.v[i]->name), p->tables[i].followers);
        each_loop(e, i, call, true);
        emit_close(e, "}");
    }
    emit_close(e, "}");
}

void emit_call_last(struct emit *e, bool leaves) {
    if (any_last(e))
        emit_line(e, "%s_last(s, v, %s);", e->p, emit_bool_text(leaves));
}
