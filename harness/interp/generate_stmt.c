// SPDX-License-Identifier: Apache-2.0
//
// generate_stmt: random statements, locals, functions.
#include "harness/interp/generate_impl.h"

#define MOST_DEPTH 4u

static unsigned expr_depth(struct gen *g) {
    return 1 + BELOW(g, 3);
}

static void assign(struct gen *g) {
    const struct gen_var *v = gen_any_place(g);
    if (!v)
        return;
    if (v->wide) {
        for (size_t i = 0; i < g->vars.n; i++)
            if (g->vars.v[i].wide && g->vars.v[i].width == v->width && CHANCE(g, 60)) {
                gen_line(g, "%s = %s;", v->name, g->vars.v[i].name);
                return;
            }
        gen_line(g, "%s = %s;", v->name, gen_const(g, GEN_BITS, v->width));
        return;
    }
    if (v->type == GEN_BITS && v->width > 1 && CHANCE(g, 20)) {
        unsigned lo = BELOW(g, v->width), n = 1 + BELOW(g, v->width - lo);
        gen_line(g, "%s[%u:%u] = %s;", v->name, lo + n - 1, lo,
                 gen_expr(g, GEN_BITS, n, expr_depth(g)));
        return;
    }
    gen_line(g, "%s = %s;", v->name, gen_expr(g, v->type, v->width, expr_depth(g)));
}

// Declarations inside a block end with it.
static void body(struct gen *g, unsigned n) {
    size_t vars = g->vars.n;
    g->depth++;
    if (CHANCE(g, 20))
        gen_locals(g, 1);
    gen_stmts(g, n);
    g->depth--;
    g->vars.n = vars;
}

static void leave(struct gen *g) {
    if (g->in_function || g->depth == 0 || CHANCE(g, 60))
        return;
    gen_line(g, "%s;", g->may_exit && CHANCE(g, 50) ? "exit" : "return");
}

static void branch(struct gen *g, const char *condition) {
    gen_open(g, "if (%s) {", condition);
    body(g, 1 + BELOW(g, 3));
    leave(g);
    gen_close(g, "}");
    if (CHANCE(g, 50))
        return;
    gen_open(g, "else {");
    body(g, 1 + BELOW(g, 3));
    gen_close(g, "}");
}

static void cases(struct gen *g) {
    unsigned width = CHANCE(g, 50) ? 1 + BELOW(g, 4) : 1 + BELOW(g, 64);
    unsigned long long most = width >= 64 ? ~0ull : (1ull << width) - 1, value = 0;
    gen_open(g, "switch (%s) {", gen_expr(g, GEN_BITS, width, expr_depth(g)));
    for (unsigned n = 1 + BELOW(g, 4); n > 0 && value <= most; n--) {
        gen_line(g, "%uw%llu:", width, value);
        value += 1 + BELOW(g, 2);
        if (CHANCE(g, 20) && value <= most) {
            gen_line(g, "%uw%llu:", width, value);
            value += 1 + BELOW(g, 3);
        }
        gen_open(g, "{");
        body(g, 1 + BELOW(g, 2));
        leave(g);
        gen_close(g, "}");
        if (value == 0)
            break;
    }
    if (CHANCE(g, 50)) {
        gen_open(g, "default: {");
        body(g, 1);
        gen_close(g, "}");
    }
    gen_close(g, "}");
}

static const struct gen_header *any_header(struct gen *g) {
    return g->headers.n ? &g->headers.v[BELOW(g, g->headers.n)] : NULL;
}

static const char *one_header(struct gen *g, const struct gen_header *h) {
    return h->stack ? gen_text(g, "%s[%u]", h->name, BELOW(g, h->stack)) : h->name;
}

static void headers(struct gen *g) {
    const struct gen_header *h = any_header(g), *o;
    if (!h || (g->calm && !CHANCE(g, 6)))
        return;
    switch (BELOW(g, h->stack ? 5 : 4)) {
    case 0:
        gen_line(g, "%s.setValid();", one_header(g, h));
        break;
    case 1:
        gen_line(g, "%s.setInvalid();", one_header(g, h));
        break;
    case 2:
    case 3:
        for (unsigned tries = 0; tries < 6; tries++) {
            o = any_header(g);
            if (o->type == h->type) {
                gen_line(g, "%s = %s;", one_header(g, h), one_header(g, o));
                return;
            }
        }
        break;
    default:
        gen_line(g, "%s.%s(%u);", h->name, CHANCE(g, 50) ? "push_front" : "pop_front",
                 1 + BELOW(g, h->stack));
    }
}

static void apply_table(struct gen *g, const struct gen_table *t) {
    switch (BELOW(g, 5)) {
    case 0:
        branch(g, gen_text(g, "%s.apply().%s", t->name, CHANCE(g, 50) ? "hit" : "miss"));
        break;
    case 1:
        gen_open(g, "switch (%s.apply().action_run) {", t->name);
        for (unsigned k = 0; k < t->n_actions; k++) {
            if (CHANCE(g, 30))
                continue;
            gen_line(g, "%s:", t->actions[k]);
            gen_open(g, "{");
            body(g, 1 + BELOW(g, 2));
            leave(g);
            gen_close(g, "}");
        }
        gen_open(g, "default: {");
        body(g, 1);
        gen_close(g, "}");
        gen_close(g, "}");
        break;
    default:
        gen_line(g, "%s.apply();", t->name);
    }
}

static void apply(struct gen *g) {
    if (g->tables.n == 0)
        return;
    size_t i = BELOW(g, g->tables.n);
    struct gen_table t = g->tables.v[i];
    g->tables.v[i] = g->tables.v[--g->tables.n];
    if (t.instead) {
        gen_open(g, "if (%s) {", gen_expr(g, GEN_BOOL, 1, 2));
        gen_line(g, "%s", t.instead);
        gen_close(g, "} else {");
        g->indent++;
    }
    apply_table(g, &t);
    if (t.instead)
        gen_close(g, "}");
}

static void use(struct gen *g) {
    if (g->uses.n == 0)
        return;
    size_t i = BELOW(g, g->uses.n);
    const char *text = g->uses.v[i];
    g->uses.v[i] = g->uses.v[--g->uses.n];
    gen_line(g, "%s", text);
}

void gen_use_rest(struct gen *g) {
    while (g->uses.n)
        use(g);
    while (g->tables.n)
        apply(g);
}

// A loop is written out by the compiler: few rounds, little in them, nothing that may be used once.
static void loop(struct gen *g) {
    size_t tables = g->tables.n, uses = g->uses.n, vars = g->vars.n;
    const char *i = gen_name(g, "i");
    if (g->loops == 2)
        return;
    g->tables.n = g->uses.n = 0;
    g->loops++;
    switch (BELOW(g, 3)) {
    case 0: {
        unsigned low = BELOW(g, 250);
        gen_open(g, "for (bit<8> %s in 8w%u..8w%u) {", i, low, low + BELOW(g, 4));
        break;
    }
    case 1:
        gen_open(g, "for (bit<8> %s = 0; %s < %u && %s; %s = %s + 1) {", i, i, BELOW(g, 5),
                 gen_bool(g, 1), i, i);
        break;
    default:
        gen_open(g, "for (bit<8> %s in (list<bit<8>>){%s, %s, %s}) {", i,
                 gen_expr(g, GEN_BITS, 8, 1), gen_expr(g, GEN_BITS, 8, 1),
                 gen_expr(g, GEN_BITS, 8, 1));
    }
    gen_declare(g, i, GEN_BITS, 8, false);
    body(g, 1 + BELOW(g, 2));
    if (CHANCE(g, 50)) {
        gen_open(g, "if (%s) {", gen_bool(g, 1));
        gen_line(g, CHANCE(g, 50) ? "break;" : "continue;");
        gen_close(g, "}");
        body(g, 1);
    }
    gen_close(g, "}");
    g->loops--;
    g->tables.n = tables;
    g->uses.n = uses;
    g->vars.n = vars;
}

static void return_early(struct gen *g) {
    const struct gen_function *f = &g->functions.v[g->functions.n - 1];
    gen_open(g, "if (%s) {", gen_bool(g, 2));
    gen_line(g, "return %s;", gen_expr(g, f->type, f->width, 1));
    gen_close(g, "}");
}

static void statement(struct gen *g) {
    unsigned k = BELOW(g, 20);
    if (g->depth >= MOST_DEPTH)
        k = 0;
    if (k >= 10 && k < 16 && (g->in_function || g->in_action)) {
        if (g->in_action && k < 13)
            use(g);
        else if (g->in_action && k == 13)
            headers(g);
        else
            assign(g);
        return;
    }
    switch (k) {
    case 8:
        branch(g, gen_bool(g, 2));
        break;
    case 9:
        if (g->in_function && CHANCE(g, 50))
            return_early(g);
        else
            branch(g, gen_bool(g, 3));
        break;
    case 10:
    case 11:
        apply(g);
        break;
    case 12:
    case 13:
        use(g);
        break;
    case 14:
        headers(g);
        break;
    case 15:
        if (g->calls.n)
            gen_line(g, "%s", g->calls.v[BELOW(g, g->calls.n)]);
        break;
    case 16:
        if (!g->in_action)
            cases(g);
        break;
    case 17:
        if (CHANCE(g, 40)) {
            loop(g);
        } else if (CHANCE(g, 30)) {
            gen_open(g, "{");
            body(g, 2);
            gen_close(g, "}");
        }
        break;
    default:
        assign(g);
    }
}

void gen_stmts(struct gen *g, unsigned n) {
    while (n-- > 0)
        statement(g);
}

void gen_locals(struct gen *g, unsigned n) {
    for (; n > 0; n--) {
        enum gen_type type = BELOW(g, 10) < 6 ? GEN_BITS : CHANCE(g, 50) ? GEN_INT : GEN_BOOL;
        unsigned width = type == GEN_BOOL ? 1 : gen_width(g);
        if (type == GEN_INT && width < 2)
            width = 2;
        const char *name = gen_name(g, "v");
        if (CHANCE(g, 70))
            gen_line(g, "%s %s = %s;", gen_type_text(g, type, width), name,
                     gen_expr(g, type, width, 1));
        else
            gen_line(g, "%s %s;", gen_type_text(g, type, width), name);
        gen_declare(g, name, type, width, true);
    }
}

static void function(struct gen *g) {
    struct gen_function f = {.name = gen_name(g, "f"), .n = 1 + BELOW(g, 3)};
    f.type = BELOW(g, 10) < 6 ? GEN_BITS : CHANCE(g, 50) ? GEN_INT : GEN_BOOL;
    f.width = f.type == GEN_BOOL ? 1 : 8u << BELOW(g, 3);
    const char *params = "";
    for (unsigned i = 0; i < f.n; i++) {
        struct gen_var *p = &f.params[i];
        p->name = gen_name(g, "a");
        p->type = BELOW(g, 10) < 8 ? GEN_BITS : GEN_INT;
        p->width = CHANCE(g, 60) ? 8u << BELOW(g, 3) : gen_width(g);
        if (p->type == GEN_INT && p->width < 2)
            p->width = 2;
        p->writable = CHANCE(g, 35);
        params = gen_text(g, "%s%s%s %s %s", params, i ? ", " : "", p->writable ? "inout" : "in",
                          gen_type_text(g, p->type, p->width), p->name);
    }
    g->vars.n = 0;
    gen_open(g, "%s %s(%s) {", gen_type_text(g, f.type, f.width), f.name, params);
    for (unsigned i = 0; i < f.n; i++)
        gen_declare(g, f.params[i].name, f.params[i].type, f.params[i].width, f.params[i].writable);
    VEC_PUSH(g->a, &g->functions, f);
    g->in_function = true;
    gen_locals(g, 1 + BELOW(g, 2));
    gen_stmts(g, 1 + BELOW(g, 4));
    gen_line(g, "return %s;", gen_expr(g, f.type, f.width, 2));
    g->in_function = false;
    gen_close(g, "}");
    g->vars.n = 0;
}

void gen_functions(struct gen *g) {
    for (unsigned n = BELOW(g, 4); n > 0; n--)
        function(g);
}
