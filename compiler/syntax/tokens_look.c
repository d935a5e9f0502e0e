// SPDX-License-Identifier: Apache-2.0
//
// tokens_look: looking ahead: does '<' open type arguments?
#include "compiler/syntax/tokens_impl.h"

// Type arguments longer than this are not looked through.
#define MAX_LOOKAHEAD 4000u

struct look {
    const struct parser *p;
    size_t i, limit;
    unsigned depth;
    bool unknown; // a name that nothing has was taken for a type
};

static int look_kind(const struct look *l) {
    return l->i < l->limit ? kind_at(l->p, l->i) : TOK_YYEOF;
}

// Skips a bracketed group; false when it does not close.
static bool look_over_group(struct look *l) {
    unsigned depth = 0;
    do {
        int kind = look_kind(l);
        if (kind == '(' || kind == '[')
            depth++;
        else if (kind == ')' || kind == ']')
            depth--;
        else if (kind == TOK_YYEOF || kind == ';' || kind == '{' || kind == '}')
            return false;
        l->i++;
    } while (depth > 0);
    return true;
}

// The width of bit<...>: anything up to the '>' at its own level.
static bool look_over_width(struct look *l) {
    for (;;) {
        int kind = look_kind(l);
        if (kind == TOK_GT) {
            l->i++;
            return true;
        }
        if (kind == '(' || kind == '[') {
            if (!look_over_group(l))
                return false;
            continue;
        }
        if (kind == TOK_YYEOF || kind == ';' || kind == '{' || kind == '}' || kind == ')')
            return false;
        l->i++;
    }
}

static bool look_over_type_args(struct look *l);

// A name counts as a type when it is one; after the first argument also when it is unknown,
// because nothing but type arguments starts with a type. A first one that is unknown is a mistake
// either way: it is taken for a type where a call follows.
static bool look_over_type_name(struct look *l, bool first) {
    bool absolute = look_kind(l) == '.';
    if (absolute)
        l->i++;
    const struct token *t = token_at(l->p, l->i);
    if (look_kind(l) != TOK_IDENTIFIER)
        return false;
    enum scope_kind kind = absolute ? scope_lookup_top(l->p->scope, t->text, t->length)
                                    : scope_lookup(l->p->scope, t->text, t->length);
    l->unknown |= first && kind == SCOPE_UNKNOWN;
    if (kind != SCOPE_TYPE && kind != SCOPE_UNKNOWN && (first || absolute))
        return false;
    l->i++;
    return look_kind(l) != TOK_LT || look_over_type_args(l);
}

static bool look_over_type(struct look *l, bool first) {
    switch (look_kind(l)) {
    case TOK_BIT:
    case TOK_INT:
    case TOK_VARBIT:
        l->i++;
        if (look_kind(l) == TOK_LT && (l->i++, !look_over_width(l)))
            return false;
        break;
    case TOK_TUPLE:
    case TOK_LIST:
        l->i++;
        if (look_kind(l) != TOK_LT || !look_over_type_args(l))
            return false;
        break;
    case TOK_BOOL:
    case TOK_ERROR:
    case TOK_MATCH_KIND:
    case TOK_STRING_TYPE:
    case TOK_VOID:
    case TOK_DONTCARE:
        l->i++;
        break;
    default:
        if (!look_over_type_name(l, first))
            return false;
    }
    while (look_kind(l) == '[')
        if (!look_over_group(l))
            return false;
    return true;
}

// From '<' to after its '>'.
static bool look_over_type_args(struct look *l) {
    if (++l->depth > 100)
        return false;
    bool first = true;
    do {
        l->i++; // '<' or ','
        if (first && look_kind(l) == TOK_GT)
            break;
        if (!look_over_type(l, first))
            return false;
        first = false;
    } while (look_kind(l) == ',');
    l->depth--;
    return look_kind(l) == TOK_GT && (l->i++, true);
}

bool tokens_open_type_args(const struct parser *p, size_t i) {
    struct look l = {.p = p, .i = i, .limit = i + MAX_LOOKAHEAD};
    return look_over_type_args(&l) && (!l.unknown || look_kind(&l) == '(');
}
