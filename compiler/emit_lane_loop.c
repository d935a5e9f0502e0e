// SPDX-License-Identifier: Apache-2.0
//
// Printing lanes: see emit_lanes.h. Lane 0's statements are the loop's body, with the variables that
// differ by lane told to be somewhere else while it is printed.
#include "compiler/emit_lanes.h"

#include <limits.h>

// ---- where the variables of lane 0 are, in the loop ----

// One that does not differ is loaded before the loop: nothing in it is an alias of a C local.
static bool loaded(const struct emit *e, const struct emit_lane_var *t) {
    const struct emit_var *v = &e->vars[t->of[0]->id];
    return !t->varies && (v->wire || v->shared);
}

static void move_in(struct emit *e, const struct emit_lanes *l, struct emit_var *saved) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        struct emit_var *v = &e->vars[t->of[0]->id];
        saved[i] = *v;
        if (t->wire && t->varies) {
            emit_wire_refs(e, t->of[0], emit_text(e, "w%zu + %d * (int)l", i, t->stride));
        } else if (t->varies || loaded(e, t)) {
            v->wire = NULL;
            v->held = false;
            v->ref = v->name;
        }
    }
}

static void move_out(struct emit *e, const struct emit_lanes *l, const struct emit_var *saved) {
    for (size_t i = 0; i < l->vars.n; i++)
        e->vars[l->vars.v[i].of[0]->id] = saved[i];
}

// ---- declarations ----

static void array(struct emit *e, const char *name, const big *values, unsigned n, unsigned width) {
    emit_open(e, "static const %s %s[%u] = {", emit_storage(width), name, n);
    for (unsigned i = 0; i < n; i++)
        emit_line(e, "%s,", emit_const(e, values[i], width));
    emit_close(e, "};");
}

static bool differ(const big *values, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        if (big_cmp(values[0], values[i]))
            return true;
    return false;
}

static void declare_outside(struct emit *e, const struct emit_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        const struct ir_var *f = t->of[0];
        if (t->varies && t->wire)
            emit_line(e, "uint8_t *const w%zu = v->at_h%u + %u; // %s and others", i, f->header->id,
                      f->bit_offset / 8, emit_comment(e, f->name));
        else if (loaded(e, t))
            emit_line(e, "%s%s %s = (%s)%s;", t->written ? "" : "const ", emit_storage(f->width),
                      e->vars[f->id].name, emit_storage(f->width), emit_ref(e, f));
        else if (t->varies && t->initial && differ(t->initial, l->count))
            array(e, emit_text(e, "p%zu", i), t->initial, l->count, f->width);
    }
    for (size_t i = 0; i < l->consts.n; i++)
        if (differ(l->consts.v[i].of, l->count))
            array(e, emit_text(e, "k%zu", i), l->consts.v[i].of, l->count,
                  l->consts.v[i].first->width);
}

static void declare_inside(struct emit *e, const struct emit_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        const struct ir_var *v = t->of[0];
        if (!t->varies || t->wire)
            continue;
        const char *initial = !t->initial ? "0"
                              : differ(t->initial, l->count)
                                  ? emit_text(e, "p%zu[l]", i)
                                  : emit_const(e, t->initial[0], v->width);
        emit_line(e, "%s %s = %s;", emit_storage(v->width), e->vars[v->id].name, initial);
    }
}

static void store_shared(struct emit *e, const struct emit_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        if (loaded(e, t) && t->written)
            emit_line(e, "%s;", emit_set(e, t->of[0], e->vars[t->of[0]->id].name));
    }
}

const char *emit_lane_const(struct emit *e, const struct ir_expr *x) {
    const struct emit_lanes *l = e->lanes;
    for (size_t i = 0; i < l->consts.n; i++)
        if (l->consts.v[i].first == x && differ(l->consts.v[i].of, l->count))
            return emit_text(e, "(%s)k%zu[l]", emit_ctype(x->width), i);
    return NULL;
}

// ---- register actions ----

struct search {
    const struct ir_var *v;
    bool read, written;
};

static void search_stmt(void *aux, const struct ir_stmt *s) {
    struct search *f = aux;
    f->written |= s->var == f->v || s->var2 == f->v;
}

static void search_expr(void *aux, const struct ir_expr *x) {
    struct search *f = aux;
    f->read |= x->op == IR_VAR && x->var == f->v;
}

static struct search search(const struct ir_regaction *ra, const struct ir_var *v) {
    struct search f = {.v = v};
    emit_walk(ra->body, search_stmt, search_expr, &f);
    return f;
}

static bool names(const struct ir_regaction *ra, const struct ir_var *v) {
    struct search f = search(ra, v);
    return f.read || f.written;
}

static const char *lane_cell(struct emit *e, const struct ir_register *r, const char *index,
                             unsigned word) {
    const struct emit_register *at = &emit_plan_of(e)->registers[r->id];
    return emit_text(e, "s->%c_bank%u[%s].w[%u][%u + l]", e->p[2], at->bank, index, word, at->lane);
}

static void execute(struct emit *e, const struct ir_stmt *s, const char *index) {
    const struct ir_regaction *ra = s->regaction;
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w] && names(ra, ra->value[w]))
            emit_line(e, "%s = %s;", emit_ref(e, ra->value[w]), lane_cell(e, ra->reg, index, w));
    if (ra->rv)
        emit_line(e, "%s = 0;", emit_ref(e, ra->rv));
    emit_block(e, ra->body);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w] && search(ra, ra->value[w]).written)
            emit_line(e, "%s = %s;", lane_cell(e, ra->reg, index, w), emit_ref(e, ra->value[w]));
    if (s->var)
        emit_line(e, "%s;", emit_set(e, s->var, ra->rv ? emit_ref(e, ra->rv) : "0"));
}

void emit_lane_exec(struct emit *e, const struct ir_stmt *s) {
    uint64_t size = s->regaction->reg->size;
    const char *index = emit_u64(e, s->e);
    if (emit_always_inside(s->e, size)) {
        execute(e, s, index);
        return;
    }
    emit_open(e, "if (%s < UINT64_C(%llu)) {", index, (unsigned long long)size);
    execute(e, s, index);
    if (s->var) {
        emit_close(e, "} else {");
        e->indent++;
        emit_line(e, "%s;", emit_set(e, s->var, "0"));
    }
    emit_close(e, "}");
}

// ---- the loop ----

static unsigned at_most(unsigned a, unsigned b) {
    return a < b ? a : b;
}

// How many lanes' fields there is room for, or 0: what is behind the last one is something else.
static unsigned fields_room(struct emit *e, const struct emit_lanes *l,
                            const struct emit_lane_var *t) {
    const struct ir_var *f = t->of[0];
    const unsigned first = f->bit_offset / 8, bytes = f->width / 8;
    if (f->bit_offset % 8 || f->width % 8 || t->stride <= 0 || emit_home_of(e, f->header)->in_place)
        return 0;
    if (first + (unsigned)t->stride * (l->count - 1) + bytes != f->header->bits / 8)
        return 0;
    return (emit_home_room(f->header) - first - bytes) / (unsigned)t->stride + 1;
}

static unsigned cells_room(struct emit *e, const struct emit_lanes *l,
                           const struct emit_lane_reg *r) {
    const struct emit_plan *p = emit_plan_of(e);
    const struct emit_register *at = &p->registers[r->of[0]->id];
    const struct emit_bank *bank = &p->banks.v[at->bank];
    return at->lane + l->count == bank->lanes ? emit_bank_row(bank) - at->lane : 0;
}

// The loop runs some lanes more than there are, of which nobody sees anything, where that makes its
// vectors full: 31 lanes are three vectors of eight, one of four and three times one, 32 are four of
// eight. These lanes' cells are what a bank's rows have more than lanes, their fields what a home has
// more than its header.
static unsigned lanes_to_run(struct emit *e, const struct emit_lanes *l) {
    unsigned run = l->registers.n ? UINT_MAX : 0;
    for (size_t i = 0; i < l->registers.n; i++)
        run = at_most(run, cells_room(e, l, &l->registers.v[i]));
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct emit_lane_var *t = &l->vars.v[i];
        if (t->varies && t->wire)
            run = at_most(run, fields_room(e, l, t));
        else if (t->varies ? t->initial && differ(t->initial, l->count) : t->written)
            run = 0;
    }
    for (size_t i = 0; i < l->consts.n; i++)
        if (differ(l->consts.v[i].of, l->count))
            run = 0;
    return run > l->count ? run : l->count;
}

void emit_lane_loop(struct emit *e, const struct emit_lanes *l) {
    struct emit_var *saved = ARENA_ARRAY(e->a, struct emit_var, l->vars.n + 1);
    emit_open(e, "{ // %s and %u more", emit_comment(e, l->name), l->count - 1);
    declare_outside(e, l);
    move_in(e, l, saved);
    for (size_t i = 0; i < l->vars.n; i++)
        if (l->vars.v[i].written)
            emit_home_write(e, l->vars.v[i].of[0]);
    emit_line(e, "#pragma GCC ivdep");
    emit_open(e, "for (unsigned l = 0; l < %u; l++) {", lanes_to_run(e, l));
    declare_inside(e, l);
    e->lanes = l;
    for (size_t i = 0; i < l->n_stmts; i++)
        emit_stmt(e, l->stmts[i]);
    e->lanes = NULL;
    emit_close(e, "}");
    move_out(e, l, saved);
    store_shared(e, l);
    emit_close(e, "}");
}
