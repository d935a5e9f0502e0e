// SPDX-License-Identifier: Apache-2.0
//
// parser: parser states, transitions and the sets of values they select on (section
// 13, 8.16).
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Keysets

static bool is_mask_or_range(const struct expr *e) {
    return e->kind == EX_MASK || e->kind == EX_RANGE;
}

// Sections 8.16 and 14.2.1.4: transitions and entries are fixed before any packet comes.
static void require_constant(struct checker *c, const struct expr *e) {
    if (!is_compile_time(e))
        diag_error(c->d, e->at, "this must be known at compile time");
}

// Two places are at odds, what is selected on and a case; both are shown.
static bool case_fits(struct checker *c, struct expr *e, struct type *key,
                      const struct expr *selected) {
    if (!selected || e->type->kind == TY_ERROR_TYPE || convertible(c, e, key))
        return true;
    diag_error(c->d, selected->at, "this has type '%s', but a case has type '%s'", tn(c, key),
               tn(c, e->type));
    diag_note(c->d, e->at, "the case is here");
    poison(c, e);
    return false;
}

static bool ends_agree(struct checker *c, const struct expr *e) {
    const struct type *x = e->a->type, *y = e->b->type;
    if (x->kind != TY_BITS || y->kind != TY_BITS || type_equal(x, y))
        return true;
    diag_error(c->d, e->at, "'%s' between values of different types, '%s' and '%s'",
               e->kind == EX_MASK ? "&&&" : "..", tn(c, x), tn(c, y));
    return false;
}

static struct expr *check_parser_end(struct checker *c, struct expr *e, struct type *key,
                                     const struct expr *selected, const char *what) {
    if (!case_fits(c, e, key, selected))
        return e;
    e = coerce(c, e, key, ROLE(what, NULL));
    require_constant(c, e);
    return e;
}

// A select may have a case that takes nothing; no control plane lets an entry be one.
static void report_empty(struct checker *c, const struct expr *e, bool in_select) {
    const char *low = big_str(c->a, e->a->cval, 10), *high = big_str(c->a, e->b->cval, 10);
    if (in_select)
        diag_warning(c->d, e->at, "this range is empty: %s is greater than %s", low, high);
    else
        diag_error(c->d, e->at, "this range is empty: %s is greater than %s", low, high);
}

static struct expr *check_mask(struct checker *c, struct expr *e, struct type *key,
                               const struct expr *selected) {
    const struct type *bits = type_underlying(key);
    struct type *side = key->kind == TY_ENUM && key->elem ? key->elem : key;
    if (bits->kind != TY_BITS && bits->kind != TY_ERROR_TYPE && bits->kind != TY_DONTCARE &&
        bits->kind != TY_INT) {
        diag_error(c->d, e->at, "'%s' needs a key of bits, but the key has type '%s'",
                   e->kind == EX_MASK ? "&&&" : "..", tn(c, key));
        side = c->t_bad;
    }
    bool low = e->kind == EX_RANGE;
    infer(c, e->a);
    infer(c, e->b);
    if (!ends_agree(c, e))
        side = c->t_bad;
    e->a = check_parser_end(c, e->a, side, selected, low ? "the low end" : "the value");
    e->b = check_parser_end(c, e->b, side, selected, low ? "the high end" : "the mask");
    if (low && e->a->cval && e->b->cval && big_cmp(e->a->cval, e->b->cval) > 0)
        report_empty(c, e, selected != NULL);
    e->type = set_of(c, key);
    return e;
}

// Where a serializable enum is selected on, a case may be a value of the type below it as well.
static struct type *case_type(struct checker *c, const struct expr *e, struct type *key,
                              const struct expr *selected) {
    const bool below = selected && key->kind == TY_ENUM && key->elem && e->type->kind != TY_ENUM &&
                       convertible(c, e, key->elem);
    return below ? key->elem : key;
}

struct expr *check_keyset(struct checker *c, struct expr *e, struct type *key,
                          const struct expr *selected) {
    if (e->kind == EX_DEFAULT || e->kind == EX_DONTCARE) {
        e->type = set_of(c, key);
        return e;
    }
    if (is_mask_or_range(e))
        return check_mask(c, e, key, selected);
    struct type *t = infer(c, e);
    if (t->kind == TY_SET) {
        if (!type_equal(t->elem, key))
            diag_error(c->d, e->at, "this set has values of type '%s', but the key has type '%s'",
                       tn(c, t->elem), tn(c, key));
        return e;
    }
    key = case_type(c, e, key, selected);
    if (!case_fits(c, e, key, selected))
        return e;
    e = coerce(c, e, key, ROLE("this value", NULL));
    require_constant(c, e);
    return e;
}

// ------------------------------------------------------------------------------------------------
// Transitions

static bool is_final(const char *name) {
    return name && (strcmp(name, "accept") == 0 || strcmp(name, "reject") == 0);
}

static struct decl *find_state(struct checker *c, const char *name, struct loc at) {
    const decl_vec *states = &c->block->members;
    struct guess g = guess_start(c, name);
    if (!name || is_final(name))
        return NULL;
    for (size_t i = 0; i < states->n; i++)
        if (has_name(states->v[i], name))
            return states->v[i];
    for (size_t i = 0; i < states->n; i++)
        guess_try(&g, states->v[i]->name);
    guess_try(&g, "accept");
    guess_try(&g, "reject");
    diag_error(c->d, at, "parser '%s' has no state '%s'%s", c->block->name, name,
               guess_text(c, &g));
    return NULL;
}

static bool may_select(const struct type *t) {
    switch (t->kind) {
    case TY_ERROR_TYPE:
    case TY_BITS:
    case TY_BOOL:
    case TY_ENUM:
    case TY_ERROR:
    case TY_NEWTYPE:
    case TY_TUPLE:
        return true;
    default:
        return false;
    }
}

static void check_select_key(struct checker *c, struct expr **key) {
    struct type *t = infer(c, *key);
    if (may_select(t))
        return;
    if (t->kind == TY_INT)
        diag_error(c->d, (*key)->at, "the width of this number is not known; write it as 8w...");
    else
        diag_error(c->d, (*key)->at, "cannot select on a value of type '%s'", tn(c, t));
    poison(c, *key);
}

static struct type *check_parser_keys_type(struct checker *c, const struct select *s) {
    struct type *t = new_type(c, TY_TUPLE);
    for (size_t i = 0; i < s->keys.n; i++)
        VEC_PUSH(c->a, &t->args, s->keys.v[i]->type);
    return t;
}

// A value set whose struct or tuple has one field per key.
static bool set_matches(struct checker *c, const struct type *elem, const struct select *s) {
    if (elem->kind == TY_TUPLE)
        return type_equal(elem, check_parser_keys_type(c, s));
    if (elem->kind != TY_STRUCT || elem->decl->members.n != s->keys.n)
        return elem->kind == TY_ERROR_TYPE;
    for (size_t i = 0; i < s->keys.n; i++) {
        struct type *ft = type_field(c->a, elem, elem->decl->members.v[i]->name, NULL);
        if (!ft || !type_equal(ft, s->keys.v[i]->type))
            return false;
    }
    return true;
}

static void complain_arity(struct checker *c, const struct expr *e, const struct select *s,
                           size_t given) {
    struct loc at = s->keys.n ? s->keys.v[0]->at : s->at;
    diag_error(c->d, at, "the select has %zu key%s, but a case has %zu value%s", s->keys.n,
               s->keys.n == 1 ? "" : "s", given, given == 1 ? "" : "s");
    diag_note(c->d, e->at, "the case is here");
}

static void check_tuple_keyset(struct checker *c, struct expr *e, const struct select *s) {
    if (e->args.n != s->keys.n) {
        complain_arity(c, e, s, e->args.n);
        poison(c, e);
        return;
    }
    for (size_t i = 0; i < s->keys.n; i++) {
        struct expr **value = &e->args.v[i]->value;
        *value = check_keyset(c, *value, s->keys.v[i]->type, s->keys.v[i]);
    }
    e->type = set_of(c, check_parser_keys_type(c, s));
}

static void check_select_keyset(struct checker *c, struct select_case *sc, const struct select *s) {
    struct expr *e = sc->keyset;
    if (e->kind == EX_LIST && (s->keys.n != 1 || s->keys.v[0]->type->kind != TY_TUPLE)) {
        check_tuple_keyset(c, e, s);
        return;
    }
    if (e->kind == EX_DEFAULT || e->kind == EX_DONTCARE) {
        e->type = set_of(c, s->keys.n == 1 ? s->keys.v[0]->type : check_parser_keys_type(c, s));
        return;
    }
    bool name = e->kind == EX_NAME || e->kind == EX_MEMBER;
    struct type *t = name ? infer(c, e) : c->t_void;
    if (t->kind == TY_SET && t->elem && set_matches(c, t->elem, s))
        return;
    if (s->keys.n == 1)
        sc->keyset = check_keyset(c, e, s->keys.v[0]->type, s->keys.v[0]);
    else
        complain_arity(c, e, s, 1);
}

static void check_select(struct checker *c, struct select *s) {
    for (size_t i = 0; i < s->keys.n; i++)
        check_select_key(c, &s->keys.v[i]);
    bool all = false;
    for (size_t i = 0; i < s->cases.n; i++) {
        struct select_case *sc = s->cases.v[i];
        if (all)
            diag_warning(c->d, sc->at,
                         "this case is never reached: an earlier case matches everything");
        check_select_keyset(c, sc, s);
        sc->state = find_state(c, sc->next, sc->name_at);
        all = sc->keyset->kind == EX_DEFAULT || sc->keyset->kind == EX_DONTCARE;
    }
}

static void check_transition(struct checker *c, struct stmt *s) {
    if (s->select)
        check_select(c, s->select);
    else
        s->state = find_state(c, s->name, s->name_at);
}

// ------------------------------------------------------------------------------------------------
// States

static void check_state(struct checker *c, struct decl *d) {
    d->type = c->t_state;
    c->place = AT_STATE;
    names_push(c);
    struct stmt *body = d->body;
    for (size_t i = 0; body && i < body->stmts.n; i++) {
        struct stmt *s = body->stmts.v[i];
        if (s && s->kind == ST_TRANSITION)
            check_transition(c, s);
        else
            check_stmt(c, s);
    }
    names_pop(c);
}

static void check_state_name(struct checker *c, const decl_vec *states, size_t i) {
    const struct decl *d = states->v[i];
    if (is_final(d->name))
        diag_error(c->d, d->name_at, "state '%s' is predefined", d->name);
    for (size_t k = 0; k < i; k++) {
        if (!has_name(states->v[k], d->name))
            continue;
        diag_error(c->d, d->name_at, "state '%s' is declared twice", d->name);
        note_declared(c, states->v[k]);
        return;
    }
}

static const struct stmt *transition_of(const struct decl *state) {
    const struct stmt *body = state->body;
    if (!body || body->stmts.n == 0)
        return NULL;
    const struct stmt *last = body->stmts.v[body->stmts.n - 1];
    return last && last->kind == ST_TRANSITION ? last : NULL;
}

static void check_parser_visit(decl_vec *todo, bool *seen, struct decl *state) {
    if (!state || seen[state->index])
        return;
    seen[state->index] = true;
    todo->v[todo->n++] = state;
}

// A state without transition, or whose select need not match, rejects.
static bool may_end(const struct decl *state) {
    const struct stmt *t = transition_of(state);
    if (!t)
        return true;
    bool all = !t->select;
    for (size_t k = 0; t->select && k < t->select->cases.n; k++) {
        const struct select_case *sc = t->select->cases.v[k];
        all |= sc->keyset->kind == EX_DEFAULT || sc->keyset->kind == EX_DONTCARE;
        if (!sc->state)
            return true;
    }
    return !all || (!t->select && !t->state);
}

static void check_reachable(struct checker *c, const struct decl *parser, struct decl *start) {
    const decl_vec *states = &parser->members;
    bool *seen = ARENA_ARRAY(c->a, bool, states->n);
    decl_vec todo = {.v = ARENA_ARRAY(c->a, struct decl *, states->n), .cap = states->n};
    check_parser_visit(&todo, seen, start);
    for (size_t i = 0; i < todo.n; i++) {
        const struct stmt *t = transition_of(todo.v[i]);
        if (t)
            check_parser_visit(&todo, seen, t->state);
        for (size_t k = 0; t && t->select && k < t->select->cases.n; k++)
            check_parser_visit(&todo, seen, t->select->cases.v[k]->state);
    }
    bool ends = false;
    for (size_t i = 0; i < todo.n; i++)
        ends |= may_end(todo.v[i]);
    if (!ends)
        diag_error(c->d, parser->name_at, "no path through parser '%s' ends in accept or reject",
                   parser->name);
    for (size_t i = 0; i < states->n; i++)
        if (!seen[i])
            diag_warning(c->d, states->v[i]->name_at, "state '%s' is never reached",
                         states->v[i]->name);
}

void check_parser_decl(struct checker *c, struct decl *d) {
    struct decl *start = NULL;
    if (d->members.n > CHECK_MAX_STATES) { // a state is found by going through all of them
        diag_error(c->d, d->name_at, "parser '%s' has %zu states; at most %u are supported",
                   d->name, d->members.n, CHECK_MAX_STATES);
        return;
    }
    for (size_t i = 0; i < d->members.n; i++) {
        d->members.v[i]->parent = d;
        d->members.v[i]->index = (unsigned)i;
        check_state_name(c, &d->members, i);
        if (has_name(d->members.v[i], "start"))
            start = d->members.v[i];
    }
    for (size_t i = 0; i < d->members.n; i++)
        check_state(c, d->members.v[i]);
    if (start)
        check_reachable(c, d, start);
    else
        diag_error(c->d, d->name_at, "parser '%s' has no state 'start'", d->name);
}

// value_set<T>(size) name (section 13.11).
void check_value_set(struct checker *c, struct decl *d) {
    struct type *t = resolve_type(c, d->tref);
    d->type = set_of(c, t);
    if (!may_select(t) && t->kind != TY_STRUCT)
        diag_error(c->d, d->tref->at, "a value set cannot hold values of type '%s'", tn(c, t));
    if (d->init) {
        big v = constant_int(c, &d->init, "the size of a value set");
        if (v && big_sign(v) < 0)
            diag_error(c->d, d->init->at, "the size of a value set cannot be negative");
    }
    declare_name(c, d);
}
