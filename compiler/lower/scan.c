// SPDX-License-Identifier: Apache-2.0
//
// scan: questions about the AST that lowering asks before it commits to something.
#include "compiler/lower/lower_impl.h"

#include <string.h>

const struct expr *strip(const struct expr *e) {
    while (e && e->kind == EX_CAST && !e->tref)
        e = e->a;
    return e;
}

// Whether the expression is an instance of that extern.
static bool lower_scan_is_of(const struct expr *e, const char *name) {
    const struct type *t = e && e->type ? plain(e->type) : NULL;
    return t && t->kind == TY_EXTERN && t->decl && strcmp(t->decl->name, name) == 0;
}

// Calls that only compute: built-in queries and extern functions without state.
static bool is_pure_call(const struct expr *e) {
    if (e->call == CALL_BUILTIN)
        return e->builtin != BI_SET_VALID && e->builtin != BI_SET_INVALID &&
               e->builtin != BI_PUSH_FRONT && e->builtin != BI_POP_FRONT;
    if (e->call == CALL_METHOD)
        return e->a && e->a->name &&
               (strcmp(e->a->name, "lookahead") == 0 || lower_scan_is_of(e->a->a, "RegisterParam"));
    static const char *const pure[] = {"max", "min", "is_validated", "sizeInBits", "sizeInBytes"};
    if (e->call != CALL_FUNCTION || !e->decl || e->decl->body)
        return e->call == CALL_CTOR;
    for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
        if (strcmp(e->decl->name, pure[i]) == 0)
            return true;
    return false;
}

bool scan_effects(const struct expr *e) {
    if (!e)
        return false;
    if (e->kind == EX_CALL && !is_pure_call(e))
        return true;
    if (scan_effects(e->a) || scan_effects(e->b) || scan_effects(e->c))
        return true;
    for (size_t i = 0; i < e->args.n; i++)
        if (scan_effects(e->args.v[i]->value))
            return true;
    return false;
}

// ---- applications of an instance ----------------------------------------------------------------

// An instance that is a constructor's argument is applied by the block that gets it. What that
// block calls its parameters is something else outside: the argument of its own application.
struct given {
    const struct given *up;     // what gave it to the block around; null: the declaring one
    const struct decl *block;   // that gets the instance
    const struct expr *applied; // its only application; null: there are several, or none is found
};

// An argument as the declaring block would write it, and what its names stand for there: two blocks
// may give different variables the same name.
struct handed {
    const char *text; // null: that cannot be said
    decl_vec names;   // in the order of the text
};

struct applies {
    struct arena *a;
    const struct decl *d;
    const struct given *given; // where the search is; null: in the declaring block
    const struct decl *block;  // the declaring one
    bool repeated;             // it is itself applied more than once
    struct handed *first;      // by parameter: what the first application found hands in
    unsigned n;
    call_vec *calls;
    bool *same;
    size_t n_params;
};

static const struct decl *root_of(const struct expr *e);

static size_t param_index(const struct decl *block, const struct decl *d) {
    size_t i = 0;
    while (i < block->params.n && block->params.v[i] != d)
        i++;
    return i;
}

static void add_names(struct arena *a, decl_vec *names, const struct expr *e,
                      const struct decl *but) {
    if (!e)
        return;
    if (e->kind == EX_NAME && e->decl != but)
        VEC_PUSH(a, names, e->decl);
    add_names(a, names, e->a, but);
    add_names(a, names, e->b, but);
    add_names(a, names, e->c, but);
    for (size_t i = 0; i < e->args.n; i++)
        add_names(a, names, e->args.v[i]->value, but);
}

static struct handed handed_in(struct arena *a, const struct given *given, const struct expr *e) {
    struct handed h = {.text = expr_text(a, e)};
    for (; given; given = given->up) {
        const struct decl *root = root_of(e);
        const size_t i = root ? param_index(given->block, root) : given->block->params.n;
        const struct expr *outside =
            given->applied && i < given->block->params.n ? bound_arg(given->applied, i) : NULL;
        const size_t name = root ? strlen(root->name) : 0;
        if (!outside || strncmp(h.text, root->name, name) != 0)
            return (struct handed){0};
        h.text = arena_printf(a, "%s%s", expr_text(a, outside), h.text + name);
        add_names(a, &h.names, e, root);
        e = outside;
    }
    add_names(a, &h.names, e, NULL);
    return h;
}

static bool same_meaning(const struct handed *x, const struct handed *y) {
    if (!x->text || !y->text || strcmp(x->text, y->text) != 0 || x->names.n != y->names.n)
        return false;
    for (size_t i = 0; i < x->names.n; i++)
        if (x->names.v[i] != y->names.v[i])
            return false;
    return true;
}

// A variable of a block of statements is another one each time that the block is entered; those of
// the control itself stay.
static bool made_anew(const struct decl *block, const struct expr *e) {
    const struct decl *d = root_of(e);
    if (!d || d->kind != D_VAR)
        return false;
    for (size_t i = 0; i < block->locals.n; i++)
        if (block->locals.v[i] == d)
            return false;
    return true;
}

static void compare_arguments(struct applies *s, const struct expr *e) {
    for (size_t i = 0; i < s->n_params; i++) {
        const struct expr *arg = bound_arg(e, i);
        const struct handed h = arg ? handed_in(s->a, s->given, arg) : (struct handed){.text = ""};
        if (s->n == 0)
            s->first[i] = h;
        s->same[i] = s->same[i] && (s->n == 0 || same_meaning(&h, &s->first[i])) &&
                     !(arg && s->repeated && made_anew(s->block, arg));
    }
}

static void count_call(struct applies *s, const struct expr *e) {
    if (!e || e->kind != EX_CALL || e->call != CALL_APPLY_BLOCK || !e->a ||
        e->a->kind != EX_MEMBER || !e->a->a || e->a->a->decl != s->d)
        return;
    compare_arguments(s, e);
    VEC_PUSH(s->a, s->calls, e);
    s->n++;
}

// Sub-controls are applied by statements only (appendix "Restrictions on compile time and run time
// calls"), so expressions need not be searched.
static void lower_scan_count_stmt(struct applies *s, const struct stmt *st) {
    if (!st)
        return;
    if (st->kind == ST_CALL)
        count_call(s, st->a);
    for (size_t i = 0; i < st->stmts.n; i++)
        lower_scan_count_stmt(s, st->stmts.v[i]);
    lower_scan_count_stmt(s, st->then_s);
    lower_scan_count_stmt(s, st->else_s);
    lower_scan_count_stmt(s, st->body);
    if (st->kind == ST_FOR || st->kind == ST_FORIN) {
        // Each round applies it, and the same words may mean another place.
        unsigned before = s->n;
        lower_scan_count_stmt(s, st->body);
        for (size_t i = 0; s->n > before && i < s->n_params; i++)
            s->same[i] = false;
    }
    for (size_t i = 0; i < st->cases.n; i++)
        lower_scan_count_stmt(s, st->cases.v[i]->body);
}

static void applies_in(struct applies *s, const struct decl *block, const struct decl *d,
                       const struct given *up);

// Blocks of 'block' whose constructors get the instance 'd'.
static void applies_given(struct applies *s, const struct decl *block, const struct decl *d,
                          const struct given *up) {
    for (size_t i = 0; i < block->locals.n; i++) {
        const struct decl *l = block->locals.v[i];
        const struct decl *gets = l->kind == D_INSTANCE && l->type ? l->type->decl : NULL;
        if (!gets || !gets->body || gets->kind != D_CONTROL || !l->ctor_call)
            continue;
        for (size_t k = 0; k < gets->ctor_params.n; k++) {
            const struct expr *arg = strip(bound_arg(l->ctor_call, k));
            if (!arg || arg->kind != EX_NAME || arg->decl != d)
                continue;
            call_vec own = {0};
            bool *same = ARENA_ARRAY(s->a, bool, gets->params.n + 1);
            scan_applies(s->a, block, l, false, same, gets->params.n, &own);
            const struct given g = {up, gets, own.n == 1 ? own.v[0] : NULL};
            applies_in(s, gets, gets->ctor_params.v[k], &g);
        }
    }
}

static void applies_in(struct applies *s, const struct decl *block, const struct decl *d,
                       const struct given *up) {
    s->d = d;
    s->given = up;
    lower_scan_count_stmt(s, block->body);
    applies_given(s, block, d, up);
}

unsigned scan_applies(struct arena *a, const struct decl *block, const struct decl *d,
                      bool repeated, bool *same, size_t n_params, call_vec *calls) {
    struct applies s = {.a = a,
                        .block = block,
                        .repeated = repeated,
                        .same = same,
                        .n_params = n_params,
                        .calls = calls};
    s.first = ARENA_ARRAY(a, struct handed, n_params + 1);
    for (size_t i = 0; i < n_params; i++)
        same[i] = true;
    applies_in(&s, block, d, NULL);
    return s.n;
}

// ---- what a loop's body does --------------------------------------------------------------------

typedef bool expr_test(const struct expr *e, const struct decl *d);

static bool any_expr(const struct expr *e, const struct decl *d, expr_test *test) {
    if (!e)
        return false;
    if (test(e, d) || any_expr(e->a, d, test) || any_expr(e->b, d, test) || any_expr(e->c, d, test))
        return true;
    for (size_t i = 0; i < e->args.n; i++)
        if (any_expr(e->args.v[i]->value, d, test))
            return true;
    return false;
}

static const struct decl *root_of(const struct expr *e) {
    e = strip(e);
    while (e && (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_SLICE ||
                 e->kind == EX_PLUS_SLICE))
        e = strip(e->a);
    return e && e->kind == EX_NAME ? e->decl : NULL;
}

// An argument for an 'out' or 'inout' parameter, or the object of a method that changes it.
static bool call_writes(const struct expr *e, const struct decl *d) {
    if (e->kind != EX_CALL)
        return false;
    if (e->call == CALL_BUILTIN)
        return scan_effects(e) && e->a && root_of(e->a->a) == d;
    for (size_t i = 0; i < e->bound.n; i++) {
        bool given = e->decl && i < e->decl->params.n;
        enum direction dir = given ? e->decl->params.v[i]->dir : DIR_INOUT;
        if ((dir == DIR_OUT || dir == DIR_INOUT) && root_of(e->bound.v[i]) == d)
            return true;
    }
    return false;
}

static bool calls_action(const struct expr *e, const struct decl *d) {
    (void)d;
    return e->kind == EX_CALL && (e->call == CALL_ACTION || e->call == CALL_APPLY_TABLE);
}

static bool any_stmt(const struct stmt *s, const struct decl *d, expr_test *test) {
    if (!s)
        return false;
    if (any_expr(s->a, d, test) || any_expr(s->b, d, test) ||
        (s->decl && any_expr(s->decl->init, d, test)))
        return true;
    if (any_stmt(s->then_s, d, test) || any_stmt(s->else_s, d, test) || any_stmt(s->body, d, test))
        return true;
    for (size_t i = 0; i < s->cases.n; i++)
        if (any_stmt(s->cases.v[i]->body, d, test))
            return true;
    const stmt_vec *lists[] = {&s->stmts, &s->init, &s->update};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (any_stmt(lists[k]->v[i], d, test))
                return true;
    return false;
}

static bool assigns(const struct stmt *s, const struct decl *d) {
    if (!s)
        return false;
    if (s->kind == ST_ASSIGN && root_of(s->a) == d)
        return true;
    if (assigns(s->then_s, d) || assigns(s->else_s, d) || assigns(s->body, d))
        return true;
    for (size_t i = 0; i < s->cases.n; i++)
        if (assigns(s->cases.v[i]->body, d))
            return true;
    const stmt_vec *lists[] = {&s->stmts, &s->init, &s->update};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (assigns(lists[k]->v[i], d))
                return true;
    return false;
}

bool scan_writes(const struct stmt *s, const struct decl *d) {
    return assigns(s, d) || any_stmt(s, d, call_writes);
}

bool scan_calls_actions(const struct stmt *s) {
    return any_stmt(s, NULL, calls_action);
}
