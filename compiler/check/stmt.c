// SPDX-License-Identifier: Apache-2.0
//
// stmt: statements (section 12).
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Assignment

static void complain_lvalue(struct checker *c, const struct expr *e) {
    const struct expr *root = e;
    while (root->kind == EX_MEMBER || root->kind == EX_INDEX || root->kind == EX_SLICE ||
           root->kind == EX_PLUS_SLICE)
        root = root->a;
    const struct decl *d = root->kind == EX_NAME ? root->decl : NULL;
    const char *what = expr_text(c->a, e);
    if (d && d->kind == D_CONST)
        diag_error(c->d, e->at, "'%s' cannot be assigned: '%s' is a constant", what, d->name);
    else if (d && d->kind == D_PARAM && d->dir == DIR_IN)
        diag_error(c->d, e->at, "'%s' cannot be assigned: '%s' is an 'in' parameter", what,
                   d->name);
    else if (d && d->kind == D_PARAM && d->dir == DIR_NONE)
        diag_error(c->d, e->at, "'%s' cannot be assigned: parameter '%s' has no 'out' or 'inout'",
                   what, d->name);
    else {
        diag_error(c->d, e->at, "'%s' cannot be assigned", what);
        return;
    }
    note_declared(c, d);
}

// a op= b means a = a op b (section 12.1).
static void compound(struct checker *c, struct stmt *s) {
    infer(c, s->b);
    struct expr tmp = {
        .kind = EX_BINARY, .at = s->at, .op = (enum op)s->assign_op, .a = s->a, .b = s->b};
    tmp.type = binary_type(c, &tmp);
    fold_binary(c, &tmp);
    s->b = tmp.b;
    if (!type_equal(tmp.type, s->a->type))
        diag_error(c->d, s->at, "the result of '%s' has type '%s', but '%s' has type '%s'",
                   op_text(tmp.op), tn(c, tmp.type), expr_text(c->a, s->a), tn(c, s->a->type));
}

static void check_assign(struct checker *c, struct stmt *s) {
    struct type *t = infer(c, s->a);
    if (t->kind == TY_ERROR_TYPE) {
        infer(c, s->b);
        return;
    }
    if (!s->a->lvalue)
        complain_lvalue(c, s->a);
    else if (!is_value_type(t))
        diag_error(c->d, s->a->at, "a value of type '%s' cannot be assigned", tn(c, t));
    note_written(c, s->a);
    if (s->assign_op >= 0)
        compound(c, s);
    else
        s->b = check_as(c, s->b, t, ROLE("the right side", NULL));
}

// ------------------------------------------------------------------------------------------------
// Switch (section 12.7)

static bool runs_action(const struct decl *table, const struct decl *action) {
    for (size_t i = 0; i < table->table->actions.n; i++)
        if (table->table->actions.v[i]->action == action)
            return true;
    return false;
}

static void check_action_label(struct checker *c, struct switch_case *sc,
                               const struct decl *table) {
    struct expr *label = sc->label;
    struct guess g = guess_start(c, label->name);
    for (size_t i = 0; i < table->table->actions.n; i++)
        if (table->table->actions.v[i]->action)
            guess_try(&g, table->table->actions.v[i]->action->name);
    if (label->kind != EX_NAME) {
        diag_error(c->d, label->at, "the label must be the name of an action of table '%s'",
                   table->name);
        poison(c, label);
        return;
    }
    struct decl *d = lookup_name(c, label->name, label->absolute);
    if (!d || !runs_action(table, d)) {
        diag_error(c->d, label->at, "'%s' is not an action of table '%s'%s", label->name,
                   table->name, guess_text(c, &g));
        poison(c, label);
        return;
    }
    infer(c, label);
    sc->action = d;
}

static bool same_label(const struct switch_case *x, const struct switch_case *y) {
    if (x->action || y->action)
        return x->action == y->action;
    return x->label->cval && y->label->cval && big_cmp(x->label->cval, y->label->cval) == 0;
}

static void check_label_unique(struct checker *c, const struct stmt *s, size_t i) {
    const struct switch_case *sc = s->cases.v[i];
    arena_spend(c->a, i);
    for (size_t k = 0; k < i; k++) {
        if (!same_label(s->cases.v[k], sc))
            continue;
        diag_error(c->d, sc->label->at, "this label occurs twice in the switch");
        diag_note(c->d, s->cases.v[k]->label->at, "first here");
        return;
    }
}

// Two places are at odds, what is switched on and a label; both are shown.
static void check_value_label(struct checker *c, const struct stmt *s, struct switch_case *sc,
                              struct type *t) {
    if (infer(c, sc->label)->kind != TY_ERROR_TYPE && !convertible(c, sc->label, t)) {
        diag_error(c->d, s->a->at, "this has type '%s', but a label has type '%s'", tn(c, t),
                   tn(c, sc->label->type));
        diag_note(c->d, sc->label->at, "the label is here");
        poison(c, sc->label);
        return;
    }
    sc->label = coerce(c, sc->label, t, ROLE("this label", NULL));
    if (!sc->label->cval && sc->label->type->kind != TY_ERROR_TYPE)
        diag_error(c->d, sc->label->at, "a switch label must be known at compile time");
}

static void check_case(struct checker *c, struct stmt *s, size_t i, struct type *t) {
    struct switch_case *sc = s->cases.v[i];
    if (sc->label->kind == EX_DEFAULT) {
        sc->label->type = c->t_dontcare;
        if (i + 1 != s->cases.n)
            diag_error(c->d, sc->label->at, "'default' must be the last label of a switch");
    } else {
        if (t->kind == TY_ACTION_RUN)
            check_action_label(c, sc, t->decl);
        else
            check_value_label(c, s, sc, t);
        check_label_unique(c, s, i);
    }
    if (sc->body)
        check_stmt(c, sc->body);
}

static bool may_switch(const struct type *t) {
    return t->kind == TY_BITS || t->kind == TY_ENUM || t->kind == TY_ERROR ||
           t->kind == TY_ACTION_RUN || t->kind == TY_ERROR_TYPE || t->kind == TY_BOOL;
}

static void check_switch(struct checker *c, struct stmt *s) {
    struct type *t = infer(c, s->a);
    if (c->place == AT_STATE)
        diag_error(c->d, s->at, "a parser state cannot have a switch; use 'transition select'");
    if (!may_switch(t)) {
        diag_error(c->d, s->a->at, "cannot switch on a value of type '%s'", tn(c, t));
        t = poison(c, s->a);
    }
    for (size_t i = 0; i < s->cases.n; i++)
        check_case(c, s, i, t);
}

// ------------------------------------------------------------------------------------------------
// Return and exit

static void check_return(struct checker *c, struct stmt *s) {
    if (!c->returns) {
        diag_error(c->d, s->at, "'return' is not allowed here");
        infer(c, s->a);
    } else if (c->returns->kind == TY_VOID) {
        if (s->a)
            diag_error(c->d, s->a->at, "nothing can be returned here");
        infer(c, s->a);
    } else if (!s->a) {
        diag_error(c->d, s->at, "a value of type '%s' must be returned", tn(c, c->returns));
    } else {
        s->a = check_as(c, s->a, c->returns, ROLE("the returned value", NULL));
    }
}

static void check_exit(struct checker *c, const struct stmt *s) {
    if (c->place != AT_APPLY && c->place != AT_ACTION)
        diag_error(c->d, s->at, "'exit' is only allowed in controls and actions");
}

static bool all_cases_return(const struct stmt *s) {
    bool has_default = false;
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct switch_case *sc = s->cases.v[i];
        has_default |= sc->label && sc->label->kind == EX_DEFAULT;
        if (sc->body ? !always_returns(sc->body) : i + 1 == s->cases.n)
            return false;
    }
    return has_default;
}

bool always_returns(const struct stmt *s) {
    if (!s)
        return false;
    switch (s->kind) {
    case ST_RETURN:
    case ST_EXIT:
        return true;
    case ST_BLOCK:
        for (size_t i = 0; i < s->stmts.n; i++)
            if (always_returns(s->stmts.v[i]))
                return true;
        return false;
    case ST_IF:
        return always_returns(s->then_s) && always_returns(s->else_s);
    case ST_SWITCH:
        return all_cases_return(s);
    default:
        return false;
    }
}

// ------------------------------------------------------------------------------------------------
// Loops (section 12.8)

static void check_loop_body(struct checker *c, struct stmt *body) {
    c->loops++;
    check_stmt(c, body);
    c->loops--;
}

static void check_for(struct checker *c, struct stmt *s) {
    names_push(c);
    for (size_t i = 0; i < s->init.n; i++)
        check_stmt(c, s->init.v[i]);
    if (s->a)
        s->a = check_as(c, s->a, c->t_bool, ROLE("the condition", NULL));
    for (size_t i = 0; i < s->update.n; i++)
        check_stmt(c, s->update.v[i]);
    check_loop_body(c, s->body);
    names_pop(c);
}

static struct type *check_stmt_elements_of(struct checker *c, struct type *t) {
    switch (t->kind) {
    case TY_SET:
    case TY_STACK:
    case TY_LIST:
        return t->elem;
    case TY_TUPLE:
        return c->t_dontcare; // its elements are converted one by one
    default:
        return NULL;
    }
}

static void check_collection(struct checker *c, struct stmt *s, struct type *var) {
    if (s->a->kind == EX_RANGE) {
        s->a->a = check_as(c, s->a->a, var, ROLE("the lower end", NULL));
        s->a->b = check_as(c, s->a->b, var, ROLE("the upper end", NULL));
        s->a->type = set_of(c, var);
        return;
    }
    struct type *t = infer(c, s->a);
    if (t->kind == TY_ERROR_TYPE)
        return;
    if (s->a->kind == EX_LIST) {
        struct type *list = new_type(c, TY_LIST);
        list->elem = var;
        s->a = coerce(c, s->a, list, ROLE("the list", NULL));
        return;
    }
    struct type *elem = check_stmt_elements_of(c, t);
    if (!elem || !type_equal(elem, var))
        diag_error(c->d, s->a->at, "'%s' cannot run over a value of type '%s'",
                   s->decl ? s->decl->name : "for", tn(c, t));
}

static void check_for_in(struct checker *c, struct stmt *s) {
    names_push(c);
    struct type *var = c->t_bad;
    if (s->decl) {
        check_local_decl(c, s->decl);
        var = s->decl->type ? s->decl->type : c->t_bad;
    }
    check_collection(c, s, var);
    check_loop_body(c, s->body);
    names_pop(c);
}

// ------------------------------------------------------------------------------------------------
// All of them

static void check_call_stmt(struct checker *c, struct stmt *s) {
    infer(c, s->a);
    if (s->a->kind != EX_CALL || s->a->call == CALL_CTOR)
        diag_error(c->d, s->at, "this has no effect; a call of a function or method is expected");
}

static void check_if(struct checker *c, struct stmt *s) {
    s->a = check_as(c, s->a, c->t_bool, ROLE("the condition", NULL));
    check_stmt(c, s->then_s);
    check_stmt(c, s->else_s);
}

static void check_stmt_block(struct checker *c, struct stmt *s) {
    names_push(c);
    for (size_t i = 0; i < s->stmts.n; i++)
        check_stmt(c, s->stmts.v[i]);
    names_pop(c);
}

static void check_loop_exit(struct checker *c, const struct stmt *s) {
    if (!c->loops)
        diag_error(c->d, s->at, "'%s' is only allowed in loops",
                   s->kind == ST_BREAK ? "break" : "continue");
}

void check_stmt(struct checker *c, struct stmt *s) {
    if (!s)
        return;
    switch (s->kind) {
    case ST_EMPTY:
    case ST_TRANSITION: // parser.c
        break;
    case ST_BLOCK:
        check_stmt_block(c, s);
        break;
    case ST_DECL:
        if (s->decl)
            check_local_decl(c, s->decl);
        break;
    case ST_ASSIGN:
        check_assign(c, s);
        break;
    case ST_CALL:
        check_call_stmt(c, s);
        break;
    case ST_IF:
        check_if(c, s);
        break;
    case ST_RETURN:
        check_return(c, s);
        break;
    case ST_EXIT:
        check_exit(c, s);
        break;
    case ST_SWITCH:
        check_switch(c, s);
        break;
    case ST_FOR:
        check_for(c, s);
        break;
    case ST_FORIN:
        check_for_in(c, s);
        break;
    case ST_BREAK:
    case ST_CONTINUE:
        check_loop_exit(c, s);
        break;
    }
}

// A body shares the scope its caller opened for the parameters' sake only by nesting in it.
void check_body(struct checker *c, struct stmt *body) {
    unsigned loops = c->loops;
    c->loops = 0;
    check_stmt(c, body);
    c->loops = loops;
}
