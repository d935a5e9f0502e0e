// SPDX-License-Identifier: Apache-2.0
//
// guard: registers that a packet may come to a second time in one pass, where entries or packets
// decide that (compiler/rules/regonce.h). A chip would make one of the two accesses; here the
// packet is dropped at the second one, so that no sum has what a chip's would not have.
#include "compiler/instrument/instrument_impl.h"

#include "compiler/ir/build.h"

struct guard {
    struct arena *a;
    struct ir_gress *g;
    struct ir_var **taken; // by register; null: it is not guarded
    struct ir_var *twice, *drop_ctl;
};

static bool is_any_guarded(const struct ir_gress *g) {
    for (size_t i = 0; i < g->registers.n; i++)
        if (g->registers.v[i]->guarded)
            return true;
    return false;
}

static void guard_assign(const struct guard *c, struct ir_block *to, struct ir_var *v,
                         uint64_t value, struct loc at) {
    if (!v)
        return;
    struct ir_stmt *const s = ir_stmt_new(c->a, IR_ASSIGN, at);
    s->var = v;
    s->e = ir_const_u64(c->a, v->width, value);
    ir_push(c->a, to, s);
}

// No digest, copy or resubmit of this type is asked for. One without validity asks for none as 0.
static void guard_forget(const struct guard *c, struct ir_block *to, enum ir_intrinsic i,
                         struct loc at) {
    struct ir_var *const type = c->g->intrinsic[i];
    guard_assign(c, to, type && type->valid ? type->valid : type, 0, at);
}

static struct ir_block *end_of_packet(const struct guard *c, struct loc at) {
    struct ir_block *const b = ir_block_new(c->a);
    guard_assign(c, b, c->twice, 1, at);
    guard_assign(c, b, c->drop_ctl, 7, at);
    guard_assign(c, b, c->g->intrinsic[IRI_CONSUMED], 0, at);
    guard_forget(c, b, IRI_DIGEST_TYPE, at);
    guard_forget(c, b, IRI_RESUBMIT_TYPE, at);
    guard_forget(c, b, IRI_MIRROR_TYPE, at);
    ir_push(c->a, b, ir_stmt_new(c->a, IR_EXIT, at));
    return b;
}

static void guard_before(void *aux, struct ir_block *to, struct ir_stmt *s) {
    struct guard *const c = aux;
    if (s->kind != IR_REG_EXEC || !s->regaction->reg->guarded)
        return;
    struct ir_var *const taken = c->taken[s->regaction->reg->id];
    struct ir_stmt *const guard = ir_stmt_new(c->a, IR_IF, s->at);
    guard->e = ir_ref(c->a, taken);
    guard->then_b = end_of_packet(c, s->at);
    ir_push(c->a, to, guard);
    guard_assign(c, to, taken, 1, s->at);
}

static struct ir_var *guard_intrinsic(struct arena *a, struct ir_gress *g, enum ir_intrinsic i,
                                      unsigned width) {
    if (!g->intrinsic[i])
        g->intrinsic[i] = instrument_new_var(a, g, ir_intrinsic_names[i], width, (struct loc){0});
    return g->intrinsic[i];
}

static struct ir_gress guard_gress(struct arena *a, const struct ir_gress *from) {
    if (!is_any_guarded(from))
        return *from;
    struct ir_gress g = instrument_copy(a, from, NULL); // with variables of its own
    struct guard c = {.a = a, .g = &g};
    c.taken = ARENA_ARRAY(a, struct ir_var *, g.registers.n);
    for (size_t i = 0; i < g.registers.n; i++) {
        const struct ir_register *r = g.registers.v[i];
        if (r->guarded)
            c.taken[i] = instrument_new_var(a, &g, arena_printf(a, "%s.$taken", r->name), 1, r->at);
    }
    c.twice = guard_intrinsic(a, &g, IRI_TWICE, 1);
    c.drop_ctl = guard_intrinsic(a, &g, IRI_DROP_CTL, 3);
    const struct instrument_inserter in = {.aux = &c, .before = guard_before};
    return instrument_copy(a, &g, &in);
}

struct ir_pipeline *instrument_guard(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt) {
    (void)program, (void)opt;
    if (!is_any_guarded(&pl->gress[IR_INGRESS]) && !is_any_guarded(&pl->gress[IR_EGRESS]))
        return NULL;
    return instrument_gresses(a, pl, guard_gress);
}
