// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/walk.h"

void emit_walk_expr(const struct ir_expr *x, emit_on_expr on_expr, void *aux) {
    if (!x || !on_expr)
        return;
    on_expr(aux, x);
    emit_walk_expr(x->a, on_expr, aux);
    emit_walk_expr(x->b, on_expr, aux);
    emit_walk_expr(x->c, on_expr, aux);
}

static void walk_stmt(const struct ir_stmt *s, emit_on_stmt on_stmt, emit_on_expr on_expr,
                      void *aux) {
    if (on_stmt)
        on_stmt(aux, s);
    emit_walk_expr(s->e, on_expr, aux);
    emit_walk_expr(s->e2, on_expr, aux);
    emit_walk_expr(s->e3, on_expr, aux);
    for (size_t i = 0; i < s->args.n; i++)
        emit_walk_expr(s->args.v[i], on_expr, aux);
    for (size_t i = 0; i < s->csum_args.n; i++)
        emit_walk_expr(s->csum_args.v[i].e, on_expr, aux);
    emit_walk(s->then_b, on_stmt, on_expr, aux);
    emit_walk(s->else_b, on_stmt, on_expr, aux);
    for (size_t i = 0; i < s->cases.n; i++)
        emit_walk(s->cases.v[i].body, on_stmt, on_expr, aux);
}

void emit_walk(const struct ir_block *b, emit_on_stmt on_stmt, emit_on_expr on_expr, void *aux) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        walk_stmt(b->stmts.v[i], on_stmt, on_expr, aux);
}

struct finder {
    enum ir_stmt_kind kind;
    bool found;
};

static void find_kind(void *aux, const struct ir_stmt *s) {
    struct finder *f = aux;
    f->found |= s->kind == f->kind;
}

bool emit_block_has(const struct ir_block *b, enum ir_stmt_kind kind) {
    struct finder f = {.kind = kind};
    emit_walk(b, find_kind, NULL, &f);
    return f.found;
}
