// SPDX-License-Identifier: Apache-2.0
//
// body: what is left of an action's body when it reaches the ALU.
//
// The chip's compiler resolves copies before it looks for instructions: a local variable is
// replaced by what it holds where that is known, and assignments that no one reads are gone. What
// an action needs depends on that, so it is done here in the same way: the value that an assignment
// gives is known until something that it is made of is written, not when it is made of the variable
// itself, not over a fork on whose sides it differs, and not when it comes from a parameter, a math
// unit, a minimum or a maximum. A result keeps a plain copy as it is written.
#include <string.h>

#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"

struct body {
    struct chip_report *r;
    struct arena *a;
    const struct ir_regaction *ra;
    struct salu_vars *vars;
    unsigned nodes;
    bool failed;
};

struct salu_var *salu_var_of(struct salu_vars *vars, const struct ir_var *var) {
    for (size_t i = 0; i < vars->list.n; i++)
        if (vars->list.v[i].var == var)
            return &vars->list.v[i];
    return NULL;
}

static void salu_body_refuse(struct body *b, struct loc at, const char *what) {
    if (!b->failed)
        chip_violate(
            b->r, "salu-statement", at,
            arena_printf(b->a, "register action '%s' %s", b->ra->name, what),
            "a register action is made of assignments to the register's value and the result, "
            "and of ifs; do the rest in the action that executes it");
    b->failed = true;
}

// ---- statements ---------------------------------------------------------------------------------

// An action that takes the low bits of the entry works on the whole entry here: the ALU has no
// others.
static bool is_parting(const struct body *b, const struct ir_stmt *s) {
    const struct ir_regaction *ra = b->ra;
    if (!ra->part || s->e->a == NULL)
        return false;
    const struct ir_expr *low = s->e->op == IR_CONCAT ? s->e->b : s->e;
    return s->var == ra->value[0] ? low->op == IR_VAR && low->var == ra->part
                                  : s->var == ra->part && s->e->op == IR_SLICE &&
                                        s->e->a->op == IR_VAR && s->e->a->var == ra->value[0];
}

static void straighten(struct body *b, struct ir_block *out, const struct ir_block *from) {
    for (size_t i = 0; from && i < from->stmts.n && !b->failed; i++) {
        struct ir_stmt *s = from->stmts.v[i], *c;
        if (++b->nodes > SALU_MAX_NODES) {
            salu_body_refuse(b, s->at, "is too long for a stateful ALU");
            return;
        }
        switch (s->kind) {
        case IR_ASSIGN:
            if (!is_parting(b, s))
                ir_push(b->a, out, s);
            break;
        case IR_IF:
            c = ARENA_NEW(b->a, struct ir_stmt);
            *c = *s;
            c->then_b = ir_block_new(b->a);
            c->else_b = ir_block_new(b->a);
            straighten(b, c->then_b, s->then_b);
            straighten(b, c->else_b, s->else_b);
            ir_push(b->a, out, c);
            break;
        case IR_BLOCK:
            straighten(b, out, s->then_b);
            break;
        case IR_LEAVE: // the chip's compiler breaks down
            salu_body_refuse(b, s->at, "returns early");
            break;
        case IR_SWITCH:
            salu_body_refuse(b, s->at, "has a switch");
            break;
        default:
            salu_body_refuse(b, s->at, "calls a function that a stateful ALU does not have");
            break;
        }
    }
}

// ---- variables ----------------------------------------------------------------------------------

// Lowering's own, where the source has an expression.
static bool is_temporary(const struct ir_var *v) {
    return v->name[0] == '$';
}

// Variables of the action are named after it.
static bool salu_body_is_own(const struct body *b, const struct ir_var *v) {
    for (size_t i = 0; i < b->r->program->pipelines.n; i++) {
        const char *pipe = b->r->program->pipelines.v[i]->name;
        size_t root = strlen(pipe);
        if (strncmp(b->ra->name, pipe, root) != 0 || b->ra->name[root] != '.')
            continue;
        const char *name = b->ra->name + root + 1;
        size_t n = strlen(name);
        if (strncmp(v->name, name, n) == 0 && v->name[n] == '.')
            return true;
    }
    return is_temporary(v) || v == b->ra->rv || v == b->ra->value[0] || v == b->ra->value[1] ||
           v == b->ra->part;
}

struct reads {
    const struct ir_var *var;
    bool found;
};

static void salu_body_note_read(void *ctx, struct ir_expr *e) {
    struct reads *r = ctx;
    r->found |= e->op == IR_VAR && e->var == r->var;
}

static bool uses(const struct ir_expr *e, const struct ir_var *var) {
    struct reads r = {.var = var};
    ir_visit_expr(&(struct ir_visitor){.ctx = &r, .expr = salu_body_note_read},
                  (struct ir_expr *)e);
    return r.found;
}

static bool salu_body_read_outside(const struct ir_gress *g, const struct ir_var *var) {
    struct reads r = {.var = var};
    struct ir_visitor v = {.ctx = &r, .expr = salu_body_note_read, .shallow = true};
    ir_visit_block(&v, g->control);
    for (size_t i = 0; i < g->actions.n && !r.found; i++)
        ir_visit_block(&v, g->actions.v[i]->body);
    return r.found;
}

struct executions {
    const struct ir_regaction *ra;
    const struct ir_var *var;
    bool all;
};

static void salu_body_note_execution(void *aux, const struct ir_stmt *s) {
    struct executions *e = aux;
    if (s->kind == IR_REG_EXEC && s->regaction == e->ra)
        e->all &= s->var == e->var;
}

// What the action writes to a variable that is not its own is never seen where the result of each
// execution goes to the same variable; the chip's compiler leaves such a statement out.
static bool salu_body_overwritten(const struct body *b, const struct ir_gress *g,
                                  const struct ir_var *var) {
    struct executions e = {.ra = b->ra, .var = var, .all = true};
    struct reads r = {.var = var};
    ir_walk_gress(g, salu_body_note_execution, NULL, &e);
    ir_visit_block(&(struct ir_visitor){.ctx = &r, .expr = salu_body_note_read}, b->ra->body);
    return e.all && !r.found;
}

static void salu_body_add_var(struct body *b, const struct ir_var *var, enum salu_var_kind kind,
                              unsigned index) {
    struct salu_var v = {.var = var, .kind = kind, .index = index};
    if (var && !salu_var_of(b->vars, var))
        VEC_PUSH(b->a, &b->vars->list, v);
}

static void find_vars(struct body *b, const struct ir_gress *g, const struct ir_block *body,
                      unsigned *results) {
    for (size_t i = 0; body && i < body->stmts.n && !b->failed; i++) {
        const struct ir_stmt *s = body->stmts.v[i];
        find_vars(b, g, s->then_b, results);
        find_vars(b, g, s->else_b, results);
        if (s->kind != IR_ASSIGN || salu_var_of(b->vars, s->var))
            continue;
        if (!salu_body_is_own(b, s->var) && salu_body_overwritten(b, g, s->var))
            salu_body_add_var(b, s->var, SALU_LOCAL, 0);
        else if (!salu_body_is_own(b, s->var))
            salu_body_refuse(b, s->at, arena_printf(b->a, "writes '%s'", s->var->name));
        else if (salu_body_read_outside(g, s->var))
            salu_body_add_var(b, s->var, SALU_RESULT, (*results)++);
        else
            salu_body_add_var(b, s->var, SALU_LOCAL, 0);
    }
}

// ---- assignments that no one sees ----

static void mark_live(void *ctx, struct ir_expr *e) {
    struct salu_var *v = e->op == IR_VAR ? salu_var_of(ctx, e->var) : NULL;
    if (v)
        v->live = true;
}

static void mark_uses(struct body *b, struct ir_expr *e) {
    ir_visit_expr(&(struct ir_visitor){.ctx = b->vars, .expr = mark_live}, e);
}

static bool *save_live(struct body *b) {
    bool *live = ARENA_ARRAY(b->a, bool, b->vars->list.n + 1);
    for (size_t i = 0; i < b->vars->list.n; i++)
        live[i] = b->vars->list.v[i].live;
    return live;
}

static void load_live(struct body *b, const bool *live, bool unite) {
    for (size_t i = 0; i < b->vars->list.n; i++)
        b->vars->list.v[i].live = live[i] || (unite && b->vars->list.v[i].live);
}

static struct ir_block *without_dead(struct body *b, const struct ir_block *body) {
    struct ir_block *kept = ir_block_new(b->a), *out = ir_block_new(b->a);
    for (size_t i = body ? body->stmts.n : 0; i-- > 0;) {
        struct ir_stmt *s = body->stmts.v[i];
        if (s->kind == IR_IF) {
            struct ir_stmt *c = ARENA_NEW(b->a, struct ir_stmt);
            bool *after = save_live(b);
            *c = *s;
            c->then_b = without_dead(b, s->then_b);
            bool *yes = save_live(b);
            load_live(b, after, false);
            c->else_b = without_dead(b, s->else_b);
            load_live(b, yes, true);
            if (c->then_b->stmts.n + c->else_b->stmts.n == 0) {
                load_live(b, after, false);
                continue;
            }
            mark_uses(b, c->e);
            ir_push(b->a, kept, c);
            continue;
        }
        struct salu_var *v = salu_var_of(b->vars, s->var);
        bool whole = !s->slice || s->width == s->var->width;
        if ((v && !v->live) || (whole && s->e->op == IR_VAR && s->e->var == s->var))
            continue;
        if (v && whole)
            v->live = false;
        mark_uses(b, s->e);
        ir_push(b->a, kept, s);
    }
    for (size_t i = kept->stmts.n; i-- > 0;)
        ir_push(b->a, out, kept->stmts.v[i]);
    return out;
}

static struct ir_block *live_part(struct body *b, const struct ir_block *body) {
    for (size_t i = 0; i < b->vars->list.n; i++)
        b->vars->list.v[i].live = b->vars->list.v[i].kind != SALU_LOCAL;
    return without_dead(b, body);
}

// ---- copies -------------------------------------------------------------------------------------

struct measure {
    unsigned nodes;
    bool called;
};

static void measure_node(void *ctx, struct ir_expr *e) {
    struct measure *m = ctx;
    m->nodes++;
    m->called |= e->op == IR_REG_PARAM || e->op == IR_MATH_UNIT || e->op == IR_UMIN ||
                 e->op == IR_UMAX || e->op == IR_SMIN || e->op == IR_SMAX;
}

static bool may_spread(const struct ir_expr *e, bool calls) {
    struct measure m = {0};
    ir_visit_expr(&(struct ir_visitor){.ctx = &m, .expr = measure_node}, (struct ir_expr *)e);
    return (calls || !m.called) && m.nodes < SALU_MAX_NODES / 8;
}

static struct ir_expr *salu_body_resolve(struct body *b, struct ir_expr *e);

static struct ir_expr *rebuild(struct body *b, struct ir_expr *e) {
    struct ir_expr *x = e->a ? salu_body_resolve(b, e->a) : NULL,
                   *y = e->b ? salu_body_resolve(b, e->b) : NULL;
    struct ir_expr *z = e->c ? salu_body_resolve(b, e->c) : NULL;
    if (x == e->a && y == e->b && z == e->c)
        return e;
    switch (e->op) {
    case IR_NOT:
    case IR_NEG:
        return ir_unary(b->a, e->op, x);
    case IR_SLICE:
        return ir_slice(b->a, x, e->lo, e->width);
    case IR_ZEXT:
    case IR_SEXT:
        return ir_resize(b->a, x, e->width, e->op == IR_SEXT);
    case IR_COND:
        return ir_choose(b->a, x, y, z);
    case IR_MATH_UNIT:
        return ir_math_unit_of(b->a, e->math, x);
    default:
        return y ? ir_binary(b->a, e->op, x, y) : e;
    }
}

// 'a - a' and the like, which the chip's compiler knows, too.
static struct ir_expr *simple(struct body *b, struct ir_expr *e) {
    if (!e->a || !e->b || !ir_same(e->a, e->b))
        return e;
    switch (e->op) {
    case IR_SUB:
    case IR_XOR:
        return ir_const_u64(b->a, e->width, 0);
    case IR_AND:
    case IR_OR:
        return e->a;
    default:
        return e;
    }
}

static struct ir_expr *salu_body_resolve(struct body *b, struct ir_expr *e) {
    if (e->op != IR_VAR)
        return simple(b, rebuild(b, e));
    struct salu_var *v = salu_var_of(b->vars, e->var);
    if (!v)
        return e;
    if (v->val)
        return (struct ir_expr *)v->val;
    v->live = true;
    return e;
}

static void salu_body_forget(struct body *b, const struct ir_var *written) {
    for (size_t i = 0; i < b->vars->list.n; i++) {
        struct salu_var *v = &b->vars->list.v[i];
        if (v->var == written || (v->val && uses(v->val, written)))
            v->val = NULL;
    }
}

static const struct ir_expr **save_values(struct body *b) {
    const struct ir_expr **vals = ARENA_ARRAY(b->a, const struct ir_expr *, b->vars->list.n + 1);
    for (size_t i = 0; i < b->vars->list.n; i++)
        vals[i] = b->vars->list.v[i].val;
    return vals;
}

// Behind an if: 'yes' where its condition held. A temporary of lowering is the expression that it
// came from: if (!a) t = b; else t = a; is a || b.
static void salu_body_merge(struct body *b, struct salu_var *v, struct ir_expr *c,
                            const struct ir_expr *yes) {
    struct ir_expr *x = (struct ir_expr *)yes, *y = (struct ir_expr *)v->val;
    if (x == y)
        return;
    v->val = NULL;
    if (!is_temporary(v->var) || !x || !y || !may_spread(x, true) || !may_spread(y, true))
        return;
    if (c->op == IR_NOT && ir_same(c->a, y))
        v->val = ir_binary(b->a, IR_LOR, y, x);
    else if (ir_same(c, y) && y->width == 1)
        v->val = ir_binary(b->a, IR_LAND, y, x);
    else
        v->val = ir_choose(b->a, c, x, y);
}

static struct ir_block *with_copies(struct body *b, const struct ir_block *body) {
    struct ir_block *out = ir_block_new(b->a);
    for (size_t i = 0; body && i < body->stmts.n; i++) {
        struct ir_stmt *c = ARENA_NEW(b->a, struct ir_stmt);
        *c = *body->stmts.v[i];
        if (c->kind == IR_IF) {
            c->e = salu_body_resolve(b, c->e);
            const struct ir_expr **before = save_values(b);
            c->then_b = with_copies(b, c->then_b);
            const struct ir_expr **yes = save_values(b);
            for (size_t k = 0; k < b->vars->list.n; k++)
                b->vars->list.v[k].val = before[k];
            c->else_b = with_copies(b, c->else_b);
            for (size_t k = 0; k < b->vars->list.n; k++)
                salu_body_merge(b, &b->vars->list.v[k], c->e, yes[k]);
            ir_push(b->a, out, c);
            continue;
        }
        struct salu_var *v = salu_var_of(b->vars, c->var);
        bool plain = v && v->kind == SALU_RESULT && c->e->op == IR_VAR;
        if (plain)
            mark_uses(b, c->e);
        else
            c->e = salu_body_resolve(b, c->e);
        salu_body_forget(b, c->var);
        if (v && (!c->slice || c->width == c->var->width) && !uses(c->e, c->var) &&
            may_spread(c->e, is_temporary(v->var)))
            v->val = c->e;
        ir_push(b->a, out, c);
    }
    return out;
}

static struct ir_block *without_locals(struct body *b, const struct ir_block *body) {
    struct ir_block *out = ir_block_new(b->a);
    for (size_t i = 0; body && i < body->stmts.n; i++) {
        struct ir_stmt *s = body->stmts.v[i];
        if (s->kind == IR_IF) {
            s->then_b = without_locals(b, s->then_b);
            s->else_b = without_locals(b, s->else_b);
            if (s->then_b->stmts.n + s->else_b->stmts.n > 0)
                ir_push(b->a, out, s);
            continue;
        }
        const struct salu_var *v = salu_var_of(b->vars, s->var);
        if (!v || v->kind != SALU_LOCAL || v->live)
            ir_push(b->a, out, s);
    }
    return out;
}

struct ir_block *salu_body(struct chip_report *r, const struct ir_gress *g,
                           const struct ir_regaction *ra, struct salu_vars *vars) {
    struct body b = {.r = r, .a = r->arena, .ra = ra, .vars = vars};
    unsigned results = ra->rv != NULL;
    struct ir_block *body = ir_block_new(b.a);
    straighten(&b, body, ra->body);
    salu_body_add_var(&b, ra->value[0], SALU_VALUE, 0);
    salu_body_add_var(&b, ra->value[1], SALU_VALUE, 1);
    salu_body_add_var(&b, ra->part, SALU_VALUE, 0);
    salu_body_add_var(&b, ra->rv, SALU_RESULT, 0);
    find_vars(&b, g, body, &results);
    if (b.failed)
        return NULL;
    for (unsigned round = 0; round < 2; round++) {
        body = live_part(&b, body);
        for (size_t i = 0; i < vars->list.n; i++) {
            vars->list.v[i].val = NULL;
            vars->list.v[i].live = false;
        }
        body = without_locals(&b, with_copies(&b, body));
    }
    return body;
}
