// SPDX-License-Identifier: Apache-2.0
//
// sunk_loops: loops that run when it is known what becomes of the packet, as C
// (compiler/plan/sunk_loops.c).
#include "compiler/ir/effects.h"
#include "compiler/print/lane_loop.h"

static bool emit_sunk_loop_same_args(const struct ir_table *t, size_t a, size_t b) {
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
static size_t first_like(const struct emit *e, const struct ir_table *leader, size_t position) {
    for (size_t i = 0; i < position; i++) {
        bool same = true;
        for (const struct ir_table *t = leader; t && same; t = plan_next_of_group(e->plan, t))
            same = plan_action_at(t, i) == plan_action_at(t, position) &&
                   emit_sunk_loop_same_args(t, i, position);
        if (same)
            return i;
    }
    return position;
}

static bool any_sunk(const struct emit *e) {
    bool any = e->plan->only_sunk != NULL;
    for (size_t i = 0; i < e->plan->runs.n; i++)
        any |= e->plan->runs.v[i].last;
    return any;
}

void emit_sunk_members(const struct emit *e) {
    const struct plan *p = e->plan;
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (p->tables[i].last)
            emit_line(e, "uint8_t last%zu; // which loop of %s is to run, plus one", i,
                      emit_comment(e, e->g->tables.v[i]->name));
    for (size_t i = 0; i < p->runs.n; i++)
        if (p->runs.v[i].last)
            emit_lane_waiting(e, i);
}

bool emit_note_sunk(const struct emit *e, const struct ir_table *leader, size_t position) {
    const struct plan_table *p = &e->plan->tables[leader->id];
    if (!p->last)
        return false;
    if (p->loops[position])
        emit_line(e, "v->last%u = %zu; // %s and %u more", leader->id,
                  first_like(e, leader, position) + 1, emit_comment(e, p->loops[position]->name),
                  p->loops[position]->count - 1);
    return true;
}

// C text: one of the headers that the loop writes leaves with the packet. Empty: it writes to none.
static const char *leaves_with(const struct emit *e, const struct plan_lanes *l) {
    const char *text = "";
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        if (t->written && t->wire)
            text = emit_text(e, "%s%s%s", text, *text ? " || " : "",
                             emit_ref(e, t->of[0]->header->valid));
    }
    return text;
}

// Does the loop change registers? Otherwise there is nothing to do where its results are not
// needed.
static bool changes_registers(const struct emit *e, const struct plan_lanes *l) {
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

static const char *function_name(const struct emit *e, size_t table, size_t position, bool keeps) {
    return emit_text(e, "%s_loop%zu_%zu%s", e->p, table, position + 1, keeps ? "" : "_only");
}

// The functions of a loop: with its results, and without them.
static void functions(const struct emit *e, const struct plan_lanes *l, size_t table,
                      size_t position) {
    if (*leaves_with(e, l))
        emit_lane_function(e, l, EMIT_STORES_BUFFERED, function_name(e, table, position, true));
    if (changes_registers(e, l))
        emit_lane_function(e, l, EMIT_STORES_NOTHING, function_name(e, table, position, false));
}

static void emit_sunk_loop_call(const struct emit *e, const struct plan_lanes *l, size_t table,
                                size_t position) {
    const char *header = leaves_with(e, l);
    const bool changes = changes_registers(e, l);
    if (*header) {
        emit_open(e, "if (leaves && (%s)) {", header);
        emit_lane_call(e, l, EMIT_STORES_BUFFERED, function_name(e, table, position, true));
        emit_close(e, changes ? "} else {" : "}");
    }
    if (changes) {
        e->to->indent += *header != 0;
        emit_lane_call(e, l, EMIT_STORES_NOTHING, function_name(e, table, position, false));
        if (*header)
            emit_close(e, "}");
    }
}

static void each_loop(const struct emit *e, size_t i,
                      void (*fn)(const struct emit *e, const struct plan_lanes *l, size_t table,
                                 size_t position),
                      bool in_switch) {
    const struct ir_table *t = e->g->tables.v[i];
    const struct plan_table *p = &e->plan->tables[i];
    for (size_t k = 0; k <= t->entries.n; k++) {
        if (!p->loops[k] || first_like(e, t, k) != k)
            continue;
        if (in_switch)
            emit_line(e, "case %zu:", k + 1);
        e->to->indent += in_switch;
        fn(e, p->loops[k], i, k);
        if (in_switch)
            emit_line(e, "break;");
        e->to->indent -= in_switch;
    }
}

void emit_sunk_loops(const struct emit *e) {
    const struct plan *p = e->plan;
    if (!any_sunk(e))
        return;
    const struct emit of = emit_of_user(e, e->g->control);
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (p->tables[i].last)
            each_loop(&of, i, functions, false);
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
        each_loop(&of, i, emit_sunk_loop_call, true);
        emit_close(e, "}");
    }
    for (size_t i = 0; i < p->runs.n; i++) {
        if (!p->runs.v[i].last)
            continue;
        emit_open(e, "if (leaves && v->waits%zu && (%s)) {", i, leaves_with(e, p->runs.v[i].lanes));
        emit_lane_waited(&of, i);
        emit_close(e, "}");
    }
    emit_close(e, "}");
}

void emit_call_sunk_loops(const struct emit *e, bool leaves) {
    if (any_sunk(e))
        emit_line(e, "%s_last(s, v, %s);", e->p, emit_bool_text(leaves));
}
