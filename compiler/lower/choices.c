// SPDX-License-Identifier: Apache-2.0
//
// choices: by which field a deparser selects what it sends elsewhere (tna-facts 4.11).
//
// The hardware has a table of eight entries for each of mirrors, resubmits and digests of a gress,
// and one field whose value, if it was assigned, is the entry. That is the type of the intrinsic
// metadata, or a field of the program's own:
//
//     if (md.kind == 2) { mirror.emit(md.session); }
//
// The instance then sends whatever the type says. Any other condition is refused. So are two fields
// for one table, and a comparison of metadata that holds for 0: it does not tell that the field was
// assigned. A header's field was where the header was extracted, or the program assigned to it: an
// entry 0 is for these packets, others send nothing.
//
// Of nested conditions the chip's compiler looks at the innermost only, also in the 'else' of one
// that is about something else:
//
//     if (md.resubmit_type == 1) { again.emit(md.a); }
//     else if (md.mirror_type == 1) { mirror.emit(md.session); }
//
// asks for both where both types are set; of these two the traffic manager then resubmits the
// packet and mirrors nothing. That is what is built here, too: what is sent moves behind the
// statement that it was in, and where it makes a difference a warning tells it.
#include "compiler/ir/effects.h"
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define ENTRIES 8u

// A condition around a statement.
struct choice {
    const struct choice *outer;
    struct ir_stmt *stmt;            // that decides
    const struct ir_expr *condition; // null: not one the hardware knows
    bool negated;                    // the statement runs where the condition does not hold
};

// The field of each table, and where that is said first.
struct selectors {
    struct {
        const struct ir_var *field;
        struct loc at;
        struct ir_var *assigned; // whether the field was, where 0 is an entry; or null
    } of[3];
    struct ir_block *moved; // what is taken out of the statement that is looked at
};

static const char *const type_names[] = {"resubmit_type", "mirror_type", "digest_type"};

static struct ir_var *choices_type(const struct ir_gress *g, enum ir_stmt_kind kind) {
    return g->intrinsic[kind == IR_RESUBMIT ? IRI_RESUBMIT_TYPE
                        : kind == IR_MIRROR ? IRI_MIRROR_TYPE
                                            : IRI_DIGEST_TYPE];
}

// The variable that a comparison compares with a constant, or null.
static const struct ir_var *choices_compared(const struct ir_expr *c, big *constant) {
    if (c->op != IR_EQ && c->op != IR_NE)
        return NULL;
    const struct ir_expr *var = c->a->op == IR_VAR ? c->a : c->b;
    const struct ir_expr *other = var == c->a ? c->b : c->a;
    if (var->op != IR_VAR || !ir_is_const(other))
        return NULL;
    *constant = other->value;
    return var->var;
}

// Made of comparisons of the field with constants, its validity, or the field itself if it has one
// bit.
static bool choices_decides(const struct ir_expr *c, const struct ir_var *field) {
    big constant;
    switch (c->op) {
    case IR_CONST:
        return true;
    case IR_VAR:
        return c->var == field->valid || (c->var == field && field->width == 1);
    case IR_EQ:
    case IR_NE:
        return choices_compared(c, &constant) == field;
    case IR_LAND:
    case IR_LOR:
        return choices_decides(c->a, field) && choices_decides(c->b, field);
    case IR_NOT:
        return choices_decides(c->a, field);
    default:
        return false;
    }
}

static bool choices_all_decide(const struct choice *outer, const struct ir_var *field) {
    for (const struct choice *c = outer; c; c = c->outer)
        if (!c->condition || !choices_decides(c->condition, field))
            return false;
    return true;
}

// Some field that a condition looks at; not whether a header or field is valid, which is no field.
static const struct ir_var *choices_field(const struct ir_expr *c) {
    big constant;
    const struct ir_var *found = NULL;
    if (c->op == IR_VAR && c->width == 1)
        found = c->var;
    else if (c->op == IR_EQ || c->op == IR_NE)
        found = choices_compared(c, &constant);
    else if (c->op == IR_NOT || c->op == IR_LAND || c->op == IR_LOR)
        found = choices_field(c->a);
    return found && !strstr(found->name, ".$") ? found : NULL;
}

// Whether a condition made of comparisons of a field holds where that is 0.
static bool choices_holds_for_zero(const struct ir_expr *c) {
    big constant = NULL;
    switch (c->op) {
    case IR_CONST:
        return ir_is_true(c);
    case IR_EQ:
        choices_compared(c, &constant);
        return constant && big_sign(constant) == 0;
    case IR_NE:
        choices_compared(c, &constant);
        return constant && big_sign(constant) != 0;
    case IR_LAND:
        return choices_holds_for_zero(c->a) && choices_holds_for_zero(c->b);
    case IR_LOR:
        return choices_holds_for_zero(c->a) || choices_holds_for_zero(c->b);
    case IR_NOT:
        return !choices_holds_for_zero(c->a);
    default:
        return false;
    }
}

// Whether all constants that the field is compared with are entries.
static bool choices_are_entries(const struct ir_expr *c) {
    big constant;
    if (choices_compared(c, &constant))
        return big_fits_u64(constant) && big_to_u64(constant) < ENTRIES;
    return (!c->a || choices_are_entries(c->a)) && (!c->b || choices_are_entries(c->b));
}

// The conditions hold where the field is 0.
static bool choices_for_zero(const struct choice *outer) {
    for (const struct choice *c = outer; c; c = c->outer)
        if (choices_holds_for_zero(c->condition) == c->negated)
            return false;
    return true;
}

static bool choices_selects(struct lower *lw, const struct ir_stmt *s, const struct choice *outer,
                            const struct ir_var *field) {
    const bool for_zero = choices_for_zero(outer);
    bool entries = true;
    for (const struct choice *c = outer; c; c = c->outer)
        entries &= choices_are_entries(c->condition);
    if (entries && (!for_zero || field->header))
        return true;
    lower_error(
        lw, s->at,
        "a deparser can select by the values 1 to %u of '%s': it has %u entries, and 0 does "
        "not tell that the field was assigned",
        ENTRIES - 1, field->name, ENTRIES);
    return false;
}

// What sends by a field of the program's own: whatever the type says, if 'sends' holds. The traffic
// manager knows a resubmitted packet by a valid type.
static void choices_free_of_type(struct lower *lw, struct ir_stmt *s, const struct choice *own,
                                 const struct ir_var *type, struct ir_expr *sends) {
    for (const struct choice *c = own; c; c = c->outer)
        c->stmt->selects = true;
    own->stmt->e = sends;
    if (s->kind != IR_RESUBMIT)
        return;
    struct ir_block *outer = lw->block;
    lw->block = own->stmt->then_b = ir_block_new(lw->a);
    assign_var(lw, type->valid, ir_const_u64(lw->a, 1, 1), s->at);
    put(lw, s);
    lw->block = outer;
}

static void choices_one_field(struct lower *lw, struct selectors *fields, const struct ir_stmt *s,
                              const struct ir_var *field) {
    const unsigned i = s->kind - IR_RESUBMIT;
    static const char *const things[] = {"resubmits", "mirrors", "digests"};
    if (!fields->of[i].field) {
        fields->of[i].field = field;
        fields->of[i].at = s->at;
    } else if (fields->of[i].field != field) {
        lower_error(
            lw, s->at,
            "a deparser selects among its %s by one field: by '%s' here, by '%s' in line %u",
            things[i], field->name, fields->of[i].field->name, fields->of[i].at.line);
    }
}

// Entry 0 is for packets whose field was assigned.
static struct ir_expr *choices_entry_used(struct lower *lw, struct selectors *fields,
                                          const struct ir_stmt *s, const struct choice *outer,
                                          const struct ir_var *field) {
    struct ir_var **assigned = &fields->of[s->kind - IR_RESUBMIT].assigned;
    if (!choices_for_zero(outer))
        return ir_const_u64(lw->a, 1, 1);
    if (!*assigned)
        *assigned =
            var_new(lw, arena_printf(lw->a, "%s.$assigned", field->name), 1, false, field->at);
    return ir_ref(lw->a, *assigned);
}

static void choices_decide_sent(struct lower *lw, const struct ir_gress *g,
                                struct selectors *fields, struct ir_stmt *s,
                                const struct choice *own) {
    struct ir_var *type = choices_type(g, s->kind);
    if (choices_all_decide(own, type)) {
        choices_one_field(lw, fields, s, type);
        return;
    }
    const struct choice *outer = own->outer;
    const struct ir_var *field = outer->condition ? choices_field(outer->condition) : NULL;
    const bool for_a_type = own->condition->op == IR_LAND; // 'Mirror(1) m'
    if (!field || for_a_type || !choices_all_decide(outer, field)) {
        const char *name = type_names[s->kind - IR_RESUBMIT];
        lower_error(lw, s->at,
                    "a deparser can only select by comparing '%s', or one field of the program, "
                    "with a constant; decide in the control and set '%s' there",
                    name, name);
    } else if (choices_selects(lw, s, outer, field)) {
        choices_one_field(lw, fields, s, field);
        choices_free_of_type(lw, s, own, type, choices_entry_used(lw, fields, s, outer, field));
    }
}

// ---- what is under a condition about something else ---------------------------------------------

// Nothing in it computes anything that what is sent could need.
static bool choices_only_send(const struct ir_block *b, unsigned depth) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_RESUBMIT || s->kind == IR_MIRROR || s->kind == IR_DIGEST)
            continue;
        if (s->kind != IR_IF || depth == 0 || !choices_only_send(s->then_b, depth - 1) ||
            !choices_only_send(s->else_b, depth - 1))
            return false;
    }
    return true;
}

// The innermost condition of the program decides by the type, or by a field of its own; the ones
// around it are about something else.
static bool choices_is_apart(const struct choice *own, const struct ir_var *type) {
    enum { DEPTH = 100 };
    const struct choice *inner = own->outer, *outermost = inner;
    if (!inner || !inner->outer || !inner->condition || inner->negated ||
        own->condition->op == IR_LAND)
        return false;
    const struct ir_var *field =
        choices_decides(inner->condition, type) ? type : choices_field(inner->condition);
    if (!field || !choices_decides(inner->condition, field) ||
        choices_all_decide(inner->outer, field))
        return false;
    while (outermost->outer)
        outermost = outermost->outer;
    return outermost->stmt->kind == IR_IF && choices_only_send(outermost->stmt->then_b, DEPTH) &&
           choices_only_send(outermost->stmt->else_b, DEPTH);
}

// A packet that is resubmitted is not mirrored in any case.
static bool choices_is_same(const struct ir_gress *g, const struct ir_stmt *s,
                            const struct choice *inner) {
    const struct ir_var *resubmits = choices_type(g, IR_RESUBMIT);
    for (const struct choice *c = inner->outer; c; c = c->outer)
        if (!c->negated || !c->condition || !resubmits || !choices_decides(c->condition, resubmits))
            return false;
    return s->kind == IR_MIRROR;
}

static void choices_move_out(struct lower *lw, const struct ir_gress *g, struct selectors *fields,
                             struct ir_stmt *s, const struct choice *own) {
    const struct choice *inner = own->outer;
    struct ir_stmt *test = ir_stmt_new(lw->a, IR_IF, inner->stmt->at);
    struct ir_stmt *sends = ir_stmt_new(lw->a, IR_IF, own->stmt->at);
    *test = *inner->stmt;
    *sends = *own->stmt;
    test->then_b = ir_block_new(lw->a);
    test->else_b = NULL;
    own->stmt->then_b = ir_block_new(lw->a);
    ir_push(lw->a, test->then_b, sends);
    ir_push(lw->a, fields->moved, test);
    if (!choices_is_same(g, s, inner))
        diag_warning(lw->d, s->at,
                     "the chip looks only at the innermost condition around this, and sends it "
                     "whatever the one in line %u says; so does this program",
                     inner->outer->stmt->at.line);
    struct choice outer = {.stmt = test, .condition = test->e};
    struct choice alone = {.outer = &outer, .stmt = sends, .condition = own->condition};
    choices_decide_sent(lw, g, fields, s, &alone);
}

// The innermost condition is the one that deparser.c has put around what sends.
static void choices_check_sent(struct lower *lw, const struct ir_gress *g, struct selectors *fields,
                               struct ir_stmt *s, const struct choice *own) {
    const struct ir_var *type = choices_type(g, s->kind);
    if (!type || !own)
        return;
    if (choices_is_apart(own, type))
        choices_move_out(lw, g, fields, s, own);
    else
        choices_decide_sent(lw, g, fields, s, own);
}

static void choices_check_block(struct lower *lw, const struct ir_gress *g,
                                struct selectors *fields, struct ir_block *b,
                                const struct choice *outer);

static void choices_check_stmt(struct lower *lw, const struct ir_gress *g, struct selectors *fields,
                               struct ir_stmt *s, const struct choice *outer) {
    if (s->kind == IR_RESUBMIT || s->kind == IR_MIRROR || s->kind == IR_DIGEST) {
        choices_check_sent(lw, g, fields, s, outer);
        return;
    }
    struct choice c = {.outer = outer, .stmt = s, .condition = s->kind == IR_IF ? s->e : NULL};
    const bool chooses = s->kind == IR_IF || s->kind == IR_SWITCH;
    choices_check_block(lw, g, fields, s->then_b, chooses ? &c : outer);
    c.negated = true;
    choices_check_block(lw, g, fields, s->else_b, &c);
    for (size_t i = 0; i < s->cases.n; i++)
        choices_check_block(lw, g, fields, s->cases.v[i].body, &c);
}

static void choices_check_block(struct lower *lw, const struct ir_gress *g,
                                struct selectors *fields, struct ir_block *b,
                                const struct choice *outer) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        choices_check_stmt(lw, g, fields, b->stmts.v[i], outer);
}

// ---- whether a field was assigned ---------------------------------------------------------------

struct assigned_here {
    const struct ir_var *field;
    bool found;
};

static void choices_note_assigned(void *aux, const struct ir_var *v) {
    struct assigned_here *h = aux;
    h->found |= v == h->field;
}

// Sets 'assigned' behind each statement of the block that gives the field a value.
static void choices_mark_block(struct lower *lw, struct ir_block *b, const struct ir_var *field,
                               struct ir_var *assigned) {
    struct ir_block *all = ir_block_new(lw->a), *outer = lw->block;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *s = b->stmts.v[i];
        struct assigned_here h = {.field = field};
        choices_mark_block(lw, s->then_b, field, assigned);
        choices_mark_block(lw, s->else_b, field, assigned);
        for (size_t k = 0; k < s->cases.n; k++)
            choices_mark_block(lw, s->cases.v[k].body, field, assigned);
        ir_push(lw->a, all, s);
        if (s->kind != IR_SET_INVALID && s->kind != IR_SET_VALID)
            ir_each_written(s, choices_note_assigned, &h);
        lw->block = all;
        if (h.found)
            assign_var(lw, assigned, ir_const_u64(lw->a, 1, 1), s->at);
    }
    lw->block = outer;
    if (b)
        b->stmts = all->stmts;
}

static void choices_mark_assigned(struct lower *lw, const struct ir_gress *g,
                                  const struct ir_var *field, struct ir_var *assigned) {
    for (size_t i = 0; i < g->states.n; i++)
        choices_mark_block(lw, g->states.v[i]->body, field, assigned);
    choices_mark_block(lw, g->control, field, assigned);
    for (size_t i = 0; i < g->actions.n; i++)
        choices_mark_block(lw, g->actions.v[i]->body, field, assigned);
}

void check_choices(struct lower *lw, const struct ir_gress *g) {
    struct selectors fields = {0};
    struct ir_block *b = g->deparser, *all = ir_block_new(lw->a);
    for (size_t i = 0; i < b->stmts.n; i++) {
        fields.moved = ir_block_new(lw->a);
        choices_check_stmt(lw, g, &fields, b->stmts.v[i], NULL);
        ir_push(lw->a, all, b->stmts.v[i]);
        for (size_t k = 0; k < fields.moved->stmts.n; k++)
            ir_push(lw->a, all, fields.moved->stmts.v[k]);
    }
    b->stmts = all->stmts;
    for (size_t k = 0; k < 3; k++)
        if (fields.of[k].assigned)
            choices_mark_assigned(lw, g, fields.of[k].field, fields.of[k].assigned);
}
