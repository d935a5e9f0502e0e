// SPDX-License-Identifier: Apache-2.0
//
// checked: definedness of variables, and what else the checked build looks at. See
// checked.h.
#include "compiler/ir/effects.h"
#include "compiler/print/checked/checked_impl.h"

#include <string.h>

const char *emit_gress_name(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? "SK_IN_INGRESS" : "SK_IN_EGRESS";
}

void emit_place(const struct emit *e, const char *name, struct loc at) {
    if (!at.line)
        at = e->at;
    emit_line(e, "static const struct sk_place %s = {%s, %u, %u};", name,
              emit_string(e, at.line ? diag_path(e->d, at.file) : e->program->path), at.line,
              at.col);
}

// Lowering's parts of a thing are shown as that thing: "hdr.s[1].data.$8" is hdr.s[1].data.
const char *emit_shown_name(const struct emit *e, const char *name) {
    const char *part = strstr(name, ".$");
    return part ? arena_strndup(e->a, name, (size_t)(part - name)) : name;
}

// --------------------------------------------------------------------------------------------
// Which variables have masks.

static enum ir_intrinsic emit_checked_intrinsic_of(const struct emit *e, const struct ir_var *v) {
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (e->g->intrinsic[i] == v)
            return (enum ir_intrinsic)i;
    return IRI_COUNT;
}

// A value that leaves the program's variables when it is assigned.
static bool is_sink(const struct emit *e, const struct ir_var *v) {
    if (emit_checked_intrinsic_of(e, v) != IRI_COUNT)
        return true;
    for (size_t i = 0; i < e->g->regactions.n; i++)
        for (unsigned w = 0; w < 2; w++)
            if (e->g->regactions.v[i]->value[w] == v)
                return true;
    return false;
}

const char *emit_mask_of(const struct emit *e, const struct ir_var *v) {
    return emit_text(e, "v->u_%s", emit_var_of(e, v)->name);
}

const char *emit_all_undefined(const struct emit *e, const struct ir_var *v) {
    return emit_is_wide(v->width) ? "1" : emit_ones(e, v->width);
}

static void set_mask(const struct emit *e, const struct ir_var *v, const char *text) {
    if (v && emit_var_of(e, v)->masked)
        emit_line(e, "%s = %s;", emit_mask_of(e, v), text);
}

void emit_defined(const struct emit *e, const struct ir_var *v) {
    set_mask(e, v, "0");
}

void emit_checked_phv(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "struct sk_packet *packet;");
    emit_line(e, "bool traced;");
    emit_line(e, "const struct sk_place *seen_register[%zu], *seen_table[%zu];",
              e->g->registers.n + 1, e->g->tables.n + 1);
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        if (emit_var_of(e, e->g->vars.v[i])->masked)
            emit_line(e, "%s u_%s;", emit_is_wide(v->width) ? "uint8_t" : emit_storage(v->width),
                      emit_var_of(e, e->g->vars.v[i])->name);
    }
}

void emit_checked_begin(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "v->packet = packet;");
    emit_line(e, "v->traced = packet->observer && packet->observer->everything;");
    for (size_t i = 0; i < e->g->vars.n; i++)
        set_mask(e, e->g->vars.v[i], emit_all_undefined(e, e->g->vars.v[i]));
}

// --------------------------------------------------------------------------------------------
// Statements.

static void emit_checked_assign(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_var *v = s->var;
    if (is_sink(e, v) && !s->copy) {
        emit_use(e, s->e);
        emit_defined(e, v);
        return;
    }
    emit_report_use(e, emit_used(e, s->e), s->e, e->at);
    if (!emit_var_of(e, v)->masked)
        return;
    if (!s->slice) {
        const char *u =
            emit_is_wide(v->width) ? emit_undefined_flag(e, s->e) : emit_undefined(e, s->e);
        set_mask(e, v,
                 u ? emit_text(e, "(%s)%s",
                               emit_is_wide(v->width) ? "uint8_t" : emit_storage(v->width), u)
                   : "0");
    } else if (emit_is_wide(v->width)) {
        emit_defined(e, v); // one flag for all: the rest of it is taken to be defined as well
    } else {
        const char *u = emit_undefined(e, s->e), *type = emit_ctype(v->width);
        set_mask(e, v,
                 emit_text(e, "(%s)((%s & ~((%s)%s << %u)) | (%s)%s << %u)", emit_storage(v->width),
                           emit_mask_of(e, v), type, emit_ones(e, s->width), s->lo, type,
                           u ? u : "0", s->lo));
    }
}

static void emit_checked_check_index(const struct emit *e, const char *name,
                                     const struct ir_expr *index, uint64_t size) {
    emit_use(e, index);
    emit_open(e, "{");
    emit_place(e, "at", e->at);
    emit_line(e, "const uint64_t index = %s;", emit_u64(e, index));
    emit_line(e, "if (index >= UINT64_C(%llu))", (unsigned long long)size);
    emit_line(e, "    sk_report(v->packet, %s, SK_VIOLATION_INDEX, &at, %s, index, NULL);",
              emit_gress_name(e), emit_string(e, name));
    emit_close(e, "}");
}

static void check_once(const struct emit *e, const char *what, const char *violation, unsigned id,
                       const char *name) {
    emit_open(e, "{");
    emit_place(e, "at", e->at);
    emit_line(e, "sk_check_once(v->packet, %s, SK_VIOLATION_%s, &v->seen_%s[%u], &at, %s);",
              emit_gress_name(e), violation, what, id, emit_string(e, name));
    emit_close(e, "}");
}

// 'size' in cells as the access sees them.
static void emit_checked_access_register(const struct emit *e, const struct ir_register *r,
                                         const struct ir_expr *index, uint64_t size) {
    check_once(e, "register", "REGISTER_TWICE", r->id, r->name);
    if (!r->direct && index)
        emit_checked_check_index(e, r->name, index, size);
}

static uint64_t cells_seen(const struct ir_regaction *ra) {
    const struct ir_register *r = ra->reg;
    return r->size * r->width * r->words / ((uint64_t)ra->width * ra->words);
}

static void use_csum_args(const struct emit *e, const struct ir_stmt *s) {
    for (size_t i = 0; i < s->csum_args.n; i++) {
        const struct ir_csum_arg *a = &s->csum_args.v[i];
        const char *cond = emit_used_or_undefined(e, a->e);
        if (cond && a->only_if)
            cond = emit_text(e, "%s && %s", emit_ref(e, a->only_if->valid), cond);
        emit_report_use(e, cond, a->e, e->at);
    }
}

static void use_resubmitted(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_var *type = e->g->intrinsic[IRI_RESUBMIT_TYPE];
    if (!type || !type->valid || !s->args.n)
        return;
    emit_open(e, "if (%s) {", emit_ref(e, type->valid));
    emit_use_all(e, &s->args);
    emit_close(e, "}");
}

static void emit_checked_invalidate(const struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++)
        set_mask(e, h->fields.v[i], emit_all_undefined(e, h->fields.v[i]));
}

static void all_operands(const struct emit *e, const struct ir_stmt *s) {
    emit_use(e, s->e);
    emit_use(e, s->e2);
    emit_use(e, s->e3);
    emit_use_all(e, &s->args);
    use_csum_args(e, s);
}

void emit_checked_before(const struct emit *e, const struct ir_stmt *s) {
    if (!e->checked)
        return;
    switch (s->kind) {
    case IR_ASSIGN:
        emit_checked_assign(e, s);
        break;
    case IR_BLOCK:
    case IR_LEAVE:
    case IR_EXIT:
    case IR_SET_VALID:
        break;
    case IR_SET_INVALID:
        emit_checked_invalidate(e, s->header);
        break;
    case IR_APPLY:
        check_once(e, "table", "TABLE_TWICE", s->table->id, s->table->name);
        break;
    case IR_REG_EXEC:
        emit_checked_access_register(e, s->regaction->reg, s->e, cells_seen(s->regaction));
        emit_defined(e, s->regaction->rv); // 0 when the action does not run
        break;
    case IR_REG_READ:
    case IR_REG_WRITE:
        emit_checked_access_register(e, s->reg, s->e, s->reg->size);
        emit_use(e, s->e2);
        emit_use(e, s->e3);
        break;
    case IR_COUNT:
        if (!s->counter->direct)
            emit_checked_check_index(e, s->counter->name, s->e, s->counter->size);
        break;
    case IR_METER_EXEC:
        if (!s->meter->direct)
            emit_checked_check_index(e, s->meter->name, s->e, s->meter->size);
        emit_use(e, s->e2);
        break;
    case IR_IF:
        if (!s->selects)
            all_operands(e, s);
        break;
    case IR_RESUBMIT:
        use_resubmitted(e, s);
        break;
    case IR_EMIT: // emit_checked_emits
    case IR_COUNT_LEAVING:
    case IR_NOTE: // no use of what it names
        break;
    default:
        all_operands(e, s);
    }
}

void emit_checked_after(const struct emit *e, const struct ir_stmt *s) {
    if (!e->checked || s->kind == IR_ASSIGN)
        return;
    const struct ir_regaction *ra = s->regaction;
    if (s->kind == IR_REG_EXEC && s->var && ra->rv && emit_var_of(e, ra->rv)->masked &&
        !is_sink(e, s->var)) {
        // beyond the register's end the result is 0
        bool same = s->var->width == ra->rv->width && !emit_is_wide(s->var->width);
        set_mask(e, s->var, same ? emit_mask_of(e, ra->rv) : "0");
        return;
    }
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        emit_defined(e, results[i]);
}

void emit_checked_action(const struct emit *e, const struct ir_action *a) {
    for (size_t i = 0; e->checked && i < a->params.n; i++)
        emit_defined(e, a->params.v[i].var);
}

void emit_checked_regaction(const struct emit *e, const struct ir_regaction *ra) {
    if (!e->checked)
        return;
    emit_defined(e, ra->value[0]);
    emit_defined(e, ra->value[1]);
    emit_defined(e, ra->rv);
}

// --------------------------------------------------------------------------------------------
// Tables: an undefined key is reported when it decides which entry is found.

static const char *undefined_word(const struct emit *e, const struct ir_expr *x, const char *u,
                                  unsigned word) {
    unsigned n = x->width - 64 * word < 64 ? x->width - 64 * word : 64;
    if (!u)
        return "0";
    if (emit_is_wide(x->width))
        return emit_text(e, "%s ? %s : 0", u, emit_ones(e, n == 64 ? 64 : n));
    return x->width <= 64 ? u : emit_text(e, word ? "(uint64_t)(%s >> 64)" : "(uint64_t)%s", u);
}

void emit_checked_key(const struct emit *e, const struct ir_table *t) {
    bool any = false;
    if (!e->checked)
        return;
    for (size_t i = 0; i < t->keys.n; i++) {
        emit_report_use(e, emit_used(e, t->keys.v[i].expr), t->keys.v[i].expr, t->keys.v[i].at);
        any |= emit_undefined(e, t->keys.v[i].expr) != NULL;
    }
    if (!any)
        return;
    emit_open(e, "{");
    emit_open(e, "const uint64_t undefined[] = {");
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_expr *x = t->keys.v[i].expr;
        const char *u = emit_undefined(e, x);
        for (unsigned w = 0; w < (x->width + 63) / 64; w++)
            emit_line(e, "%s,", undefined_word(e, x, u, w));
    }
    emit_close(e, "};");
    emit_line(e, "uint64_t some = 0;");
    emit_line(e, "for (unsigned i = 0; i < sizeof undefined / sizeof *undefined; i++)");
    emit_line(e, "    some |= undefined[i];");
    emit_line(e, "const int field = some ? sk_key_matters(%s, key, undefined) : -1;",
              emit_table_ref(e, t));
    for (size_t i = 0; i < t->keys.n; i++)
        if (emit_undefined(e, t->keys.v[i].expr))
            emit_report_use(e, emit_text(e, "field == %zu", i), t->keys.v[i].expr, t->keys.v[i].at);
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Parser and deparser.

void emit_checked_parser(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "const struct sk_place *here = NULL;");
    emit_line(e, "const char *doing = NULL;");
    emit_line(e, "const int here_gress = %s;", emit_gress_name(e));
}

void emit_checked_here(const struct emit *e, struct loc at, const char *what) {
    if (!e->checked)
        return;
    emit_open(e, "{");
    emit_place(e, "at", at);
    emit_line(e, "here = &at;");
    emit_line(e, "doing = %s;", emit_string(e, emit_shown_name(e, what)));
    emit_close(e, "}");
}

void emit_checked_extracted(const struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; e->checked && i < h->fields.n; i++)
        emit_defined(e, h->fields.v[i]);
}

static void report_here(const struct emit *e, const char *violation, const char *name,
                        struct loc at, const char *number) {
    emit_open(e, "{");
    emit_place(e, "at", at);
    emit_line(e, "sk_report(v->packet, %s, SK_VIOLATION_%s, &at, %s, %s, NULL);",
              emit_gress_name(e), violation, emit_string(e, name), number);
    emit_close(e, "}");
}

static const char *stack_name(const struct emit *e, const struct ir_header *element) {
    const char *bracket = strrchr(element->name, '[');
    return bracket ? arena_strndup(e->a, element->name, (size_t)(bracket - element->name))
                   : element->name;
}

void emit_checked_stack(const struct emit *e, const struct ir_stmt *s) {
    if (e->checked)
        report_here(e, "STACK", stack_name(e, s->headers.v[0]), s->at, emit_u64(e, s->e));
}

void emit_checked_too_long(const struct emit *e, const struct ir_state *st) {
    if (e->checked)
        report_here(e, "PARSER_LOOP", st->name, st->at, "SK_PARSER_MAX_STATES");
}

void emit_checked_select(const struct emit *e, const struct ir_state *st) {
    if (e->checked)
        emit_use_all(e, &st->keys);
}

// One report for a header: its first undefined field, and how many more there are.
static void emitted_fields(const struct emit *e, const struct ir_header *h, struct loc at) {
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_place(e, "at", at);
    emit_line(e, "const char *first = NULL;");
    emit_line(e, "uint64_t n = 0;");
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (!emit_var_of(e, f)->masked)
            continue;
        emit_line(e, "if (%s && n++ == 0)", emit_mask_of(e, f));
        emit_line(e, "    first = %s;", emit_string(e, f->name));
    }
    emit_line(e, "if (first)");
    emit_line(e, "    sk_report(v->packet, %s, SK_VIOLATION_EMITTED, &at, first, n - 1, NULL);",
              emit_gress_name(e));
    emit_close(e, "}");
}

static void each_emit(void *aux, const struct ir_stmt *s) {
    const struct emit *e = aux;
    if (s->kind == IR_EMIT)
        emitted_fields(e, s->header, s->at);
}

void emit_checked_emits(const struct emit *e) {
    struct emit of = *e;
    if (e->checked)
        ir_walk(e->g->deparser, each_emit, NULL, &of);
}

void emit_checked_headroom(const struct emit *e) {
    if (e->checked)
        emit_line(e,
                  "sk_report(v->packet, %s, SK_VIOLATION_HEADROOM, NULL, \"what is emitted\", "
                  "gathered - (size_t)(q - packet->buf), NULL);",
                  emit_gress_name(e));
}
