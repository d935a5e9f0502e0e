// SPDX-License-Identifier: Apache-2.0
//
// plain: reads and writes of registers outside register actions.
//
// The chip's compiler makes a register action of each action that reads or writes. A read and a
// write of one cell are one of them (lower/one_access.c), in which what was read first is the
// register's old value.
#include "compiler/chip/salu/salu_impl.h"

struct plain {
    struct chip_report *r;
    const struct ir_register *reg;
    salu_regaction_vec *writes;
    struct loc *last;
    unsigned n;
};

// The read that 'write', in the block, is one access with.
static const struct ir_stmt *read_in(const struct ir_block *b, const struct ir_stmt *write) {
    const struct ir_stmt *read = NULL;
    for (size_t i = 0; write->continues && b->stmts.v[i] != write; i++)
        if (b->stmts.v[i]->kind == IR_REG_READ && b->stmts.v[i]->reg == write->reg)
            read = b->stmts.v[i];
    return read;
}

// 'e' with the variables that were read replaced by the register's words.
static struct ir_expr *in_register(struct arena *a, struct ir_expr *e, const struct ir_stmt *read,
                                   struct ir_var *const value[2]) {
    if (!read || !e)
        return e;
    if (e->op == IR_VAR)
        return e->var == read->var                  ? ir_ref(a, value[0])
               : read->var2 && e->var == read->var2 ? ir_ref(a, value[1])
                                                    : e;
    struct ir_expr *c = ARENA_NEW(a, struct ir_expr);
    *c = *e;
    c->a = in_register(a, e->a, read, value);
    c->b = in_register(a, e->b, read, value);
    c->c = in_register(a, e->c, read, value);
    return c;
}

static struct ir_var *word_var(struct arena *a, const struct ir_register *reg) {
    struct ir_var *v = ARENA_NEW(a, struct ir_var);
    v->name = "$value";
    v->width = reg->width;
    v->is_signed = reg->is_signed;
    v->at = reg->at;
    return v;
}

static void add_write(struct plain *p, const struct ir_stmt *s, const struct ir_stmt *read) {
    struct arena *a = p->r->arena;
    struct ir_regaction *ra = ARENA_NEW(a, struct ir_regaction);
    struct ir_expr *words[2] = {s->e2, s->e3};
    ra->name = arena_printf(a, "%s.write", p->reg->name);
    ra->reg = s->reg;
    ra->width = p->reg->width;
    ra->words = p->reg->words;
    ra->body = ir_block_new(a);
    ra->at = s->at;
    for (unsigned i = 0; i < 2; i++)
        ra->value[i] = i < p->reg->words ? word_var(a, p->reg) : NULL;
    for (unsigned i = 0; i < p->reg->words && words[i]; i++) {
        struct ir_stmt *set = ir_stmt_new(a, IR_ASSIGN, s->at);
        set->var = ra->value[i];
        set->e = in_register(a, words[i], read, ra->value);
        ir_push(a, ra->body, set);
    }
    VEC_PUSH(a, p->writes, ra);
}

static void salu_plain_look(struct plain *p, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        salu_plain_look(p, s->then_b);
        salu_plain_look(p, s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            salu_plain_look(p, s->cases.v[k].body);
        if (s->reg != p->reg || (s->kind != IR_REG_READ && s->kind != IR_REG_WRITE))
            continue;
        p->n += !s->continues;
        *p->last = s->at;
        if (s->kind == IR_REG_WRITE && p->reg->width > 1)
            add_write(p, s, read_in(b, s));
    }
}

unsigned salu_plain_uses(struct chip_report *r, const struct ir_gress *g,
                         const struct ir_register *reg, salu_regaction_vec *writes,
                         struct loc *last) {
    struct plain p = {.r = r, .reg = reg, .writes = writes, .last = last};
    salu_plain_look(&p, g->control);
    for (size_t i = 0; i < g->actions.n; i++)
        salu_plain_look(&p, g->actions.v[i]->body);
    return p.n;
}
