// SPDX-License-Identifier: Apache-2.0
//
// checked: masks and reports, statement by statement. See instrument.h.
#include "compiler/instrument/checked_impl.h"

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#include <string.h>

// The places where something happens that may happen once in a pass.
struct checked_once {
    struct ir_var *seen; // the number of the place where it did, from 1 on; 0: nowhere
    struct ir_places *places;
};

// --------------------------------------------------------------------------------------------
// What is inserted.

struct ir_stmt *checked_insert(struct checked *c, enum ir_stmt_kind kind, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(c->a, kind, at.line ? at : c->at);
    ir_push(c->a, c->out, s);
    return s;
}

static void checked_assign(struct checked *c, struct ir_var *v, struct ir_expr *x) {
    struct ir_stmt *s = checked_insert(c, IR_ASSIGN, c->at);
    s->var = v;
    s->e = x;
}

struct ir_report *checked_report(struct checked *c, struct ir_expr *cond, struct loc at,
                                 struct ir_stmt **s) {
    struct ir_report *r = ARENA_NEW(c->a, struct ir_report);
    *s = checked_insert(c, IR_REPORT, at);
    (*s)->e = cond;
    (*s)->report = r;
    return r;
}

// A report of one thing; returns its statement.
static struct ir_stmt *report_one(struct checked *c, struct ir_expr *cond,
                                  enum ir_violation violation, const char *name) {
    const struct ir_blame b = {violation, name};
    struct ir_stmt *s;
    struct ir_report *r = checked_report(c, cond, c->at, &s);
    VEC_PUSH(c->a, &r->blames, b);
    return s;
}

// The value matters here, all of it.
static void checked_use(struct checked *c, struct ir_expr *x) {
    if (x)
        checked_report_use(c, checked_used_or_undefined(c, x), x, c->at);
}

static void checked_use_all(struct checked *c, const ir_expr_vec *args) {
    for (size_t i = 0; i < args->n; i++)
        checked_use(c, args->v[i]);
}

// --------------------------------------------------------------------------------------------
// Masks.

static void set_mask(struct checked *c, const struct ir_var *v, bool defined) {
    struct ir_var *m = v ? c->mask[v->id] : NULL;
    if (m)
        checked_assign(c, m, defined ? checked_ones(c, v->width) : ir_const_u64(c->a, m->width, 0));
}

static void carry_mask(struct checked *c, const struct ir_stmt *s) {
    struct ir_var *m = c->mask[s->var->id];
    if (!m)
        return;
    const bool wide = checked_is_wide(s->var->width);
    if (s->slice && wide) { // one bit for all: the rest of it is taken to be defined as well
        set_mask(c, s->var, true);
        return;
    }
    struct ir_expr *d = wide ? checked_all_defined(c, s->e) : checked_defined(c, s->e);
    struct ir_stmt *to = checked_insert(c, IR_ASSIGN, c->at);
    to->var = m;
    to->slice = s->slice;
    to->lo = s->lo;
    to->width = s->width;
    to->e = d ? d : checked_ones(c, s->e->width);
}

static void before_assign(struct checked *c, const struct ir_stmt *s) {
    if (c->sink[s->var->id] && !s->copy) {
        checked_use(c, s->e);
        set_mask(c, s->var, true);
        return;
    }
    checked_report_use(c, checked_used(c, s->e), s->e, c->at);
    carry_mask(c, s);
}

// --------------------------------------------------------------------------------------------
// Statements.

static void check_once(struct checked *c, struct checked_once *once, const char *name,
                       enum ir_violation violation) {
    if (!once->seen) {
        once->seen =
            instrument_new_var(c->a, c->g, arena_printf(c->a, "%s.$seen", name), 32, c->at);
        once->places = ARENA_NEW(c->a, struct ir_places);
        once->places->id = (unsigned)c->g->places.n;
        VEC_PUSH(c->a, &c->g->places, once->places);
    }
    struct ir_expr *seen = ir_ref(c->a, once->seen);
    struct ir_expr *before = ir_binary(c->a, IR_NE, seen, ir_const_u64(c->a, 32, 0));
    struct ir_stmt *s = report_one(c, before, violation, name);
    ((struct ir_report *)s->report)->places = once->places;
    s->e3 = seen;
    VEC_PUSH(c->a, &once->places->v, c->at);
    checked_assign(c, once->seen, ir_const_u64(c->a, 32, once->places->v.n));
}

// No value of the index is beyond the last of 'size' things.
static bool checked_always_inside(const struct ir_expr *index, uint64_t size) {
    if (index->op == IR_CONST)
        return big_fits_u64(index->value) && big_to_u64(index->value) < size;
    return index->width < 64 && (UINT64_C(1) << index->width) <= size;
}

static void check_index(struct checked *c, struct ir_expr *index, uint64_t size,
                        enum ir_violation violation, const char *name) {
    if (checked_always_inside(index, size))
        return;
    struct ir_expr *end = ir_const_u64(c->a, index->width, size);
    report_one(c, ir_binary(c->a, IR_ULE, end, index), violation, name)->e2 = index;
}

static void use_index(struct checked *c, struct ir_expr *index, uint64_t size, const char *name) {
    checked_use(c, index);
    check_index(c, index, size, IR_VIOLATION_INDEX, name);
}

// 'size' in cells as the access sees them.
static void access_register(struct checked *c, const struct ir_register *r, struct ir_expr *index,
                            uint64_t size) {
    check_once(c, &c->registers[r->id], r->name, IR_VIOLATION_REGISTER_TWICE);
    if (!r->direct && index)
        use_index(c, index, size, r->name);
}

static uint64_t cells_seen(const struct ir_regaction *ra) {
    const struct ir_register *r = ra->reg;
    return r->size * r->width * r->words / ((uint64_t)ra->width * ra->words);
}

// A use that counts when 'valid' is set; null: always.
static void use_when(struct checked *c, struct ir_var *valid, struct ir_expr *x) {
    struct ir_expr *cond = checked_used_or_undefined(c, x);
    if (cond && valid)
        cond = ir_binary(c->a, IR_LAND, ir_ref(c->a, valid), cond);
    checked_report_use(c, cond, x, c->at);
}

static void use_csum_args(struct checked *c, const struct ir_stmt *s) {
    for (size_t i = 0; i < s->csum_args.n; i++) {
        const struct ir_csum_arg *arg = &s->csum_args.v[i];
        use_when(c, arg->only_if ? arg->only_if->valid : NULL, arg->e);
    }
}

// Only a valid resubmit_type asks for a resubmit (tna-facts 5.3).
static void use_resubmitted(struct checked *c, const struct ir_stmt *s) {
    const struct ir_var *type = c->g->intrinsic[IRI_RESUBMIT_TYPE];
    for (size_t i = 0; type && type->valid && i < s->args.n; i++)
        use_when(c, type->valid, s->args.v[i]);
}

static void all_operands(struct checked *c, const struct ir_stmt *s) {
    checked_use(c, s->e);
    checked_use(c, s->e2);
    checked_use(c, s->e3);
    checked_use_all(c, &s->args);
    use_csum_args(c, s);
}

static const char *stack_name(const struct checked *c, const struct ir_header *element) {
    const char *bracket = strrchr(element->name, '[');
    return bracket ? arena_strndup(c->a, element->name, (size_t)(bracket - element->name))
                   : element->name;
}

static void use_stack(struct checked *c, const struct ir_stmt *s) {
    checked_use(c, s->e);
    if (s->headers.n)
        check_index(c, s->e, s->headers.n, IR_VIOLATION_STACK, stack_name(c, s->headers.v[0]));
}

static void set_fields(struct checked *c, const struct ir_header *h, bool defined) {
    for (size_t i = 0; i < h->fields.n; i++)
        set_mask(c, h->fields.v[i], defined);
}

// No default: a new kind is decided upon here.
static void instrument_before(struct checked *c, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
        before_assign(c, s);
        break;
    case IR_BLOCK:
    case IR_LEAVE:
    case IR_EXIT:
    case IR_SET_VALID:
    case IR_RANDOM:
    case IR_RAISE:
    case IR_EMIT: // fields_that_leave
    case IR_COUNT_LEAVING:
    case IR_REPORT:
    case IR_NOTE: // no use of what it names
    case IR_TRACE:
    case IR_NEXT_CELL:
        break;
    case IR_SET_INVALID:
        set_fields(c, s->header, false);
        break;
    case IR_APPLY:
        check_once(c, &c->tables[s->table->id], s->table->name, IR_VIOLATION_TABLE_TWICE);
        break;
    case IR_REG_EXEC:
        access_register(c, s->regaction->reg, s->e, cells_seen(s->regaction));
        set_mask(c, s->regaction->rv, true); // 0 when the action does not run
        break;
    case IR_REG_READ:
    case IR_REG_WRITE:
        if (!s->continues)
            access_register(c, s->reg, s->e, s->reg->size);
        checked_use(c, s->e2);
        checked_use(c, s->e3);
        break;
    case IR_COUNT:
        if (!s->counter->direct)
            use_index(c, s->e, s->counter->size, s->counter->name);
        break;
    case IR_METER_EXEC:
        if (!s->meter->direct)
            use_index(c, s->e, s->meter->size, s->meter->name);
        checked_use(c, s->e2);
        break;
    case IR_IF:
        if (!s->selects)
            checked_use(c, s->e);
        break;
    case IR_RESUBMIT:
        use_resubmitted(c, s);
        break;
    case IR_EXTRACT:
        use_stack(c, s);
        break;
    case IR_SWITCH:
    case IR_HASH:
    case IR_ADVANCE:
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
    case IR_CSUM_UPDATE:
    case IR_MIRROR:
    case IR_DIGEST:
        all_operands(c, s);
        break;
    }
}

static void define_fields(void *aux, const struct ir_header *h) {
    set_fields(aux, h, true);
}

static void after_results(struct checked *c, const struct ir_stmt *s) {
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        set_mask(c, results[i], true);
}

// What the register action returned. Beyond the register's end the result is 0.
static void after_execution(struct checked *c, const struct ir_stmt *s) {
    const struct ir_var *rv = s->regaction->rv;
    struct ir_var *m = s->var ? c->mask[s->var->id] : NULL;
    const bool carried = m && rv && c->mask[rv->id] && !c->sink[s->var->id] &&
                         s->var->width == rv->width && !checked_is_wide(rv->width);
    if (carried)
        checked_assign(c, m, ir_ref(c->a, c->mask[rv->id]));
    else
        after_results(c, s);
}

static void instrument_after(struct checked *c, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN: // carry_mask
        break;
    case IR_EXTRACT:
        instrument_extracted(c->a, &c->out, c->at, s, define_fields, c);
        break;
    case IR_REG_EXEC:
        after_execution(c, s);
        break;
    default:
        after_results(c, s);
    }
}

// --------------------------------------------------------------------------------------------
// Blocks.

static void look_as_far(void *aux, const struct ir_expr *x) {
    unsigned *bits = aux;
    if (x->op == IR_LOOKAHEAD && x->lo + x->width > *bits)
        *bits = x->lo + x->width;
}

// The parser ends here when the packet is too short for what comes next.
static void look_ahead(struct checked *c, unsigned bits) {
    if (!bits)
        return;
    if (!c->ahead)
        c->ahead = instrument_new_var(c->a, c->g, "$ahead", 1, c->at);
    checked_assign(c, c->ahead, ir_lookahead(c->a, 1, (bits + 7) / 8 * 8 - 1));
}

static unsigned looked_at(const struct ir_stmt *s) {
    unsigned bits = 0;
    ir_walk_expr(s->e, look_as_far, &bits);
    ir_walk_expr(s->e2, look_as_far, &bits);
    ir_walk_expr(s->e3, look_as_far, &bits);
    for (size_t i = 0; i < s->args.n; i++)
        ir_walk_expr(s->args.v[i], look_as_far, &bits);
    return bits;
}

static void instrument_block(struct checked *c, struct ir_block *b);

static void instrument_stmt(struct checked *c, struct ir_stmt *s) {
    const struct loc at = c->at;
    if (s->at.line)
        c->at = s->at;
    look_ahead(c, looked_at(s));
    instrument_before(c, s);
    ir_push(c->a, c->out, s);
    instrument_block(c, s->then_b);
    instrument_block(c, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        instrument_block(c, s->cases.v[i].body);
    instrument_after(c, s);
    c->at = at;
}

// The block's statements with those that are inserted; 'first' is what has been inserted already.
static void instrument_behind(struct checked *c, struct ir_block *b, struct ir_block *first) {
    struct ir_block *const out = c->out;
    c->out = first;
    for (size_t i = 0; i < b->stmts.n; i++)
        instrument_stmt(c, b->stmts.v[i]);
    *b = *first;
    c->out = out;
}

static void instrument_block(struct checked *c, struct ir_block *b) {
    if (b)
        instrument_behind(c, b, ir_block_new(c->a));
}

static void instrument_action(struct checked *c, struct ir_action *a) {
    if (!a->body)
        return;
    struct ir_block *first = c->out = ir_block_new(c->a);
    for (size_t i = 0; i < a->params.n; i++)
        set_mask(c, a->params.v[i].var, true);
    instrument_behind(c, a->body, first);
}

static void instrument_regaction(struct checked *c, struct ir_regaction *ra) {
    if (!ra->body)
        return;
    struct ir_block *first = c->out = ir_block_new(c->a);
    set_mask(c, ra->value[0], true);
    set_mask(c, ra->value[1], true);
    set_mask(c, ra->rv, true);
    instrument_behind(c, ra->body, first);
}

// --------------------------------------------------------------------------------------------
// Parser, tables, what leaves.

static void instrument_state(struct checked *c, struct ir_state *st) {
    unsigned bits = 0;
    c->at = st->at;
    if (!st->body)
        st->body = ir_block_new(c->a);
    instrument_block(c, st->body);
    c->out = st->body;
    for (size_t i = 0; i < st->keys.n; i++)
        ir_walk_expr(st->keys.v[i], look_as_far, &bits);
    look_ahead(c, bits);
    checked_use_all(c, &st->keys);
}

// An undefined key is reported when it decides which entry is found.
static void doubtful_key(struct checked *c, struct ir_table *t, size_t i) {
    struct ir_expr *x = t->keys.v[i].expr;
    if (!t->key_defined.v[i])
        return;
    struct ir_expr *is = ir_binary(c->a, IR_EQ, ir_ref(c->a, t->doubtful),
                                   ir_const_u64(c->a, t->doubtful->width, i + 1));
    checked_report_use(c, is, x, t->keys.v[i].at);
}

static void instrument_keys(struct checked *c, struct ir_table *t) {
    bool any = false;
    t->reports = c->out = ir_block_new(c->a);
    for (size_t i = 0; i < t->keys.n; i++) {
        struct ir_expr *x = t->keys.v[i].expr;
        checked_report_use(c, checked_used(c, x), x, t->keys.v[i].at);
        VEC_PUSH(c->a, &t->key_defined, checked_defined(c, x));
        any |= t->key_defined.v[i] != NULL;
    }
    if (!any) {
        t->key_defined.n = 0;
        return;
    }
    if (!c->doubtful)
        c->doubtful = instrument_new_var(c->a, c->g, "$doubtful", 16, c->at);
    t->doubtful = c->doubtful;
    for (size_t i = 0; i < t->keys.n; i++)
        doubtful_key(c, t, i);
}

static void instrument_table(struct checked *c, struct ir_table *t) {
    c->at = t->at;
    instrument_keys(c, t);
    instrument_block(c, t->select);
}

// One report for a header: its first undefined field, and how many more there are.
static void report_fields(struct checked *c, const struct ir_header *h) {
    struct ir_expr *some = NULL, *number = NULL;
    struct ir_report *r = ARENA_NEW(c->a, struct ir_report);
    ir_expr_vec conds = {0};
    for (size_t i = 0; i < h->fields.n; i++) {
        struct ir_var *m = c->mask[h->fields.v[i]->id];
        const struct ir_blame b = {IR_VIOLATION_EMITTED, h->fields.v[i]->name};
        if (!m)
            continue;
        struct ir_expr *is = ir_binary(c->a, IR_NE, ir_ref(c->a, m), checked_ones(c, m->width));
        struct ir_expr *one = ir_resize(c->a, is, 32, false);
        some = some ? ir_binary(c->a, IR_LOR, some, is) : is;
        number = number ? ir_binary(c->a, IR_ADD, number, one) : one;
        VEC_PUSH(c->a, &conds, is);
        VEC_PUSH(c->a, &r->blames, b);
    }
    if (!some)
        return;
    struct ir_stmt *s = checked_insert(c, IR_REPORT, c->at);
    s->e = some;
    s->e2 = ir_binary(c->a, IR_SUB, number, ir_const_u64(c->a, 32, 1));
    s->args = conds;
    s->args.n--; // the last one that is left is the one
    s->report = r;
}

static void fields_that_leave(void *aux, const struct ir_stmt *s) {
    struct checked *c = aux;
    struct ir_block *const out = c->out;
    if (s->kind != IR_EMIT)
        return;
    c->at = s->at;
    struct ir_block *when_valid = c->out = ir_block_new(c->a);
    report_fields(c, s->header);
    c->out = out;
    if (!when_valid->stmts.n)
        return;
    struct ir_stmt *valid = checked_insert(c, IR_IF, c->at);
    valid->e = ir_ref(c->a, s->header->valid);
    valid->then_b = when_valid;
}

// --------------------------------------------------------------------------------------------
// Which variables have masks.

// What the architecture gives a value before the program runs (tna-facts 2.2, 2.8); lowering's own
// counters start at 0.
static bool starts_defined(const struct ir_gress *g, const struct ir_var *v) {
    static const enum ir_intrinsic given[] = {IRI_GLOBAL_TSTAMP, IRI_GLOBAL_VER, IRI_PARSER_ERR,
                                              IRI_DROP_CTL, IRI_CONSUMED};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (g->intrinsic[given[i]] == v)
            return true;
    if (g->intrinsic[IRI_MIRROR_TYPE] == v)
        return g->kind == IR_INGRESS;
    return v->padding || v->starts_zero || strstr(v->name, ".$") != NULL;
}

static bool *touched_variables(struct arena *a, const struct ir_gress *g) {
    struct ir_effects all = ir_effects_none(a, g);
    bool *touched = ARENA_ARRAY(a, bool, g->vars.n + 1);
    ir_effects_add_parser(&all);
    ir_effects_add_rest(&all);
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_header *h = g->vars.v[i]->header;
        touched[i] =
            all.reads[i] || all.assigned[i] || (h && (all.extracted[h->id] || all.emitted[h->id]));
    }
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i])
            touched[g->intrinsic[i]->id] = true;
    for (size_t i = 0; i < g->regactions.n; i++) {
        const struct ir_regaction *ra = g->regactions.v[i];
        const struct ir_var *const own[] = {ra->value[0], ra->value[1], ra->rv};
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (own[k])
                touched[own[k]->id] = true;
    }
    return touched;
}

static void no_validities(const struct ir_gress *g, bool *touched) {
    for (size_t i = 0; i < g->headers.n; i++)
        touched[g->headers.v[i]->valid->id] = false;
    for (size_t i = 0; i < g->vars.n; i++)
        if (g->vars.v[i]->valid)
            touched[g->vars.v[i]->valid->id] = false;
}

static void make_masks(struct checked *c) {
    const size_t n = c->g->vars.n;
    bool *touched = touched_variables(c->a, c->g);
    no_validities(c->g, touched);
    c->mask = ARENA_ARRAY(c->a, struct ir_var *, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct ir_var *v = c->g->vars.v[i];
        if (touched[i] && !starts_defined(c->g, v))
            c->mask[i] = instrument_new_var(c->a, c->g, arena_printf(c->a, "%s.$defined", v->name),
                                            checked_is_wide(v->width) ? 1 : v->width, v->at);
    }
}

static void find_sinks(struct checked *c) {
    bool *sink = ARENA_ARRAY(c->a, bool, c->g->vars.n + 1);
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (c->g->intrinsic[i])
            sink[c->g->intrinsic[i]->id] = true;
    for (size_t i = 0; i < c->g->regactions.n; i++)
        for (unsigned w = 0; w < 2; w++)
            if (c->g->regactions.v[i]->value[w])
                sink[c->g->regactions.v[i]->value[w]->id] = true;
    c->sink = sink;
}

// --------------------------------------------------------------------------------------------

static struct ir_gress instrument_gress(struct arena *a, const struct ir_gress *from) {
    struct ir_gress g = instrument_copy(a, from, NULL);
    struct checked c = {.a = a, .g = &g};
    c.registers = ARENA_ARRAY(a, struct checked_once, g.registers.n + 1);
    c.tables = ARENA_ARRAY(a, struct checked_once, g.tables.n + 1);
    find_sinks(&c);
    make_masks(&c);
    for (size_t i = 0; i < g.states.n; i++)
        instrument_state(&c, g.states.v[i]);
    c.at = (struct loc){0};
    for (size_t i = 0; i < g.regactions.n; i++)
        instrument_regaction(&c, g.regactions.v[i]);
    for (size_t i = 0; i < g.actions.n; i++)
        instrument_action(&c, g.actions.v[i]);
    for (size_t i = 0; i < g.tables.n; i++)
        instrument_table(&c, g.tables.v[i]);
    c.at = (struct loc){0};
    instrument_block(&c, g.control);
    g.leaving = c.out = ir_block_new(a);
    c.in_deparser = true;
    ir_walk(g.deparser, fields_that_leave, NULL, &c);
    c.at = (struct loc){0};
    instrument_block(&c, g.deparser);
    return g;
}

struct ir_pipeline *instrument_checked(struct arena *a, const struct ir_program *program,
                                       const struct ir_pipeline *pl,
                                       const struct instrument_options *opt) {
    (void)program, (void)opt;
    return instrument_gresses(a, pl, instrument_gress);
}
