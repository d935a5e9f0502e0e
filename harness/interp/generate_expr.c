// SPDX-License-Identifier: Apache-2.0
//
// generate_expr: random expressions of a wanted type.
#include "harness/interp/generate_impl.h"

#include <string.h>

// A literal of any width, in hexadecimal beyond 64 bits.
static const char *literal(struct gen *g, unsigned width) {
    if (width <= 64)
        return gen_text(g, "%uw0x%llx", width, (unsigned long long)random_bits(&g->r, width));
    const char *digits = "";
    unsigned top = width % 4;
    for (unsigned i = 0; i < width / 4; i++)
        digits = gen_text(g, "%s%x", digits, CHANCE(g, 30) ? 0 : BELOW(g, 16));
    return top ? gen_text(g, "%uw0x%x%s", width, BELOW(g, 1u << top), digits)
               : gen_text(g, "%uw0x%s", width, digits);
}

const char *gen_const(struct gen *g, enum gen_type type, unsigned width) {
    if (type == GEN_BOOL)
        return CHANCE(g, 50) ? "true" : "false";
    if (type == GEN_BITS)
        return literal(g, width);
    if (width < 2 || width > 64)
        return gen_text(g, "(int<%u>)%s", width, literal(g, width));
    unsigned long long v = random_bits(&g->r, width - 1);
    return CHANCE(g, 50) ? gen_text(g, "%us%llu", width, v) : gen_text(g, "(-%us%llu)", width, v);
}

static const struct gen_var *pick(struct gen *g, enum gen_type type, unsigned width, bool any_width,
                                  bool writable) {
    const struct gen_var *found = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct gen_var *v = &g->vars.v[i];
        if (v->type != type || (!any_width && v->width != width) || (writable && !v->writable))
            continue;
        if (v->wide && width <= GEN_MAX_WIDTH)
            continue;
        if (BELOW(g, ++n) == 0)
            found = v;
    }
    return found;
}

const struct gen_var *gen_place(struct gen *g, enum gen_type type, unsigned width) {
    return pick(g, type, width, false, true);
}

const struct gen_var *gen_any_place(struct gen *g) {
    for (unsigned tries = 0; tries < 50; tries++) {
        const struct gen_var *v = &g->vars.v[BELOW(g, g->vars.n)];
        if (v->writable)
            return v;
    }
    return NULL;
}

const struct gen_var *gen_any_var(struct gen *g) {
    for (;;) {
        const struct gen_var *v = &g->vars.v[BELOW(g, g->vars.n)];
        if (!v->wide)
            return v;
    }
}

// A variable made to fit by casts; never fails.
static const char *cast_var(struct gen *g, enum gen_type type, unsigned width) {
    const struct gen_var *v = gen_any_var(g);
    const char *bits = v->type == GEN_BITS  ? v->name
                       : v->type == GEN_INT ? gen_text(g, "(bit<%u>)%s", v->width, v->name)
                                            : gen_text(g, "(bit<1>)%s", v->name);
    if (type == GEN_BITS)
        return v->width == width ? gen_text(g, "(%s)", bits)
                                 : gen_text(g, "((bit<%u>)%s)", width, bits);
    if (v->type == GEN_INT)
        return gen_text(g, "((int<%u>)%s)", width, v->name);
    if (CHANCE(g, 50) && v->width > 1)
        return gen_text(g, "((int<%u>)(int<%u>)(%s))", width, v->width, bits);
    return gen_text(g, "((int<%u>)(bit<%u>)(%s))", width, width, bits);
}

static const char *leaf(struct gen *g, enum gen_type type, unsigned width) {
    const struct gen_var *v = pick(g, type, width, false, false);
    if (type == GEN_BOOL)
        return v && CHANCE(g, 80) ? v->name : gen_const(g, type, width);
    if (v && CHANCE(g, 60))
        return v->name;
    return CHANCE(g, 60) ? cast_var(g, type, width) : gen_const(g, type, width);
}

// ---- booleans ----

static const char *comparison(struct gen *g, unsigned depth) {
    static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};
    const struct gen_var *v = gen_any_var(g);
    if (v->type == GEN_BOOL)
        return gen_text(g, "(%s %s %s)", gen_bool(g, depth - 1), ops[BELOW(g, 2)], v->name);
    const char *right =
        CHANCE(g, 50) ? gen_const(g, v->type, v->width) : gen_expr(g, v->type, v->width, depth - 1);
    const char *left = CHANCE(g, 50) ? v->name : gen_expr(g, v->type, v->width, depth - 1);
    return gen_text(g, "(%s %s %s)", left, ops[BELOW(g, 6)], right);
}

static const char *about_headers(struct gen *g) {
    if (g->headers.n == 0 || g->in_function || g->in_parser)
        return "false";
    const struct gen_header *h = &g->headers.v[BELOW(g, g->headers.n)];
    if (h->stack)
        return gen_text(g, "%s[%u].isValid()", h->name, BELOW(g, h->stack));
    for (size_t i = 0; i < g->headers.n && CHANCE(g, 15); i++) {
        const struct gen_header *o = &g->headers.v[i];
        if (o != h && !o->stack && o->type == h->type)
            return gen_text(g, "(%s %s %s)", h->name, CHANCE(g, 50) ? "==" : "!=", o->name);
    }
    return gen_text(g, "%s.isValid()", h->name);
}

static const char *about_wide(struct gen *g) {
    const struct gen_var *found = NULL;
    for (size_t i = 0; i < g->vars.n; i++)
        if (g->vars.v[i].wide && (!found || CHANCE(g, 50)))
            found = &g->vars.v[i];
    if (!found)
        return "true";
    for (size_t i = 0; i < g->vars.n; i++)
        if (g->vars.v[i].wide && g->vars.v[i].width == found->width && CHANCE(g, 50))
            return gen_text(g, "(%s %s %s)", found->name,
                            CHANCE(g, 50) ? "==" : "!=", g->vars.v[i].name);
    return gen_text(g, "(%s != %uw%u)", found->name, found->width, BELOW(g, 3));
}

const char *gen_bool(struct gen *g, unsigned depth) {
    if (depth == 0)
        return leaf(g, GEN_BOOL, 1);
    switch (BELOW(g, 10)) {
    case 0:
        return gen_text(g, "(%s && %s)", gen_bool(g, depth - 1), gen_bool(g, depth - 1));
    case 1:
        return gen_text(g, "(%s || %s)", gen_bool(g, depth - 1), gen_bool(g, depth - 1));
    case 2:
        return gen_text(g, "(!%s)", gen_bool(g, depth - 1));
    case 3:
        return about_headers(g);
    case 4:
        return leaf(g, GEN_BOOL, 1);
    case 5:
        return CHANCE(g, 20) ? about_wide(g) : comparison(g, depth);
    default:
        return comparison(g, depth);
    }
}

// ---- numbers ----

static const char *binary(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    static const char *const ops[] = {"+", "-", "&", "|", "^", "|+|", "|-|"};
    const char *a = gen_expr(g, type, width, depth - 1);
    if (CHANCE(g, 5)) { // by a constant power of two
        unsigned n = BELOW(g, width - (type == GEN_INT));
        return gen_text(g, "(%s * %u%c%llu)", a, width, type == GEN_INT ? 's' : 'w',
                        1ull << (n > 62 ? 62 : n));
    }
    return gen_text(g, "(%s %s %s)", a, ops[BELOW(g, 7)], gen_expr(g, type, width, depth - 1));
}

// By a constant distance: a Tofino knows no other.
static const char *shift(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    const char *op = CHANCE(g, 50) ? "<<" : ">>";
    return gen_text(g, "(%s %s %u)", gen_expr(g, type, width, depth - 1), op, BELOW(g, width + 2));
}

// Only bit strings are cut.
static const char *slice(struct gen *g, unsigned width, unsigned depth) {
    const struct gen_var *v = NULL;
    for (unsigned tries = 0; tries < 8 && !v; tries++) {
        v = &g->vars.v[BELOW(g, g->vars.n)];
        if (v->type != GEN_BITS || v->width < width)
            v = NULL;
    }
    if (v) {
        unsigned lo = BELOW(g, v->width - width + 1);
        return gen_text(g, "%s[%u:%u]", v->name, lo + width - 1, lo);
    }
    unsigned wider = width + BELOW(g, GEN_MAX_WIDTH - width + 1), lo = BELOW(g, wider - width + 1);
    return gen_text(g, "(%s)[%u:%u]", gen_expr(g, GEN_BITS, wider, depth - 1), lo + width - 1, lo);
}

static const char *concat(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    if (width < 2)
        return leaf(g, type, width);
    unsigned high = 1 + BELOW(g, width - 1);
    const char *a = gen_expr(g, type, high, depth - 1);
    const char *b = gen_expr(g, CHANCE(g, 20) ? GEN_INT : GEN_BITS, width - high, depth - 1);
    return gen_text(g, "(%s ++ %s)", a, b);
}

static const char *converted(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    unsigned from = gen_width(g);
    if (CHANCE(g, 30))
        return type == GEN_BITS && width == 1
                   ? gen_text(g, "((bit<1>)%s)", gen_bool(g, depth - 1))
                   : gen_text(g, "((%s)%s)", gen_type_text(g, type, width),
                              gen_expr(g, type == GEN_BITS ? GEN_INT : GEN_BITS, width, depth - 1));
    return gen_text(g, "((%s)%s)", gen_type_text(g, type, width),
                    gen_expr(g, type, from, depth - 1));
}

static const char *call(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    if (g->in_parser)
        return leaf(g, type, width);
    for (size_t i = 0; i < g->functions.n && !g->in_function; i++) {
        const struct gen_function *f = &g->functions.v[i];
        if (f->type != type || f->width != width || CHANCE(g, 30))
            continue;
        const char *args = "";
        for (unsigned k = 0; k < f->n; k++) {
            const struct gen_var *p = &f->params[k], *place = NULL;
            if (p->writable && !(place = gen_place(g, p->type, p->width)))
                return leaf(g, type, width);
            args = gen_text(g, "%s%s%s", args, k ? ", " : "",
                            place ? place->name : gen_expr(g, p->type, p->width, depth - 1));
        }
        return gen_text(g, "%s(%s)", f->name, args);
    }
    return gen_text(g, "%s(%s, %s)", CHANCE(g, 50) ? "min" : "max",
                    gen_expr(g, type, width, depth - 1), gen_expr(g, type, width, depth - 1));
}

const char *gen_expr(struct gen *g, enum gen_type type, unsigned width, unsigned depth) {
    if (type == GEN_BOOL)
        return gen_bool(g, depth);
    if (depth == 0 || CHANCE(g, 15))
        return leaf(g, type, width);
    switch (BELOW(g, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return binary(g, type, width, depth);
    case 4:
        return gen_text(g, "(%s%s)", CHANCE(g, 50) ? "~" : "-",
                        gen_expr(g, type, width, depth - 1));
    case 5:
        return shift(g, type, width, depth);
    case 6:
        return type == GEN_BITS ? slice(g, width, depth) : binary(g, type, width, depth);
    case 7:
        return concat(g, type, width, depth);
    case 8:
        return gen_text(g, "(%s ? %s : %s)", gen_bool(g, depth - 1),
                        gen_expr(g, type, width, depth - 1), gen_expr(g, type, width, depth - 1));
    case 9:
        return converted(g, type, width, depth);
    case 10:
        return call(g, type, width, depth);
    default:
        return leaf(g, type, width);
    }
}
