// SPDX-License-Identifier: Apache-2.0
//
// dump: pipeline IR as text, for golden tests and people. Stable: the same IR gives the same
// text. Expressions are written in a C-like form with widths where they are not obvious.
#include "compiler/ir/build.h"

#include <inttypes.h>
#include <string.h>

struct dump {
    FILE *out;
    struct arena *a;
    unsigned indent;
    bool source; // expressions as the source has them: no widths, no names of lowering's own
};

static void line_start(struct dump *d) {
    for (unsigned i = 0; i < d->indent; i++)
        fputs("  ", d->out);
}

#define LINE(d, ...)                                                                               \
    do {                                                                                           \
        line_start(d);                                                                             \
        fprintf((d)->out, __VA_ARGS__);                                                            \
        fputc('\n', (d)->out);                                                                     \
    } while (0)

// ---- expressions --------------------------------------------------------------------------------

static const char *op_name(enum ir_op op) {
    static const char *const names[] = {
        [IR_NOT] = "~",         [IR_NEG] = "-",         [IR_ADD] = "+",
        [IR_SUB] = "-",         [IR_MUL] = "*",         [IR_UDIV] = "/",
        [IR_UMOD] = "%",        [IR_UADD_SAT] = "|+|",  [IR_USUB_SAT] = "|-|",
        [IR_SADD_SAT] = "s|+|", [IR_SSUB_SAT] = "s|-|", [IR_AND] = "&",
        [IR_OR] = "|",          [IR_XOR] = "^",         [IR_SHL] = "<<",
        [IR_LSHR] = ">>",       [IR_ASHR] = "s>>",      [IR_EQ] = "==",
        [IR_NE] = "!=",         [IR_ULT] = "<",         [IR_ULE] = "<=",
        [IR_SLT] = "s<",        [IR_SLE] = "s<=",       [IR_UMIN] = "min",
        [IR_UMAX] = "max",      [IR_SMIN] = "smin",     [IR_SMAX] = "smax",
        [IR_CONCAT] = "++",     [IR_LAND] = "&&",       [IR_LOR] = "||",
        [IR_LOOKAHEAD] = NULL,
    };
    return op < sizeof names / sizeof *names ? names[op] : NULL;
}

// Lowering's variables are called "$t1", and its parts of the source's "hdr.s.$next".
static const char *source_name(struct dump *d, const struct ir_var *v) {
    static const struct {
        const char *part, *shown;
    } parts[] = {{".$valid", ".isValid()"}, {".$next", ".nextIndex"}, {".$", ""}};
    static const struct {
        const char *name, *shown;
    } own[] = {{"$hit", "hit"}, {"$run", "action_run"}, {"$i", "index"}, {"$select", "hash"}};
    if (v->shown)
        return v->shown;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(v->name, parts[i].part);
        if (found)
            return arena_printf(d->a, "%.*s%s", (int)(found - v->name), v->name, parts[i].shown);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(v->name, own[i].name, strlen(own[i].name)) == 0)
            return own[i].shown;
    return *v->name == '$' ? "value" : v->name;
}

static const char *ir_dump_text(struct dump *d, const struct ir_expr *e);

static const char *source_text(struct dump *d, const struct ir_expr *e) {
    switch (e->op) {
    case IR_CONST:
        return big_str(d->a, e->value, big_bits(e->value) > 9 ? 16 : 10);
    case IR_VAR:
        return source_name(d, e->var);
    case IR_LOOKAHEAD:
        return "lookahead";
    case IR_NOT:
        return arena_printf(d->a, "%s%s", e->width == 1 ? "!" : "~", ir_dump_text(d, e->a));
    case IR_ZEXT:
    case IR_SEXT:
        return ir_dump_text(d, e->a);
    default:
        return NULL;
    }
}

static const char *ir_dump_text(struct dump *d, const struct ir_expr *e) {
    if (!e)
        return "-";
    const char *source = d->source ? source_text(d, e) : NULL;
    if (source)
        return source;
    switch (e->op) {
    case IR_CONST:
        return arena_printf(d->a, "%uw%s", e->width,
                            big_str(d->a, e->value, big_bits(e->value) > 9 ? 16 : 10));
    case IR_VAR:
        return e->var->name;
    case IR_LOOKAHEAD:
        return arena_printf(d->a, "lookahead(%u +%u)", e->lo, e->width);
    case IR_NOT:
    case IR_NEG:
        return arena_printf(d->a, "%s%s", op_name(e->op), ir_dump_text(d, e->a));
    case IR_SLICE:
        return arena_printf(d->a, "%s[%u:%u]", ir_dump_text(d, e->a), e->lo + e->width - 1, e->lo);
    case IR_ZEXT:
    case IR_SEXT:
        return arena_printf(d->a, "%s%u(%s)", e->op == IR_ZEXT ? "zext" : "sext", e->width,
                            ir_dump_text(d, e->a));
    case IR_REG_PARAM:
        return e->param->name;
    case IR_MATH_UNIT:
        return arena_printf(d->a, "%s(%s)", e->math->name, ir_dump_text(d, e->a));
    case IR_COND:
        return arena_printf(d->a, "(%s ? %s : %s)", ir_dump_text(d, e->a), ir_dump_text(d, e->b),
                            ir_dump_text(d, e->c));
    default:
        break;
    }
    const char *name = op_name(e->op);
    if (d->source && *name == 's' && name[1] != 'm') // a sign is a matter of types
        name++;
    return arena_printf(d->a, "(%s %s %s)", ir_dump_text(d, e->a), name, ir_dump_text(d, e->b));
}

const char *ir_expr_text(struct arena *a, const struct ir_expr *e) {
    return ir_dump_text(&(struct dump){.a = a}, e);
}

const char *ir_source_text(struct arena *a, const struct ir_expr *e) {
    return ir_dump_text(&(struct dump){.a = a, .source = true}, e);
}

static const char *list_text(struct dump *d, const ir_expr_vec *v) {
    const char *s = "";
    for (size_t i = 0; i < v->n; i++)
        s = arena_printf(d->a, "%s%s%s", s, i ? ", " : "", ir_dump_text(d, v->v[i]));
    return s;
}

static const char *hex(struct dump *d, big v) {
    return v ? big_str(d->a, v, 16) : "-";
}

// ---- statements ---------------------------------------------------------------------------------

static void ir_dump_block(struct dump *d, const struct ir_block *b);

static void dump_nested(struct dump *d, const struct ir_block *b) {
    d->indent++;
    ir_dump_block(d, b);
    d->indent--;
}

static void dump_switch(struct dump *d, const struct ir_stmt *s) {
    LINE(d, "switch %s", ir_dump_text(d, s->e));
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct ir_case *c = &s->cases.v[i];
        const char *values = c->values.n ? "" : "default";
        for (size_t k = 0; k < c->values.n; k++)
            values = arena_printf(d->a, "%s%s%s", values, k ? ", " : "",
                                  big_str(d->a, c->values.v[k], 10));
        LINE(d, "case %s:", values);
        dump_nested(d, c->body);
    }
}

static void dump_extract(struct dump *d, const struct ir_stmt *s) {
    if (s->header) {
        LINE(d, "extract %s", s->header->name);
        return;
    }
    const char *names = "";
    for (size_t i = 0; i < s->headers.n; i++)
        names = arena_printf(d->a, "%s%s%s", names, i ? ", " : "", s->headers.v[i]->name);
    LINE(d, "extract {%s}[%s]", names, ir_dump_text(d, s->e));
}

static void dump_csum_update(struct dump *d, const struct ir_stmt *s) {
    LINE(d, "%s = checksum %s update%s", s->var->name, s->checksum->name,
         s->flag ? " zeros_as_ones" : "");
    d->indent++;
    for (size_t i = 0; i < s->csum_args.n; i++) {
        const struct ir_csum_arg *arg = &s->csum_args.v[i];
        if (arg->only_if)
            LINE(d, "%s if %s", ir_dump_text(d, arg->e), arg->only_if->name);
        else
            LINE(d, "%s", ir_dump_text(d, arg->e));
    }
    d->indent--;
}

static const char *to_var(struct dump *d, const struct ir_var *v) {
    return v ? arena_printf(d->a, "%s = ", v->name) : "";
}

static void dump_control_flow(struct dump *d, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_IF:
        LINE(d, "if %s", ir_dump_text(d, s->e));
        dump_nested(d, s->then_b);
        if (s->else_b) {
            LINE(d, "else");
            dump_nested(d, s->else_b);
        }
        return;
    case IR_SWITCH:
        dump_switch(d, s);
        return;
    case IR_BLOCK:
        LINE(d, "block L%u", s->label);
        dump_nested(d, s->then_b);
        return;
    case IR_LEAVE:
        LINE(d, "leave L%u", s->label);
        return;
    default:
        LINE(d, "exit");
        return;
    }
}

static void dump_apply(struct dump *d, const struct ir_stmt *s) {
    line_start(d);
    fprintf(d->out, "apply %s", s->table->name);
    if (s->hit)
        fprintf(d->out, " hit %s", s->hit->name);
    if (s->action_run)
        fprintf(d->out, " run %s", s->action_run->name);
    fputc('\n', d->out);
}

static void dump_note(struct dump *d, const struct ir_stmt *s) {
    static const char *const names[] = {
        [IR_NOTED_HEADER] = "header",     [IR_NOTED_LOOKAHEAD] = "lookahead",
        [IR_NOTED_TAKEN] = "taken",       [IR_NOTED_ORDER] = "order",
        [IR_NOTED_REMOVED] = "removed",   [IR_NOTED_SUMMED] = "summed",
        [IR_NOTED_VERIFIED] = "verified", [IR_NOTED_UNFIT] = "unfit",
    };
    line_start(d);
    fprintf(d->out, "note %s", names[s->noted]);
    if (s->header)
        fprintf(d->out, " %s", s->header->name);
    if (s->noted == IR_NOTED_ORDER)
        fprintf(d->out, " %u", s->lo);
    if (s->checksum)
        fprintf(d->out, " %s", s->checksum->name);
    if (s->args.n)
        fprintf(d->out, " {%s}", list_text(d, &s->args));
    if (s->e2)
        fprintf(d->out, " %s", ir_dump_text(d, s->e2));
    if (s->e)
        fprintf(d->out, " if %s", ir_dump_text(d, s->e));
    fputc('\n', d->out);
}

static void dump_object_stmt(struct dump *d, const struct ir_stmt *s) {
    static const char *const uses[] = {[IR_REG_APPEND] = "log",
                                       [IR_REG_ENQUEUE] = "enqueue",
                                       [IR_REG_DEQUEUE] = "dequeue",
                                       [IR_REG_PUSH] = "push",
                                       [IR_REG_POP] = "pop"};
    switch (s->kind) {
    case IR_REG_EXEC:
        LINE(d, "%sexecute %s[%s]", to_var(d, s->var), s->regaction->name,
             s->use ? uses[s->use] : ir_dump_text(d, s->e));
        return;
    case IR_REG_READ:
        LINE(d, "%s%s%s = read %s[%s]%s", s->var->name, s->var2 ? ", " : "",
             s->var2 ? s->var2->name : "", s->reg->name, ir_dump_text(d, s->e),
             s->continues ? ", same access" : "");
        return;
    case IR_REG_WRITE:
        LINE(d, "write %s[%s] = %s%s%s%s", s->reg->name, ir_dump_text(d, s->e),
             ir_dump_text(d, s->e2), s->e3 ? ", " : "", s->e3 ? ir_dump_text(d, s->e3) : "",
             s->continues ? ", same access" : "");
        return;
    case IR_COUNT:
        LINE(d, "count %s[%s]%s", s->counter->name, ir_dump_text(d, s->e),
             s->flag ? ", noted" : "");
        return;
    case IR_COUNT_LEAVING:
        LINE(d, "count_leaving %s", s->counter->name);
        return;
    case IR_METER_EXEC:
        LINE(d, "%s = meter %s[%s](%s)", s->var->name, s->meter->name, ir_dump_text(d, s->e),
             ir_dump_text(d, s->e2));
        return;
    case IR_HASH:
        LINE(d, "%s = hash %s(%s)", s->var->name, s->hash->name, list_text(d, &s->args));
        return;
    case IR_RANDOM:
        LINE(d, "%s = random %s", s->var->name, s->random->name);
        return;
    case IR_RESUBMIT:
        LINE(d, "resubmit {%s}", list_text(d, &s->args));
        return;
    case IR_MIRROR:
        LINE(d, "mirror to %s {%s}", ir_dump_text(d, s->e), list_text(d, &s->args));
        return;
    case IR_DIGEST:
        LINE(d, "digest %s {%s}", s->digest->name, list_text(d, &s->args));
        return;
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
        LINE(d, "checksum %s %s {%s}", s->checksum->name,
             s->kind == IR_CSUM_ADD ? "add" : "subtract", list_text(d, &s->args));
        return;
    case IR_CSUM_VERIFY:
        LINE(d, "%s |= checksum %s wrong", s->var->name, s->checksum->name);
        return;
    case IR_CSUM_GET:
        LINE(d, "%s = checksum %s residual%s", s->var->name, s->checksum->name,
             s->flag ? " of all" : "");
        return;
    default:
        dump_csum_update(d, s);
        return;
    }
}

static void dump_report(struct dump *d, const struct ir_stmt *s) {
    const struct ir_report *r = s->report;
    line_start(d);
    fprintf(d->out, "report if %s", ir_dump_text(d, s->e));
    if (s->e2)
        fprintf(d->out, ", number %s", ir_dump_text(d, s->e2));
    if (s->e3)
        fprintf(d->out, ", place %s of %zu", ir_dump_text(d, s->e3), r->places->v.n);
    fputc('\n', d->out);
    d->indent++;
    for (size_t i = 0; i < r->blames.n; i++)
        LINE(d, "%s %s%s%s", ir_violation_names[r->blames.v[i].violation], r->blames.v[i].name,
             i < s->args.n ? " if " : "", i < s->args.n ? ir_dump_text(d, s->args.v[i]) : "");
    d->indent--;
}

static void dump_trace(struct dump *d, const struct ir_stmt *s) {
    const struct ir_event *x = s->event;
    line_start(d);
    fprintf(d->out, "trace %s %s", ir_event_names[x->kind], x->name ? x->name : "-");
    if (x->text)
        fprintf(d->out, ", %s", x->text);
    if (s->e2)
        fprintf(d->out, ", number %s", ir_dump_text(d, s->e2));
    if (s->e3)
        fprintf(d->out, ", flag %s", ir_dump_text(d, s->e3));
    fputc('\n', d->out);
    d->indent++;
    for (size_t i = 0; i < s->args.n; i++)
        LINE(d, "%s %s: %s%s",
             i < x->n_in              ? "in"
             : i < x->n_in + x->n_out ? "out"
                                      : "result",
             x->values.v[i].name, ir_dump_text(d, s->args.v[i]),
             x->values.v[i].is_signed ? ", signed" : "");
    d->indent--;
}

static void ir_dump_stmt(struct dump *d, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
        if (s->slice)
            LINE(d, "%s[%u:%u] = %s", s->var->name, s->lo + s->width - 1, s->lo,
                 ir_dump_text(d, s->e));
        else
            LINE(d, "%s = %s", s->var->name, ir_dump_text(d, s->e));
        return;
    case IR_IF:
    case IR_SWITCH:
    case IR_BLOCK:
    case IR_LEAVE:
    case IR_EXIT:
        dump_control_flow(d, s);
        return;
    case IR_SET_VALID:
    case IR_SET_INVALID:
        LINE(d, "%s %s", s->kind == IR_SET_VALID ? "valid" : "invalid", s->header->name);
        return;
    case IR_APPLY:
        dump_apply(d, s);
        return;
    case IR_EXTRACT:
        dump_extract(d, s);
        return;
    case IR_RAISE:
        LINE(d, "raise 0x%x", s->lo);
        return;
    case IR_ADVANCE:
        LINE(d, "advance %s", ir_dump_text(d, s->e));
        return;
    case IR_EMIT:
        LINE(d, "emit %s", s->header->name);
        return;
    case IR_NOTE:
        dump_note(d, s);
        return;
    case IR_REPORT:
        dump_report(d, s);
        return;
    case IR_TRACE:
        dump_trace(d, s);
        return;
    case IR_NEXT_CELL:
        LINE(d, "%s = next cell of %s", s->var->name, s->reg->name);
        return;
    default:
        dump_object_stmt(d, s);
        return;
    }
}

static void ir_dump_block(struct dump *d, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        ir_dump_stmt(d, b->stmts.v[i]);
}

// ---- parser -------------------------------------------------------------------------------------

static const char *ir_dump_state_text(struct dump *d, const struct ir_gress *g, int id) {
    if (id == IR_ACCEPT)
        return "accept";
    if (id < 0 || (size_t)id >= g->states.n)
        return "reject";
    (void)d;
    return g->states.v[id]->name;
}

static void dump_case(struct dump *d, const struct ir_gress *g, const struct ir_select_case *c) {
    line_start(d);
    if (c->sets.n == 0)
        fputs("default", d->out);
    for (size_t i = 0; i < c->sets.n; i++) {
        const struct ir_select_key_set *k = &c->sets.v[i];
        if (i)
            fputs(", ", d->out);
        if (k->set)
            fputs(k->set->name, d->out);
        else if (k->high)
            fprintf(d->out, "%s .. %s", hex(d, k->value), hex(d, k->high));
        else
            fprintf(d->out, "%s &&& %s", hex(d, k->value), hex(d, k->mask));
    }
    fprintf(d->out, " -> %s\n", ir_dump_state_text(d, g, c->next));
}

static void dump_state(struct dump *d, const struct ir_gress *g, const struct ir_state *s) {
    LINE(d, "state %s", s->name);
    d->indent++;
    ir_dump_block(d, s->body);
    if (s->keys.n == 0) {
        LINE(d, "-> %s", ir_dump_state_text(d, g, s->next));
    } else {
        LINE(d, "select %s", list_text(d, &s->keys));
        d->indent++;
        for (size_t i = 0; i < s->cases.n; i++)
            dump_case(d, g, &s->cases.v[i]);
        d->indent--;
    }
    d->indent--;
}

// ---- objects ------------------------------------------------------------------------------------

static void dump_headers(struct dump *d, const struct ir_gress *g) {
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        LINE(d, "header %s : %s, %u bits%s", h->name, h->type_name, h->bits,
             h->intrinsic ? ", intrinsic" : "");
        d->indent++;
        for (size_t k = 0; k < h->fields.n; k++)
            LINE(d, "%u: %s %u", h->fields.v[k]->bit_offset, h->fields.v[k]->name,
                 h->fields.v[k]->width);
        d->indent--;
    }
}

static void dump_vars(struct dump *d, const struct ir_gress *g) {
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_var *v = g->vars.v[i];
        bool is_validity = false;
        for (size_t k = 0; k < g->headers.n; k++)
            is_validity |= g->headers.v[k]->valid == v;
        if (!v->header && !is_validity)
            LINE(d, "var %s %s%u%s%s", v->name, v->is_signed ? "s" : "", v->width,
                 v->valid ? " valid " : "", v->valid ? v->valid->name : "");
    }
    for (int i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i])
            LINE(d, "intrinsic %s = %s", ir_intrinsic_names[i], g->intrinsic[i]->name);
    if (g->parser_err_used)
        LINE(d, "the control reads parser_err");
    for (size_t i = 0; g->decides && i < g->vars.n; i++)
        if (g->decides[i])
            LINE(d, "decides %s", g->vars.v[i]->name);
}

static void dump_registers(struct dump *d, const struct ir_gress *g) {
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        line_start(d);
        fprintf(d->out, "register %s %u x %s%u [%" PRIu64 "]%s", r->name, r->wide ? 1 : r->words,
                r->is_signed ? "s" : "", r->wide ? 2 * r->width : r->width, r->size,
                r->direct ? " direct" : "");
        for (unsigned k = 0; k < r->words; k++)
            if (r->initial[k])
                fprintf(d->out, " %s = %s", r->word_names[k], hex(d, r->initial[k]));
        if (r->overflow)
            fprintf(d->out, " full: %s", r->overflow->name);
        if (r->underflow)
            fprintf(d->out, " empty: %s", r->underflow->name);
        fputc('\n', d->out);
    }
    for (size_t i = 0; i < g->regactions.n; i++) {
        const struct ir_regaction *r = g->regactions.v[i];
        const char *view = "";
        if (r->width != r->reg->width || r->words != r->reg->words)
            view = arena_printf(d->a, " as %u x %u", r->words, r->width);
        LINE(d, "register action %s of %s%s (%s%s%s) -> %s", r->name, r->reg->name, view,
             r->value[0] ? r->value[0]->name : "-", r->value[1] ? ", " : "",
             r->value[1] ? r->value[1]->name : "", r->rv ? r->rv->name : "nothing");
        dump_nested(d, r->body);
    }
}

static void dump_reg_params(struct dump *d, const struct ir_gress *g) {
    for (size_t i = 0; i < g->reg_params.n; i++) {
        const struct ir_reg_param *p = g->reg_params.v[i];
        LINE(d, "register parameter %s %s%u = %s", p->name, p->is_signed ? "s" : "", p->width,
             hex(d, p->initial));
    }
    for (size_t i = 0; i < g->math_units.n; i++) {
        const struct ir_math_unit *m = g->math_units.v[i];
        const char *table = "";
        for (unsigned k = 16; k-- > 0;)
            table = arena_printf(d->a, "%s %u", table, m->table[k]);
        LINE(d, "math unit %s shift %d%s scale %d {%s }", m->name, m->shift,
             m->invert ? " inverted" : "", m->scale, table);
    }
}

static void dump_meter(struct dump *d, const struct ir_meter *m) {
    static const char *const kinds[] = {"meter", "lpf", "wred"};
    line_start(d);
    fprintf(d->out, "%s %s [%" PRIu64 "]%s", kinds[m->kind], m->name, m->size,
            m->direct ? " direct" : "");
    if (m->kind == IR_METER)
        fprintf(d->out, " %s green %u yellow %u red %u", m->bytes ? "bytes" : "packets",
                m->value[0], m->value[1], m->value[2]);
    else
        fprintf(d->out, " of %u bits", m->width);
    if (m->kind == IR_WRED)
        fprintf(d->out, " no drop %u drop %u", m->value[0], m->value[1]);
    if (m->adjust)
        fprintf(d->out, " minus %" PRId64 " bytes", m->adjust);
    fputc('\n', d->out);
}

static void dump_objects(struct dump *d, const struct ir_gress *g) {
    static const char *const counters[] = {"packets", "bytes", "packets and bytes"};
    static const char *const hashes[] = {"identity", "random", "xor8", "xor16", "xor32", "crc"};
    dump_registers(d, g);
    dump_reg_params(d, g);
    for (size_t i = 0; i < g->counters.n; i++) {
        const struct ir_counter *c = g->counters.v[i];
        line_start(d);
        fprintf(d->out, "counter %s %s %u [%" PRIu64 "]%s", c->name, counters[c->type], c->width,
                c->size, c->direct ? " direct" : "");
        if (c->adjust)
            fprintf(d->out, " minus %" PRId64 " bytes", c->adjust);
        fputs(c->true_egress ? " true egress\n" : "\n", d->out);
    }
    for (size_t i = 0; i < g->meters.n; i++)
        dump_meter(d, g->meters.v[i]);
    for (size_t i = 0; i < g->hashes.n; i++) {
        const struct ir_hash *h = g->hashes.v[i];
        LINE(d, "hash %s %u %s%u poly %" PRIx64 " init %" PRIx64 " xor %" PRIx64 "%s%s", h->name,
             h->width, hashes[h->algorithm], h->crc_width, h->coeff, h->init, h->xor_out,
             h->reversed ? " reversed" : "", h->extended ? " extended" : "");
    }
    for (size_t i = 0; i < g->randoms.n; i++)
        LINE(d, "random %s %u", g->randoms.v[i]->name, g->randoms.v[i]->width);
    for (size_t i = 0; i < g->checksums.n; i++)
        LINE(d, "checksum %s", g->checksums.v[i]->name);
    for (size_t i = 0; i < g->digests.n; i++) {
        const struct ir_digest *x = g->digests.v[i];
        LINE(d, "digest %s, %u bits", x->name, x->bits);
        d->indent++;
        for (size_t k = 0; k < x->fields.n; k++)
            LINE(d, "%s %s%u", x->fields.v[k].name, x->fields.v[k].is_signed ? "s" : "",
                 x->fields.v[k].width);
        d->indent--;
    }
    for (size_t i = 0; i < g->value_sets.n; i++)
        LINE(d, "value set %s [%" PRIu64 "], %zu keys", g->value_sets.v[i]->name,
             g->value_sets.v[i]->size, g->value_sets.v[i]->widths.n);
}

// ---- actions and tables -------------------------------------------------------------------------

static void dump_action(struct dump *d, const struct ir_action *a) {
    line_start(d);
    fprintf(d->out, "action %s(", a->name);
    for (size_t i = 0; i < a->params.n; i++)
        fprintf(d->out, "%s%s %u = %s", i ? ", " : "", a->params.v[i].name,
                a->params.v[i].var->width, a->params.v[i].var->name);
    fputs(")\n", d->out);
    dump_nested(d, a->body);
}

static void ir_dump_entry(struct dump *d, const struct ir_entry *e) {
    line_start(d);
    fprintf(d->out, "%sentry %" PRId64 ":", e->is_const ? "const " : "", e->priority);
    for (size_t i = 0; i < e->keys.n; i++) {
        const struct ir_key_value *k = &e->keys.v[i];
        fprintf(d->out, "%s %s%s%s", i ? "," : "", hex(d, k->value), k->high ? " .. " : " &&& ",
                hex(d, k->high ? k->high : k->mask));
    }
    fprintf(d->out, " -> %s(", e->action->name);
    for (size_t i = 0; i < e->args.n; i++)
        fprintf(d->out, "%s%s", i ? ", " : "", hex(d, e->args.v[i]));
    fputs(")\n", d->out);
}

static void ir_dump_table(struct dump *d, const struct ir_table *t) {
    static const char *const kinds[] = {"exact", "ternary", "lpm", "range"};
    LINE(d, "table %s [%" PRIu64 "]%s%s%s", t->name, t->size, t->hidden ? " hidden" : "",
         t->const_entries ? " constant" : "", t->noted ? " noted" : "");
    d->indent++;
    for (size_t i = 0; i < t->keys.n; i++)
        LINE(d, "key %s %s = %s", t->keys.v[i].name, kinds[t->keys.v[i].match],
             ir_dump_text(d, t->keys.v[i].expr));
    if (t->proxy)
        LINE(d, "proxy hash %s", t->proxy->name);
    if (t->profile)
        LINE(d, "%s %s", t->selector ? "selector" : "profile",
             t->selector ? t->selector->name : t->profile->name);
    for (size_t i = 0; i < t->key_defined.n; i++)
        if (t->key_defined.v[i])
            LINE(d, "of key %zu defined: %s", i + 1, ir_dump_text(d, t->key_defined.v[i]));
    dump_nested(d, t->reports);
    for (size_t i = 0; i < t->selector_keys.n; i++)
        LINE(d, "hashed %s", t->selector_keys.v[i]);
    if (t->select)
        dump_nested(d, t->select);
    for (size_t i = 0; i < t->actions.n; i++)
        LINE(d, "action %s%s%s", t->actions.v[i].action->name,
             t->actions.v[i].table_only ? " tableonly" : "",
             t->actions.v[i].default_only ? " defaultonly" : "");
    line_start(d);
    fprintf(d->out, "%sdefault %s(", t->const_default ? "const " : "", t->default_action->name);
    for (size_t i = 0; i < t->default_args.n; i++)
        fprintf(d->out, "%s%s", i ? ", " : "", hex(d, t->default_args.v[i]));
    fputs(")\n", d->out);
    for (size_t i = 0; i < t->direct_counters.n; i++)
        LINE(d, "counter %s", t->direct_counters.v[i]->name);
    if (t->direct_meter)
        LINE(d, "meter %s", t->direct_meter->name);
    if (t->key_masks)
        LINE(d, "key masks");
    if (t->partitions)
        LINE(d, "%s %" PRIu64 " x %" PRIu64, t->partitions->alpm ? "alpm" : "atcam",
             t->partitions->count, t->partitions->subtrees);
    if (t->idle_timeout)
        LINE(d, "idle timeout");
    for (size_t i = 0; i < t->direct_registers.n; i++)
        LINE(d, "register %s", t->direct_registers.v[i]->name);
    for (size_t i = 0; i < t->entries.n; i++)
        ir_dump_entry(d, t->entries.v[i]);
    d->indent--;
}

static void dump_profile(struct dump *d, const struct ir_action_profile *p) {
    LINE(d, "profile %s [%" PRIu64 "]", p->name, p->size);
    d->indent++;
    for (size_t i = 0; i < p->actions.n; i++)
        LINE(d, "action %s", p->actions.v[i].action->name);
    d->indent--;
}

static void dump_selector(struct dump *d, const struct ir_selector *s) {
    LINE(d, "selector %s: profile %s, hash %s, %s, %" PRIu64 " groups of at most %" PRIu64 "%s%s",
         s->name, s->profile->name, s->hash->name, s->mode == IR_SELECT_FAIR ? "fair" : "resilient",
         s->n_groups, s->max_group_size, s->memory ? ", memory " : "",
         s->memory ? s->memory->name : "");
}

// ---- all of it ----------------------------------------------------------------------------------

static void dump_gress(struct dump *d, const struct ir_gress *g) {
    LINE(d, "%s", g->kind == IR_INGRESS ? "ingress" : "egress");
    d->indent++;
    dump_headers(d, g);
    dump_vars(d, g);
    dump_objects(d, g);
    for (size_t i = 0; i < g->states.n; i++)
        dump_state(d, g, g->states.v[i]);
    for (size_t i = 0; i < g->actions.n; i++)
        dump_action(d, g->actions.v[i]);
    for (size_t i = 0; i < g->profiles.n; i++)
        dump_profile(d, g->profiles.v[i]);
    for (size_t i = 0; i < g->selectors.n; i++)
        dump_selector(d, g->selectors.v[i]);
    for (size_t i = 0; i < g->tables.n; i++)
        ir_dump_table(d, g->tables.v[i]);
    LINE(d, "control");
    dump_nested(d, g->control);
    LINE(d, "deparser");
    dump_nested(d, g->deparser);
    if (g->leaving) {
        LINE(d, "when the packet leaves");
        dump_nested(d, g->leaving);
    }
    d->indent--;
}

void ir_dump(FILE *out, struct arena *a, const struct ir_program *p) {
    struct dump d = {.out = out, .a = a};
    for (size_t i = 0; i < p->pipelines.n; i++) {
        LINE(&d, "pipeline %s", p->pipelines.v[i]->name);
        d.indent++;
        dump_gress(&d, &p->pipelines.v[i]->gress[IR_INGRESS]);
        dump_gress(&d, &p->pipelines.v[i]->gress[IR_EGRESS]);
        d.indent--;
    }
    LINE(&d, "pipes %u %u %u %u", p->pipe_of[0], p->pipe_of[1], p->pipe_of[2], p->pipe_of[3]);
    if (p->invariant_crc)
        LINE(&d, "invariant crc");
    if (p->single_packets)
        LINE(&d, "single packets");
    for (size_t i = 0; i < p->wire_types.n; i++) {
        const struct ir_wire_type *w = &p->wire_types.v[i];
        LINE(&d, "wire %s %u bits, %zu fields", w->name, w->bits, w->fields.n);
    }
}
