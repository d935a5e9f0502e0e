// SPDX-License-Identifier: Apache-2.0
//
// check: drives the checking of a program, and words shared by all messages.
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Messages

const char *tn(struct checker *c, const struct type *t) {
    return type_name(c->a, settle(c, (struct type *)t));
}

const char *role_text(struct checker *c, struct role r) {
    return r.name ? arena_printf(c->a, "%s '%s'", r.what, r.name) : r.what;
}

// After the last error that is shown nobody reads a guess.
struct guess guess_start(struct checker *c, const char *wanted) {
    if (diag_errors(c->d) >= DIAG_MAX_ERRORS)
        wanted = NULL;
    size_t length = wanted ? strlen(wanted) : 0;
    // A third of the letters may differ; more than that is another word.
    return (struct guess){.a = c->a, .wanted = wanted, .distance = length / 3 + 1};
}

#define GUESS_MAX 64

// Letters to insert, remove, replace or swap to get from one word to the other.
static size_t edit_distance(const char *x, const char *y) {
    size_t nx = strlen(x), ny = strlen(y);
    if (nx >= GUESS_MAX || ny >= GUESS_MAX)
        return GUESS_MAX;
    size_t before[GUESS_MAX], last[GUESS_MAX], row[GUESS_MAX];
    for (size_t j = 0; j <= ny; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= nx; i++) {
        row[0] = i;
        for (size_t j = 1; j <= ny; j++) {
            size_t cost = last[j - 1] + (x[i - 1] != y[j - 1]);
            if (last[j] + 1 < cost)
                cost = last[j] + 1;
            if (row[j - 1] + 1 < cost)
                cost = row[j - 1] + 1;
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] &&
                before[j - 2] + 1 < cost)
                cost = before[j - 2] + 1;
            row[j] = cost;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, row, sizeof last);
    }
    return last[ny];
}

void guess_try(struct guess *g, const char *candidate) {
    if (!g->wanted || !candidate || strcmp(g->wanted, candidate) == 0)
        return;
    arena_spend(g->a, strlen(g->wanted) * strlen(candidate));
    size_t distance = edit_distance(g->wanted, candidate);
    bool nearer = distance < g->distance;
    // Of two equally near names take the first in the alphabet: hash order must not show.
    bool tie = distance == g->distance && g->best && strcmp(candidate, g->best) < 0;
    if (nearer || tie) {
        g->distance = distance;
        g->best = candidate;
    }
}

const char *guess_text(struct checker *c, const struct guess *g) {
    return g->best ? arena_printf(c->a, "; did you mean '%s'?", g->best) : "";
}

void note_declared(struct checker *c, const struct decl *d) {
    if (d && d->name && d->name_at.line)
        diag_note(c->d, d->name_at, "'%s' is declared here", d->name);
}

bool has_name(const struct decl *d, const char *name) {
    return d->name && name && strcmp(d->name, name) == 0;
}

bool is_type_decl(const struct decl *d) {
    switch (d->kind) {
    case D_TYPEVAR:
    case D_TYPEDEF:
    case D_NEWTYPE:
    case D_STRUCT:
    case D_HEADER:
    case D_UNION:
    case D_ENUM:
    case D_EXTERN:
    case D_PARSER_TYPE:
    case D_CONTROL_TYPE:
    case D_PACKAGE:
    case D_PARSER:
    case D_CONTROL:
        return true;
    default:
        return false;
    }
}

// ------------------------------------------------------------------------------------------------
// The program

static void init_types(struct checker *c) {
    c->t_bad = new_type(c, TY_ERROR_TYPE);
    c->t_void = new_type(c, TY_VOID);
    c->t_bool = new_type(c, TY_BOOL);
    c->t_int = new_type(c, TY_INT);
    c->t_string = new_type(c, TY_STRING);
    c->t_error = new_type(c, TY_ERROR);
    c->t_match_kind = new_type(c, TY_MATCH_KIND);
    c->t_dontcare = new_type(c, TY_DONTCARE);
    c->t_state = new_type(c, TY_STATE);
    c->t_bit32 = bits_type(c, 32, false);
}

static void find_main(struct checker *c) {
    struct decl *main = names_find(c->top, "main");
    if (!main)
        return;
    if (main->kind != D_INSTANCE) {
        diag_error(c->d, main->name_at, "'main' must be an instance of a package");
        return;
    }
    if (main->type && main->type->kind != TY_PACKAGE && main->type->kind != TY_ERROR_TYPE)
        diag_error(c->d, main->name_at, "'main' must be an instance of a package, not of '%s'",
                   tn(c, main->type));
    c->p->main = main;
}

bool check_program(struct arena *a, struct diag *d, struct program *p) {
    struct checker c = {.a = a, .d = d, .p = p};
    init_types(&c);
    c.top = c.scope = names_new(&c, NULL);
    c.errors = names_new(&c, NULL);
    c.match_kinds = names_new(&c, NULL);
    c.control_names = names_new(&c, NULL);
    unsigned before = diag_errors(d);
    for (size_t i = 0; i < p->decls.n; i++)
        if (p->decls.v[i])
            check_decl(&c, p->decls.v[i]);
    find_main(&c);
    return diag_errors(d) == before;
}
