// SPDX-License-Identifier: Apache-2.0
//
// tokens: the token stream the grammar reads.
#include "compiler/syntax/tokens_impl.h"

#include <string.h>

// --------------------------------------------------------------------------------------------
// Values

static int literal_base(const char *digits, size_t length) {
    if (length < 2 || digits[0] != '0')
        return 10;
    switch (digits[1] | 0x20) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    case 'd':
        return -10; // decimal with a prefix
    default:
        return 10;
    }
}

static unsigned literal_width(struct parser *p, const struct token *t, size_t digits) {
    unsigned width = 0;
    for (size_t i = 0; i < digits && width <= BIG_MAX_BITS; i++)
        width = width * 10 + (unsigned)(t->text[i] - '0');
    if (width > BIG_MAX_BITS) {
        parse_error(p, t->at, "a width of more than %u bits is not supported", BIG_MAX_BITS);
        width = BIG_MAX_BITS;
    }
    return width;
}

big token_integer(struct parser *p, const struct token *t, bool *sized, unsigned *width,
                  bool *is_signed) {
    const char *text = arena_strndup(p->a, t->text, t->length);
    size_t mark = strspn(text, "0123456789");
    *width = 0;
    *is_signed = false;
    *sized = text[mark] == 'w' || text[mark] == 's';
    if (*sized) {
        *width = literal_width(p, t, mark);
        *is_signed = text[mark] == 's';
        text += mark + 1;
    }
    int base = literal_base(text, strlen(text));
    big value =
        base == 10 ? big_parse(p->a, text, 10) : big_parse(p->a, text + 2, base == -10 ? 10 : base);
    if (!value) // only underscores
        parse_error(p, t->at, "this number has no digits");
    else if (big_bits(value) > BIG_MAX_BITS)
        parse_error(p, t->at, "a number of more than %u bits is not supported", BIG_MAX_BITS);
    else
        return value;
    return big_u64(p->a, 0);
}

const char *token_string(struct arena *a, const struct token *t) {
    char *s = arena_alloc(a, t->length);
    size_t n = 0;
    for (size_t i = 1; i + 1 < t->length; i++) {
        char c = t->text[i];
        if (c == '\\' && i + 2 < t->length) {
            c = t->text[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        s[n++] = c;
    }
    return s;
}

// --------------------------------------------------------------------------------------------
// Brackets

int tokens_closing(int kind) {
    return kind == '(' ? ')' : kind == '[' ? ']' : kind == '{' ? '}' : 0;
}

void tokens_drop_angles(struct parser *p) {
    while (p->angles.n > 0 && p->angles.v[p->angles.n - 1] > p->open.n)
        p->angles.n--;
}

static void open_bracket(struct parser *p, const struct token *t) {
    struct bracket b = {.close = tokens_closing(t->kind), .at = t->at};
    b.is_for = p->last_kind == TOK_FOR;
    VEC_PUSH(p->a, &p->open, b);
    if (p->open.n > MAX_OPEN_BRACKETS)
        nested_too_deeply(p, t->at);
}

// Closes the innermost bracket that 'kind' can close, and those inside it that were forgotten.
// Returns the kind the grammar is to see.
int tokens_close_bracket(struct parser *p, int kind) {
    size_t i = p->open.n;
    while (i > 0) {
        int close = p->open.v[i - 1].close;
        if (close == kind || (kind == '}' && close == TOK_VALUE_CLOSE)) {
            p->open.n = i - 1;
            tokens_drop_angles(p);
            return close;
        }
        if (tokens_is_block(&p->open.v[i - 1]))
            break; // a ')' never closes beyond the block it stands in
        i--;
    }
    return kind;
}

void tokens_in_value(struct parser *p) {
    if (p->open.n > 0 && tokens_is_block(&p->open.v[p->open.n - 1]))
        p->open.v[p->open.n - 1].close = TOK_VALUE_CLOSE;
}

void tokens_in_params(struct parser *p) {
    if (p->open.n > 0)
        p->open.v[p->open.n - 1].is_params = true;
}

void tokens_insert_semicolon(struct parser *p) {
    if (p->inserted_at == p->last_index + 1)
        return;
    p->inserted_at = p->last_index + 1;
    p->insert = ';';
    p->next = p->last_index;
}

void tokens_recovered(struct parser *p) {
    p->recovering = false;
    while (p->open.n > 0 && !tokens_is_block(&p->open.v[p->open.n - 1]))
        p->open.n--;
    p->angles.n = 0;
}

// --------------------------------------------------------------------------------------------
// Angles

static bool is_nameable(int kind) {
    switch (kind) {
    case TOK_IDENTIFIER:
    case TOK_TYPE_IDENTIFIER:
    case TOK_ACTIONS:
    case TOK_APPLY:
    case TOK_ENTRIES:
    case TOK_KEY:
    case TOK_LIST:
    case TOK_PRIORITY:
    case TOK_STATE:
    case TOK_TYPE:
        return true;
    default:
        return false;
    }
}

static int open_angle(struct parser *p) {
    switch (p->last_kind) {
    case TOK_BIT:
    case TOK_INT:
    case TOK_VARBIT:
    case TOK_TUPLE:
    case TOK_LIST:
    case TOK_VALUE_SET:
        break;
    case TOK_TYPE_IDENTIFIER:
        if (p->after_dot && !tokens_open_type_args(p, p->next))
            return TOK_LT;
        break;
    default:
        if (!is_nameable(p->last_kind) || !tokens_open_type_args(p, p->next))
            return TOK_LT;
    }
    VEC_PUSH(p->a, &p->angles, p->open.n);
    if (p->angles.n > MAX_OPEN_BRACKETS)
        nested_too_deeply(p, token_at(p, p->next)->at);
    return TOK_ARGS_OPEN;
}

static int close_angle(struct parser *p, const struct token *t) {
    if (p->angles.n > 0 && p->angles.v[p->angles.n - 1] == p->open.n) {
        p->angles.n--;
        return TOK_ARGS_CLOSE;
    }
    bool adjacent = kind_at(p, p->next + 1) == TOK_GT && t[1].text == t->text + 1;
    return adjacent ? TOK_GT_GT : TOK_GT;
}

// --------------------------------------------------------------------------------------------

static int identifier_kind(const struct parser *p, const struct token *t) {
    enum scope_kind kind = p->last_kind == '.' ? scope_lookup_top(p->scope, t->text, t->length)
                                               : scope_lookup(p->scope, t->text, t->length);
    return kind == SCOPE_TYPE ? TOK_TYPE_IDENTIFIER : TOK_IDENTIFIER;
}

// The kind of an ordinary token, with the bookkeeping of brackets.
static int ordinary_kind(struct parser *p, const struct token *t) {
    switch (t->kind) {
    case TOK_IDENTIFIER:
        return identifier_kind(p, t);
    case '(':
    case '[':
    case '{':
        open_bracket(p, t);
        return t->kind;
    case ')':
    case ']':
    case '}':
        return tokens_close_bracket(p, t->kind);
    case TOK_LT:
        return open_angle(p);
    case TOK_GT:
        return close_angle(p, t);
    case ';':
        p->angles.n = 0;
        return ';';
    default:
        return t->kind;
    }
}

static int tokens_hand_out(struct parser *p, const struct token *t, int kind) {
    p->after_dot = p->last_kind == '.';
    p->before_last = p->last;
    p->last = t;
    return p->last_kind = kind;
}

// A token that is not in the text, right after the last one.
static int hand_out_inserted(struct parser *p, int kind) {
    struct token *t = ARENA_NEW(p->a, struct token);
    t->kind = kind;
    t->at = loc_after(p->last->at);
    t->text = kind == ';' ? ";" : ")";
    t->length = 1;
    return tokens_hand_out(p, t, kind);
}

static int next_in_text(struct parser *p, struct annotation **annotation) {
    const struct token *t = token_at(p, p->next);
    p->last_index = p->next;
    if (p->next == p->end)
        return tokens_hand_out(p, t, TOK_YYEOF);
    if (tokens_unwind(p))
        return tokens_hand_out(p, t, p->stopped ? TOK_YYEOF : TOK_UNWIND);
    if (t->kind == '@' || t->kind == TOK_PRAGMA) {
        *annotation = t->kind == '@' ? tokens_annotation(p) : tokens_pragma(p);
        if (*annotation)
            return tokens_hand_out(p, t, TOK_ANNOTATION);
    }
    int kind = ordinary_kind(p, t);
    p->next++;
    return tokens_hand_out(p, t, p->stopped ? TOK_YYEOF : kind);
}

static int stream_next(struct parser *p, struct annotation **annotation) {
    if (p->stopped || p->next > p->end)
        p->next = p->end;
    if (p->insert) {
        int kind = p->insert;
        p->insert = 0;
        return hand_out_inserted(p, kind);
    }
    if (p->recovering && tokens_skip(p) == TOK_SKIPPED)
        return tokens_hand_out(p, token_at(p, p->next - 1), TOK_SKIPPED);
    if (tokens_close_params(p))
        return hand_out_inserted(p, ')');
    return next_in_text(p, annotation);
}

int tokens_next(struct parser *p, struct loc *at, struct annotation **annotation) {
    if (p->start) {
        int start = p->start;
        p->start = 0;
        *at = token_at(p, p->next)->at;
        at->end_col = at->col;
        return start;
    }
    int kind = stream_next(p, annotation);
    *at = p->last->at;
    return kind;
}
