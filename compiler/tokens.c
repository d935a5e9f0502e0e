// SPDX-License-Identifier: Apache-2.0
//
// tokens: the token stream the grammar reads.
#include "compiler/tokens.h"

#include <string.h>

#include "compiler/build.h"
#include "p4_parse.h"

// A program nested deeper is nobody's; a bound lets every phase recurse over the tree.
#define MAX_OPEN_BRACKETS AST_MAX_DEPTH
// Type arguments longer than this are not looked through.
#define MAX_LOOKAHEAD 4000u

static const struct token *token_at(const struct parser *p, size_t i) {
    return &p->tokens[i < p->end ? i : p->end];
}

static int kind_at(const struct parser *p, size_t i) {
    return i < p->end ? p->tokens[i].kind : TOK_YYEOF;
}

static bool is_word(const struct token *t) {
    char c = t->length ? t->text[0] : '\0';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

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

static int closing_of(int kind) {
    return kind == '(' ? ')' : kind == '[' ? ']' : kind == '{' ? '}' : 0;
}

static bool is_block(const struct bracket *b) {
    return b->close == '}';
}

static void drop_angles(struct parser *p) {
    while (p->angles.n > 0 && p->angles.v[p->angles.n - 1] > p->open.n)
        p->angles.n--;
}

static void open_bracket(struct parser *p, const struct token *t) {
    struct bracket b = {.close = closing_of(t->kind), .at = t->at};
    b.is_for = p->last_kind == TOK_FOR;
    VEC_PUSH(p->a, &p->open, b);
    if (p->open.n > MAX_OPEN_BRACKETS)
        nested_too_deeply(p, t->at);
}

// Closes the innermost bracket that 'kind' can close, and those inside it that were forgotten.
// Returns the kind the grammar is to see.
static int close_bracket(struct parser *p, int kind) {
    size_t i = p->open.n;
    while (i > 0) {
        int close = p->open.v[i - 1].close;
        if (close == kind || (kind == '}' && close == TOK_VALUE_CLOSE)) {
            p->open.n = i - 1;
            drop_angles(p);
            return close;
        }
        if (is_block(&p->open.v[i - 1]))
            break; // a ')' never closes beyond the block it stands in
        i--;
    }
    return kind;
}

void tokens_in_value(struct parser *p) {
    if (p->open.n > 0 && is_block(&p->open.v[p->open.n - 1]))
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
    while (p->open.n > 0 && !is_block(&p->open.v[p->open.n - 1]))
        p->open.n--;
    p->angles.n = 0;
}

// --------------------------------------------------------------------------------------------
// Looking ahead: does '<' at token 'i' open type arguments?

struct look {
    const struct parser *p;
    size_t i, limit;
    unsigned depth;
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

// A name counts as a type when it is one; behind the first argument also when it is unknown,
// because nothing but type arguments starts with a type.
static bool look_over_type_name(struct look *l, bool first) {
    bool absolute = look_kind(l) == '.';
    if (absolute)
        l->i++;
    const struct token *t = token_at(l->p, l->i);
    if (look_kind(l) != TOK_IDENTIFIER)
        return false;
    enum scope_kind kind = absolute ? scope_lookup_top(l->p->scope, t->text, t->length)
                                    : scope_lookup(l->p->scope, t->text, t->length);
    if (kind != SCOPE_TYPE && (first || absolute))
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

// From '<' to behind its '>'.
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

static bool opens_type_args(const struct parser *p, size_t i) {
    struct look l = {.p = p, .i = i, .limit = i + MAX_LOOKAHEAD};
    return look_over_type_args(&l);
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
        if (p->after_dot && !opens_type_args(p, p->next))
            return TOK_LT;
        break;
    default:
        if (!is_nameable(p->last_kind) || !opens_type_args(p, p->next))
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
// Annotations

// The tokens [from, to) as text, with one space where there was any.
static const char *joined_text(struct parser *p, size_t from, size_t to) {
    size_t length = 1;
    for (size_t i = from; i < to; i++)
        length += p->tokens[i].length + 1;
    char *text = arena_alloc(p->a, length);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const struct token *t = &p->tokens[i];
        if (i > from && t[-1].text + t[-1].length != t->text)
            text[n++] = ' ';
        memcpy(text + n, t->text, t->length);
        n += t->length;
    }
    return text;
}

// Index of the token that closes the bracket at 'i', or 0 when none does.
static size_t find_close(const struct parser *p, size_t i, int open, int close) {
    unsigned depth = 0;
    for (; i < p->end; i++) {
        int kind = p->tokens[i].kind;
        if (kind == open)
            depth++;
        else if (kind == close && --depth == 0)
            return i;
    }
    return 0;
}

static struct annotation *annotation_new(struct parser *p, const struct token *name) {
    struct annotation *n = ARENA_NEW(p->a, struct annotation);
    n->at = name->at;
    n->name = arena_strndup(p->a, name->text, name->length);
    n->text = "";
    return n;
}

// '@' name, '@' name '(' anything ')', '@' name '[' expressions ']'. Null when it is none of these.
static struct annotation *next_annotation(struct parser *p) {
    const struct token *name = token_at(p, p->next + 1);
    if (p->next + 1 >= p->end || !is_word(name))
        return NULL;
    struct annotation *n = annotation_new(p, name);
    size_t open = p->next + 2;
    p->next = open;
    int kind = kind_at(p, open);
    if (kind != '(' && kind != '[')
        return n;
    size_t close = find_close(p, open, kind, closing_of(kind));
    if (close == 0) {
        parse_error(p, token_at(p, open)->at, "this '%c' of annotation '@%s' is not closed", kind,
                    n->name);
        while (p->next < p->end && p->tokens[p->next].at.line == name->at.line)
            p->next++;
        return n;
    }
    n->text = joined_text(p, open + 1, close);
    n->structured = kind == '[';
    parse_annotation_args(p, open + 1, close, kind == '(', n);
    p->next = close + 1;
    return n;
}

// @pragma name anything, up to the end of the line.
static struct annotation *next_pragma(struct parser *p) {
    size_t from = p->next + 1, to = from;
    while (to < p->end && p->tokens[to].kind != TOK_END_PRAGMA)
        to++;
    if (from == to || !is_word(token_at(p, from)))
        return NULL;
    struct annotation *n = annotation_new(p, token_at(p, from));
    n->text = joined_text(p, from + 1, to);
    parse_annotation_args(p, from + 1, to, true, n);
    p->next = to + 1;
    return n;
}

// --------------------------------------------------------------------------------------------
// Where a token can stand, by itself

enum level {
    LEVEL_ANY,
    LEVEL_BODY, // directly in the body of a control or parser, or at the top level
    LEVEL_TOP,  // only at the top level
};

// Keywords that stand only there tell that braces in front of them were forgotten.
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
        return is_word(token_at(p, i + 1)) && kind_at(p, i + 2) == '{' ? LEVEL_BODY : LEVEL_ANY;
    default:
        return LEVEL_ANY;
    }
}

// --------------------------------------------------------------------------------------------
// The forgotten ')' of parameters

// Index + 1 of the innermost open parenthesis of parameters, unless a block is open inside.
static size_t unclosed_params(const struct parser *p) {
    size_t i = p->open.n;
    while (i > 0 && !is_block(&p->open.v[i - 1]) && !p->open.v[i - 1].is_params)
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

static bool closes_params(struct parser *p) {
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
    drop_angles(p);
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

// Skips to behind the '}' of a group whose '{' is at token 'i'; false when it does not close.
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
    for (size_t i = p->open.n; i > 0 && !is_block(&p->open.v[i - 1]); i--)
        if (p->open.v[i - 1].is_for)
            return true;
    return false;
}

// Skips what cannot be where reading goes on. Returns TOK_SKIPPED when a whole group was skipped,
// 0 when the next token is to be looked at as usual.
static int skip_in_recovery(struct parser *p) {
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
            close_bracket(p, ')'); // of a parenthesis inside the parameters
        else if (kind != ';' || !in_for_head(p))
            return 0;
        p->next++;
    }
}

// --------------------------------------------------------------------------------------------
// Forgotten closing braces

static void report_forgotten_brace(struct parser *p, const struct token *t) {
    parse_error(p, t->at, "'%.*s' cannot stand here; a '}' may be missing before it",
                (int)t->length, t->text);
    for (size_t i = p->quiet ? 0 : p->open.n; i > 0; i--) {
        if (is_block(&p->open.v[i - 1])) {
            diag_note(p->d, p->open.v[i - 1].at, "this '{' is still open");
            break;
        }
    }
    p->recovering = true;
}

// The next keyword of the top level behind token 'i', or the end.
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
        braces += is_block(&p->open.v[i]);
    uint32_t scopes = scope_depth(p->scope);
    if (level == LEVEL_TOP)
        return p->open.n > 0 || scopes > 0;
    return braces > 1 || scopes > 1;
}

// Forgets the innermost block and what is open inside it.
static void close_one_block(struct parser *p) {
    while (p->open.n > 0 && !is_block(&p->open.v[p->open.n - 1]))
        p->open.n--;
    p->open.n -= p->open.n > 0;
    p->angles.n = 0;
}

// At a keyword that stands too deep, the constructs around it are closed one by one: the grammar
// takes each TOK_UNWIND as the end of one list in braces, or of all up to the top level.
static bool unwinds(struct parser *p) {
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
        return close_bracket(p, t->kind);
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

static int hand_out(struct parser *p, const struct token *t, int kind) {
    p->after_dot = p->last_kind == '.';
    p->before_last = p->last;
    p->last = t;
    return p->last_kind = kind;
}

// A token that is not in the text, right behind the last one.
static int hand_out_inserted(struct parser *p, int kind) {
    struct token *t = ARENA_NEW(p->a, struct token);
    t->kind = kind;
    t->at = loc_after(p->last->at);
    t->text = kind == ';' ? ";" : ")";
    t->length = 1;
    return hand_out(p, t, kind);
}

static int next_in_text(struct parser *p, struct annotation **annotation) {
    const struct token *t = token_at(p, p->next);
    p->last_index = p->next;
    if (p->next == p->end)
        return hand_out(p, t, TOK_YYEOF);
    if (unwinds(p))
        return hand_out(p, t, p->stopped ? TOK_YYEOF : TOK_UNWIND);
    if (t->kind == '@' || t->kind == TOK_PRAGMA) {
        *annotation = t->kind == '@' ? next_annotation(p) : next_pragma(p);
        if (*annotation)
            return hand_out(p, t, TOK_ANNOTATION);
    }
    int kind = ordinary_kind(p, t);
    p->next++;
    return hand_out(p, t, p->stopped ? TOK_YYEOF : kind);
}

static int stream_next(struct parser *p, struct annotation **annotation) {
    if (p->stopped || p->next > p->end)
        p->next = p->end;
    if (p->insert) {
        int kind = p->insert;
        p->insert = 0;
        return hand_out_inserted(p, kind);
    }
    if (p->recovering && skip_in_recovery(p) == TOK_SKIPPED)
        return hand_out(p, token_at(p, p->next - 1), TOK_SKIPPED);
    if (closes_params(p))
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
