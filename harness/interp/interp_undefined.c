// SPDX-License-Identifier: Apache-2.0
//
// interp_undefined: which bits of variables are undefined while a program runs that nobody has
// instrumented, and where such a bit is used: the rules of compiler/instrument/instrument.h once
// more, on values and not as statements. What the checked build reports as a use is held against
// it, place by place.
#include "harness/interp/interp_impl.h"

#include <string.h>

#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#define WIDE 128u // beyond it a variable is undefined as a whole

void interp_on_use(struct interp *ip, void (*fn)(void *aux, struct loc at), void *aux) {
    ip->on_use = fn;
    ip->use_aux = aux;
}

void interp_on_mask(struct interp *ip, void (*fn)(void *aux, const struct ir_var *v), void *aux) {
    ip->on_mask = fn;
    ip->use_aux = aux;
}

// ---- variables ----

static big ones(struct run *r, unsigned width) {
    return big_not(r->a, big_shl(r->a, big_not(r->a, big_u64(r->a, 0)), width));
}

static big none(struct run *r) {
    return big_u64(r->a, 0);
}

static void set_undefined(struct run *r, const struct ir_var *v, big bits) {
    if (v && v->width > WIDE && big_sign(bits))
        bits = ones(r, v->width);
    if (v)
        r->undefined[v->id] = bits;
}

static bool is_given(const struct run *r, const struct ir_var *v) {
    const struct ir_var *const *i = (const struct ir_var *const *)r->g->intrinsic;
    return i[IRI_GLOBAL_TSTAMP] == v || i[IRI_GLOBAL_VER] == v || i[IRI_PARSER_ERR] == v ||
           i[IRI_DROP_CTL] == v || i[IRI_CONSUMED] == v ||
           (i[IRI_MIRROR_TYPE] == v && r->g->kind == IR_INGRESS);
}

void interp_undefined_begin(struct run *r) {
    const struct ir_gress *g = r->g;
    if (!r->ip->on_use && !r->ip->on_mask)
        return;
    r->undefined = ARENA_ARRAY(r->a, big, g->vars.n + 1);
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_var *v = g->vars.v[i];
        const bool starts =
            is_given(r, v) || v->padding || v->starts_zero || strstr(v->name, ".$") != NULL;
        r->undefined[i] = starts ? none(r) : ones(r, v->width);
    }
    // validities are what they are
    for (size_t i = 0; i < g->headers.n; i++)
        r->undefined[g->headers.v[i]->valid->id] = none(r);
    for (size_t i = 0; i < g->vars.n; i++)
        if (g->vars.v[i]->valid)
            r->undefined[g->vars.v[i]->valid->id] = none(r);
}

static void set_fields(struct run *r, const struct ir_header *h, bool undefined) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        const bool padded = f->padding || f->starts_zero || strstr(f->name, ".$") != NULL;
        set_undefined(r, f, undefined && !padded ? ones(r, f->width) : none(r));
    }
}

void interp_defined(struct run *r, const struct ir_var *v) {
    if (r->undefined)
        set_undefined(r, v, none(r));
}

void interp_extracted(struct run *r, const struct ir_header *h) {
    if (r->undefined)
        set_fields(r, h, false);
}

// ---- expressions ----

static big undefined_in(struct run *r, const struct ir_expr *x, bool *used);

static void all_matter(struct run *r, const struct ir_expr *x, bool *used) {
    if (x && big_sign(undefined_in(r, x, used)))
        *used = true;
}

static big of_var(struct run *r, const struct ir_var *v) {
    const struct ir_var *valid = v->header ? v->header->valid : v->valid;
    if (r->in_deparser)
        return v->valid ? none(r) : r->undefined[v->id];
    return valid && !interp_u64(r, valid) ? ones(r, v->width) : r->undefined[v->id];
}

static big of_bitwise(struct run *r, const struct ir_expr *x, bool *used) {
    const big a = undefined_in(r, x->a, used), b = undefined_in(r, x->b, used);
    const struct ir_expr *c = x->a->op == IR_CONST ? x->a : x->b;
    const big either = big_or(r->a, a, b);
    if (c->op != IR_CONST || x->op == IR_XOR || x->width > WIDE)
        return either;
    const big decides = x->op == IR_OR ? c->value : big_not(r->a, c->value);
    return big_and(r->a, either, big_not(r->a, decides));
}

static big of_shift(struct run *r, const struct ir_expr *x, bool *used) {
    if (x->b->op != IR_CONST) {
        all_matter(r, x->a, used);
        all_matter(r, x->b, used);
        return none(r);
    }
    const big a = undefined_in(r, x->a, used);
    const uint64_t by = big_fits_u64(x->b->value) ? big_to_u64(x->b->value) : UINT64_MAX;
    if (by >= x->width)
        return none(r);
    if (x->width > WIDE)
        return a;
    return x->op == IR_SHL ? big_shl(r->a, a, (unsigned)by) : big_shr(r->a, a, (unsigned)by);
}

static big of_logic(struct run *r, const struct ir_expr *x, bool *used) {
    all_matter(r, x->a, used);
    if (interp_true(r, x->a) == (x->op == IR_LAND))
        all_matter(r, x->b, used);
    return none(r);
}

static big undefined_by_op(struct run *r, const struct ir_expr *x, bool *used) {
    switch (x->op) {
    case IR_VAR:
        return of_var(r, x->var);
    case IR_NOT:
    case IR_ZEXT:
        return undefined_in(r, x->a, used);
    case IR_SEXT:
        return big_wrap_s(r->a, undefined_in(r, x->a, used), x->a->width);
    case IR_SLICE:
        if (x->a->width > WIDE) // none of it is known
            return big_sign(undefined_in(r, x->a, used)) ? ones(r, x->width) : none(r);
        return big_shr(r->a, undefined_in(r, x->a, used), x->lo);
    case IR_CONCAT: {
        const big a = undefined_in(r, x->a, used), b = undefined_in(r, x->b, used);
        return big_or(r->a, big_shl(r->a, a, x->b->width), b);
    }
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return of_bitwise(r, x, used);
    case IR_SHL:
    case IR_LSHR:
        return of_shift(r, x, used);
    case IR_COND:
        all_matter(r, x->a, used);
        return undefined_in(r, interp_true(r, x->a) ? x->b : x->c, used);
    case IR_LAND:
    case IR_LOR:
        return of_logic(r, x, used);
    default: // the result of a use is defined
        all_matter(r, x->a, used);
        all_matter(r, x->b, used);
        return none(r);
    }
}

static big undefined_in(struct run *r, const struct ir_expr *x, bool *used) {
    const big u = big_wrap_u(r->a, undefined_by_op(r, x, used), x->width);
    return x->width > WIDE && big_sign(u) ? ones(r, x->width) : u;
}

// ---- uses ----

static void tell_use(const struct run *r, bool used, struct loc at) {
    if (used && r->ip->on_use)
        r->ip->on_use(r->ip->use_aux, at.line ? at : r->at);
}

static void use(struct run *r, const struct ir_expr *x) {
    bool used = false;
    all_matter(r, x, &used);
    tell_use(r, used, r->at);
}

static void use_all(struct run *r, const struct ir_stmt *s) {
    use(r, s->e);
    use(r, s->e2);
    use(r, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        use(r, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++) {
        const struct ir_header *h = s->csum_args.v[i].only_if;
        if (!h || interp_u64(r, h->valid))
            use(r, s->csum_args.v[i].e);
    }
}

static bool is_sink(const struct run *r, const struct ir_var *v) {
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (r->g->intrinsic[i] == v)
            return true;
    for (size_t i = 0; i < r->g->regactions.n; i++)
        for (unsigned w = 0; w < 2; w++)
            if (r->g->regactions.v[i]->value[w] == v)
                return true;
    return false;
}

static void before_assign(struct run *r, const struct ir_stmt *s) {
    bool used = false;
    if (is_sink(r, s->var) && !s->copy) {
        use(r, s->e);
        set_undefined(r, s->var, none(r));
        return;
    }
    big u = undefined_in(r, s->e, &used);
    tell_use(r, used, r->at);
    if (s->slice && s->var->width > WIDE) {
        u = none(r);
    } else if (s->slice) {
        const big hole = big_not(r->a, big_shl(r->a, ones(r, s->width), s->lo));
        u = big_or(r->a, big_and(r->a, r->undefined[s->var->id], hole), big_shl(r->a, u, s->lo));
    }
    const bool is_zero = s->var->padding || s->var->starts_zero || strstr(s->var->name, ".$");
    set_undefined(r, s->var, is_zero || is_given(r, s->var) ? none(r) : u);
}

static void look(void *aux, const struct ir_expr *x) {
    uint64_t *bits = aux;
    if (x->op == IR_LOOKAHEAD && x->lo + x->width > *bits)
        *bits = x->lo + x->width;
}

// The parser ends at this statement, whose lookahead goes beyond the packet.
static bool ends_parser(const struct run *r, const struct ir_expr *const *list, size_t n) {
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        ir_walk_expr(list[i], look, &bits);
    return bits && interp_beyond(r, r->cursor + (bits + 7) / 8);
}

static bool stmt_ends_parser(const struct run *r, const struct ir_stmt *s) {
    const struct ir_expr *const own[] = {s->e, s->e2, s->e3};
    return ends_parser(r, own, 3) ||
           ends_parser(r, (const struct ir_expr *const *)s->args.v, s->args.n);
}

void interp_uses_before(struct run *r, const struct ir_stmt *s) {
    const struct ir_var *type = r->g->intrinsic[IRI_RESUBMIT_TYPE];
    if (!r->undefined || stmt_ends_parser(r, s))
        return;
    switch (s->kind) {
    case IR_ASSIGN:
        before_assign(r, s);
        return;
    case IR_SET_INVALID:
        set_fields(r, s->header, true);
        return;
    case IR_IF:
        if (!s->selects)
            use(r, s->e);
        return;
    case IR_RESUBMIT:
        if (type && type->valid && interp_u64(r, type->valid))
            use_all(r, s);
        return;
    case IR_COUNT:
        if (s->counter->direct)
            return;
        break;
    case IR_REG_EXEC:
        interp_defined(r, s->regaction->rv);
        if (s->regaction->reg->direct)
            return;
        break;
    default:
        break;
    }
    use_all(r, s);
}

void interp_uses_after(struct run *r, const struct ir_stmt *s) {
    const struct ir_var *results[IR_MAX_RESULTS];
    if (!r->undefined || s->kind == IR_ASSIGN)
        return;
    const struct ir_var *rv = s->regaction ? s->regaction->rv : NULL;
    const bool returned = s->kind == IR_REG_EXEC && s->var && rv && !is_sink(r, s->var) &&
                          s->var->width == rv->width && rv->width <= WIDE;
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        interp_defined(r, results[i]);
    if (returned && !strstr(s->var->name, ".$"))
        set_undefined(r, s->var, r->undefined[rv->id]);
}

void interp_uses_select(struct run *r, const struct ir_state *st) {
    if (!r->undefined || ends_parser(r, (const struct ir_expr *const *)st->keys.v, st->keys.n))
        return;
    for (size_t i = 0; i < st->keys.n; i++)
        use(r, st->keys.v[i]);
}

void interp_uses_key(struct run *r, const struct ir_table *t, const big *values) {
    big *const undefined = ARENA_ARRAY(r->a, big, t->keys.n + 1);
    const struct loc at = r->at;
    bool some = false;
    if (!r->undefined)
        return;
    if (t->at.line)
        r->at = t->at;
    for (size_t i = 0; i < t->keys.n; i++) {
        bool used = false;
        undefined[i] = undefined_in(r, t->keys.v[i].expr, &used);
        some |= big_sign(undefined[i]) != 0;
        tell_use(r, used, t->keys.v[i].at);
    }
    const unsigned doubtful = some ? interp_find_doubt(r, t, values, undefined) : 0;
    if (doubtful)
        tell_use(r, true, t->keys.v[doubtful - 1].at);
    r->at = at;
}

static void leaving(void *aux, const struct ir_stmt *s) {
    struct run *r = aux;
    bool some = false;
    if (s->kind != IR_EMIT || !interp_u64(r, s->header->valid))
        return;
    for (size_t i = 0; i < s->header->fields.n; i++)
        some |= big_sign(r->undefined[s->header->fields.v[i]->id]) != 0;
    tell_use(r, some, s->at);
}

void interp_uses_leaving(struct run *r) {
    if (r->undefined)
        ir_walk(r->g->deparser, leaving, NULL, r);
}

// ---- masks of an instrumented program, which are in the order of the variables that they are of

static bool is_mask_of(const struct ir_var *m, const struct ir_var *v) {
    const size_t n = strlen(v->name);
    return strncmp(m->name, v->name, n) == 0 && strcmp(m->name + n, ".$defined") == 0;
}

static bool is_right(struct run *r, const struct ir_var *v, const struct ir_var *m) {
    const big undefined = r->undefined[v->id], defined = interp_get(r, m);
    if (v->width > WIDE)
        return (big_sign(undefined) == 0) == (big_sign(defined) != 0);
    return big_cmp(big_add(r->a, undefined, defined), ones(r, v->width)) == 0;
}

void interp_compare_masks(struct run *r) {
    size_t of = 0;
    if (!r->ip->on_mask)
        return;
    for (size_t i = 0; i < r->g->vars.n; i++) {
        const struct ir_var *m = r->g->vars.v[i];
        const char *dot = strrchr(m->name, '.');
        if (!dot || strcmp(dot, ".$defined") != 0)
            continue;
        while (of < i && !is_mask_of(m, r->g->vars.v[of]))
            of++;
        if (of == i || !is_right(r, r->g->vars.v[of], m))
            r->ip->on_mask(r->ip->use_aux, m);
        of++;
    }
}
