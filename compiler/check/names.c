// SPDX-License-Identifier: Apache-2.0
//
// names: scopes (P4_16 section 6.9). One namespace holds types, values and functions; a name
// is visible from its declaration on. Functions and extern functions may share a name in one scope.
#include "compiler/check/check_impl.h"

#include <string.h>

struct symbol {
    struct decl *decl;
    struct symbol *next; // same bucket; of equal names the first declared comes first
};

struct names {
    struct names *up;
    struct symbol **buckets;
    size_t n_buckets, n;
};

static size_t check_names_hash(const char *s) {
    size_t h = 1469598103934665603u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

struct names *names_new(struct checker *c, struct names *up) {
    struct names *s = ARENA_NEW(c->a, struct names);
    s->up = up;
    return s;
}

void names_push(struct checker *c) {
    c->scope = names_new(c, c->scope);
}

void names_pop(struct checker *c) {
    c->scope = c->scope->up;
}

static void bucket_append(struct symbol **bucket, struct symbol *sym) {
    sym->next = NULL;
    while (*bucket)
        bucket = &(*bucket)->next;
    *bucket = sym;
}

static void check_names_grow(struct checker *c, struct names *s) {
    size_t n = s->n_buckets ? s->n_buckets * 4 : 8;
    struct symbol **buckets = ARENA_ARRAY(c->a, struct symbol *, n);
    for (size_t i = 0; i < s->n_buckets; i++) {
        for (struct symbol *sym = s->buckets[i], *next; sym; sym = next) {
            next = sym->next;
            bucket_append(&buckets[check_names_hash(sym->decl->name) % n], sym);
        }
    }
    s->buckets = buckets;
    s->n_buckets = n;
}

static struct symbol *check_names_find(const struct names *s, const char *name) {
    if (!s->n_buckets)
        return NULL;
    struct symbol *sym = s->buckets[check_names_hash(name) % s->n_buckets];
    while (sym && strcmp(sym->decl->name, name) != 0)
        sym = sym->next;
    return sym;
}

struct decl *names_find(const struct names *s, const char *name) {
    struct symbol *sym = name ? check_names_find(s, name) : NULL;
    return sym ? sym->decl : NULL;
}

static void check_names_add(struct checker *c, struct names *s, struct decl *d) {
    if (s->n >= s->n_buckets)
        check_names_grow(c, s);
    struct symbol *sym = ARENA_NEW(c->a, struct symbol);
    sym->decl = d;
    bucket_append(&s->buckets[check_names_hash(d->name) % s->n_buckets], sym);
    s->n++;
}

bool names_add(struct checker *c, struct names *s, struct decl *d) {
    if (!d->name || check_names_find(s, d->name))
        return false;
    check_names_add(c, s, d);
    return true;
}

static struct names *names_with(struct checker *c, const char *name, bool absolute) {
    if (!name)
        return NULL;
    for (struct names *s = absolute ? c->top : c->scope; s; s = s->up)
        if (check_names_find(s, name))
            return s;
    return NULL;
}

struct decl *lookup_name(struct checker *c, const char *name, bool absolute) {
    struct names *s = names_with(c, name, absolute);
    return s ? check_names_find(s, name)->decl : NULL;
}

decl_vec lookup_names(struct checker *c, const char *name, bool absolute) {
    decl_vec all = {0};
    struct names *s = names_with(c, name, absolute);
    for (struct symbol *sym = s ? check_names_find(s, name) : NULL; sym; sym = sym->next)
        if (strcmp(sym->decl->name, name) == 0)
            VEC_PUSH(c->a, &all, sym->decl);
    return all;
}

// ------------------------------------------------------------------------------------------------
// Declaring

// Parameters by which overloads are told apart (section 8.20): their names in order.
bool same_parameters(const struct decl *x, const struct decl *y) {
    if (x->params.n != y->params.n)
        return false;
    for (size_t i = 0; i < x->params.n; i++)
        if (!has_name(x->params.v[i], y->params.v[i]->name))
            return false;
    return true;
}

static bool may_overload(const struct decl *x, const struct decl *y) {
    return x->kind == D_FUNCTION && y->kind == D_FUNCTION && !same_parameters(x, y);
}

static struct decl *check_names_conflict(const struct names *s, const struct decl *d) {
    for (struct symbol *sym = check_names_find(s, d->name); sym; sym = sym->next)
        if (strcmp(sym->decl->name, d->name) == 0 && !may_overload(sym->decl, d))
            return sym->decl;
    return NULL;
}

static bool is_local_value(const struct decl *d) {
    return d->kind == D_VAR || d->kind == D_CONST || d->kind == D_PARAM || d->kind == D_INSTANCE;
}

// Statements cannot hide a parameter: the reference compiler has it so.
static void check_shadowing(struct checker *c, const struct decl *d) {
    if (!is_local_value(d) || c->scope == c->top)
        return;
    for (struct names *s = c->scope->up; s && s != c->top; s = s->up) {
        struct decl *hidden = names_find(s, d->name);
        if (!hidden || !is_local_value(hidden))
            continue;
        bool in_block = c->place != AT_PARSER && c->place != AT_CONTROL && c->place != AT_TABLE;
        if (hidden->kind == D_PARAM && d->kind != D_PARAM && in_block)
            diag_error(c->d, d->name_at, "'%s' would hide the parameter of that name", d->name);
        else
            diag_warning(c->d, d->name_at, "'%s' hides another declaration of that name", d->name);
        note_declared(c, hidden);
        return;
    }
}

void declare_name(struct checker *c, struct decl *d) {
    if (!d->name)
        return;
    struct decl *old = check_names_conflict(c->scope, d);
    if (old) {
        diag_error(c->d, d->name_at, "'%s' is declared twice", d->name);
        note_declared(c, old);
        return;
    }
    check_shadowing(c, d);
    check_names_add(c, c->scope, d);
}

// ------------------------------------------------------------------------------------------------
// Suggestions

void guess_in(const struct names *s, struct guess *g) {
    for (size_t i = 0; i < s->n_buckets; i++)
        for (struct symbol *sym = s->buckets[i]; sym; sym = sym->next)
            guess_try(g, sym->decl->name);
}

void guess_visible(struct checker *c, struct guess *g, bool types) {
    for (struct names *s = c->scope; s; s = s->up)
        for (size_t i = 0; i < s->n_buckets; i++)
            for (struct symbol *sym = s->buckets[i]; sym; sym = sym->next)
                if (is_type_decl(sym->decl) == types)
                    guess_try(g, sym->decl->name);
}
