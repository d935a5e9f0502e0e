// SPDX-License-Identifier: Apache-2.0
//
// meter: counters, meters and filters (tna-facts 4.4, 4.5), and how they hang on tables.
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define ADJUST_MIN       (-8192) // 14 bits, signed: what the statistics and meter ALUs hold
#define ADJUST_MAX       8191
#define FILTER_MAX_WIDTH 32u

static bool is_direct(const struct object *o) {
    return strncmp(o->type_name, "Direct", 6) == 0;
}

static struct type *lower_meter_type_arg(struct lower *lw, const struct object *o, size_t i) {
    const struct type *t = o->type;
    return t && i < t->args.n ? env_type(lw, t->args.v[i]) : NULL;
}

// The argument for the parameter of that name, in a constructor call or a method call; null when
// the overload has none or it was left out.
static struct expr *named_arg(const struct expr *call, const char *name) {
    const struct decl *d = !call ? NULL : call->ctor ? call->ctor : call->decl;
    for (size_t i = 0; d && i < d->params.n; i++)
        if (d->params.v[i]->name && strcmp(d->params.v[i]->name, name) == 0)
            return bound_arg(call, i);
    return NULL;
}

static const struct annotation *annotation(const struct object *o, const char *name) {
    return o->instance ? annot_find(&o->instance->annots, name) : NULL;
}

static uint64_t cells(struct lower *lw, struct object *o, struct expr *ctor) {
    uint64_t size = 0;
    struct expr *arg = named_arg(ctor, "size");
    if (arg)
        eval_const_u64(lw, arg, arena_printf(lw->a, "size of a %s", o->type_name), &size);
    if (size == 0 || size > UINT32_MAX)
        lower_error(lw, o->at, "%s '%s' has %llu entries; it needs at least one", o->type_name,
                    o->name, (unsigned long long)size);
    return size;
}

// ---- byte adjustment ----------------------------------------------------------------------------

static bool adjustment_of(struct lower *lw, big v, struct loc at, int64_t *out) {
    // the argument is bit<32>: a negative one comes as its two's complement
    if (v && big_fits_u64(v) && big_to_u64(v) > INT32_MAX && big_to_u64(v) <= UINT32_MAX)
        v = big_sub(lw->a, v, big_u64(lw->a, UINT64_C(1) << 32));
    big magnitude = v && big_sign(v) < 0 ? big_sub(lw->a, big_u64(lw->a, 0), v) : v;
    if (!magnitude || !big_fits_u64(magnitude) || big_to_u64(magnitude) > -(int64_t)ADJUST_MIN ||
        (big_sign(v) > 0 && big_to_u64(v) > ADJUST_MAX)) {
        if (v)
            lower_error(lw, at, "a byte count can be adjusted by %d to %d", ADJUST_MIN, ADJUST_MAX);
        return false;
    }
    *out = big_sign(v) < 0 ? -(int64_t)big_to_u64(magnitude) : (int64_t)big_to_u64(magnitude);
    return true;
}

// @adjust_byte_count(N) on the instance.
static void adjust_annotation(struct lower *lw, struct object *o, int64_t *adjust) {
    const struct annotation *n = annotation(o, "adjust_byte_count");
    if (!n)
        return;
    const struct expr *e = n->args.n == 1 && !n->keys.v[0] ? n->args.v[0] : NULL;
    bool negative = e && e->kind == EX_UNARY && e->op == OP_NEG;
    if (negative)
        e = e->a;
    if (!e || e->kind != EX_INT) {
        lower_error(lw, n->at, "@adjust_byte_count takes a number");
        return;
    }
    big v = negative ? big_sub(lw->a, big_u64(lw->a, 0), e->value) : e->value;
    if (adjustment_of(lw, v, n->at, adjust))
        o->adjusted = true;
}

// The argument of a call. Hardware has one adjustment for all packets of an instance.
static void adjust_argument(struct lower *lw, struct object *o, struct expr *call,
                            int64_t *adjust) {
    struct expr *arg = named_arg(call, "adjust_byte_count");
    int64_t v;
    if (!arg || !adjustment_of(lw, eval_const(lw, arg, "byte count adjustment"), arg->at, &v))
        return;
    if (o->adjusted && v != *adjust)
        lower_error(lw, arg->at,
                    "%s '%s' has its byte counts adjusted by %lld elsewhere; all calls must "
                    "give the same number",
                    o->type_name, o->name, (long long)*adjust);
    *adjust = v;
    o->adjusted = true;
}

static bool true_egress(struct lower *lw, struct object *o, struct expr *ctor) {
    struct expr *arg = named_arg(ctor, "true_egress_accounting");
    if (!arg)
        return annotation(o, "true_egress_accounting") != NULL;
    big v = eval_const(lw, arg, "true_egress_accounting");
    return v && big_sign(v) != 0;
}

// ---- instances ----------------------------------------------------------------------------------

void counter_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_counter *c = ARENA_NEW(lw->a, struct ir_counter);
    uint64_t type = 0;
    o->counter = c;
    c->name = o->name;
    c->at = o->at;
    c->direct = is_direct(o);
    struct type *w = lower_meter_type_arg(lw, o, 0);
    c->width = w && is_scalar_type(w) ? extern_width(lw, o, w) : 64;
    if (c->width > 64)
        lower_error(lw, o->at, "counter '%s' has %u bits; at most 64 are possible", o->name,
                    c->width);
    if (!c->direct)
        c->size = cells(lw, o, ctor);
    if (named_arg(ctor, "type"))
        eval_const_u64(lw, named_arg(ctor, "type"), "type of a counter", &type);
    c->type = type == 0 ? IR_COUNT_PACKETS : type == 1 ? IR_COUNT_BYTES : IR_COUNT_BOTH;
    c->true_egress = true_egress(lw, o, ctor);
    if (c->true_egress && c->type == IR_COUNT_PACKETS)
        lower_error(lw, o->at,
                    "true egress accounting only applies to byte counts; '%s' counts packets",
                    o->name);
    adjust_annotation(lw, o, &c->adjust);
}

// A result value: an argument of the constructor, else an annotation, else what TNA gives.
static uint8_t result_value(struct lower *lw, struct object *o, struct expr *ctor, const char *name,
                            uint8_t otherwise) {
    struct expr *arg = named_arg(ctor, name);
    const struct annotation *n = arg ? NULL : annotation(o, name);
    uint64_t v = otherwise;
    if (arg)
        eval_const_u64(lw, arg, arena_printf(lw->a, "'%s' of a %s", name, o->type_name), &v);
    else if (n && n->args.n == 1 && n->args.v[0]->kind == EX_INT &&
             big_fits_u64(n->args.v[0]->value))
        v = big_to_u64(n->args.v[0]->value);
    else if (n)
        v = UINT64_MAX;
    if (v > UINT8_MAX)
        lower_error(lw, n ? n->at : o->at, "'%s' of '%s' must be a number of at most 255", name,
                    o->name);
    return (uint8_t)v;
}

static void plain_meter(struct lower *lw, struct object *o, struct expr *ctor) {
    uint64_t type = 0;
    if (named_arg(ctor, "type"))
        eval_const_u64(lw, named_arg(ctor, "type"), "type of a meter", &type);
    o->meter->bytes = type == 1;
    o->meter->value[0] = result_value(lw, o, ctor, "green", 0);
    o->meter->value[1] = result_value(lw, o, ctor, "yellow", 1);
    o->meter->value[2] = result_value(lw, o, ctor, "red", 3);
    if (true_egress(lw, o, ctor))
        lower_unsupported(lw, o->at, "meters with true_egress_accounting");
    adjust_annotation(lw, o, &o->meter->adjust);
}

static void filter(struct lower *lw, struct object *o, struct expr *ctor) {
    struct type *t = lower_meter_type_arg(lw, o, 0);
    o->meter->width = t && is_scalar_type(t) ? extern_width(lw, o, t) : FILTER_MAX_WIDTH;
    if (o->meter->width > FILTER_MAX_WIDTH)
        lower_error(lw, o->at, "'%s' filters values of %u bits; at most %u are possible", o->name,
                    o->meter->width, FILTER_MAX_WIDTH);
    if (t && is_scalar_type(t) && is_signed_type(t))
        lower_unsupported(lw, o->at, "filters of signed values");
    if (o->meter->kind == IR_WRED) {
        o->meter->value[0] = result_value(lw, o, ctor, "no_drop_value", 0);
        o->meter->value[1] = result_value(lw, o, ctor, "drop_value", 1);
    }
}

void meter_new(struct lower *lw, struct object *o, struct expr *ctor) {
    const char *kind = is_direct(o) ? o->type_name + 6 : o->type_name;
    struct ir_meter *m = ARENA_NEW(lw->a, struct ir_meter);
    o->meter = m;
    m->name = o->name;
    m->at = o->at;
    m->direct = is_direct(o);
    m->kind = strcmp(kind, "Lpf") == 0 ? IR_LPF : strcmp(kind, "Wred") == 0 ? IR_WRED : IR_METER;
    if (!m->direct)
        m->size = cells(lw, o, ctor);
    if (m->kind == IR_METER)
        plain_meter(lw, o, ctor);
    else
        filter(lw, o, ctor);
}

// ---- methods ------------------------------------------------------------------------------------

struct value *counter_method(struct lower *lw, struct object *o, struct expr *e) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_COUNT, e->at);
    struct expr *index = named_arg(e, "index");
    s->counter = o->counter;
    if (!o->counter->direct && index)
        s->e = eval_bits(lw, index);
    adjust_argument(lw, o, e, &o->counter->adjust);
    if (o->counter->true_egress && lw->gress->kind != IR_EGRESS)
        lower_error(lw, e->at,
                    "'%s' counts the bytes that leave egress; it cannot be used in ingress",
                    o->name);
    put(lw, s);
    return value_zero(lw, env_type(lw, e->type), e->at);
}

struct value *meter_method(struct lower *lw, struct object *o, struct expr *e,
                           struct ir_var *wanted) {
    struct ir_meter *m = o->meter;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_METER_EXEC, e->at);
    struct expr *index = named_arg(e, "index");
    struct expr *input = named_arg(e, m->kind == IR_METER ? "color" : "val");
    // an argument with effects comes after those before it
    bool index_first = m->kind == IR_METER;
    s->meter = m;
    if (index_first && index)
        s->e = eval_bits(lw, index);
    if (s->e && input && scan_effects(input)) {
        struct ir_var *kept = temp_new(lw, "index", s->e->width, e->at);
        assign_var(lw, kept, s->e, e->at);
        s->e = ir_ref(lw->a, kept);
    }
    if (input)
        s->e2 = eval_bits(lw, input);
    if (!index_first && index && scan_effects(index)) {
        struct ir_var *kept = temp_new(lw, "value", s->e2->width, e->at);
        assign_var(lw, kept, s->e2, e->at);
        s->e2 = ir_ref(lw->a, kept);
    }
    if (!index_first && index)
        s->e = eval_bits(lw, index);
    adjust_argument(lw, o, e, &m->adjust);
    if (m->direct == (s->e != NULL) || (m->kind != IR_METER && !s->e2)) {
        lower_unsupported(lw, e->at, "this call of '%s'", o->name);
        return value_zero(lw, env_type(lw, e->type), e->at);
    }
    s->var = result_var(lw, wanted, m->kind == IR_LPF ? m->width : 8, e->at);
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}

// ---- tables -------------------------------------------------------------------------------------

// Runs 'fn' for the object of a property, or each of a list.
static void lower_meter_each_object(struct lower *lw, struct expr *e,
                                    void (*fn)(struct lower *lw, void *ctx, struct object *o,
                                               struct expr *e),
                                    void *ctx) {
    if (e->kind == EX_LIST || e->kind == EX_STRUCT) {
        for (size_t i = 0; i < e->args.n; i++)
            fn(lw, ctx, object_of(lw, e->args.v[i]->value), e->args.v[i]->value);
        return;
    }
    fn(lw, ctx, object_of(lw, e), e);
}

struct attachment {
    struct ir_table *table;
    const char *property;
};

// One address for statistics goes from an entry to its counter.
static void attach_counter(struct lower *lw, void *ctx, struct object *o, struct expr *e) {
    const struct attachment *a = ctx;
    if (!o || o->kind != OBJ_COUNTER || !o->counter->direct)
        lower_error(lw, e->at, "'counters' of a table takes a DirectCounter");
    else if (a->table->direct_counters.n > 0)
        lower_error(lw, e->at, "table '%s' has the counter '%s' already; a table has one",
                    a->table->name, a->table->direct_counters.v[0]->name);
    else if (object_use(lw, o, e->at))
        VEC_PUSH(lw->a, &a->table->direct_counters, o->counter);
}

void attach_counters(struct lower *lw, struct ir_table *t, const struct table_property *p) {
    lower_meter_each_object(lw, p->value, attach_counter, &(struct attachment){t, p->name});
}

static bool lower_meter_suits(const struct attachment *a, const struct object *o) {
    return o && o->kind == OBJ_METER &&
           (o->meter->kind == IR_METER) == (strcmp(a->property, "meters") == 0);
}

// An indirect one may be named too; that says nothing that its calls do not say.
static void lower_meter_attach(struct lower *lw, void *ctx, struct object *o, struct expr *e) {
    const struct attachment *a = ctx;
    if (!lower_meter_suits(a, o))
        lower_error(lw, e->at, "'%s' of a table takes a %s", a->property,
                    strcmp(a->property, "meters") == 0 ? "DirectMeter" : "DirectLpf or DirectWred");
    else if (!object_use(lw, o, e->at) || !o->meter->direct)
        return;
    else if (a->table->direct_meter)
        lower_error(lw, e->at, "table '%s' has '%s' already; a table has one meter or filter",
                    a->table->name, a->table->direct_meter->name);
    else
        a->table->direct_meter = o->meter;
}

void attach_meters(struct lower *lw, struct ir_table *t, const struct table_property *p) {
    lower_meter_each_object(lw, p->value, lower_meter_attach, &(struct attachment){t, p->name});
}

// ---- checks at the end of a gress ---------------------------------------------------------------

// How often the longest path through a block executes 'thing'.
static unsigned executed(const struct ir_block *b, const void *thing) {
    unsigned n = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        unsigned inside = executed(s->then_b, thing), other = executed(s->else_b, thing);
        for (size_t k = 0; k < s->cases.n; k++) {
            unsigned c = executed(s->cases.v[k].body, thing);
            other = c > other ? c : other;
        }
        n += inside > other ? inside : other;
        n += s->counter == thing || s->meter == thing;
    }
    return n;
}

static void once(struct lower *lw, const struct ir_action *a, const void *thing, const char *name) {
    if (executed(a->body, thing) > 1)
        lower_error(lw, a->at,
                    "action '%s' uses '%s' more than once; an action does so at most once", a->name,
                    name);
}

struct owner {
    struct lower *lw;
    const struct ir_table *table; // whose action is looked at, or null
};

static void direct_meter_use(void *ctx, struct ir_stmt *s) {
    struct owner *u = ctx;
    if (!s->meter || !s->meter->direct || (u->table && u->table->direct_meter == s->meter))
        return;
    if (u->table)
        lower_error(u->lw, s->at, "'%s' is not the '%s' of table '%s', whose action uses it",
                    s->meter->name, s->meter->kind == IR_METER ? "meters" : "filters",
                    u->table->name);
    else
        lower_error(u->lw, s->at, "'%s' belongs to a table's entries: only its actions can use it",
                    s->meter->name);
}

// Hardware counts or meters every packet that hits, or none (the reference compiler refuses, too).
static void in_all_actions(struct lower *lw, const struct ir_table *t, const void *thing,
                           const char *name) {
    const struct ir_action *without = NULL;
    bool used = false;
    for (size_t i = 0; i < t->actions.n; i++) {
        const struct ir_table_action *a = &t->actions.v[i];
        if (executed(a->action->body, thing))
            used = true;
        else if (!a->default_only)
            without = a->action;
    }
    if (used && without)
        lower_error(lw, t->at,
                    "action '%s' of table '%s' does not use '%s', but others do; every action must "
                    "use it, or be @defaultonly",
                    without->name, t->name, name);
}

void check_direct_meters(struct lower *lw, struct ir_gress *g) {
    struct owner u = {.lw = lw};
    struct ir_visitor v = {.ctx = &u, .stmt = direct_meter_use, .shallow = true};
    ir_visit_block(&v, g->control);
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        for (size_t k = 0; t->direct_meter && k < i; k++)
            if (g->tables.v[k]->direct_meter == t->direct_meter)
                lower_error(lw, t->at, "'%s' belongs to table '%s' already", t->direct_meter->name,
                            g->tables.v[k]->name);
        if (t->direct_meter && t->direct_registers.n)
            lower_error(lw, t->at,
                        "table '%s' has '%s' and the register '%s'; a table has only one meter, "
                        "filter or register",
                        t->name, t->direct_meter->name, t->direct_registers.v[0]->name);
        if (t->direct_meter)
            in_all_actions(lw, t, t->direct_meter, t->direct_meter->name);
        for (size_t k = 0; k < t->direct_counters.n; k++)
            in_all_actions(lw, t, t->direct_counters.v[k], t->direct_counters.v[k]->name);
        u.table = t;
        for (size_t k = 0; k < t->actions.n; k++)
            ir_visit_block(&v, t->actions.v[k].action->body);
    }
    for (size_t i = 0; i < g->actions.n; i++) {
        for (size_t k = 0; k < g->counters.n; k++)
            once(lw, g->actions.v[i], g->counters.v[k], g->counters.v[k]->name);
        for (size_t k = 0; k < g->meters.n; k++)
            once(lw, g->actions.v[i], g->meters.v[k], g->meters.v[k]->name);
    }
}
