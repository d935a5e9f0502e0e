// SPDX-License-Identifier: Apache-2.0
//
// trace: the events of the checked build. See trace.h.
#include "compiler/print/checked/trace.h"

#include <string.h>

#include "compiler/print/checked/checked.h"

#define PREFIX(e) ((e)->g->kind == IR_INGRESS ? "SK_INGRESS_PREFIX" : "SK_EGRESS_PREFIX")

// One event; the format is the rest of its initialiser.
static void emit_trace_event(const struct emit *e, const char *kind, struct loc at, const char *fmt,
                             ...) __attribute__((format(printf, 4, 5)));
static void emit_trace_event(const struct emit *e, const char *kind, struct loc at, const char *fmt,
                             ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *rest = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    emit_open(e, "if (v->traced) {");
    emit_place(e, "at", at);
    emit_line(
        e, "sk_trace(v->packet, &(struct sk_event){.kind = SK_EV_%s, .gress = %s, .at = &at, %s});",
        kind, emit_gress_name(e), rest);
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Values.

// Prints "const struct sk_trace_value NAME[] = {...}" piece by piece; wide values need bytes first.
struct values {
    const char *name, *list;
    unsigned n;
};

static bool is_signed(const struct ir_expr *x) {
    return x->op == IR_VAR && x->var->is_signed;
}

static void emit_trace_add_value(const struct emit *e, struct values *v, const char *name,
                                 const struct ir_expr *x) {
    const char *text;
    if (emit_is_wide(x->width)) {
        unsigned bytes = emit_bytes(x->width);
        text = emit_text(e, "%s_b%u", v->name, v->n);
        emit_line(e, "uint8_t %s[%u] = {0};", text, bytes);
        emit_put_bits(e, text, 8 * bytes - x->width, x);
        text = emit_text(e, ".bytes = %s", text);
    } else {
        const char *value = emit_expr(e, x);
        text = x->width <= 64 ? emit_text(e, ".low = %s", value)
                              : emit_text(e, ".low = (uint64_t)%s, .high = (uint64_t)(%s >> 64)",
                                          value, value);
    }
    v->list = emit_text(e, "%s{.name = %s, .width = %u, %s%s}, ", v->list, emit_string(e, name),
                        x->width, text, is_signed(x) ? ", .is_signed = true" : "");
    v->n++;
}

static void add_expr(const struct emit *e, struct values *v, const struct ir_expr *x) {
    if (x)
        emit_trace_add_value(e, v, ir_source_text(e->a, x), x);
}

static void emit_trace_add_var(const struct emit *e, struct values *v, const char *name,
                               const struct ir_var *var) {
    if (var && emit_var_of(e, var)->touched)
        emit_trace_add_value(
            e, v,
            name ? name
                 : ir_source_text(e->a,
                                  &(struct ir_expr){.op = IR_VAR, .var = (struct ir_var *)var}),
            &(struct ir_expr){.op = IR_VAR, .width = var->width, .var = (struct ir_var *)var});
}

static void emit_trace_print_values(const struct emit *e, const struct values *v) {
    emit_line(e, "const struct sk_trace_value %s[] = {%s{0}};", v->name, v->list);
}

static const char *with_in(const struct emit *e, unsigned n) {
    return emit_text(e, ".in = t_in, .n_in = %u", n);
}

// --------------------------------------------------------------------------------------------
// Headers.

static const char *header_desc(const struct emit *e, const struct ir_header *h) {
    return emit_text(e, "%s_header%u", e->p, h->id);
}

const char *emit_field_name(const struct ir_header *h, const struct ir_var *f) {
    size_t n = strlen(h->name);
    return strncmp(f->name, h->name, n) == 0 && f->name[n] == '.' ? f->name + n + 1 : f->name;
}

static void emit_trace_describe(const struct emit *e, const struct ir_header *h) {
    const char *name = header_desc(e, h);
    emit_open(e, "static const struct sk_trace_field %s_fields[] = {", name);
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        emit_line(e, "{%s, %u, %u, %s, %s},", emit_string(e, emit_field_name(h, f)), f->width,
                  f->bit_offset, f->is_signed ? "true" : "false", f->padding ? "true" : "false");
    }
    emit_line(e, "{0},");
    emit_close(e, "};");
    emit_line(e, "static const struct sk_header_desc %s = {%s, %s, %s_fields, %zu, %u};", name,
              emit_string(e, emit_shown_name(e, h->name)),
              emit_string(e, h->type_name ? h->type_name : ""), name, h->fields.n, h->bits / 8);
}

void emit_trace_headers(const struct emit *e) {
    for (size_t i = 0; e->checked && i < e->g->headers.n; i++)
        if (e->plan->headers[i].extracted || e->plan->headers[i].emitted)
            emit_trace_describe(e, e->g->headers.v[i]);
}

// --------------------------------------------------------------------------------------------
// Parser.

void emit_trace_state(const struct emit *e, const struct ir_state *st) {
    if (e->checked && !strchr(st->name, '$')) // which lowering added
        emit_trace_event(e, "STATE", st->at, ".name = %s", emit_string(e, st->name));
}

void emit_trace_extracted(const struct emit *e, const struct ir_header *h) {
    if (e->checked)
        emit_trace_event(e, "EXTRACT", e->at,
                         ".name = %s, .header = &%s, .bytes = p - %u, .length = %u, .offset = "
                         "(int32_t)(before + (size_t)(p - base)) - %u - (int32_t)%s",
                         emit_string(e, emit_shown_name(e, h->name)), header_desc(e, h),
                         h->bits / 8, h->bits / 8, h->bits / 8, PREFIX(e));
}

void emit_trace_select(const struct emit *e, const struct ir_state *st) {
    if (!e->checked || st->keys.n == 0)
        return;
    struct values in = {.name = "t_in", .list = ""};
    emit_open(e, "{");
    for (size_t i = 0; i < st->keys.n; i++)
        emit_trace_add_value(
            e, &in, i < st->key_texts.n ? st->key_texts.v[i] : ir_source_text(e->a, st->keys.v[i]),
            st->keys.v[i]);
    emit_trace_print_values(e, &in);
    emit_trace_event(e, "SELECT", st->at, ".name = %s, %s", emit_string(e, st->name),
                     with_in(e, in.n));
    emit_close(e, "}");
}

static const char *key_set_text(const struct emit *e, const struct ir_select_key_set *s,
                                unsigned width) {
    if (s->set)
        return emit_text(e, "value set %s", s->set->name);
    const char *value = big_str(e->a, s->value, 16);
    if (s->high)
        return emit_text(e, "%s..%s", value, big_str(e->a, s->high, 16));
    big one = big_u64(e->a, 1);
    if (!s->mask || big_cmp(s->mask, big_sub(e->a, big_shl(e->a, one, width), one)) == 0)
        return value;
    if (big_sign(s->mask) == 0)
        return "_";
    return emit_text(e, "%s &&& %s", value, big_str(e->a, s->mask, 16));
}

const char *emit_trace_case(const struct emit *e, const struct ir_state *st,
                            const struct ir_select_case *c) {
    const char *text = c->sets.n ? "" : "default";
    for (size_t i = 0; i < c->sets.n; i++)
        text = emit_text(e, "%s%s%s", text, i ? ", " : "",
                         key_set_text(e, &c->sets.v[i], st->keys.v[i]->width));
    return text;
}

const char *emit_trace_jump(const struct emit *e, int next, const char *what, const char *jump) {
    if (!e->checked)
        return jump;
    const char *name = next >= 0           ? e->g->states.v[next]->name
                       : next == IR_ACCEPT ? "accept"
                                           : "reject";
    return emit_text(e,
                     "{ if (v->traced) sk_trace(v->packet, &(struct sk_event){.kind = "
                     "SK_EV_TRANSITION, .gress = %s, .name = %s, .text = %s}); %s }",
                     emit_gress_name(e), emit_string(e, name), emit_string(e, what), jump);
}

void emit_trace_no_match(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "if (v->traced)");
    emit_line(e,
              "    sk_trace(v->packet, &(struct sk_event){.kind = SK_EV_TRANSITION, .gress = %s, "
              ".name = \"error\", .text = \"no case matches\"});",
              emit_gress_name(e));
}

void emit_trace_parsed(const struct emit *e) {
    if (!e->checked)
        return;
    emit_open(e, "if (v->traced) {");
    emit_line(e,
              "sk_trace(packet, &(struct sk_event){.kind = SK_EV_PARSED, .gress = %s, .offset = "
              "(int32_t)consumed - (int32_t)%s, .flags = err});",
              emit_gress_name(e), PREFIX(e));
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Tables and headers that leave.

void emit_trace_deparse(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "if (v->traced)");
    emit_line(e, "    sk_trace(v->packet, &(struct sk_event){.kind = SK_EV_DEPARSE, .gress = %s});",
              emit_gress_name(e));
}

void emit_trace_table(const struct emit *e, const struct ir_table *t, const char *action) {
    if (e->checked)
        emit_trace_event(
            e, "TABLE", e->at,
            ".name = %s, .table = sk_table_desc(%s), .key = %s, .entry = entry, .action = %s, "
            ".data = data, .flags = (r & SK_APPLY_HIT) != 0",
            emit_string(e, t->name), emit_table_ref(e, t), t->keys.n ? "key" : "NULL", action);
}

void emit_trace_emitted(const struct emit *e, const struct ir_header *h) {
    if (e->checked)
        emit_trace_event(e, "EMIT", h->at, ".name = %s, .header = &%s, .bytes = t, .length = %u",
                         emit_string(e, emit_shown_name(e, h->name)), header_desc(e, h),
                         h->bits / 8);
}

// --------------------------------------------------------------------------------------------
// Statements.

static bool has_result_event(const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
    case IR_IF:
    case IR_SWITCH:
    case IR_BLOCK:
    case IR_LEAVE:
    case IR_EXIT:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_APPLY:   // the table's function tells
    case IR_EXTRACT: // emit_trace_extracted
    case IR_RAISE:   // told before it leaves
    case IR_EMIT:
    case IR_COUNT_LEAVING:
    case IR_NOTE:   // no observer asks what the engine notes
    case IR_REPORT: // is an event of its own
        return false;
    default:
        return true;
    }
}

static const struct ir_register *register_of(const struct ir_stmt *s) {
    return s->regaction ? s->regaction->reg : s->reg;
}

// As the action sees the word, or the register's type says.
static bool word_is_signed(const struct ir_stmt *s, unsigned w) {
    const struct ir_regaction *ra = s->regaction;
    return ra && ra->words == ra->reg->words && ra->value[w] ? ra->value[w]->is_signed
                                                             : register_of(s)->is_signed;
}

// Prints an array with the words of the register's cell as they are now. An action that sees cells
// of another size shows the words it works on.
static void cell_now(const struct emit *e, const struct ir_stmt *s, const char *name) {
    const struct ir_register *r = register_of(s);
    const char *list = "";
    for (unsigned w = 0; w < r->words; w++) {
        const char *cell =
            r->direct
                ? emit_text(e, "entry->direct[%u]", emit_direct_word(e->g, r) + w)
                : emit_text(e, "t_cell < UINT64_C(%llu) ? %s : 0", (unsigned long long)r->size,
                            emit_cell(e, r, "t_cell", emit_text(e, "%u", w)));
        const char *word = r->word_names[w] ? r->word_names[w] : w ? "1" : "0";
        if (r->wide) { // one value
            list = w == 0 ? emit_text(e, "{.name = \"value\", .width = %u, .low = %s, ",
                                      2 * r->width, cell)
                          : emit_text(e, "%s.high = %s}, ", list, cell);
            continue;
        }
        list = emit_text(e, "%s{.name = %s, .width = %u, .low = %s%s}, ", list,
                         emit_string(e, r->words == 1 ? "value" : word), r->width, cell,
                         word_is_signed(s, w) ? ", .is_signed = true" : "");
    }
    emit_line(e, "const struct sk_trace_value %s[] = {%s{0}};", name, list);
}

// The register's own cell that an index of the access lies in (the first, when it spans several).
static const char *emit_trace_register_cell(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_regaction *ra = s->regaction;
    if (!ra || (ra->width == ra->reg->width && ra->words == ra->reg->words))
        return "t_index";
    return emit_text(e, "t_index * %u / %u", ra->width * ra->words,
                     ra->reg->width * ra->reg->words);
}

static void before_register(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_register *r = register_of(s);
    if (!r->direct) {
        const char *index = s->e ? emit_u64(e, s->e) : emit_counted_cell(e, s->regaction, s->use);
        emit_line(e, "const uint64_t t_index = %s;", index);
        emit_line(e, "const uint64_t t_cell = %s;", emit_trace_register_cell(e, s));
    } else {
        emit_line(e, "const uint64_t t_index = SK_NO_INDEX;");
    }
    cell_now(e, s, "t_in");
}

static void after_register(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_register *r = register_of(s);
    struct values result = {.name = "t_result", .list = ""};
    const char *how = s->kind == IR_REG_READ    ? "read"
                      : s->kind == IR_REG_WRITE ? "write"
                                                : s->regaction->name;
    cell_now(e, s, "t_out");
    emit_trace_add_var(e, &result, NULL, s->var);
    emit_trace_add_var(e, &result, NULL, s->var2);
    emit_trace_print_values(e, &result);
    emit_trace_event(
        e, "REGISTER", e->at,
        ".name = %s, .text = %s, .number = t_index, .in = t_in, .n_in = %u, .out = t_out, .n_out "
        "= %u, "
        ".result = t_result, .n_result = %u",
        emit_string(e, r->name), emit_string(e, how), r->wide ? 1 : r->words,
        r->wide ? 1 : r->words, result.n);
}

static bool is_register(const struct ir_stmt *s) {
    return s->kind == IR_REG_EXEC || s->kind == IR_REG_READ || s->kind == IR_REG_WRITE;
}

struct summary { // how a statement is told: its event, the object's name, what it did
    const char *kind, *name, *text;
};

static struct summary summary(const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_COUNT:
        return (struct summary){"COUNTER", s->counter->name, NULL};
    case IR_METER_EXEC:
        return (struct summary){"METER", s->meter->name, NULL};
    case IR_HASH:
        return (struct summary){"HASH", s->hash->name, NULL};
    case IR_RANDOM:
        return (struct summary){"VALUE", s->random->name, "random"};
    case IR_CSUM_ADD:
        return (struct summary){"CHECKSUM", s->checksum->name, "add"};
    case IR_CSUM_SUBTRACT:
        return (struct summary){"CHECKSUM", s->checksum->name, "subtract"};
    case IR_CSUM_VERIFY:
        return (struct summary){"CHECKSUM", s->checksum->name, "verify"};
    case IR_CSUM_GET:
        return (struct summary){"CHECKSUM", s->checksum->name, "get"};
    case IR_CSUM_UPDATE:
        return (struct summary){"CHECKSUM", s->checksum->name, "update"};
    case IR_RESUBMIT:
        return (struct summary){"RESUBMIT", "resubmit", NULL};
    case IR_MIRROR: // in: session, header
        return (struct summary){"VALUE", "mirror", NULL};
    case IR_DIGEST:
        return (struct summary){"VALUE", s->digest->name, "digest"};
    default:
        return (struct summary){"VALUE", "statement", NULL};
    }
}

static void before_others(const struct emit *e, const struct ir_stmt *s) {
    struct values in = {.name = "t_in", .list = ""};
    add_expr(e, &in, s->e);
    add_expr(e, &in, s->e2);
    add_expr(e, &in, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        add_expr(e, &in, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        add_expr(e, &in, s->csum_args.v[i].e);
    emit_trace_print_values(e, &in);
    emit_line(e, "const uint32_t t_n = %u;", in.n);
}

static void after_others(const struct emit *e, const struct ir_stmt *s) {
    struct summary sum = summary(s);
    struct values out = {.name = "t_out", .list = ""};
    if (s->kind != IR_CSUM_GET) // known when the parser is done
        emit_trace_add_var(e, &out, NULL, s->var);
    emit_trace_add_var(e, &out, NULL, s->var2);
    emit_trace_print_values(e, &out);
    if (s->kind == IR_RESUBMIT)
        emit_line(e, "if (v->resubmits)");
    bool indexed = s->kind == IR_COUNT || s->kind == IR_METER_EXEC;
    const char *index = !indexed ? "0" : s->e ? "t_in[0].low" : "SK_NO_INDEX";
    emit_trace_event(
        e, sum.kind, e->at,
        ".name = %s, .text = %s, .in = t_in, .n_in = t_n, .out = t_out, .n_out = %u, .number = %s",
        emit_string(e, sum.name), sum.text ? emit_string(e, sum.text) : "NULL", out.n, index);
}

static void before_advance(const struct emit *e) {
    emit_line(e, "const size_t t_from = before + (size_t)(p - base);");
}

static void after_advance(const struct emit *e) {
    emit_line(e, "const size_t t_taken = before + (size_t)(p - base) - t_from;");
    emit_trace_event(
        e, "ADVANCE", e->at,
        ".bytes = p - t_taken, .length = (uint32_t)t_taken, .offset = (int32_t)t_from - "
        "(int32_t)%s",
        PREFIX(e));
}

static void emit_trace_condition(const struct emit *e, const struct ir_stmt *s) {
    struct values in = {.name = "t_in", .list = ""};
    if (!s->text)
        return;
    if (s->kind == IR_IF) {
        emit_trace_event(e, "CONDITION", e->at, ".text = %s, .flags = (%s) != 0",
                         emit_string(e, s->text), emit_cond(e, s->e));
        return;
    }
    emit_open(e, "{");
    emit_trace_add_value(e, &in, s->text, s->e);
    emit_trace_print_values(e, &in);
    emit_trace_event(e, "SWITCH", e->at, ".text = t_in[0].name, %s", with_in(e, in.n));
    emit_close(e, "}");
}

void emit_trace_before(const struct emit *e, const struct ir_stmt *s) {
    if (!e->checked)
        return;
    if (s->kind == IR_IF || s->kind == IR_SWITCH)
        emit_trace_condition(e, s);
    if (s->kind == IR_RAISE)
        emit_trace_event(e, "TRANSITION", e->at, ".name = \"error\", .text = \"raised\"");
    if (!has_result_event(s))
        return;
    emit_open(e, "{");
    if (s->kind == IR_ADVANCE)
        before_advance(e);
    else if (is_register(s))
        before_register(e, s);
    else
        before_others(e, s);
}

// Who wants to know where a packet was dropped has to know who was the last to ask for it.
static void after_assignment(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_var *v = e->g->intrinsic[IRI_DROP_CTL];
    const char *name = "NULL";
    if (!v || s->var != v)
        return;
    for (size_t i = 0; i < e->g->actions.n; i++)
        if (e->user == e->g->actions.v[i])
            name = emit_string(e, e->g->actions.v[i]->name);
    emit_trace_event(e, "DROP_CTL", s->at.line ? s->at : e->at, ".name = %s, .number = %s", name,
                     emit_ref(e, v));
}

void emit_trace_after(const struct emit *e, const struct ir_stmt *s) {
    if (e->checked && s->kind == IR_ASSIGN)
        after_assignment(e, s);
    if (!e->checked || !has_result_event(s))
        return;
    if (s->kind == IR_ADVANCE)
        after_advance(e);
    else if (is_register(s))
        after_register(e, s);
    else
        after_others(e, s);
    emit_close(e, "}");
}
