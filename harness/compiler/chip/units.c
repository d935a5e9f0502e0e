// SPDX-License-Identifier: Apache-2.0
#include "harness/compiler/chip/units.h"

#include <string.h>

#include "compiler/chip/memory/memory.h"
#include "compiler/chip/place/place.h"

void units_begin(struct units *t, enum chip_target target) {
    memset(t, 0, sizeof *t);
    t->a = arena_new();
    t->r.arena = t->a;
    t->r.diag = diag_new(t->a);
    t->r.target = target;
    t->r.limits = chip_limits_of(target);
    t->r.fits = true;
    t->pipe.gress[1].kind = IR_EGRESS;
}

void units_end(struct units *t) {
    arena_free(t->a);
}

struct ir_var *units_var(struct units *t, const char *name, unsigned width) {
    struct ir_var *v = ARENA_NEW(t->a, struct ir_var);
    v->name = name;
    v->width = width;
    return v;
}

struct chip_unit *units_last(struct units *t, unsigned gress) {
    struct chip_gress *g = &t->pipe.gress[gress];
    return &g->units.v[g->units.n - 1];
}

struct chip_action *units_action(struct units *t, struct chip_unit *u, unsigned width,
                                 unsigned data) {
    struct ir_action *a = ARENA_NEW(t->a, struct ir_action);
    struct chip_action c = {.action = a, .name = "act"};
    a->name = "act";
    if (width) {
        struct ir_var *v = units_var(t, "out", width);
        struct ir_stmt *set = ARENA_NEW(t->a, struct ir_stmt); // an IR_ASSIGN
        struct chip_op op = {.stmt = set, .to = {v, 0, width}, .data_bits = data};
        VEC_PUSH(t->a, &c.ops, op);
        c.data_bits = data;
    }
    VEC_PUSH(t->a, &u->actions, c);
    if (u->table) {
        struct ir_table_action ta = {.action = a};
        VEC_PUSH(t->a, &((struct ir_table *)u->table)->actions, ta);
    }
    return &u->actions.v[u->actions.n - 1];
}

struct chip_unit *units_table(struct units *t, unsigned gress, const char *name,
                              enum ir_match match, unsigned width, uint64_t size) {
    struct chip_gress *g = &t->pipe.gress[gress];
    struct ir_table *table = ARENA_NEW(t->a, struct ir_table);
    static unsigned lines;
    struct chip_unit u = {.id = (unsigned)g->units.n, .gress = g->kind, .name = name, .parent = -1};
    u.table = table;
    u.at = (struct loc){.line = ++lines};
    u.stmt = ARENA_NEW(t->a, struct ir_stmt);
    table->name = name;
    table->size = size;
    if (width) {
        struct ir_var *v = units_var(t, "key", width);
        struct ir_expr *e = ARENA_NEW(t->a, struct ir_expr);
        *e = (struct ir_expr){.op = IR_VAR, .var = v, .width = width};
        struct ir_key k = {.name = "key", .match = match, .expr = e};
        struct chip_bits bits = {v, 0, width};
        VEC_PUSH(t->a, &table->keys, k);
        VEC_PUSH(t->a, &u.key, bits);
    }
    VEC_PUSH(t->a, &g->units, u);
    struct chip_unit *now = units_last(t, gress);
    units_action(t, now, 0, 0)->is_default_only = true; // NoAction
    table->actions.v[0].default_only = true;
    table->default_action = table->actions.v[0].action;
    return now;
}

struct ir_register *units_new_register(struct units *t, const char *name, unsigned width,
                                       uint64_t size) {
    struct ir_register *reg = ARENA_NEW(t->a, struct ir_register);
    *reg = (struct ir_register){.name = name, .width = width, .words = 1, .size = size};
    return reg;
}

void units_register(struct units *t, struct chip_unit *u, struct ir_register *reg) {
    struct chip_action *a = units_action(t, u, 0, 0);
    struct chip_access x = {.kind = CHIP_REGISTER, .reg = reg, .index_is_constant = true};
    VEC_PUSH(t->a, &a->accesses, x);
}

void units_dep(struct units *t, unsigned gress, enum chip_dep_kind kind, unsigned from,
               unsigned to) {
    struct chip_dep d = {.kind = kind, .from = from, .to = to};
    d.bits.var = units_var(t, "field", 8);
    d.bits.width = 8;
    if (kind == CHIP_DEP_CONTROL)
        t->pipe.gress[gress].units.v[to].parent = (int)from;
    VEC_PUSH(t->a, &t->pipe.gress[gress].deps, d);
}

void units_run(struct units *t) {
    chip_memory(&t->r, &t->pipe);
    chip_place(&t->r, &t->pipe);
}

const struct chip_violation *units_violation(const struct units *t, const char *rule) {
    for (size_t i = 0; i < t->r.violations.n; i++)
        if (strcmp(t->r.violations.v[i].rule, rule) == 0)
            return &t->r.violations.v[i];
    return NULL;
}
