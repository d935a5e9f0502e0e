// SPDX-License-Identifier: Apache-2.0
//
// simplify: a control as the chip's compiler has it before it makes tables of its statements.
//
//     md.x = hdr.a;                                 hdr.b = hdr.a + 1;
//     hdr.b = md.x + 1;                 becomes     md.x = hdr.a;
//     if (c) { s; return; } t;                      if (c) { s; } else { t; }
//
// One walk in program order carries what is known of variables: the expression that each was last
// set to, as long as nothing in it was written since. Expressions are replaced by what is known,
// conditions that become constant choose their side, and what follows a branch that leaves goes to
// the other side. A variable written on some way through a branch is unknown after it. The compiler
// of the chip does the same, to table keys too, and pays for it when an action then has too many
// operands; so the model has to.
//
// The result is a second IR. Its statements are new; variables, tables and externs are the
// program's.
#include "compiler/chip/graph/graph_impl.h"
#include "compiler/ir/effects.h"

#define MAX_NODES 64u   // of an expression that is carried along
#define MAX_MOVES 1000u // returns in a row that are turned into nesting
#define MAX_NEST  1000u // of blocks; what is deeper is left out, and never fits

struct simplify_known {
    struct ir_expr *e; // null: nothing is known
    unsigned since;    // e's variables were not written after this
    unsigned written;  // last
};
struct change {
    unsigned var;
    struct simplify_known old;
};
struct simplify {
    struct graph *g;
    struct arena *a;
    struct simplify_known *known; // by variable id
    unsigned now;
    unsigned floor; // what was learned before is not known here
    VEC(struct change) log;
    unsigned *reads;  // by variable id: how many expressions mention it
    bool *set_before; // by variable id: by the parser, or for the architecture to see
    unsigned moves, nest;
    bool *visited_action;
    // The call of an action, not by a table, that the walk is in (ir_stmt.action_call), where its
    // changes begin in 'log', and the floor outside of it.
    unsigned call;
    size_t call_log;
    unsigned call_floor;
    bool in_table; // in an action of a table
};
// What is still to come after the statement that is being looked at, to the end of the innermost
// body.
struct rest {
    const struct ir_block *b;
    size_t i;
    const struct rest *up;
};

// ---- what is known ------------------------------------------------------------------------------

static bool is_var(struct simplify *s, const struct ir_var *v) {
    return v && v->id < s->g->n_vars;
}

static void wrote(struct simplify *s, const struct ir_var *v) {
    if (!is_var(s, v))
        return;
    struct simplify_known *k = &s->known[v->id];
    struct change c = {v->id, *k};
    VEC_PUSH(s->a, &s->log, c);
    k->e = NULL;
    k->written = ++s->now;
}

// Nothing is known of it any more, but what was computed from it is: a field of a header that is
// made valid keeps its bits on the chip.
static void graph_simplify_unlearn(struct simplify *s, const struct ir_var *v) {
    if (!is_var(s, v))
        return;
    struct change c = {v->id, s->known[v->id]};
    VEC_PUSH(s->a, &s->log, c);
    s->known[v->id].e = NULL;
}

static bool graph_simplify_holds(struct simplify *s, const struct ir_expr *e, unsigned since) {
    if (!e)
        return true;
    if (e->op == IR_VAR)
        return is_var(s, e->var) && s->known[e->var->id].written <= since;
    return graph_simplify_holds(s, e->a, since) && graph_simplify_holds(s, e->b, since) &&
           graph_simplify_holds(s, e->c, since);
}

static unsigned nodes(const struct ir_expr *e, unsigned limit) {
    if (!e || limit == 0)
        return 0;
    unsigned n = 1;
    const struct ir_expr *parts[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3 && n < limit; i++)
        n += nodes(parts[i], limit - n);
    return n;
}

// Nothing in it belongs to an extern. min() and max() are functions, which the chip's compiler does
// not move.
static bool graph_simplify_carries(const struct ir_expr *e) {
    return !e || (e->op != IR_REG_PARAM && e->op != IR_MATH_UNIT && e->op != IR_LOOKAHEAD &&
                  e->op != IR_UMIN && e->op != IR_UMAX && e->op != IR_SMIN && e->op != IR_SMAX &&
                  graph_simplify_carries(e->a) && graph_simplify_carries(e->b) &&
                  graph_simplify_carries(e->c));
}

static void graph_simplify_learn(struct simplify *s, const struct ir_var *v, struct ir_expr *e) {
    if (!is_var(s, v) || nodes(e, MAX_NODES) >= MAX_NODES || !graph_simplify_carries(e))
        return;
    struct simplify_known *k = &s->known[v->id];
    if (graph_simplify_holds(s, e, k->written - 1)) { // does not read v itself
        k->e = e;
        k->since = s->now;
    }
}

struct ir_expr *graph_rebuilt(struct arena *a, struct ir_expr *e, struct ir_expr *x,
                              struct ir_expr *y, struct ir_expr *z) {
    struct ir_expr *n;
    switch (e->op) {
    case IR_NOT:
    case IR_NEG:
        n = ir_unary(a, e->op, x);
        break;
    case IR_SLICE:
        n = ir_slice(a, x, e->lo, e->width);
        break;
    case IR_ZEXT:
    case IR_SEXT:
        n = ir_resize(a, x, e->width, e->op == IR_SEXT);
        break;
    case IR_COND:
        n = ir_choose(a, x, y, z);
        break;
    case IR_MATH_UNIT:
        n = ir_math_unit_of(a, e->math, x);
        break;
    default:
        n = ir_binary(a, e->op, x, y);
        break;
    }
    if (n->at.line == 0 && n != x && n != y && n != z)
        n->at = e->at;
    return n;
}

static bool graph_simplify_shifts(const struct ir_expr *e) {
    return (e->op == IR_SHL || e->op == IR_LSHR) && ir_is_const(e->b) &&
           big_fits_u64(e->b->value) && big_to_u64(e->b->value) < e->width;
}

// Bits [lo, lo + width) of 'e', of which there are as many. A part of what is shifted by a constant
// is a part of what was shifted, where no zeros come in beside it.
static struct ir_expr *graph_simplify_sliced(struct arena *a, struct ir_expr *e, unsigned lo,
                                             unsigned width) {
    const unsigned by = graph_simplify_shifts(e) ? (unsigned)big_to_u64(e->b->value) : 0;
    if (by && e->op == IR_LSHR && lo + by + width <= e->width)
        return graph_simplify_sliced(a, e->a, lo + by, width);
    if (by && e->op == IR_SHL && lo >= by)
        return graph_simplify_sliced(a, e->a, lo - by, width);
    if (by && e->op == IR_SHL && lo + width <= by)
        return ir_const_u64(a, width, 0);
    const bool bitwise = e->op == IR_AND || e->op == IR_OR || e->op == IR_XOR;
    if (bitwise && (graph_simplify_shifts(e->a) || graph_simplify_shifts(e->b)))
        return ir_binary(a, e->op, graph_simplify_sliced(a, e->a, lo, width),
                         graph_simplify_sliced(a, e->b, lo, width));
    return ir_slice(a, e, lo, width);
}

static struct ir_expr *graph_simplify_part(struct simplify *s, struct ir_expr *e) {
    if (e->op != IR_SLICE)
        return e;
    struct ir_expr *n = graph_simplify_sliced(s->a, e->a, e->lo, e->width);
    return n->op == IR_SLICE && n->a == e->a && n->lo == e->lo ? e : n;
}

static struct ir_expr *replaced(struct simplify *s, struct ir_expr *e) {
    if (!e)
        return NULL;
    if (e->op == IR_VAR) {
        struct simplify_known *k = is_var(s, e->var) ? &s->known[e->var->id] : NULL;
        return k && k->e && k->since >= s->floor && graph_simplify_holds(s, k->e, k->since) ? k->e
                                                                                            : e;
    }
    struct ir_expr *x = replaced(s, e->a), *y = replaced(s, e->b), *z = replaced(s, e->c);
    if (x == e->a && y == e->b && z == e->c)
        return graph_simplify_part(s, e);
    return graph_simplify_part(s, graph_rebuilt(s->a, e, x, y, z));
}

// ---- statements ---------------------------------------------------------------------------------

static void graph_simplify_walk(struct simplify *s, struct ir_block *out, const struct rest *rest);

static void write_stmt(void *ctx, struct ir_stmt *t) {
    struct simplify *s = ctx;
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(t, results); i < n; i++)
        wrote(s, results[i]);
    if (t->kind != IR_SET_VALID && t->kind != IR_SET_INVALID)
        return;
    wrote(s, t->header->valid);
    for (size_t i = 0; i < t->header->fields.n; i++)
        graph_simplify_unlearn(s, t->header->fields.v[i]);
}
static void graph_simplify_write_all(struct simplify *s, struct ir_block *b) {
    const struct ir_visitor v = {.ctx = s, .stmt = write_stmt, .shallow = true};
    ir_visit_block(&v, b);
}

static struct ir_stmt *graph_simplify_copy_of(struct simplify *s, const struct ir_stmt *t) {
    struct ir_stmt *n = ARENA_NEW(s->a, struct ir_stmt);
    *n = *t;
    return n;
}

// An action that the control calls itself is one by itself to the chip's compiler, which makes a
// table of it: what is known outside is not known in it, nor the other way round.
static void graph_simplify_enter_call(struct simplify *s, const struct ir_stmt *t) {
    if (s->in_table || t->action_call == s->call)
        return;
    if (s->call) {
        s->now++;
        for (size_t i = s->call_log, n = s->log.n; i < n; i++) {
            struct simplify_known *k = &s->known[s->log.v[i].var];
            struct change c = {s->log.v[i].var, *k};
            VEC_PUSH(s->a, &s->log, c);
            k->e = NULL;
        }
        s->floor = s->call_floor;
    }
    s->call = t->action_call;
    if (s->call) {
        s->call_log = s->log.n;
        s->call_floor = s->floor;
        s->floor = ++s->now;
    }
}

static void replace_operands(struct simplify *s, struct ir_stmt *n, const struct ir_stmt *t) {
    n->e = replaced(s, t->e);
    n->e2 = replaced(s, t->e2);
    n->e3 = replaced(s, t->e3);
    n->args.v = NULL;
    n->args.n = n->args.cap = 0;
    for (size_t i = 0; i < t->args.n; i++)
        VEC_PUSH(s->a, &n->args, replaced(s, t->args.v[i]));
}

// ---- assignments in parts -----------------------------------------------------------------------

// The chip's compiler writes what is put together from parts part by part: concatenations, zero
// extensions, and words masked out and or'ed. What was written in parts is not carried along.
struct parts {
    struct simplify *s;
    const struct ir_stmt *t;
    VEC(struct ir_stmt *) made;
};

static void add_part(struct parts *p, struct ir_expr *e, unsigned to) {
    struct ir_stmt *n = graph_simplify_copy_of(p->s, p->t);
    n->slice = true;
    n->lo = to;
    n->width = e->width;
    n->e = e;
    VEC_PUSH(p->s->a, &p->made, n);
}

// Bits [lo, lo + width) of e go to the target's bits from 'to' on; high parts first.
static void graph_simplify_cut(struct parts *p, struct ir_expr *e, unsigned lo, unsigned width,
                               unsigned to) {
    struct arena *a = p->s->a;
    unsigned low = e->op == IR_CONCAT ? e->b->width : e->op == IR_ZEXT ? e->a->width : 0;
    if (e->op == IR_SLICE) {
        graph_simplify_cut(p, e->a, lo + e->lo, width, to);
        return;
    }
    if (low == 0 || width == 0) {
        if (width > 0)
            add_part(p, ir_slice(a, e, lo, width), to);
        return;
    }
    unsigned in_low = lo >= low ? 0 : width < low - lo ? width : low - lo;
    if (width > in_low) {
        unsigned from = lo > low ? lo - low : 0;
        if (e->op == IR_CONCAT)
            graph_simplify_cut(p, e->a, from, width - in_low, to + in_low);
        else
            add_part(p, ir_const_u64(a, width - in_low, 0), to + in_low);
    }
    if (in_low > 0)
        graph_simplify_cut(p, e->op == IR_CONCAT ? e->b : e->a, lo, in_low, to);
}

struct masked {
    struct ir_expr *e;
    uint64_t mask;
};
typedef VEC(struct masked) masked_vec;

// e as words with masks that do not overlap.
static bool find_masks(struct simplify *s, struct ir_expr *e, masked_vec *out, unsigned depth) {
    if (e->op == IR_OR && depth < 8)
        return find_masks(s, e->a, out, depth + 1) && find_masks(s, e->b, out, depth + 1);
    if (e->op != IR_AND || !(ir_is_const(e->a) || ir_is_const(e->b)))
        return false;
    struct masked m = {ir_is_const(e->b) ? e->a : e->b,
                       big_to_u64((ir_is_const(e->b) ? e->b : e->a)->value)};
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].mask & m.mask)
            return false;
    VEC_PUSH(s->a, out, m);
    return true;
}

static struct ir_expr *source_of_bit(const masked_vec *m, unsigned bit) {
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].mask >> bit & 1)
            return m->v[i].e;
    return NULL;
}

static bool cut_masks(struct parts *p, struct ir_expr *e, unsigned to) {
    struct simplify *s = p->s;
    masked_vec m = {0};
    if (e->op != IR_OR || e->width > 64 || !find_masks(s, e, &m, 0))
        return false;
    for (unsigned lo = 0; lo < e->width;) {
        struct ir_expr *x = source_of_bit(&m, lo);
        unsigned end = lo + 1;
        while (end < e->width && source_of_bit(&m, end) == x)
            end++;
        if (!x)
            add_part(p, ir_const_u64(s->a, end - lo, 0), to + lo);
        else if (x->op != IR_VAR || x->var != p->t->var || to != 0) // else it stays what it is
            add_part(p, ir_slice(s->a, x, lo, end - lo), to + lo);
        lo = end;
    }
    return true;
}

// A variable that nobody has written is zero: setting it to zero costs nothing. In an action of a
// table, nothing is known of what ran before.
static bool is_zero_already(struct simplify *s, const struct ir_stmt *n) {
    return !s->in_table && is_var(s, n->var) && n->e->op == IR_CONST &&
           big_sign(n->e->value) == 0 && !n->var->header && !s->set_before[n->var->id] &&
           s->known[n->var->id].written == 0;
}

// False: it is of one part. A part that is there already is kept for what it is joined with, but
// takes no instruction.
static bool graph_simplify_assign_parts(struct simplify *s, struct ir_block *out,
                                        const struct ir_stmt *t) {
    struct parts p = {.s = s, .t = t};
    unsigned to = t->slice ? t->lo : 0;
    if (!cut_masks(&p, t->e, to)) {
        graph_simplify_cut(&p, t->e, 0, t->e->width, to);
        if (p.made.n < 2)
            return false;
    }
    for (size_t i = 0; i < p.made.n; i++) {
        p.made.v[i]->e = replaced(s, p.made.v[i]->e);
        p.made.v[i]->idle = is_zero_already(s, p.made.v[i]);
        ir_push(s->a, out, p.made.v[i]);
    }
    wrote(s, t->var);
    return true;
}

// What is computed with the place of the statement that computes it: where it is joined with
// another statement, messages tell both.
static struct ir_expr *graph_simplify_placed(struct simplify *s, struct ir_expr *e, struct loc at) {
    if (e->at.line || !e->a)
        return e;
    struct ir_expr *placed = ARENA_NEW(s->a, struct ir_expr);
    *placed = *e;
    placed->at = at;
    return placed;
}

static bool has_result(const struct ir_stmt *t) {
    return t->kind == IR_REG_EXEC || t->kind == IR_REG_READ || t->kind == IR_METER_EXEC ||
           t->kind == IR_HASH || t->kind == IR_RANDOM;
}

// An extern is called in the statement itself: the chip's compiler does not carry its value along.
static bool computes_with_result(const struct ir_block *out, const struct ir_stmt *t) {
    const struct ir_stmt *call = out->stmts.n ? out->stmts.v[out->stmts.n - 1] : NULL;
    return call && has_result(call) && call->var && call->at.file == t->at.file &&
           call->at.line == t->at.line && ir_mentions(t->e, call->var);
}

static void graph_simplify_assign(struct simplify *s, struct ir_block *out,
                                  const struct ir_stmt *t) {
    if (!graph_is_hashed(t) && graph_simplify_assign_parts(s, out, t))
        return;
    struct ir_stmt *n = graph_simplify_copy_of(s, t);
    n->e = replaced(s, t->e);
    if (is_zero_already(s, n))
        return;
    wrote(s, t->var);
    if (!t->slice && n->e->op == IR_VAR && n->e->var == t->var)
        return;
    if (!t->slice && !computes_with_result(out, t))
        graph_simplify_learn(s, t->var, graph_simplify_placed(s, n->e, t->at));
    ir_push(s->a, out, n);
}

// 'next' moves all of what the extern's result is, and nobody else reads that: the result goes
// there at once.
static bool takes_result(struct simplify *s, const struct ir_stmt *t, const struct ir_stmt *next) {
    if (!next || next->kind != IR_ASSIGN || !is_var(s, t->var) || t->var2 ||
        s->reads[t->var->id] != 1 || t->var->header)
        return false;
    const struct ir_expr *e = next->e;
    while (e->op == IR_ZEXT || (e->op == IR_SLICE && e->lo == 0))
        e = e->a;
    return e->op == IR_VAR && e->var == t->var;
}

// Returns whether the next statement is done with, too.
static bool graph_simplify_plain(struct simplify *s, struct ir_block *out, const struct ir_stmt *t,
                                 const struct ir_stmt *next) {
    struct ir_stmt *n = graph_simplify_copy_of(s, t);
    replace_operands(s, n, t);
    bool both = has_result(t) && takes_result(s, t, next) && next->action_call == t->action_call;
    if (both) {
        n->var = next->var;
        n->slice = next->slice;
        n->lo = next->lo;
        n->width = next->width;
    }
    if (t->regaction)
        graph_simplify_write_all(s, t->regaction->body);
    write_stmt(s, n);
    ir_push(s->a, out, n);
    return both;
}

// ---- branches -----------------------------------------------------------------------------------

// Nothing after it runs, in this body.
static bool graph_simplify_leaves(const struct ir_block *b, unsigned depth) {
    if (!b || b->stmts.n == 0 || depth > 200)
        return false;
    const struct ir_stmt *t = b->stmts.v[b->stmts.n - 1];
    if (t->kind == IR_IF)
        return t->else_b && graph_simplify_leaves(t->then_b, depth + 1) &&
               graph_simplify_leaves(t->else_b, depth + 1);
    return t->kind == IR_EXIT || t->kind == IR_LEAVE;
}

static void graph_simplify_forget(struct simplify *s, size_t log) {
    while (s->log.n > log) {
        struct change c = s->log.v[--s->log.n];
        s->known[c.var] = c.old;
    }
}

// Walks one side and takes back what was learned on it; what it writes is added to 'written'.
typedef VEC(unsigned) id_vec;
static struct ir_block *side(struct simplify *s, const struct ir_block *b, const struct rest *rest,
                             id_vec *written) {
    struct ir_block *out = ir_block_new(s->a);
    struct rest r = {b, 0, rest};
    size_t log = s->log.n;
    const unsigned call = s->call, floor = s->floor, call_floor = s->call_floor;
    const size_t call_log = s->call_log;
    graph_simplify_walk(s, out, &r);
    s->call = call;
    s->floor = floor;
    s->call_floor = call_floor;
    s->call_log = call_log;
    for (size_t i = log; i < s->log.n; i++)
        VEC_PUSH(s->a, written, s->log.v[i].var);
    graph_simplify_forget(s, log);
    return out;
}

static void graph_simplify_join(struct simplify *s, const id_vec *written) {
    ++s->now;
    for (size_t i = 0; i < written->n; i++) {
        struct simplify_known *k = &s->known[written->v[i]];
        struct change c = {written->v[i], *k};
        if (k->written == s->now)
            continue;
        VEC_PUSH(s->a, &s->log, c);
        k->e = NULL;
        k->written = s->now;
    }
}

// What push_front and pop_front of a stack are made of: an element becomes what another one is,
// valid or not.
//
//     if (a.$valid) { valid b; b.f = a.f; ... } else { invalid b; }
//     becomes    b.$valid = a.$valid; b.f = a.f; ...
//
// The chip moves all elements at once.
static const struct ir_header *moved_to(const struct ir_stmt *t) {
    if (t->e->op != IR_VAR || !t->then_b || !t->else_b || t->then_b->stmts.n == 0 ||
        t->else_b->stmts.n != 1)
        return NULL;
    const struct ir_stmt *yes = t->then_b->stmts.v[0], *no = t->else_b->stmts.v[0];
    if (yes->kind != IR_SET_VALID || no->kind != IR_SET_INVALID || yes->header != no->header ||
        yes->header->valid == t->e->var || t->then_b->stmts.n != yes->header->fields.n + 1)
        return NULL;
    for (size_t i = 1; i < t->then_b->stmts.n; i++) {
        const struct ir_stmt *m = t->then_b->stmts.v[i];
        if (m->kind != IR_ASSIGN || m->slice || m->var->header != yes->header ||
            m->e->op != IR_VAR || !m->e->var->header || m->e->var->header->valid != t->e->var)
            return NULL;
    }
    return yes->header;
}

static void move_header(struct simplify *s, struct ir_block *out, const struct ir_stmt *t,
                        const struct ir_header *to) {
    struct ir_stmt *valid = ir_stmt_new(s->a, IR_ASSIGN, t->at);
    valid->within = t->within;
    valid->var = to->valid;
    valid->e = t->e;
    ir_push(s->a, out, valid);
    wrote(s, to->valid);
    for (size_t i = 1; i < t->then_b->stmts.n; i++) {
        ir_push(s->a, out, graph_simplify_copy_of(s, t->then_b->stmts.v[i]));
        wrote(s, t->then_b->stmts.v[i]->var);
    }
}

// Returns whether what follows was taken along.
static bool graph_simplify_branch(struct simplify *s, struct ir_block *out, const struct ir_stmt *t,
                                  const struct rest *rest) {
    struct ir_expr *e = replaced(s, t->e);
    if (ir_is_const(e)) {
        struct rest r = {ir_is_true(e) ? t->then_b : t->else_b, 0, NULL};
        graph_simplify_walk(s, out, &r);
        return graph_simplify_leaves(r.b, 0);
    }
    const struct ir_header *to = moved_to(t);
    if (to) {
        move_header(s, out, t, to);
        return false;
    }
    struct ir_stmt *n = graph_simplify_copy_of(s, t);
    id_vec written = {0};
    bool yes = graph_simplify_leaves(t->then_b, 0), no = graph_simplify_leaves(t->else_b, 0);
    bool move = yes != no && s->moves < MAX_MOVES;
    s->moves += move;
    n->e = e;
    n->then_b = side(s, t->then_b, move && no ? rest : NULL, &written);
    n->else_b = side(s, t->else_b, move && yes ? rest : NULL, &written);
    s->moves -= move;
    graph_simplify_join(s, &written);
    if (n->then_b->stmts.n + n->else_b->stmts.n > 0)
        ir_push(s->a, out, n);
    return move || (yes && no);
}

static const struct ir_case *case_of(const struct ir_stmt *t, big value) {
    const struct ir_case *other = NULL;
    for (size_t i = 0; i < t->cases.n; i++) {
        if (t->cases.v[i].values.n == 0)
            other = &t->cases.v[i];
        for (size_t k = 0; k < t->cases.v[i].values.n; k++)
            if (big_cmp(t->cases.v[i].values.v[k], value) == 0)
                return &t->cases.v[i];
    }
    return other;
}

static bool graph_simplify_choose(struct simplify *s, struct ir_block *out,
                                  const struct ir_stmt *t) {
    struct ir_expr *e = replaced(s, t->e);
    if (ir_is_const(e)) {
        const struct ir_case *k = case_of(t, e->value);
        struct rest r = {k ? k->body : NULL, 0, NULL};
        graph_simplify_walk(s, out, &r);
        return graph_simplify_leaves(r.b, 0);
    }
    struct ir_stmt *n = graph_simplify_copy_of(s, t);
    id_vec written = {0};
    size_t found = 0;
    n->e = e;
    n->cases.v = NULL;
    n->cases.n = n->cases.cap = 0;
    for (size_t i = 0; i < t->cases.n; i++) {
        struct ir_case k = t->cases.v[i];
        k.body = side(s, k.body, NULL, &written);
        found += k.body->stmts.n;
        VEC_PUSH(s->a, &n->cases, k);
    }
    graph_simplify_join(s, &written);
    if (found > 0)
        ir_push(s->a, out, n);
    return false;
}

// ---- tables and bodies --------------------------------------------------------------------------

static void simplify_action(struct simplify *s, struct ir_action *act) {
    if (s->visited_action[act->id])
        return;
    s->visited_action[act->id] = true;
    struct ir_block *out = ir_block_new(s->a);
    struct rest r = {act->body, 0, NULL};
    size_t log = s->log.n;
    // An action may run at several places, so nothing is known where it starts.
    unsigned floor = s->floor;
    s->floor = ++s->now;
    s->in_table = true;
    graph_simplify_walk(s, out, &r);
    s->in_table = false;
    graph_simplify_forget(s, log);
    s->floor = floor;
    s->g->action_bodies[act->id] = out;
}

static void graph_simplify_apply(struct simplify *s, struct ir_block *out,
                                 const struct ir_stmt *t) {
    const struct ir_table *tab = t->table;
    struct ir_stmt *n = graph_simplify_copy_of(s, t);
    for (size_t i = 0; i < tab->actions.n; i++)
        simplify_action(s, tab->actions.v[i].action);
    for (size_t i = 0; i < tab->actions.n; i++)
        graph_simplify_write_all(s, tab->actions.v[i].action->body);
    graph_simplify_write_all(s, tab->select);
    wrote(s, t->hit);
    wrote(s, t->action_run);
    ir_push(s->a, out, n);
}

static void nested(struct simplify *s, struct ir_block *out, const struct ir_stmt *t) {
    struct rest r = {t->then_b, 0, NULL};
    graph_simplify_walk(s, out, &r);
}

// Returns whether 'rest' was taken along; *skip: the next statement, too, is done with.
static bool graph_simplify_statement(struct simplify *s, struct ir_block *out,
                                     const struct ir_stmt *t, const struct rest *rest,
                                     const struct ir_stmt *next, bool *skip) {
    *skip = false;
    switch (t->kind) {
    case IR_ASSIGN:
        graph_simplify_assign(s, out, t);
        return false;
    case IR_IF:
        return graph_simplify_branch(s, out, t, rest);
    case IR_SWITCH:
        return graph_simplify_choose(s, out, t);
    case IR_BLOCK:
        nested(s, out, t);
        return false;
    case IR_LEAVE:
        return true;
    case IR_EXIT:
        ir_push(s->a, out, graph_simplify_copy_of(s, t));
        return true;
    case IR_APPLY:
        graph_simplify_apply(s, out, t);
        return false;
    default:
        *skip = graph_simplify_plain(s, out, t, next);
        return false;
    }
}

static void graph_simplify_walk(struct simplify *s, struct ir_block *out, const struct rest *rest) {
    if (s->nest >= MAX_NEST) {
        s->g->too_many = true;
        return;
    }
    s->nest++;
    for (const struct rest *r = rest; r; r = r->up)
        for (size_t i = r->i; r->b && i < r->b->stmts.n; i++) {
            struct rest after = {r->b, i + 1, r->up};
            const struct ir_stmt *next = i + 1 < r->b->stmts.n ? r->b->stmts.v[i + 1] : NULL;
            bool skip;
            graph_simplify_enter_call(s, r->b->stmts.v[i]);
            if (graph_simplify_statement(s, out, r->b->stmts.v[i], &after, next, &skip)) {
                s->nest--;
                return;
            }
            i += skip;
        }
    s->nest--;
}

// ---- reads --------------------------------------------------------------------------------------

static void count_read(void *ctx, struct ir_expr *e) {
    struct simplify *s = ctx;
    if (e->op == IR_VAR && is_var(s, e->var))
        s->reads[e->var->id]++;
}

static void count_reads(struct simplify *s) {
    const struct ir_gress *ir = s->g->ir;
    const struct ir_visitor v = {.ctx = s, .expr = count_read, .shallow = true};
    ir_visit_block(&v, ir->control);
    ir_visit_block(&v, ir->deparser);
    for (size_t i = 0; i < ir->actions.n; i++)
        ir_visit_block(&v, ir->actions.v[i]->body);
    for (size_t i = 0; i < ir->regactions.n; i++)
        ir_visit_block(&v, ir->regactions.v[i]->body);
    for (size_t i = 0; i < ir->tables.n; i++) {
        ir_visit_block(&v, ir->tables.v[i]->select);
        for (size_t k = 0; k < ir->tables.v[i]->keys.n; k++)
            ir_visit_expr(&v, ir->tables.v[i]->keys.v[k].expr);
    }
}

static void set_by_parser(void *ctx, struct ir_var **v) {
    struct simplify *s = ctx;
    if (is_var(s, *v))
        s->set_before[(*v)->id] = true;
}
static void graph_simplify_parser_stmt(void *ctx, struct ir_stmt *t) {
    ir_written_vars(t, set_by_parser, ctx);
}

static void find_set_before(struct simplify *s) {
    const struct ir_gress *ir = s->g->ir;
    const struct ir_visitor v = {.ctx = s, .stmt = graph_simplify_parser_stmt, .shallow = true};
    for (size_t i = 0; i < ir->states.n; i++)
        ir_visit_block(&v, ir->states.v[i]->body);
    for (int i = 0; i < IRI_COUNT; i++) {
        struct ir_var *x = ir->intrinsic[i];
        if (x)
            set_by_parser(s, &x);
        if (x && x->valid)
            set_by_parser(s, &x->valid);
    }
}

void graph_simplify(struct graph *g) {
    struct simplify s = {.g = g, .a = g->a};
    g->n_vars = (unsigned)g->ir->vars.n;
    s.known = ARENA_ARRAY(g->a, struct simplify_known, g->n_vars + 1);
    s.reads = ARENA_ARRAY(g->a, unsigned, g->n_vars + 1);
    s.set_before = ARENA_ARRAY(g->a, bool, g->n_vars + 1);
    s.visited_action = ARENA_ARRAY(g->a, bool, g->ir->actions.n + 1);
    g->action_bodies = ARENA_ARRAY(g->a, struct ir_block *, g->ir->actions.n + 1);
    s.now = 1;
    count_reads(&s);
    find_set_before(&s);
    g->control = ir_block_new(g->a);
    struct rest r = {g->ir->control, 0, NULL};
    graph_simplify_walk(&s, g->control, &r);
}
