// SPDX-License-Identifier: Apache-2.0
//
// tokens_forgotten: marks that were forgotten, and what to skip after an error.
#include "compiler/syntax/tokens_impl.h"

// --------------------------------------------------------------------------------------------
// Where a token can stand, by itself

enum level {
    LEVEL_ANY,
    LEVEL_BODY, // directly in the body of a control or parser, or at the top level
    LEVEL_TOP,  // only at the top level
};

// Keywords that stand only there tell that braces before them were forgotten.
static enum level level_of(const struct parser *p, size_t i) {
    switch (kind_at(p, i)) {
    case TOK_CONTROL:
    case TOK_PARSER:
    case TOK_PACKAGE:
    case TOK_HEADER:
    case TOK_HEADER_UNION:
    case TOK_STRUCT:
    case TOK_EXTERN:
    case TOK_ENUM:
    case TOK_TYPEDEF:
        return LEVEL_TOP;
    case TOK_ACTION:
    case TOK_TABLE:
        return LEVEL_BODY;
    case TOK_APPLY:
        return kind_at(p, i + 1) == '{' ? LEVEL_BODY : LEVEL_ANY;
    case TOK_STATE:
        return tokens_is_word(token_at(p, i + 1)) && kind_at(p, i + 2) == '{' ? LEVEL_BODY
                                                                              : LEVEL_ANY;
    default:
        return LEVEL_ANY;
    }
}

// --------------------------------------------------------------------------------------------
// The forgotten ')' of parameters

// Index + 1 of the innermost open parenthesis of parameters, unless a block is open inside.
static size_t unclosed_params(const struct parser *p) {
    size_t i = p->open.n;
    while (i > 0 && !tokens_is_block(&p->open.v[i - 1]) && !p->open.v[i - 1].is_params)
        i--;
    return i > 0 && p->open.v[i - 1].is_params ? i : 0;
}

static bool ends_params(const struct parser *p, size_t params) {
    int kind = kind_at(p, p->next);
    if (kind == '{') // a default value may be in braces
        return params == p->open.n && p->last_kind != '=';
    if (kind == '}' && p->open.v[p->open.n - 1].close == TOK_VALUE_CLOSE)
        return false;
    return kind == ';' || kind == '}' || kind == TOK_YYEOF || level_of(p, p->next) == LEVEL_TOP;
}

bool tokens_close_params(struct parser *p) {
    size_t params = unclosed_params(p);
    if (params == 0 || !ends_params(p, params))
        return false;
    if (!p->recovering) {
        const struct token *t = token_at(p, p->next);
        bool same_line = p->last->at.line == t->at.line && kind_at(p, p->next) != TOK_YYEOF;
        parse_error(p, same_line ? t->at : loc_after(p->last->at),
                    "a ')' is missing at the end of the parameters");
    }
    p->open.n = params - 1;
    tokens_drop_angles(p);
    return true;
}

// --------------------------------------------------------------------------------------------
// Skipping after an error

// Skips '(...)' at the next token unless it does not close before a brace.
static bool skip_parentheses(struct parser *p) {
    unsigned depth = 0;
    for (size_t i = p->next; i < p->end; i++) {
        int kind = p->tokens[i].kind;
        if (kind == '(')
            depth++;
        else if (kind == '{' || kind == '}')
            return false;
        else if (kind == ')' && --depth == 0) {
            p->next = i + 1;
            return true;
        }
    }
    return false;
}

// Skips to after the '}' of a group whose '{' is at token 'i'; false when it does not close.
static bool skip_braces(struct parser *p, size_t i) {
    unsigned depth = 0;
    for (; i < p->end; i++) {
        int kind = p->tokens[i].kind;
        if (kind == '{')
            depth++;
        else if (level_of(p, i) == LEVEL_TOP)
            return false;
        else if (kind == '}' && --depth == 0) {
            p->next = i + 1;
            return true;
        }
    }
    return false;
}

// A skipped 'if' takes its 'else' with it.
static void skip_else(struct parser *p) {
    while (kind_at(p, p->next) == TOK_ELSE) {
        p->next++;
        if (kind_at(p, p->next) == TOK_IF) {
            p->next++;
            if (kind_at(p, p->next) != '(' || !skip_parentheses(p))
                return;
        }
        if (kind_at(p, p->next) != '{' || !skip_braces(p, p->next))
            return;
    }
}

static bool skip_group(struct parser *p, size_t open) {
    if (!skip_braces(p, open))
        return false;
    skip_else(p);
    return true;
}

// ';' that belongs to the head of a 'for' is no end of a statement.
static bool in_for_head(const struct parser *p) {
    for (size_t i = p->open.n; i > 0 && !tokens_is_block(&p->open.v[i - 1]); i--)
        if (p->open.v[i - 1].is_for)
            return true;
    return false;
}

// Skips what cannot be where reading goes on. Returns TOK_SKIPPED when a whole group was skipped,
// 0 when the next token is to be looked at as usual.
int tokens_skip(struct parser *p) {
    if (p->skip_group) {
        p->skip_group = false;
        if (skip_group(p, p->next - 1)) {
            p->open.n -= p->open.n > 0;
            return TOK_SKIPPED;
        }
    }
    for (;;) {
        int kind = kind_at(p, p->next);
        if (kind == '(' && skip_parentheses(p))
            continue;
        if (kind == '{' && !unclosed_params(p) && skip_group(p, p->next))
            return TOK_SKIPPED;
        if (kind == ')' && unclosed_params(p) && unclosed_params(p) < p->open.n)
            tokens_close_bracket(p, ')'); // of a parenthesis inside the parameters
        else if (kind != ';' || !in_for_head(p))
            return 0;
        p->next++;
    }
}

// --------------------------------------------------------------------------------------------
// Forgotten closing braces

static void report_forgotten_brace(struct parser *p, const struct token *t) {
    parse_error(p, t->at, "'%.*s' is not allowed here; a '}' may be missing before it",
                (int)t->length, t->text);
    for (size_t i = p->quiet ? 0 : p->open.n; i > 0; i--) {
        if (tokens_is_block(&p->open.v[i - 1])) {
            diag_note(p->d, p->open.v[i - 1].at, "this '{' is still open");
            break;
        }
    }
    p->recovering = true;
}

// The next keyword of the top level after token 'i', or the end.
static size_t next_top(const struct parser *p, size_t i) {
    do
        i++;
    while (i < p->end && level_of(p, i) != LEVEL_TOP);
    return i < p->end ? i : p->end;
}

// Whether braces are missing at all: when all that are open are closed before the next keyword of
// the top level, none was forgotten and this keyword is just in a wrong place.
static bool braces_missing(struct parser *p) {
    if (!p->balance)
        return true;
    if (p->next < p->top_from || p->next >= p->top_index) {
        p->top_from = p->next;
        p->top_index = next_top(p, p->next);
    }
    int32_t open = 0;
    for (size_t i = 0; i < p->open.n; i++)
        open += p->open.v[i].close == '}' || p->open.v[i].close == TOK_VALUE_CLOSE;
    return open + p->balance[p->top_index] - p->balance[p->next] > 0;
}

void tokens_start(struct parser *p) {
    int32_t *balance = ARENA_ARRAY(p->a, int32_t, p->end + 1);
    for (size_t i = 0; i < p->end; i++) {
        int kind = p->tokens[i].kind;
        balance[i + 1] = balance[i] + (kind == '{') - (kind == '}');
    }
    p->balance = balance;
}

static bool stands_too_deep(const struct parser *p, enum level level) {
    if (level == LEVEL_ANY)
        return false;
    size_t braces = 0;
    for (size_t i = 0; i < p->open.n; i++)
        braces += tokens_is_block(&p->open.v[i]);
    uint32_t scopes = scope_depth(p->scope);
    if (level == LEVEL_TOP)
        return p->open.n > 0 || scopes > 0;
    return braces > 1 || scopes > 1;
}

// Forgets the innermost block and what is open inside it.
static void close_one_block(struct parser *p) {
    while (p->open.n > 0 && !tokens_is_block(&p->open.v[p->open.n - 1]))
        p->open.n--;
    p->open.n -= p->open.n > 0;
    p->angles.n = 0;
}

// At a keyword that stands too deep, the constructs around it are closed one by one: the grammar
// takes each TOK_UNWIND as the end of one list in braces, or of all up to the top level.
bool tokens_unwind(struct parser *p) {
    const struct token *t = token_at(p, p->next);
    bool too_deep = p->last_kind != '.' && stands_too_deep(p, level_of(p, p->next));
    if (!too_deep || (p->unwinding == 0 && !braces_missing(p))) {
        if (p->unwinding > 0)
            tokens_recovered(p);
        p->unwinding = 0;
        return false;
    }
    if (p->unwinding == 0 && !p->recovering)
        report_forgotten_brace(p, t);
    if (++p->unwinding > 4 * MAX_OPEN_BRACKETS)
        p->stopped = true;
    close_one_block(p);
    return true;
}
