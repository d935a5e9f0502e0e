// SPDX-License-Identifier: Apache-2.0
//
// Printing lanes: see compiler/plan/lanes.h. Lane 0's statements are the loop's body, with a
// context in which the variables that differ by lane are somewhere else (struct emit_loop).
#include "compiler/print/lane_loop.h"

#include "compiler/ir/effects.h"

#include <limits.h>

#include "stages/parse.h"

// ---- where the variables of lane 0 are, in the loop ----

// One that does not differ is loaded before the loop: nothing in it is an alias of a C local.
static bool loaded(const struct emit *e, const struct plan_lane_var *t) {
    const struct emit_var *v = emit_var_of(e, t->of[0]);
    return !t->varies && (v->wire || v->shared);
}

// A field whose new value is not stored in the loop.
static bool lane_loop_is_late(enum emit_lane_stores stores, const struct plan_lane_var *t) {
    return stores != EMIT_STORES && t->wire && t->varies && t->written;
}

// By variable of the lanes: lane 0's, in the loop.
const struct emit_var *emit_lane_vars(const struct emit *e, const struct plan_lanes *l,
                                      enum emit_lane_stores stores) {
    struct emit_var *vars = ARENA_ARRAY(e->a, struct emit_var, l->vars.n + 1);
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        struct emit_var *v = &vars[i];
        *v = *emit_var_of(e, t->of[0]);
        if (t->wire && t->varies && !lane_loop_is_late(stores, t)) {
            emit_wire_refs(e, v, t->of[0], emit_text(e, "w%zu + %d * (int)l", i, t->stride));
        } else if (t->varies && t->array) {
            v->ref = emit_text(e, "v->array%u[l]", e->plan->places[t->of[0]->id].array);
            v->whole = true;
        } else if (t->varies || loaded(e, t)) {
            v->wire = NULL;
            v->deferred = false;
            v->ref = v->name;
        }
    }
    return vars;
}

// ---- declarations ----

static void array(const struct emit *e, const char *name, const big *values, unsigned n,
                  unsigned width) {
    emit_open(e, "static const %s %s[%u] = {", emit_storage(width), name, n);
    for (unsigned i = 0; i < n; i++)
        emit_line(e, "%s,", emit_const(e, values[i], width));
    emit_close(e, "};");
}

static bool emit_lane_loop_differ(const big *values, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        if (big_cmp(values[0], values[i]))
            return true;
    return false;
}

// What a loop has of the packet: header bytes, and values that do not differ.
static void declare_outside(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        const struct ir_var *f = t->of[0];
        if (t->varies && t->wire)
            emit_line(e, "uint8_t *const w%zu = v->at_h%u + %u; // %s and others", i, f->header->id,
                      f->bit_offset / 8, emit_comment(e, f->name));
        else if (loaded(e, t))
            emit_line(e, "%s%s %s = (%s)%s;", t->written ? "" : "const ", emit_storage(f->width),
                      emit_var_of(e, f)->name, emit_storage(f->width), emit_ref(e, f));
    }
}

// The same as parameters of a function, and as the arguments of its call.
static const char *params(const struct emit *e, const struct plan_lanes *l, bool arguments) {
    const char *text = "";
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        const struct ir_var *f = t->of[0];
        if (t->varies && t->wire)
            text = arguments
                       ? emit_text(e, "%s, v->at_h%u + %u", text, f->header->id, f->bit_offset / 8)
                       : emit_text(e, "%s, uint8_t *w%zu", text, i);
        else if (loaded(e, t))
            text = arguments
                       ? emit_text(e, "%s, (%s)%s", text, emit_storage(f->width), emit_ref(e, f))
                       : emit_text(e, "%s, const %s %s", text, emit_storage(f->width),
                                   emit_var_of(e, f)->name);
    }
    return text;
}

static void declare_arrays(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        if (t->varies && !t->wire && t->initial && emit_lane_loop_differ(t->initial, l->count))
            array(e, emit_text(e, "p%zu", i), t->initial, l->count, t->of[0]->width);
    }
    for (size_t i = 0; i < l->consts.n; i++)
        if (emit_lane_loop_differ(l->consts.v[i].of, l->count))
            array(e, emit_text(e, "k%zu", i), l->consts.v[i].of, l->count,
                  l->consts.v[i].first->width);
}

void emit_lane_inside(const struct emit *e) {
    const struct plan_lanes *l = e->loop->lanes;
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        const struct ir_var *v = t->of[0];
        if (lane_loop_is_late(e->loop->stores, t))
            emit_line(e, "%s %s = (%s)sk_load_bytes(w%zu + %d * (int)l, %u);",
                      emit_storage(v->width), emit_var_of(e, v)->name, emit_storage(v->width), i,
                      t->stride, v->width / 8);
        if (!t->varies || t->wire || t->array)
            continue;
        const char *initial = !t->initial ? "0"
                              : emit_lane_loop_differ(t->initial, l->count)
                                  ? emit_text(e, "p%zu[l]", i)
                                  : emit_const(e, t->initial[0], v->width);
        emit_line(e, "%s %s = %s;", emit_storage(v->width), emit_var_of(e, v)->name, initial);
    }
}

// ---- results that are stored after the loop ----

static void declare_buffers(const struct emit *e, const struct plan_lanes *l, unsigned run) {
    for (size_t i = 0; i < l->vars.n; i++)
        if (lane_loop_is_late(EMIT_STORES_BUFFERED, &l->vars.v[i]))
            emit_line(e, "_Alignas(64) uint8_t o%zu[%u];", i,
                      run * (l->vars.v[i].of[0]->width / 8));
}

static void fill_buffers(const struct emit *e) {
    const struct plan_lanes *l = e->loop->lanes;
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct ir_var *v = l->vars.v[i].of[0];
        if (lane_loop_is_late(EMIT_STORES_BUFFERED, &l->vars.v[i]))
            emit_line(e, "sk_store_bytes(o%zu + %u * l, %u, %s);", i, v->width / 8, v->width / 8,
                      emit_var_of(e, v)->name);
    }
}

static void store_buffers(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++)
        if (lane_loop_is_late(EMIT_STORES_BUFFERED, &l->vars.v[i]))
            emit_line(e, "memcpy(w%zu, o%zu, %u);", i, i,
                      l->count * (l->vars.v[i].of[0]->width / 8));
}

static void store_shared(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        if (loaded(e, t) && t->written)
            emit_line(e, "%s;", emit_set(e, t->of[0], emit_var_of(e, t->of[0])->name));
    }
}

const char *emit_lane_const(const struct emit *e, const struct ir_expr *x) {
    const struct plan_lanes *l = e->loop->lanes;
    for (size_t i = 0; i < l->consts.n; i++)
        if (l->consts.v[i].first == x && emit_lane_loop_differ(l->consts.v[i].of, l->count))
            return emit_text(e, "(%s)k%zu[l]", emit_ctype(x->width), i);
    return NULL;
}

// ---- register actions ----

static const char *lane_cell(const struct emit *e, const struct ir_register *r, const char *index,
                             unsigned word) {
    const struct plan_register *at = &e->plan->registers[r->id];
    return emit_text(e, "s->%c_bank%u[%s].w[%u][%u + l]", e->p[2], at->bank, index, word, at->lane);
}

static void emit_lane_loop_execute(const struct emit *e, const struct ir_stmt *s,
                                   const char *index) {
    const struct ir_regaction *ra = s->regaction;
    struct ir_effects f = ir_effects_none(e->a, e->g);
    ir_effects_add_regaction(&f, ra);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w] && (f.reads[ra->value[w]->id] || f.assigned[ra->value[w]->id]))
            emit_line(e, "%s = %s;", emit_ref(e, ra->value[w]), lane_cell(e, ra->reg, index, w));
    if (ra->rv)
        emit_line(e, "%s = 0;", emit_ref(e, ra->rv));
    emit_block(e, ra->body);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w] && f.assigned[ra->value[w]->id])
            emit_line(e, "%s = %s;", lane_cell(e, ra->reg, index, w), emit_ref(e, ra->value[w]));
    if (s->var)
        emit_line(e, "%s;", emit_set(e, s->var, ra->rv ? emit_ref(e, ra->rv) : "0"));
}

void emit_lane_exec(const struct emit *e, const struct ir_stmt *s) {
    uint64_t size = s->regaction->reg->size;
    const char *index = emit_u64(e, s->e);
    if (emit_always_inside(s->e, size)) {
        emit_lane_loop_execute(e, s, index);
        return;
    }
    emit_open(e, "if (%s < UINT64_C(%llu)) {", index, (unsigned long long)size);
    emit_lane_loop_execute(e, s, index);
    if (s->var) {
        emit_close(e, "} else {");
        e->to->indent++;
        emit_line(e, "%s;", emit_set(e, s->var, "0"));
    }
    emit_close(e, "}");
}

// ---- the loop ----

static unsigned emit_lane_loop_at_most(unsigned a, unsigned b) {
    return a < b ? a : b;
}

// How many lanes' fields there is room for, or 0: what is after the last one is something else.
static unsigned fields_room(const struct emit *e, const struct plan_lanes *l,
                            enum emit_lane_stores stores, const struct plan_lane_var *t) {
    const struct ir_var *f = t->of[0];
    const unsigned first = f->bit_offset / 8, bytes = f->width / 8;
    const bool in_place = plan_home_of(e->plan, f->header)->in_place;
    if (f->bit_offset % 8 || f->width % 8 || t->stride <= 0 || (in_place && stores == EMIT_STORES))
        return 0;
    if (first + (unsigned)t->stride * (l->count - 1) + bytes != f->header->bits / 8)
        return 0;
    // what is not stored there may be loaded from after the header, also if that is the end of the
    // packet
    const unsigned room =
        in_place ? f->header->bits / 8 + SK_COPY_SLACK : emit_home_room(f->header);
    return (room - first - bytes) / (unsigned)t->stride + 1;
}

static unsigned cells_room(const struct emit *e, const struct plan_lanes *l,
                           const struct plan_lane_reg *r) {
    const struct plan *p = e->plan;
    const struct plan_register *at = &p->registers[r->of[0]->id];
    const struct plan_bank *bank = &p->banks.v[at->bank];
    return at->lane + l->count == bank->lanes ? emit_bank_row(bank) - at->lane : 0;
}

// The loop runs some lanes more than there are, of which no one sees anything, where that makes its
// vectors full: 31 lanes are three vectors of eight, one of four and three times one, 32 are four
// of eight. These lanes' cells are what a bank's rows have more than lanes, their fields what a
// home has more than its header.
static unsigned lanes_to_run(const struct emit *e, const struct plan_lanes *l,
                             enum emit_lane_stores stores) {
    unsigned run = l->registers.n ? UINT_MAX : 0;
    for (size_t i = 0; i < l->registers.n; i++)
        run = emit_lane_loop_at_most(run, cells_room(e, l, &l->registers.v[i]));
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        if (t->varies && t->wire)
            run = emit_lane_loop_at_most(run, fields_room(e, l, stores, t));
        else if (t->varies && t->array)
            run = 0;
        else if (t->varies ? t->initial && emit_lane_loop_differ(t->initial, l->count) : t->written)
            run = 0;
    }
    for (size_t i = 0; i < l->consts.n; i++)
        if (emit_lane_loop_differ(l->consts.v[i].of, l->count))
            run = 0;
    return run > l->count ? run : l->count;
}

static void note_homes(const struct emit *e, const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++)
        if (l->vars.v[i].written)
            emit_home_write(e, l->vars.v[i].of[0]);
}

void emit_lane_outside(const struct emit *e, const struct plan_lanes *l) {
    declare_outside(e, l);
    note_homes(e, l);
    declare_arrays(e, l);
}

// GCC takes a loop of so few lanes apart before it looks for vectors.
#define PEELED_LANES 16u

void emit_lane_for(const struct emit *e, unsigned lanes) {
    emit_line(e, "#pragma GCC ivdep");
    if (lanes <= PEELED_LANES)
        emit_line(e, "#pragma GCC unroll 1");
    emit_open(e, "for (unsigned l = 0; l < %u; l++) {", lanes);
}

static void lane_loop_body(const struct emit *e) {
    emit_lane_inside(e);
    for (size_t i = 0; i < e->loop->lanes->n_stmts; i++)
        emit_stmt(e, e->loop->lanes->stmts[i]);
    if (e->loop->stores == EMIT_STORES_BUFFERED)
        fill_buffers(e);
}

// Behind what it has of the packet.
static void emit_lane_loop_loop(const struct emit *e, const struct plan_lanes *l,
                                enum emit_lane_stores stores) {
    unsigned run = lanes_to_run(e, l, stores);
    // one that has no more lanes to run than there are may as well store where it belongs
    if (stores == EMIT_STORES_BUFFERED && run == l->count)
        stores = EMIT_STORES;
    // how many of those there are, so that vectors are full
    while (stores != EMIT_STORES && run > l->count && run % 8)
        run--;
    const struct emit_loop in_loop = {l, stores, emit_lane_vars(e, l, stores)};
    struct emit in = *e;
    in.loop = &in_loop;
    declare_arrays(e, l);
    if (stores == EMIT_STORES_BUFFERED)
        declare_buffers(e, l, run);
    emit_lane_for(e, run);
    lane_loop_body(&in);
    emit_close(e, "}");
    if (stores == EMIT_STORES_BUFFERED)
        store_buffers(e, l);
}

void emit_lane_loop(const struct emit *e, const struct plan_lanes *l) {
    emit_open(e, "{ // %s and %u more", emit_comment(e, l->name), l->count - 1);
    declare_outside(e, l);
    note_homes(e, l);
    emit_lane_loop_loop(e, l, EMIT_STORES);
    store_shared(e, l);
    emit_close(e, "}");
}

void emit_lane_function(const struct emit *e, const struct plan_lanes *l,
                        enum emit_lane_stores stores, const char *name) {
    emit_line(e, " ");
    emit_line(e, "// %s and %u more", emit_comment(e, l->name), l->count - 1);
    // one that only changes registers, or stores where it belongs, is small, and a part of the pass
    // that most packets end with
    const bool small = stores == EMIT_STORES_NOTHING || lanes_to_run(e, l, stores) == l->count;
    const char *how = small ? "SK_INLINE" : "static __attribute__((noinline))";
    emit_open(e, "%s void %s(struct p%u_state *s%s) {", how, name, e->pipeline_index,
              params(e, l, false));
    emit_lane_loop_loop(e, l, stores);
    emit_close(e, "}");
}

void emit_lane_call(const struct emit *e, const struct plan_lanes *l, enum emit_lane_stores stores,
                    const char *name) {
    if (stores != EMIT_STORES_NOTHING)
        note_homes(e, l);
    emit_line(e, "%s(s%s);", name, params(e, l, true));
}
