// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/verify.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#include <stdlib.h>

// Where code stands: some statements are allowed in one of these only.
enum part { PARSER, CONTROL, DEPARSER };

struct label {
    unsigned number;
    const struct label *outer;
};

struct verify {
    struct arena *a;
    const struct ir_gress *g;
    enum part part;
    unsigned line;     // of the statement that is looked at
    const char *fault; // the first one
};

static void fault(struct verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct verify *v, const char *fmt, ...) {
    if (v->fault)
        return;
    va_list ap;
    va_start(ap, fmt);
    const char *what = arena_vprintf(v->a, fmt, ap);
    va_end(ap);
    v->fault = v->line ? arena_printf(v->a, "line %u: %s", v->line, what) : what;
}

static void ir_verify_need(struct verify *v, bool ok, const char *what) {
    if (!ok)
        fault(v, "%s", what);
}

// ---- what belongs to the gress ----

#define IS_LISTED(list, x) ((x)->id < (list).n && (list).v[(x)->id] == (x))

static void var(struct verify *v, const struct ir_var *x) {
    if (x && !IS_LISTED(v->g->vars, x))
        fault(v, "variable '%s' is not one of this gress, or has another number", x->name);
}

static void ir_verify_header(struct verify *v, const struct ir_header *h) {
    if (!h)
        fault(v, "a statement has no header");
    else if (!IS_LISTED(v->g->headers, h))
        fault(v, "header '%s' is not one of this gress, or has another number", h->name);
}

// ---- expressions ----

static unsigned ir_verify_width_of(const struct ir_expr *x) {
    return x ? x->width : 0;
}

// Operands that an operator has: three bits, of a, b and c.
static unsigned ir_verify_operands_of(enum ir_op op) {
    switch (op) {
    case IR_CONST:
    case IR_VAR:
    case IR_LOOKAHEAD:
    case IR_REG_PARAM:
        return 0;
    case IR_NOT:
    case IR_NEG:
    case IR_SLICE:
    case IR_ZEXT:
    case IR_SEXT:
    case IR_MATH_UNIT:
        return 1;
    case IR_COND:
        return 7;
    default:
        return 3;
    }
}

// The widths of operands and result agree.
static bool widths_agree(const struct ir_expr *x) {
    const unsigned w = x->width, a = ir_verify_width_of(x->a), b = ir_verify_width_of(x->b),
                   c = ir_verify_width_of(x->c);
    switch (x->op) {
    case IR_CONST:
        return x->value && big_sign(x->value) >= 0 && big_bits(x->value) <= w;
    case IR_VAR:
        return x->var && x->var->width == w;
    case IR_REG_PARAM:
        return x->param && x->param->width == w;
    case IR_LOOKAHEAD:
        return true;
    case IR_NOT:
    case IR_NEG:
    case IR_MATH_UNIT:
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        return a == w;
    case IR_CONCAT:
        return a + b == w;
    case IR_SLICE:
        return x->lo + w <= a;
    case IR_ZEXT:
    case IR_SEXT:
        return a < w;
    case IR_COND:
        return a == 1 && b == w && c == w;
    case IR_LAND:
    case IR_LOR:
        return a == 1 && b == 1 && w == 1;
    default:
        return a == b && w == (ir_is_condition(x->op) ? 1 : a);
    }
}

static void ir_verify_node(void *aux, const struct ir_expr *x) {
    struct verify *v = aux;
    const unsigned has = (x->a ? 1u : 0) | (x->b ? 2u : 0) | (x->c ? 4u : 0);
    ir_verify_need(v, x->width > 0, "an expression has no bits");
    if (has != ir_verify_operands_of(x->op))
        fault(v, "operator %d has operands that it does not take, or too few", (int)x->op);
    else if (!widths_agree(x))
        fault(v, "operator %d: the widths of %u bits and its operands do not agree", (int)x->op,
              x->width);
    ir_verify_need(v, x->op != IR_LOOKAHEAD || v->part == PARSER,
                   "a lookahead is not in the parser");
    if (x->op == IR_VAR)
        var(v, x->var);
}

static void expr(struct verify *v, const struct ir_expr *x) {
    ir_walk_expr(x, ir_verify_node, v);
}

// ---- statements ----

static void ir_verify_block(struct verify *v, const struct ir_block *b, const struct label *labels);

static void ir_verify_assign(struct verify *v, const struct ir_stmt *s) {
    if (!s->var || !s->e) {
        fault(v, "an assignment has no variable or no value");
        return;
    }
    const unsigned width = s->slice ? s->width : s->var->width;
    ir_verify_need(v, s->e->width == width,
                   "an assignment's value has another width than its variable");
    ir_verify_need(v, !s->slice || s->lo + s->width <= s->var->width,
                   "an assignment to a slice goes beyond its variable");
}

static void ir_verify_branches(struct verify *v, const struct ir_stmt *s,
                               const struct label *labels) {
    ir_verify_need(v, s->e != NULL, "an 'if' or 'switch' has no expression");
    ir_verify_need(v, s->kind != IR_IF || ir_verify_width_of(s->e) == 1,
                   "a condition is not one bit wide");
    ir_verify_block(v, s->then_b, labels);
    ir_verify_block(v, s->else_b, labels);
    for (size_t i = 0; i < s->cases.n; i++)
        ir_verify_block(v, s->cases.v[i].body, labels);
}

static void ir_verify_leave(struct verify *v, const struct ir_stmt *s, const struct label *labels) {
    while (labels && labels->number != s->label)
        labels = labels->outer;
    if (!labels || s->label == 0)
        fault(v, "a 'leave' names label %u, which no block around it carries", s->label);
}

static void execution(struct verify *v, const struct ir_stmt *s) {
    const struct ir_regaction *ra = s->regaction;
    if (!ra || !IS_LISTED(v->g->regactions, ra)) {
        fault(v, "a register action is missing, or is not one of this gress");
        return;
    }
    const bool index = s->use == IR_REG_INDEX && !ra->reg->direct;
    ir_verify_need(v, !s->e == !index,
                   "a register action has an index that it does not take, or none");
}

static void ir_verify_in_parser(struct verify *v) {
    ir_verify_need(v, v->part == PARSER, "a statement of the parser is somewhere else");
}

static void in_deparser(struct verify *v) {
    ir_verify_need(v, v->part == DEPARSER, "a statement of the deparser is somewhere else");
}

static void ir_verify_note(struct verify *v, const struct ir_stmt *s) {
    ir_verify_need(v, v->g->decides != NULL, "a note is in a gress that takes none");
    ir_verify_need(v, !s->e || s->e->width == 1, "a note's condition is not one bit wide");
    switch (s->noted) {
    case IR_NOTED_HEADER:
    case IR_NOTED_ORDER:
        ir_verify_in_parser(v);
        ir_verify_header(v, s->header);
        ir_verify_need(v, s->noted != IR_NOTED_ORDER || s->lo > 0, "a note has no place");
        break;
    case IR_NOTED_LOOKAHEAD:
        ir_verify_in_parser(v);
        ir_verify_need(v, s->args.n > 0, "a note of lookaheads has none");
        for (size_t i = 0; i < s->args.n; i++)
            ir_verify_need(v, s->args.v[i]->op == IR_LOOKAHEAD,
                           "a note of lookaheads has something else");
        break;
    case IR_NOTED_TAKEN:
        ir_verify_in_parser(v);
        if (!s->e2)
            ir_verify_header(v, s->header);
        ir_verify_need(v, !s->e2 || !s->header, "a note says twice what is taken");
        break;
    case IR_NOTED_SUMMED:
        ir_verify_in_parser(v);
        ir_verify_header(v, s->header);
        break;
    case IR_NOTED_VERIFIED:
        ir_verify_in_parser(v);
        ir_verify_need(v, s->checksum != NULL, "a note has no checksum");
        break;
    case IR_NOTED_REMOVED:
        ir_verify_header(v, s->header);
        break;
    case IR_NOTED_UNFIT:
        break;
    }
}

static void ir_verify_report(struct verify *v, const struct ir_stmt *s) {
    const struct ir_report *r = s->report;
    ir_verify_need(v, s->e && s->e->width == 1, "a report has no condition of one bit");
    ir_verify_need(v, r && r->blames.n == s->args.n + 1,
                   "a report has not a condition for each of its names but the last");
    for (size_t i = 0; i < s->args.n; i++)
        ir_verify_need(v, s->args.v[i]->width == 1, "a condition of a report is not one bit wide");
    ir_verify_need(v, !s->e3 == !(r && r->places), "a report has a place without its number");
    ir_verify_need(v, !r || !r->places || IS_LISTED(v->g->places, r->places),
                   "a report's places are not of this gress");
}

static void ir_verify_trace(struct verify *v, const struct ir_stmt *s) {
    const struct ir_event *x = s->event;
    ir_verify_need(v, v->g->traced, "an event is in a gress that is not traced");
    ir_verify_need(v, x && x->values.n == s->args.n && x->n_in + x->n_out <= s->args.n,
                   "an event has not a name for each of its values");
    ir_verify_need(v, !s->e3 || s->e3->width == 1, "an event's flag is not one bit wide");
    ir_verify_need(v, !x || (x->kind == IR_EVENT_EXTRACT) == (x->header != NULL),
                   "an event has a header and is not its extraction, or the other way round");
    if (x && (x->kind == IR_EVENT_EXTRACT || x->kind == IR_EVENT_ADVANCE)) {
        ir_verify_in_parser(v);
        ir_verify_need(v, x->header || s->e2, "it is not said how much was taken");
    }
}

static void ir_verify_next_cell(struct verify *v, const struct ir_stmt *s) {
    ir_verify_need(v, s->reg && IS_LISTED(v->g->registers, s->reg) && s->var,
                   "a register, or where its next cell goes, is missing");
    ir_verify_need(v, s->e && s->e->op == IR_CONST && s->use != IR_REG_INDEX,
                   "nothing counts the cells of a register");
}

// What each kind of statement must have. No default: a new kind is decided upon here.
static void ir_verify_by_kind(struct verify *v, const struct ir_stmt *s,
                              const struct label *labels) {
    const struct label inner = {s->label, labels};
    switch (s->kind) {
    case IR_ASSIGN:
        ir_verify_assign(v, s);
        break;
    case IR_IF:
    case IR_SWITCH:
        ir_verify_branches(v, s, labels);
        break;
    case IR_BLOCK:
        ir_verify_block(v, s->then_b, s->label ? &inner : labels);
        break;
    case IR_LEAVE:
        ir_verify_leave(v, s, labels);
        break;
    case IR_EXIT:
        ir_verify_need(v, v->part == CONTROL, "an 'exit' is not in the control");
        break;
    case IR_SET_VALID:
    case IR_SET_INVALID:
        ir_verify_header(v, s->header);
        break;
    case IR_APPLY:
        ir_verify_need(v, s->table && IS_LISTED(v->g->tables, s->table),
                       "a table is missing, or is not one of this gress");
        break;
    case IR_REG_EXEC:
        execution(v, s);
        break;
    case IR_REG_READ:
    case IR_REG_WRITE:
        ir_verify_need(v, s->reg && IS_LISTED(v->g->registers, s->reg),
                       "a register is missing, or is not one of this gress");
        ir_verify_need(v, s->kind == IR_REG_READ ? s->var != NULL : s->e2 != NULL,
                       "a register is read into nothing, or written with nothing");
        break;
    case IR_COUNT:
        ir_verify_need(v, s->counter && IS_LISTED(v->g->counters, s->counter),
                       "a counter is missing, or is not one of this gress");
        ir_verify_need(v, !s->flag || v->g->decides,
                       "a count is noted in a gress that takes no notes");
        break;
    case IR_METER_EXEC:
        ir_verify_need(v, s->meter && IS_LISTED(v->g->meters, s->meter),
                       "a meter is missing, or is not one of this gress");
        break;
    case IR_HASH:
        ir_verify_need(v, s->hash && s->var, "a hash, or where it goes, is missing");
        break;
    case IR_RANDOM:
        ir_verify_need(v, s->random && s->var, "a random number, or where it goes, is missing");
        break;
    case IR_EXTRACT:
        ir_verify_in_parser(v);
        if (s->headers.n == 0)
            ir_verify_header(v, s->header);
        for (size_t i = 0; i < s->headers.n; i++)
            ir_verify_header(v, s->headers.v[i]);
        ir_verify_need(v, s->headers.n == 0 || s->e, "an extraction into a stack has no index");
        break;
    case IR_ADVANCE:
        ir_verify_in_parser(v);
        ir_verify_need(v, s->e != NULL, "an advance has no length");
        break;
    case IR_RAISE:
        ir_verify_in_parser(v);
        break;
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
        ir_verify_in_parser(v);
        ir_verify_need(v, s->checksum != NULL, "a checksum is missing");
        break;
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
        ir_verify_in_parser(v);
        ir_verify_need(v, s->checksum && s->var, "a checksum, or where it goes, is missing");
        break;
    case IR_EMIT:
        in_deparser(v);
        ir_verify_header(v, s->header);
        break;
    case IR_COUNT_LEAVING:
        in_deparser(v);
        ir_verify_need(v, s->counter && IS_LISTED(v->g->counters, s->counter),
                       "a counter is missing, or is not one of this gress");
        break;
    case IR_CSUM_UPDATE:
        in_deparser(v);
        ir_verify_need(v, s->checksum && s->var, "a checksum, or where it goes, is missing");
        break;
    case IR_RESUBMIT:
        in_deparser(v);
        break;
    case IR_MIRROR:
        in_deparser(v);
        ir_verify_need(v, s->e != NULL, "a mirror has no session");
        break;
    case IR_DIGEST:
        in_deparser(v);
        ir_verify_need(v, s->digest && s->args.n == s->digest->fields.n,
                       "a digest is missing, or has not a value for each field");
        break;
    case IR_NOTE:
        ir_verify_note(v, s);
        break;
    case IR_REPORT:
        ir_verify_report(v, s);
        break;
    case IR_TRACE:
        ir_verify_trace(v, s);
        break;
    case IR_NEXT_CELL:
        ir_verify_next_cell(v, s);
        break;
    }
}

static void stmt(struct verify *v, const struct ir_stmt *s, const struct label *labels) {
    const struct ir_var *results[IR_MAX_RESULTS];
    v->line = s->at.line;
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        var(v, results[i]);
    expr(v, s->e);
    expr(v, s->e2);
    expr(v, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        expr(v, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        expr(v, s->csum_args.v[i].e);
    ir_verify_by_kind(v, s, labels);
}

static void ir_verify_block(struct verify *v, const struct ir_block *b,
                            const struct label *labels) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        stmt(v, b->stmts.v[i], labels);
}

static void ir_verify_part(struct verify *v, enum part where, const struct ir_block *b) {
    v->part = where;
    ir_verify_block(v, b, NULL);
    v->line = 0;
}

// ---- objects ----

#define CHECK_NUMBERS(v, list, what)                                                               \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (list).n; i_++)                                                   \
            if ((list).v[i_]->id != i_)                                                            \
                fault(v, "%s %zu has the number %u", what, i_, (list).v[i_]->id);                  \
    } while (0)

static void numbers(struct verify *v) {
    const struct ir_gress *g = v->g;
    CHECK_NUMBERS(v, g->vars, "variable");
    CHECK_NUMBERS(v, g->headers, "header");
    CHECK_NUMBERS(v, g->states, "state");
    CHECK_NUMBERS(v, g->actions, "action");
    CHECK_NUMBERS(v, g->tables, "table");
    CHECK_NUMBERS(v, g->registers, "register");
    CHECK_NUMBERS(v, g->regactions, "register action");
    CHECK_NUMBERS(v, g->counters, "counter");
    CHECK_NUMBERS(v, g->meters, "meter");
    CHECK_NUMBERS(v, g->places, "list of places");
}

static void one_header(struct verify *v, const struct ir_header *h) {
    unsigned at = 0;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        var(v, f);
        if (f->header != h || f->bit_offset != at)
            fault(v, "field '%s' is not where header '%s' has it", f->name, h->name);
        at += f->width;
    }
    if (at != h->bits)
        fault(v, "header '%s' has %u bits, its fields %u", h->name, h->bits, at);
    if (!h->valid || h->valid->width != 1)
        fault(v, "header '%s' has no validity of one bit", h->name);
    var(v, h->valid);
}

static void ir_verify_action(struct verify *v, const struct ir_action *a) {
    if (!a || !IS_LISTED(v->g->actions, a))
        fault(v, "an action is missing, or is not one of this gress");
}

static void ir_verify_table(struct verify *v, const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        expr(v, t->keys.v[i].expr);
    for (size_t i = 0; i < t->actions.n; i++)
        ir_verify_action(v, t->actions.v[i].action);
    ir_verify_action(v, t->default_action);
    for (size_t i = 0; i < t->entries.n; i++) {
        const struct ir_entry *e = t->entries.v[i];
        ir_verify_action(v, e->action);
        if (e->keys.n != t->keys.n || (e->action && e->args.n != e->action->params.n))
            fault(v, "entry %zu of table '%s' has not a value for each key and parameter", i,
                  t->name);
    }
    if (t->default_action && t->default_args.n != t->default_action->params.n)
        fault(v, "the default action of table '%s' has not a value for each parameter", t->name);
    if (t->noted && !v->g->decides)
        fault(v, "hits of table '%s' are noted in a gress that takes no notes", t->name);
    ir_verify_part(v, CONTROL, t->select);
    for (size_t i = 0; i < t->key_defined.n; i++)
        expr(v, t->key_defined.v[i]);
    ir_verify_need(v, t->key_defined.n == 0 || (t->doubtful && t->key_defined.n == t->keys.n),
                   "a table does not say of each key what of it is defined");
    var(v, t->doubtful);
    ir_verify_part(v, CONTROL, t->reports);
}

static void ir_verify_next_state(struct verify *v, const struct ir_state *st, int next) {
    if (next >= (int)v->g->states.n || next < IR_REJECT)
        fault(v, "state '%s' goes on to a state that there is not", st->name);
}

static void ir_verify_state(struct verify *v, const struct ir_state *st) {
    ir_verify_part(v, PARSER, st->body);
    for (size_t i = 0; i < st->keys.n; i++)
        expr(v, st->keys.v[i]);
    for (size_t i = 0; i < st->cases.n; i++) {
        ir_verify_next_state(v, st, st->cases.v[i].next);
        if (st->cases.v[i].sets.n && st->cases.v[i].sets.n != st->keys.n)
            fault(v, "a case of state '%s' has not a set for each key", st->name);
    }
    if (st->keys.n == 0)
        ir_verify_next_state(v, st, st->next);
}

const char *ir_fault(struct arena *a, const struct ir_gress *g) {
    struct verify v = {.a = a, .g = g};
    numbers(&v);
    for (size_t i = 0; i < g->headers.n; i++)
        one_header(&v, g->headers.v[i]);
    for (size_t i = 0; i < g->states.n; i++)
        ir_verify_state(&v, g->states.v[i]);
    ir_verify_part(&v, CONTROL, g->control);
    ir_verify_part(&v, DEPARSER, g->deparser);
    ir_verify_part(&v, DEPARSER, g->leaving);
    v.part = CONTROL;
    for (size_t i = 0; i < g->actions.n; i++) {
        for (size_t k = 0; k < g->actions.v[i]->params.n; k++)
            var(&v, g->actions.v[i]->params.v[k].var);
        ir_verify_part(&v, CONTROL, g->actions.v[i]->body);
    }
    for (size_t i = 0; i < g->regactions.n; i++)
        ir_verify_part(&v, CONTROL, g->regactions.v[i]->body);
    for (size_t i = 0; i < g->tables.n; i++)
        ir_verify_table(&v, g->tables.v[i]);
    return v.fault;
}

void ir_verify_after(struct arena *a, const struct ir_gress *g, const char *pass) {
    if (!getenv("SILKEN_VERIFY_IR"))
        return;
    const char *what = ir_fault(a, g);
    if (what)
        DIAG_BUG("after pass '%s' the IR of %s is not whole: %s", pass,
                 g->kind == IR_INGRESS ? "ingress" : "egress", what);
}
