// SPDX-License-Identifier: Apache-2.0
//
// trace: the events of a traced program, statement by statement. See instrument.h.
#include "compiler/instrument/instrument_impl.h"

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#include <string.h>

struct trace {
    struct arena *a;
    struct ir_gress *g;             // the copy
    const struct ir_action *action; // whose body is instrumented; null: it is not an action's
    // where statements are inserted
    struct ir_block *out;
    struct loc at;
};

// An event while its values are collected.
struct trace_event {
    struct ir_event *event;
    ir_expr_vec args;
    struct ir_expr *number, *flag;
};

// What is known of a register before the statement that accesses it.
struct trace_access {
    const struct ir_register *reg;
    struct ir_expr *index, *cell; // null: it is direct
};

// --------------------------------------------------------------------------------------------
// What is inserted.

static struct ir_stmt *trace_insert(struct trace *t, enum ir_stmt_kind kind) {
    struct ir_stmt *s = ir_stmt_new(t->a, kind, t->at);
    ir_push(t->a, t->out, s);
    return s;
}

static struct ir_var *trace_new_var(struct trace *t, unsigned width) {
    const char *name = arena_printf(t->a, "$seen%zu", t->g->vars.n);
    return instrument_new_var(t->a, t->g, name, width, t->at);
}

// What 'x' is now, for later.
static struct ir_expr *trace_keep(struct trace *t, struct ir_expr *x) {
    if (ir_is_const(x))
        return x;
    struct ir_stmt *s = trace_insert(t, IR_ASSIGN);
    s->var = trace_new_var(t, x->width);
    s->e = x;
    return ir_ref(t->a, s->var);
}

static struct trace_event trace_new_event(struct trace *t, enum ir_event_kind kind,
                                          const char *name, const char *text) {
    struct trace_event ev = {.event = ARENA_NEW(t->a, struct ir_event)};
    *ev.event = (struct ir_event){.kind = kind, .name = name, .text = text};
    return ev;
}

static void trace_add(struct trace *t, struct trace_event *ev, struct ir_event_value value,
                      struct ir_expr *x) {
    VEC_PUSH(t->a, &ev->event->values, value);
    VEC_PUSH(t->a, &ev->args, x);
}

static void trace_tell(struct trace *t, const struct trace_event *ev) {
    struct ir_stmt *s = trace_insert(t, IR_TRACE);
    s->event = ev->event;
    s->args = ev->args;
    s->e2 = ev->number;
    s->e3 = ev->flag;
}

static void trace_tell_name(struct trace *t, enum ir_event_kind kind, const char *name,
                            const char *text) {
    const struct trace_event ev = trace_new_event(t, kind, name, text);
    trace_tell(t, &ev);
}

// --------------------------------------------------------------------------------------------
// Values.

static bool trace_is_signed(const struct ir_expr *x) {
    return x->op == IR_VAR && x->var->is_signed;
}

static struct ir_event_value trace_value_of(struct trace *t, const struct ir_expr *x) {
    return (struct ir_event_value){ir_source_text(t->a, x), trace_is_signed(x)};
}

static bool trace_overwrites(const struct ir_stmt *s, const struct ir_expr *x) {
    const struct ir_var *results[IR_MAX_RESULTS];
    bool some = false;
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        some |= ir_mentions(x, results[i]);
    return some;
}

// Before 's', of which 'x' is an operand.
static void trace_add_operand(struct trace *t, struct trace_event *ev, const struct ir_stmt *s,
                              struct ir_expr *x) {
    if (x)
        trace_add(t, ev, trace_value_of(t, x), trace_overwrites(s, x) ? trace_keep(t, x) : x);
}

// Inserted after the statement whose result 'v' is; null: the statement has no such result.
static void trace_add_result(struct trace *t, struct trace_event *ev, struct ir_var *v) {
    if (!v)
        return;
    struct ir_expr *x = ir_ref(t->a, v);
    trace_add(t, ev, trace_value_of(t, x), x);
}

// --------------------------------------------------------------------------------------------
// Registers.

static struct ir_register *trace_register_of(const struct ir_stmt *s) {
    return s->regaction ? s->regaction->reg : s->reg;
}

// As the action sees the word, or the register's type says.
static bool trace_word_is_signed(const struct ir_stmt *s, unsigned w) {
    const struct ir_regaction *ra = s->regaction;
    return ra && ra->words == ra->reg->words && ra->value[w] ? ra->value[w]->is_signed
                                                             : trace_register_of(s)->is_signed;
}

static uint64_t trace_cell_bits(const struct ir_regaction *ra) {
    return (uint64_t)ra->width * ra->words;
}

static struct ir_expr *trace_index(struct trace *t, const struct ir_stmt *s) {
    const struct ir_register *r = trace_register_of(s);
    if (s->e)
        return trace_keep(t, ir_resize(t->a, s->e, 64, false));
    const uint64_t cells = r->size * r->width * r->words / trace_cell_bits(s->regaction);
    struct ir_stmt *next = trace_insert(t, IR_NEXT_CELL);
    next->reg = trace_register_of(s);
    next->use = s->use;
    next->e = ir_const_u64(t->a, 64, cells);
    next->var = trace_new_var(t, 64);
    return ir_ref(t->a, next->var);
}

// The register's own cell that the action's lies in; the first, when it spans several. Sizes of
// cells are powers of two.
static struct ir_expr *trace_own_cell(struct trace *t, const struct ir_stmt *s,
                                      struct ir_expr *index) {
    const struct ir_register *r = trace_register_of(s);
    const uint64_t own = (uint64_t)r->width * r->words;
    uint64_t seen = s->regaction ? trace_cell_bits(s->regaction) : own;
    unsigned shift = 0;
    const enum ir_op op = seen < own ? IR_LSHR : IR_SHL;
    for (; seen < own; seen *= 2)
        shift++;
    for (; seen > own; seen /= 2)
        shift++;
    return shift ? ir_binary(t->a, op, index, ir_const_u64(t->a, 64, shift)) : index;
}

// Adds the words of the register's cell as they are now. An action that sees cells of another size
// shows the words that it works on. Returns how many there are.
static size_t trace_add_cell(struct trace *t, struct trace_event *ev, const struct ir_stmt *s,
                             const struct trace_access *at) {
    struct ir_register *r = trace_register_of(s);
    struct ir_stmt *read = trace_insert(t, IR_REG_READ);
    read->reg = r;
    read->e = at->cell;
    read->var = trace_new_var(t, r->width);
    read->var2 = r->words > 1 ? trace_new_var(t, r->width) : NULL;
    struct ir_expr *const words[] = {ir_ref(t->a, read->var),
                                     read->var2 ? ir_ref(t->a, read->var2) : NULL};
    if (r->wide) { // one value
        trace_add(t, ev, (struct ir_event_value){"value", false},
                  ir_binary(t->a, IR_CONCAT, words[1], words[0]));
        return 1;
    }
    for (unsigned w = 0; w < r->words; w++) {
        const char *name = r->words == 1      ? "value"
                           : r->word_names[w] ? r->word_names[w]
                           : w                ? "1"
                                              : "0";
        trace_add(t, ev, (struct ir_event_value){name, trace_word_is_signed(s, w)}, words[w]);
    }
    return r->words;
}

static struct trace_event trace_before_access(struct trace *t, const struct ir_stmt *s,
                                              struct trace_access *at) {
    const struct ir_register *r = trace_register_of(s);
    const char *how = s->kind == IR_REG_READ    ? "read"
                      : s->kind == IR_REG_WRITE ? "write"
                                                : s->regaction->name;
    struct trace_event ev = trace_new_event(t, IR_EVENT_REGISTER, r->name, how);
    if (!r->direct) {
        at->index = trace_index(t, s);
        at->cell = trace_own_cell(t, s, at->index);
    }
    ev.number = at->index ? at->index : ir_const_u64(t->a, 64, UINT64_MAX);
    ev.event->n_in = trace_add_cell(t, &ev, s, at);
    return ev;
}

static void trace_after_access(struct trace *t, const struct ir_stmt *s, struct trace_event *ev,
                               const struct trace_access *at) {
    ev->event->n_out = trace_add_cell(t, ev, s, at);
    trace_add_result(t, ev, s->var);
    trace_add_result(t, ev, s->var2);
    trace_tell(t, ev);
}

// --------------------------------------------------------------------------------------------
// Other statements that have an event.

static struct trace_event trace_event_of(struct trace *t, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_COUNT:
        return trace_new_event(t, IR_EVENT_COUNTER, s->counter->name, NULL);
    case IR_METER_EXEC:
        return trace_new_event(t, IR_EVENT_METER, s->meter->name, NULL);
    case IR_HASH:
        return trace_new_event(t, IR_EVENT_HASH, s->hash->name, NULL);
    case IR_RANDOM:
        return trace_new_event(t, IR_EVENT_VALUE, s->random->name, "random");
    case IR_CSUM_ADD:
        return trace_new_event(t, IR_EVENT_CHECKSUM, s->checksum->name, "add");
    case IR_CSUM_SUBTRACT:
        return trace_new_event(t, IR_EVENT_CHECKSUM, s->checksum->name, "subtract");
    case IR_CSUM_VERIFY:
        return trace_new_event(t, IR_EVENT_CHECKSUM, s->checksum->name, "verify");
    case IR_CSUM_GET:
        return trace_new_event(t, IR_EVENT_CHECKSUM, s->checksum->name, "get");
    case IR_CSUM_UPDATE:
        return trace_new_event(t, IR_EVENT_CHECKSUM, s->checksum->name, "update");
    case IR_RESUBMIT:
        return trace_new_event(t, IR_EVENT_RESUBMIT, "resubmit", NULL);
    case IR_MIRROR: // in: session, header
        return trace_new_event(t, IR_EVENT_VALUE, "mirror", NULL);
    default:
        return trace_new_event(t, IR_EVENT_VALUE, s->digest->name, "digest");
    }
}

static struct trace_event trace_before_object(struct trace *t, const struct ir_stmt *s) {
    struct trace_event ev = trace_event_of(t, s);
    trace_add_operand(t, &ev, s, s->e);
    trace_add_operand(t, &ev, s, s->e2);
    trace_add_operand(t, &ev, s, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        trace_add_operand(t, &ev, s, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        trace_add_operand(t, &ev, s, s->csum_args.v[i].e);
    ev.event->n_in = ev.args.n;
    if (s->kind == IR_COUNT || s->kind == IR_METER_EXEC)
        ev.number =
            s->e ? ir_resize(t->a, ev.args.v[0], 64, false) : ir_const_u64(t->a, 64, UINT64_MAX);
    return ev;
}

// Only a valid resubmit_type asks for a resubmit (tna-facts 5.3).
static void trace_tell_resubmit(struct trace *t, const struct trace_event *ev) {
    const struct ir_var *type = t->g->intrinsic[IRI_RESUBMIT_TYPE];
    struct ir_block *const out = t->out;
    if (!type || !type->valid)
        return;
    struct ir_stmt *asked = trace_insert(t, IR_IF);
    asked->e = ir_ref(t->a, type->valid);
    asked->then_b = t->out = ir_block_new(t->a);
    trace_tell(t, ev);
    t->out = out;
}

static void trace_after_object(struct trace *t, const struct ir_stmt *s, struct trace_event *ev) {
    if (s->kind != IR_CSUM_GET) // known when the parser is done
        trace_add_result(t, ev, s->var);
    trace_add_result(t, ev, s->var2);
    ev->event->n_out = ev->args.n - ev->event->n_in;
    if (s->kind == IR_RESUBMIT)
        trace_tell_resubmit(t, ev);
    else
        trace_tell(t, ev);
}

static void trace_condition(struct trace *t, const struct ir_stmt *s) {
    if (!s->text)
        return;
    const enum ir_event_kind kind = s->kind == IR_IF ? IR_EVENT_CONDITION : IR_EVENT_SWITCH;
    struct trace_event ev = trace_new_event(t, kind, NULL, s->text);
    if (s->kind == IR_IF)
        ev.flag = s->e;
    else
        trace_add(t, &ev, (struct ir_event_value){s->text, trace_is_signed(s->e)}, s->e);
    ev.event->n_in = ev.args.n;
    trace_tell(t, &ev);
}

// Who wants to know where a packet was dropped has to know who was the last to ask for it.
static void trace_assignment(struct trace *t, const struct ir_stmt *s) {
    if (s->var != t->g->intrinsic[IRI_DROP_CTL])
        return;
    struct trace_event ev =
        trace_new_event(t, IR_EVENT_DROP_CTL, t->action ? t->action->name : NULL, NULL);
    ev.number = ir_ref(t->a, s->var);
    trace_tell(t, &ev);
}

// --------------------------------------------------------------------------------------------
// Parser.

static void trace_extracted(void *aux, const struct ir_header *h) {
    struct trace *t = aux;
    struct trace_event ev =
        trace_new_event(t, IR_EVENT_EXTRACT, instrument_shown_name(t->a, h->name), NULL);
    ev.event->header = h;
    trace_tell(t, &ev);
}

static const char *trace_key_set_text(struct trace *t, const struct ir_select_key_set *s,
                                      unsigned width) {
    if (s->set)
        return arena_printf(t->a, "value set %s", s->set->name);
    const char *value = big_str(t->a, s->value, 16);
    if (s->high)
        return arena_printf(t->a, "%s..%s", value, big_str(t->a, s->high, 16));
    big one = big_u64(t->a, 1);
    if (!s->mask || big_cmp(s->mask, big_sub(t->a, big_shl(t->a, one, width), one)) == 0)
        return value;
    if (big_sign(s->mask) == 0)
        return "_";
    return arena_printf(t->a, "%s &&& %s", value, big_str(t->a, s->mask, 16));
}

static const char *trace_case_text(struct trace *t, const struct ir_state *st,
                                   const struct ir_select_case *c) {
    const char *text = c->sets.n ? "" : "default";
    for (size_t i = 0; i < c->sets.n; i++)
        text = arena_printf(t->a, "%s%s%s", text, i ? ", " : "",
                            trace_key_set_text(t, &c->sets.v[i], st->keys.v[i]->width));
    return text;
}

static void trace_select(struct trace *t, struct ir_state *st) {
    if (!st->keys.n)
        return;
    struct trace_event ev = trace_new_event(t, IR_EVENT_SELECT, st->name, NULL);
    for (size_t i = 0; i < st->keys.n; i++) {
        struct ir_event_value value = trace_value_of(t, st->keys.v[i]);
        if (i < st->key_texts.n)
            value.name = st->key_texts.v[i];
        trace_add(t, &ev, value, st->keys.v[i]);
    }
    ev.event->n_in = ev.args.n;
    trace_tell(t, &ev);
}

// --------------------------------------------------------------------------------------------
// Blocks.

static void trace_block(struct trace *t, struct ir_block *b);

static void trace_accessed(struct trace *t, struct ir_stmt *s) {
    struct trace_access at = {0};
    struct trace_event ev = trace_before_access(t, s, &at);
    ir_push(t->a, t->out, s);
    trace_after_access(t, s, &ev, &at);
}

static void trace_object(struct trace *t, struct ir_stmt *s) {
    struct trace_event ev = trace_before_object(t, s);
    ir_push(t->a, t->out, s);
    trace_after_object(t, s, &ev);
}

static void trace_advance(struct trace *t, struct ir_stmt *s) {
    struct trace_event ev = trace_new_event(t, IR_EVENT_ADVANCE, NULL, NULL);
    ev.number = trace_keep(t, s->e);
    ir_push(t->a, t->out, s);
    trace_tell(t, &ev);
}

static void trace_nested(struct trace *t, struct ir_stmt *s) {
    ir_push(t->a, t->out, s);
    trace_block(t, s->then_b);
    trace_block(t, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        trace_block(t, s->cases.v[i].body);
}

// No default: a new kind is decided upon here.
static void trace_by_kind(struct trace *t, struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
        ir_push(t->a, t->out, s);
        trace_assignment(t, s);
        break;
    case IR_IF:
    case IR_SWITCH:
        trace_condition(t, s);
        trace_nested(t, s);
        break;
    case IR_BLOCK:
        trace_nested(t, s);
        break;
    case IR_RAISE:
        trace_tell_name(t, IR_EVENT_TRANSITION, "error", "raised");
        ir_push(t->a, t->out, s);
        break;
    case IR_EXTRACT:
        ir_push(t->a, t->out, s);
        instrument_extracted(t->a, &t->out, t->at, s, trace_extracted, t);
        break;
    case IR_ADVANCE:
        trace_advance(t, s);
        break;
    case IR_REG_EXEC:
    case IR_REG_READ:
    case IR_REG_WRITE:
        trace_accessed(t, s);
        break;
    case IR_COUNT:
    case IR_METER_EXEC:
    case IR_HASH:
    case IR_RANDOM:
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
    case IR_CSUM_UPDATE:
    case IR_RESUBMIT:
    case IR_MIRROR:
    case IR_DIGEST:
        trace_object(t, s);
        break;
    case IR_APPLY: // who runs it tells of it
    case IR_EMIT:
    case IR_LEAVE:
    case IR_EXIT:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_COUNT_LEAVING:
    case IR_REPORT: // an event of its own
    case IR_NOTE:
    case IR_TRACE:
    case IR_NEXT_CELL:
        ir_push(t->a, t->out, s);
        break;
    }
}

static void trace_stmts(struct trace *t, const struct ir_block *b) {
    for (size_t i = 0; i < b->stmts.n; i++) {
        const struct loc at = t->at;
        if (b->stmts.v[i]->at.line)
            t->at = b->stmts.v[i]->at;
        trace_by_kind(t, b->stmts.v[i]);
        t->at = at;
    }
}

static void trace_block(struct trace *t, struct ir_block *b) {
    struct ir_block *const out = t->out;
    if (!b)
        return;
    t->out = ir_block_new(t->a);
    trace_stmts(t, b);
    *b = *t->out;
    t->out = out;
}

static void trace_state(struct trace *t, struct ir_state *st) {
    VEC(struct ir_select_case) cases = {0};
    struct ir_block *const body = t->out = ir_block_new(t->a);
    t->at = st->at;
    if (!strchr(st->name, '$')) // which lowering added
        trace_tell_name(t, IR_EVENT_STATE, st->name, NULL);
    if (st->body)
        trace_stmts(t, st->body);
    trace_select(t, st);
    st->body = body;
    for (size_t i = 0; i < st->cases.n; i++) {
        struct ir_select_case c = st->cases.v[i];
        c.text = trace_case_text(t, st, &c);
        VEC_PUSH(t->a, &cases, c);
    }
    st->cases.v = cases.v;
    st->cases.cap = cases.cap;
}

static void trace_deparser(struct trace *t) {
    struct ir_block *const body = t->out = ir_block_new(t->a);
    t->at = (struct loc){0};
    trace_tell_name(t, IR_EVENT_DEPARSE, NULL, NULL);
    if (t->g->deparser)
        trace_stmts(t, t->g->deparser);
    t->g->deparser = body;
}

static struct ir_gress trace_gress(struct arena *a, const struct ir_gress *from) {
    struct ir_gress g = instrument_copy(a, from, NULL);
    struct trace t = {.a = a, .g = &g};
    g.traced = true;
    for (size_t i = 0; i < g.states.n; i++)
        trace_state(&t, g.states.v[i]);
    t.at = (struct loc){0};
    for (size_t i = 0; i < g.regactions.n; i++)
        trace_block(&t, g.regactions.v[i]->body);
    for (size_t i = 0; i < g.actions.n; i++) {
        t.action = g.actions.v[i];
        trace_block(&t, t.action->body);
    }
    t.action = NULL;
    for (size_t i = 0; i < g.tables.n; i++) {
        t.at = g.tables.v[i]->at;
        trace_block(&t, g.tables.v[i]->select);
    }
    t.at = (struct loc){0};
    trace_block(&t, g.control);
    trace_deparser(&t);
    return g;
}

struct ir_pipeline *instrument_trace(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt) {
    (void)program, (void)opt;
    return instrument_gresses(a, pl, trace_gress);
}
