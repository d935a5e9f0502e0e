// SPDX-License-Identifier: Apache-2.0
//
// users: what the actions of one table may have attached (tna-facts 6.1).
//
// A table has one address for registers, meters, filters and selectors, and one for counters. What
// shares an address is of one kind and width, and every action that uses one of them uses all of
// them, at one index. The address comes either out of the entry (a constant, action data) or from
// PHV through the hash matrix, then by one function for all actions of the table.
#include <string.h>

#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"

enum bus { METER_ADDRESS, STATS_ADDRESS, BUSES };
static const char *const bus_names[] = {[METER_ADDRESS] = "meter", [STATS_ADDRESS] = "counter"};

enum kind { REGISTER, METER, SELECTOR, COUNTER };
static const char *const kind_names[] = {"register", "meter", "selector", "counter"};

// One object in one action.
struct use {
    enum kind kind;
    const void *object;
    const char *name;
    bool direct;
    unsigned width; // of a register's cell
    const struct ir_stmt *stmt;
    const struct ir_action *action;
};

struct users {
    struct chip_report *r;
    const struct ir_table *table;
    VEC(struct use) uses;
};

static enum bus bus_of(const struct use *u) {
    return u->kind == COUNTER ? STATS_ADDRESS : METER_ADDRESS;
}

static void add_register(struct users *u, const struct ir_register *reg, const struct ir_stmt *s,
                         const struct ir_action *a) {
    struct use x = {.kind = REGISTER,
                    .object = reg,
                    .name = reg->name,
                    .direct = reg->direct,
                    .width = reg->width * reg->words,
                    .stmt = s,
                    .action = a};
    VEC_PUSH(u->r->arena, &u->uses, x);
}

static void salu_users_look(struct users *u, const struct ir_block *b, const struct ir_action *a) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        struct use x = {.stmt = s, .action = a};
        salu_users_look(u, s->then_b, a);
        salu_users_look(u, s->else_b, a);
        for (size_t k = 0; k < s->cases.n; k++)
            salu_users_look(u, s->cases.v[k].body, a);
        if (s->kind == IR_REG_EXEC) {
            add_register(u, s->regaction->reg, s, a);
        } else if (s->kind == IR_REG_READ || s->kind == IR_REG_WRITE) {
            add_register(u, s->reg, s, a);
        } else if (s->kind == IR_METER_EXEC) {
            x.kind = METER;
            x.object = s->meter;
            x.name = s->meter->name;
            x.direct = s->meter->direct;
            VEC_PUSH(u->r->arena, &u->uses, x);
        } else if (s->kind == IR_COUNT) {
            x.kind = COUNTER;
            x.object = s->counter;
            x.name = s->counter->name;
            x.direct = s->counter->direct;
            VEC_PUSH(u->r->arena, &u->uses, x);
        }
    }
}

static void salu_users_clash(struct users *u, const char *rule, const struct use *x,
                             const struct use *before, const char *message,
                             const char *suggestion) {
    struct chip_violation *v = chip_violate(u->r, rule, x->stmt->at, message, suggestion);
    v->also = before->stmt->at;
    v->also_text = arena_printf(u->r->arena, "%s '%s'", kind_names[before->kind], before->name);
}

// ---- one kind, one width, the same actions ------------------------------------------------------

static bool check_kinds(struct users *u, const struct use *x, const struct use *y) {
    struct arena *a = u->r->arena;
    if (x->kind == y->kind && x->direct == y->direct && x->width == y->width)
        return true;
    const char *why =
        x->kind != y->kind
            ? arena_printf(a, "a %s and a %s", kind_names[x->kind], kind_names[y->kind])
        : x->direct != y->direct ? "one by entry and one by index"
                                 : arena_printf(a, "of %u and of %u bits", x->width, y->width);
    salu_users_clash(
        u, "table-attachments", y, x,
        arena_printf(a, "table '%s' has '%s' and '%s' on its %s address, %s", u->table->name,
                     x->name, y->name, bus_names[bus_of(x)], why),
        "a table has one address for registers, meters and selectors, and one for counters; "
        "objects that share an address have one kind and width: give one of them a table of its "
        "own");
    return false;
}

static const struct use *use_in(const struct users *u, const void *object,
                                const struct ir_action *a) {
    for (size_t i = 0; i < u->uses.n; i++)
        if (u->uses.v[i].object == object && u->uses.v[i].action == a)
            return &u->uses.v[i];
    return NULL;
}

// 'x' without 'y' in one action.
static bool salu_users_check_together(struct users *u, const struct use *x, const struct use *y) {
    if (x->object == y->object || use_in(u, y->object, x->action))
        return true;
    salu_users_clash(
        u, "table-attachments", x, y,
        arena_printf(u->r->arena, "action '%s' of table '%s' uses '%s' without '%s'",
                     x->action->name, u->table->name, x->name, y->name),
        "the two share the table's address, which is sent to both or to neither: use both in "
        "each action, or give one of them a table of its own");
    return false;
}

// ---- indexes ------------------------------------------------------------------------------------

enum index { BY_ENTRY, BY_HASH, TOO_HARD };

static bool is_data(const struct ir_action *a, const struct ir_var *v) {
    for (size_t i = 0; a && i < a->params.n; i++)
        if (a->params.v[i].var == v)
            return true;
    return false;
}

// Fields and slices, side by side: all that the chip's compiler takes for an index, though the hash
// matrix could do more.
static bool salu_users_is_field(const struct ir_expr *e) {
    switch (e->op) {
    case IR_VAR:
    case IR_CONST:
        return true;
    case IR_SLICE:
    case IR_ZEXT:
        return salu_users_is_field(e->a);
    case IR_CONCAT:
        return salu_users_is_field(e->a) && salu_users_is_field(e->b);
    case IR_LSHR:
        return ir_is_const(e->b) && salu_users_is_field(e->a);
    default:
        return false;
    }
}

static enum index index_kind(const struct use *x) {
    const struct ir_expr *e = x->stmt->e;
    while (e->op == IR_ZEXT || e->op == IR_SLICE)
        e = e->a;
    if (e->op == IR_CONST || (e->op == IR_VAR && is_data(x->action, e->var)))
        return BY_ENTRY;
    return salu_users_is_field(x->stmt->e) ? BY_HASH : TOO_HARD;
}

// The hash that gives an index its value; null: PHV does.
static const struct ir_stmt *salu_users_hash_of(const struct use *x) {
    const struct ir_expr *e = x->stmt->e;
    const struct ir_stmt *found = NULL;
    while (e->op == IR_ZEXT || e->op == IR_SLICE)
        e = e->a;
    for (size_t i = 0; x->action && e->op == IR_VAR && i < x->action->body->stmts.n; i++) {
        const struct ir_stmt *s = x->action->body->stmts.v[i];
        if (s == x->stmt)
            break;
        if (s->kind == IR_HASH && s->var == e->var)
            found = s;
    }
    return found;
}

static bool same_index(const struct use *x, const struct use *y) {
    const struct ir_stmt *p = salu_users_hash_of(x), *q = salu_users_hash_of(y);
    if (!p || !q)
        return !p && !q && ir_same(x->stmt->e, y->stmt->e);
    if (p->hash != q->hash || p->args.n != q->args.n)
        return false;
    for (size_t i = 0; i < p->args.n; i++)
        if (!ir_same(p->args.v[i], q->args.v[i]))
            return false;
    return true;
}

static void salu_users_check_index(struct users *u, const struct use *x) {
    if (!x->stmt->e || index_kind(x) != TOO_HARD)
        return;
    chip_violate(u->r, "register-index", x->stmt->at,
                 arena_printf(u->r->arena, "the index of '%s' is computed: '%s'", x->name,
                              ir_source_text(u->r->arena, x->stmt->e)),
                 "an index is a constant, action data, a concatenation of fields and slices, or "
                 "the result of a Hash: compute it in an earlier table");
}

// Between two uses on one address.
static bool check_indexes(struct users *u, const struct use *x, const struct use *y) {
    struct arena *a = u->r->arena;
    if (!x->stmt->e || !y->stmt->e)
        return true;
    enum index p = index_kind(x), q = index_kind(y);
    if (p == TOO_HARD || q == TOO_HARD)
        return true;
    if (x->action == y->action && x->object != y->object && !same_index(x, y)) {
        salu_users_clash(
            u, "register-index", y, x,
            arena_printf(a, "action '%s' reaches '%s' and '%s' at different indexes",
                         x->action->name, x->name, y->name),
            "an action has one address for the objects that share it: use one index, or put one "
            "of them into a table of its own");
        return false;
    }
    if (x->object != y->object)
        return true;
    if (p != q) {
        salu_users_clash(
            u, "register-index", y, x,
            arena_printf(
                a,
                "table '%s' reaches '%s' with an index from its entries in one action, and from "
                "PHV in another",
                u->table->name, x->name),
            "in all actions of a table, the address comes either from the entry (constants, "
            "action data) or from the hash matrix (PHV)");
        return false;
    }
    if (p == BY_HASH && x->action != y->action && !same_index(x, y)) {
        salu_users_clash(
            u, "register-index", y, x,
            arena_printf(a, "actions of table '%s' compute different indexes for '%s'",
                         u->table->name, x->name),
            "one hash computes the address for all actions of a table: select the index in an "
            "earlier table, in one field");
        return false;
    }
    return true;
}

// ---- results and operands -----------------------------------------------------------------------

// Two registers in one action, each of which gives something out.
static bool salu_users_check_results(struct users *u, const struct use *x, const struct use *y) {
    if (x->action != y->action || x->object == y->object || !x->stmt->var || !y->stmt->var ||
        x->kind != REGISTER || y->kind != REGISTER)
        return true;
    salu_users_clash(
        u, "table-attachments", y, x,
        arena_printf(u->r->arena, "action '%s' takes the results of '%s' and '%s'", x->action->name,
                     x->name, y->name),
        "only one of the registers that an action accesses can return a result: put the other "
        "one into a table of its own");
    return false;
}

struct data_search {
    const struct ir_action *action;
    const struct ir_var *found;
};

static void note_data(void *ctx, struct ir_expr *e) {
    struct data_search *d = ctx;
    if (e->op == IR_VAR && is_data(d->action, e->var))
        d->found = e->var;
}

static void check_data(struct users *u, const struct use *x) {
    struct data_search d = {.action = x->action};
    struct ir_visitor v = {.ctx = &d, .expr = note_data};
    if (x->stmt->kind != IR_REG_WRITE)
        return;
    ir_visit_expr(&v, x->stmt->e2);
    ir_visit_expr(&v, x->stmt->e3);
    if (d.found)
        chip_violate(
            u->r, "salu-action-data", x->stmt->at,
            arena_printf(u->r->arena, "action '%s' writes its parameter into '%s'", x->action->name,
                         x->name),
            "a stateful ALU reads PHV fields, not action data: let a table before it copy the "
            "parameter into a field");
}

// ---- what the action computes itself ------------------------------------------------------------

struct written {
    const struct ir_var *var;
    const struct ir_stmt *by;
};
struct order {
    const struct ir_action *action;
    bool in_register_action; // which cannot have action data
    VEC(struct written) before;
    const struct written *found;
};

// A copy does no harm, nor one into a part of a field: its source is read in its place.
static bool salu_users_is_copy(const struct order *o, const struct ir_stmt *s) {
    const struct ir_expr *e = s->e;
    while (s->kind == IR_ASSIGN && (e->op == IR_SLICE || e->op == IR_ZEXT))
        e = e->a;
    if (s->kind != IR_ASSIGN)
        return false;
    if (e->op == IR_VAR)
        return !(o->in_register_action && is_data(o->action, e->var));
    return e->op == IR_CONST;
}

static void salu_users_note_written(void *ctx, struct ir_expr *e) {
    struct order *o = ctx;
    for (size_t i = 0; e->op == IR_VAR && !o->found && i < o->before.n; i++)
        if (o->before.v[i].var == e->var && !salu_users_is_copy(o, o->before.v[i].by))
            o->found = &o->before.v[i];
}

// A stateful ALU starts from what the fields hold when the stage begins. What an action assigns
// before is seen where the chip's compiler can put in what was assigned: a plain copy.
static void salu_users_check_order(struct users *u, const struct use *x) {
    struct order o = {.action = x->action};
    struct ir_visitor v = {.ctx = &o, .expr = salu_users_note_written, .shallow = true};
    const struct ir_block *b = x->action->body;
    for (size_t i = 0; i < b->stmts.n && b->stmts.v[i] != x->stmt; i++) {
        struct written w = {.var = b->stmts.v[i]->var, .by = b->stmts.v[i]};
        if (w.by->kind == IR_ASSIGN)
            VEC_PUSH(u->r->arena, &o.before, w);
    }
    ir_visit_expr(&v, x->stmt->e2);
    ir_visit_expr(&v, x->stmt->e3);
    ir_visit_expr(&v, x->stmt->e);
    o.in_register_action = true;
    if (x->stmt->kind == IR_REG_EXEC)
        ir_visit_block(&v, x->stmt->regaction->body);
    if (!o.found)
        return;
    struct chip_violation *said = chip_violate(
        u->r, "action-stages", x->stmt->at,
        arena_printf(u->r->arena, "action '%s' computes '%s', which '%s' reads in the same action",
                     x->action->name, o.found->var->name, x->name),
        "the statements of an action run at the same time: compute the value in an earlier table");
    said->also = o.found->by->at;
    said->also_text = "computed here";
}

// The address of a table without a key comes with every packet.
static void check_keyless(struct users *u, const struct use *x) {
    if (u->table->keys.n > 0 || u->table->actions.n < 2 || !x->stmt->e || index_kind(x) != BY_HASH)
        return;
    for (size_t i = 0; i < u->table->actions.n; i++)
        if (!use_in(u, x->object, u->table->actions.v[i].action))
            chip_violate(
                u->r, "table-attachments", x->stmt->at,
                arena_printf(u->r->arena,
                             "table '%s' has no key, and its action '%s' does not use '%s'",
                             u->table->name, u->table->actions.v[i].action->name, x->name),
                "without entries to select it, an object that is addressed by PHV is accessed by "
                "all actions of a table: give the table a key, or apply it in an 'if'");
}

static void salu_users_check_table(struct chip_report *r, const struct ir_table *t) {
    struct users u = {.r = r, .table = t};
    for (size_t i = 0; i < t->actions.n; i++)
        salu_users_look(&u, t->actions.v[i].action->body, t->actions.v[i].action);
    for (size_t i = 0; i < u.uses.n; i++) {
        salu_users_check_index(&u, &u.uses.v[i]);
        check_data(&u, &u.uses.v[i]);
        salu_users_check_order(&u, &u.uses.v[i]);
        check_keyless(&u, &u.uses.v[i]);
    }
    for (size_t i = 0; i < u.uses.n; i++)
        for (size_t k = 0; k < i; k++) {
            struct use *x = &u.uses.v[k], *y = &u.uses.v[i];
            if (bus_of(x) != bus_of(y))
                continue;
            if (!check_kinds(&u, x, y) || !check_indexes(&u, x, y) ||
                !salu_users_check_together(&u, x, y) || !salu_users_check_together(&u, y, x) ||
                !salu_users_check_results(&u, x, y))
                break;
        }
}

// Statements between tables: each is an action of its own.
static void salu_users_check_control(struct chip_report *r, const struct ir_gress *g) {
    struct users u = {.r = r};
    salu_users_look(&u, g->control, NULL);
    for (size_t i = 0; i < u.uses.n; i++)
        salu_users_check_index(&u, &u.uses.v[i]);
}

// One instance in both gresses.
static void check_gresses(struct chip_report *r, const struct chip_pipe *pipe) {
    const struct ir_gress *in = pipe->gress[0].ir, *out = pipe->gress[1].ir;
    for (size_t i = 0; i < in->registers.n; i++)
        for (size_t k = 0; k < out->registers.n; k++) {
            const struct ir_register *x = in->registers.v[i], *y = out->registers.v[k];
            if (x->at.file != y->at.file || x->at.line != y->at.line || x->at.col != y->at.col ||
                strcmp(x->name, y->name) != 0)
                continue;
            chip_violate(
                r, "register-gress", x->at,
                arena_printf(r->arena, "register '%s' is used in ingress and in egress", x->name),
                "a register belongs to the tables of one gress: make one for each");
        }
}

void salu_users(struct chip_report *r, const struct chip_pipe *pipe) {
    for (unsigned g = 0; g < 2; g++) {
        salu_users_check_control(r, pipe->gress[g].ir);
        for (size_t i = 0; i < pipe->gress[g].ir->tables.n; i++)
            salu_users_check_table(r, pipe->gress[g].ir->tables.v[i]);
    }
    check_gresses(r, pipe);
}
