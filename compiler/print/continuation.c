// SPDX-License-Identifier: Apache-2.0
//
// continuation: a control whose rest is printed for each value of a variable
// (compiler/plan/specialise.c).
#include "compiler/print/emit_impl.h"

// The statements of a block and, if its last one is the choice between the continuations of a split
// (null: none), that.
static void body(const struct emit *e, const struct ir_block *b,
                 const struct plan_specialisation *s) {
    const struct ir_block head = {.stmts = {.v = b->stmts.v, .n = b->stmts.n - (s ? 1 : 0)}};
    emit_block(e, &head);
    if (s) {
        emit_open(e, "switch (%s) {", emit_ref(e, s->var));
        for (size_t i = 0; i <= s->n; i++) {
            if (i < s->n)
                emit_line(e, "case %s:", emit_const(e, s->values[i], s->var->width));
            else
                emit_line(e, "default:");
            emit_line(e, "    return %s_rest%u(s, v, packet, out, err);", e->p, s->of[i].id);
        }
        emit_close(e, "}");
    }
    emit_control_end(e);
}

static void continuations(const struct emit *e, const struct plan_specialisation *s);

// The function of one, after those that it calls.
static void continuation(const struct emit *e, const struct plan_specialisation *s,
                         const struct plan_continuation *c) {
    const char *value = c->facts->value ? emit_const(e, c->facts->value, s->var->width) : NULL;
    if (c->split)
        continuations(e, c->split);
    emit_line(e, " ");
    emit_line(e, "// where %s is %s", emit_comment(e, s->var->name),
              value ? value : "another value");
    emit_control_head(e, emit_text(e, "rest%u", c->id));
    if (value) // for the C compiler
        emit_line(e, "%s;", emit_set(e, s->var, value));
    body(e, c->body, c->split);
}

static void continuations(const struct emit *e, const struct plan_specialisation *s) {
    for (size_t i = 0; i <= s->n; i++)
        continuation(e, s, &s->of[i]);
}

void emit_specialised_control(const struct emit *e) {
    const struct emit of = emit_of_user(e, e->g->control);
    continuations(&of, e->plan->split);
    emit_line(e, " ");
    emit_control_head(e, "control");
    body(&of, e->plan->control, e->plan->split);
}
