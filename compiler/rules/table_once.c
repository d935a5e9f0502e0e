// SPDX-License-Identifier: Apache-2.0
//
// table_once: a table is applied at most once on any way through a control (tna-facts 4.12).
//
// The chip places a table once, in the stages a packet passes once. Two applications are fine when
// the statements around them exclude each other (the sides of an if, the cases of a switch, what
// follows an exit); that conditions of different ifs exclude each other is not looked at, there or
// here.
#include "compiler/rules/rules.h"

#include <string.h>

// Where each table was last applied on some way here; null: on none. 'dead': no way leads here.
struct applied {
    const struct ir_stmt **at;
    bool dead;
};

struct way_out { // LEAVEs of one labelled block
    struct way_out *up;
    unsigned label;
    struct applied state;
};

struct once {
    struct arena *a;
    struct diag *d;
    size_t n; // tables
    struct way_out *out;
};

static struct applied table_once_copy(struct once *o, const struct applied *s) {
    struct applied c = {.at = ARENA_ARRAY(o->a, const struct ir_stmt *, o->n + 1), .dead = s->dead};
    memcpy(c.at, s->at, o->n * sizeof *s->at);
    return c;
}

static void table_once_join(struct once *o, struct applied *into, const struct applied *s) {
    if (s->dead)
        return;
    for (size_t i = 0; i < o->n; i++)
        if (into->dead || !into->at[i])
            into->at[i] = s->at[i];
    into->dead = false;
}

static void table_once_walk(struct once *o, const struct ir_block *b, struct applied *s);

static void table_once_apply(struct once *o, const struct ir_stmt *st, struct applied *s) {
    const struct ir_stmt **at = &s->at[st->table->id];
    if (*at && !s->dead) {
        diag_error(o->d, st->at,
                   "table '%s' may already have been applied before this; a Tofino applies a table "
                   "at most once to a packet",
                   st->table->name);
        ir_note_first(o->d, *at, st, "it was applied here");
    }
    *at = st;
}

static void table_once_branches(struct once *o, const struct ir_stmt *st, struct applied *s) {
    struct applied end = table_once_copy(o, s);
    end.dead = true;
    bool otherwise = false;
    if (st->kind == IR_IF) {
        struct applied side = table_once_copy(o, s);
        table_once_walk(o, st->then_b, &side);
        table_once_join(o, &end, &side);
        side = table_once_copy(o, s);
        table_once_walk(o, st->else_b, &side);
        table_once_join(o, &end, &side);
        otherwise = true;
    }
    for (size_t i = 0; i < st->cases.n; i++) {
        struct applied side = table_once_copy(o, s);
        table_once_walk(o, st->cases.v[i].body, &side);
        table_once_join(o, &end, &side);
        otherwise |= st->cases.v[i].values.n == 0;
    }
    if (!otherwise)
        table_once_join(o, &end, s);
    *s = end;
}

static void table_once_labelled(struct once *o, const struct ir_stmt *st, struct applied *s) {
    struct way_out out = {.up = o->out, .label = st->label, .state = table_once_copy(o, s)};
    out.state.dead = true;
    o->out = &out;
    table_once_walk(o, st->then_b, s);
    o->out = out.up;
    table_once_join(o, s, &out.state);
}

static void table_once_leave(struct once *o, const struct ir_stmt *st, struct applied *s) {
    for (struct way_out *out = o->out; out; out = out->up)
        if (out->label == st->label) {
            table_once_join(o, &out->state, s);
            break;
        }
    s->dead = true;
}

static void table_once_walk(struct once *o, const struct ir_block *b, struct applied *s) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *st = b->stmts.v[i];
        switch (st->kind) {
        case IR_APPLY:
            table_once_apply(o, st, s);
            break;
        case IR_IF:
        case IR_SWITCH:
            table_once_branches(o, st, s);
            break;
        case IR_BLOCK:
            table_once_labelled(o, st, s);
            break;
        case IR_LEAVE:
            table_once_leave(o, st, s);
            break;
        case IR_EXIT:
            s->dead = true;
            break;
        default:
            break;
        }
    }
}

void check_applied_once(struct arena *a, struct diag *d, const struct ir_gress *g) {
    struct once o = {.a = a, .d = d, .n = g->tables.n};
    struct applied s = {.at = ARENA_ARRAY(a, const struct ir_stmt *, o.n + 1)};
    memset(s.at, 0, (o.n + 1) * sizeof *s.at);
    if (o.n > 0)
        table_once_walk(&o, g->control, &s);
}
