// SPDX-License-Identifier: Apache-2.0
//
// error: what was expected, in words.
//
// The grammar can say which tokens it would have taken. That list is exact but it is not what a
// person wants to read: where an expression may start, twenty tokens may. So it is first looked at
// for what it amounts to ("an expression", "a type"), and what is left is cut to the few marks
// that most likely were forgotten.
#include "compiler/syntax/build.h"

#include <stdio.h>
#include <string.h>

#include "p4_parse.h"

#define MAX_NAMED 4u // things named in one message

struct expected {
    const char *const *names;
    size_t n;
};

struct wanted {
    const char *things[MAX_NAMED];
    size_t n;
};

void parse_error(struct parser *p, struct loc at, const char *fmt, ...) {
    p->failed = true;
    if (p->quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    diag_error(p->d, at, "%s", arena_vprintf(p->a, fmt, ap));
    va_end(ap);
    p->stopped |= diag_errors(p->d) >= DIAG_MAX_ERRORS;
}

void nested_too_deeply(struct parser *p, struct loc at) {
    if (!p->stopped)
        parse_error(p, at, "this is nested too deeply; at most %u levels are supported",
                    AST_MAX_DEPTH);
    p->stopped = true;
}

static bool syntax_error_has(const struct expected *x, const char *name) {
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->names[i], name) == 0)
            return true;
    return false;
}

static void syntax_error_want(struct wanted *w, const char *thing) {
    if (w->n < MAX_NAMED)
        w->things[w->n++] = thing;
}

// The names that stand for many tokens.
static void want_classes(struct wanted *w, const struct expected *x) {
    bool expression = syntax_error_has(x, "integer");
    bool type = syntax_error_has(x, "bit");
    if (syntax_error_has(x, "control"))
        syntax_error_want(w, "a declaration");
    else if (syntax_error_has(x, "switch"))
        syntax_error_want(w, "a statement");
    else if (syntax_error_has(x, "table"))
        syntax_error_want(w, "a declaration or 'apply'");
    else if (syntax_error_has(x, "value_set"))
        syntax_error_want(w, "a declaration or a state");
    else if (syntax_error_has(x, "abstract"))
        syntax_error_want(w, "a method");
    else if (syntax_error_has(x, "key") && syntax_error_has(x, "entries") && !expression &&
             !syntax_error_has(x, "list"))
        syntax_error_want(w, "a table property");
    else if (expression)
        syntax_error_want(w, "an expression");
    else if (type)
        syntax_error_want(w, "a type");
    else if (syntax_error_has(x, "identifier"))
        syntax_error_want(w, syntax_error_has(x, "type name") || syntax_error_has(x, "state")
                                 ? "a name"
                                 : "an identifier");
    else if (syntax_error_has(x, "type name"))
        syntax_error_want(w, "a type");
}

struct mark {
    const char *name, *text;
    bool ends_list; // may also stand where an element is expected
};

static const struct mark marks[] = {
    // the most likely first
    {"';'", "';'", false},         {"')'", "')'", true},  {"'}'", "'}'", true},
    {"} of a value", "'}'", true}, {"']'", "']'", true},  {"> of types", "'>'", true},
    {"':'", "':'", false},         {"'='", "'='", false}, {"','", "','", false},
    {"'{'", "'{'", false},         {"in", "'in'", false}, {"apply", "'apply'", false},
};
static const struct mark openers[] = {
    // named only when nothing else is expected
    {"'('", "'('", false},
    {"'['", "'['", false},
    {"< of types", "'<'", false},
    {"'.'", "'.'", false},
};

static void syntax_error_want_marks(struct wanted *w, const struct expected *x,
                                    const struct mark *m, size_t n, bool classed) {
    for (size_t i = 0; i < n; i++)
        if (syntax_error_has(x, m[i].name) && (m[i].ends_list || !classed))
            syntax_error_want(w, m[i].text);
}

static bool expects_statement(const struct expected *x) {
    return syntax_error_has(x, "switch") || syntax_error_has(x, "control");
}

// Operators are no news: they may follow any expression.
static void want_all(struct parser *p, struct wanted *w, const struct expected *x) {
    want_classes(w, x);
    bool classed = w->n > 0;
    bool after_call = p->before_last && p->before_last->kind == ')';
    if (syntax_error_has(x, "+=") && !after_call) { // the start of a statement is no statement yet
        syntax_error_want(w, "'='");
        syntax_error_want(w, "'('");
        return;
    }
    if (classed && syntax_error_has(x, "';'") && syntax_error_has(x, "integer") &&
        !expects_statement(x))
        syntax_error_want(w, "';'"); // 'return' with or without a value
    syntax_error_want_marks(w, x, marks, sizeof marks / sizeof marks[0], classed);
    if (syntax_error_has(x, "+=") && w->n > 0)
        w->n = 1;
    if (w->n == 0)
        syntax_error_want_marks(w, x, openers, sizeof openers / sizeof openers[0], classed);
}

static const char *joined(struct arena *a, const struct wanted *w) {
    const char *text = w->things[0];
    for (size_t i = 1; i < w->n; i++)
        text = arena_printf(a, "%s%s%s", text, i + 1 == w->n ? " or " : ", ", w->things[i]);
    return text;
}

// The token as a message quotes it.
static const char *quoted(struct parser *p, const struct token *t) {
    enum { LIMIT = 40 };
    char text[LIMIT + 1];
    size_t n = 0;
    for (; n < t->length && n < LIMIT; n++)
        text[n] = (unsigned char)t->text[n] < ' ' || t->text[n] == 0x7f ? '?' : t->text[n];
    text[n] = '\0';
    return arena_printf(p->a, "'%s%s'", text, t->length > LIMIT ? "..." : "");
}

static const char *found(struct parser *p) {
    switch (p->last_kind) {
    case TOK_YYEOF:
        return p->annotation ? "the end of the annotation" : "the end of the program";
    case TOK_ANNOTATION:
        return "an annotation";
    case TOK_SKIPPED:
        return "'{'";
    case TOK_END_PRAGMA:
        return "the end of the line";
    default:
        return quoted(p, p->last);
    }
}

// --------------------------------------------------------------------------------------------
// Mistakes that have a better name than "expected"

static bool is_keyword(const struct token *t) {
    return t->kind != TOK_IDENTIFIER && t->kind != TOK_UNEXPECTED && t->length > 0 &&
           ((t->text[0] >= 'a' && t->text[0] <= 'z') || t->text[0] == '_');
}

static enum scope_kind scope_of(const struct parser *p, const struct token *t) {
    return scope_lookup(p->scope, t->text, t->length);
}

static void report_no_type(struct parser *p, const struct token *t) {
    if (scope_of(p, t) == SCOPE_UNKNOWN)
        parse_error(p, t->at, "unknown type %s; a type is declared before it is used",
                    quoted(p, t));
    else
        parse_error(p, t->at, "%s is not a type", quoted(p, t));
}

// 'foo x;' or 'foo(...) x;' with an undeclared foo: the name reads as a variable, and the error
// shows only after it.
static bool unknown_type_before(struct parser *p, const struct expected *x) {
    const struct token *before = p->before_last;
    if (!before || before->kind != TOK_IDENTIFIER || scope_of(p, before) != SCOPE_UNKNOWN)
        return false;
    bool name_follows = p->last_kind == TOK_IDENTIFIER || p->last_kind == TOK_TYPE_IDENTIFIER;
    bool after_statement_start =
        name_follows && syntax_error_has(x, "'='") && syntax_error_has(x, "'.'");
    bool after_return_type = (p->last_kind == '(' || p->last_kind == TOK_LT) &&
                             syntax_error_has(x, "identifier") && !syntax_error_has(x, "integer");
    return after_statement_start || after_return_type;
}

// A type where a value belongs.
static bool type_as_value(struct parser *p, const struct expected *x) {
    const struct token *t = p->last, *before = p->before_last;
    bool type_keyword = p->last_kind == TOK_BIT || p->last_kind == TOK_INT ||
                        p->last_kind == TOK_BOOL || p->last_kind == TOK_VARBIT;
    if (type_keyword && syntax_error_has(x, "integer")) {
        parse_error(p, t->at, "a type is not a value; a cast is written '(%.*s...) value'",
                    (int)t->length, t->text);
        return true;
    }
    bool after_type = before && before->kind == TOK_IDENTIFIER &&
                      scope_of(p, before) == SCOPE_TYPE && syntax_error_has(x, "'('") &&
                      syntax_error_has(x, "'.'");
    if (after_type && !syntax_error_has(x, "'+'") && !syntax_error_has(x, "identifier"))
        parse_error(p, before->at, "%s is a type, not a value", quoted(p, before));
    return after_type && !syntax_error_has(x, "'+'") && !syntax_error_has(x, "identifier");
}

// A declaration that stands where there are none of its kind.
static bool syntax_error_misplaced(struct parser *p, const struct expected *x) {
    const struct token *before = p->before_last;
    bool function_head =
        syntax_error_has(x, "'('") && syntax_error_has(x, "< of types") && x->n == 3;
    if (function_head && (p->last_kind == ';' || p->last_kind == '=')) {
        parse_error(p, before->at, "a variable cannot be declared here");
        return true;
    }
    if (p->last_kind == TOK_IN && syntax_error_has(x, "+=")) {
        parse_error(p, before->at, "the variable of a 'for' loop needs a type");
        return true;
    }
    return false;
}

static bool special_case(struct parser *p, const struct expected *x) {
    const struct token *t = p->last;
    if (p->before_last && (type_as_value(p, x) || syntax_error_misplaced(p, x)))
        return true;
    if (p->last_kind == TOK_UNEXPECTED && t->length == 0)
        return true; // the scanner reported it
    if (p->last_kind == TOK_UNEXPECTED) {
        bool number = t->text[0] >= '0' && t->text[0] <= '9';
        parse_error(p, t->at, number ? "%s is not a number" : "%s is not allowed here",
                    quoted(p, t));
        return true;
    }
    if (unknown_type_before(p, x)) {
        report_no_type(p, p->before_last);
        return true;
    }
    if (p->last_kind == TOK_IDENTIFIER && syntax_error_has(x, "type name") &&
        !syntax_error_has(x, "identifier")) {
        report_no_type(p, t);
        return true;
    }
    if (is_keyword(t) && syntax_error_has(x, "identifier") && !syntax_error_has(x, "integer") &&
        !syntax_error_has(x, "bit")) {
        parse_error(p, t->at, "%s is a keyword and cannot be a name", quoted(p, t));
        return true;
    }
    return false;
}

static const struct bracket *unclosed_block(const struct parser *p) {
    for (size_t i = p->open.n; i > 0; i--)
        if (p->open.v[i - 1].close == '}')
            return &p->open.v[i - 1];
    return NULL;
}

// --------------------------------------------------------------------------------------------

static void report_expected(struct parser *p, const struct expected *x) {
    struct wanted w = {.n = 0};
    want_all(p, &w, x);
    bool classed = w.n > 0 && w.things[0][0] != '\'';
    const struct token *before = p->before_last;
    struct loc at = p->last->at;
    // A forgotten mark is missing after the last line, not before this one.
    bool at_end = p->last_kind == TOK_YYEOF;
    if (before && (at_end || (!classed && before->at.line != at.line)))
        at = loc_after(before->at);
    const char *after = before && before->length > 0 && p->before_last->text[0] != '@'
                            ? arena_printf(p->a, " after %s", quoted(p, before))
                            : "";
    if (w.n == 0)
        parse_error(p, at, "%s is not expected here", found(p));
    else
        parse_error(p, at, "expected %s%s, found %s", joined(p->a, &w), after, found(p));
    const struct bracket *block = p->last_kind == TOK_YYEOF ? unclosed_block(p) : NULL;
    if (block && !p->quiet)
        diag_note(p->d, block->at, "this '{' is not closed");
}

// Starts a statement or a declaration, whatever stands before it.
static bool starts_something(int kind) {
    switch (kind) {
    case TOK_ACTION:
    case TOK_ANNOTATION:
    case TOK_BREAK:
    case TOK_CONST:
    case TOK_CONTINUE:
    case TOK_EXIT:
    case TOK_FOR:
    case TOK_IF:
    case TOK_RETURN:
    case TOK_SWITCH:
    case TOK_TABLE:
    case TOK_TRANSITION:
    case TOK_VALUE_SET:
        return true;
    default:
        return false;
    }
}

static bool may_start_line(int kind) {
    switch (kind) {
    case TOK_ACTIONS:
    case TOK_APPLY:
    case TOK_BIT:
    case TOK_BOOL:
    case TOK_ENTRIES:
    case TOK_IDENTIFIER:
    case TOK_INT:
    case TOK_INTEGER:
    case TOK_KEY:
    case TOK_STATE:
    case TOK_TUPLE:
    case TOK_TYPE_IDENTIFIER:
    case TOK_VARBIT:
        return true;
    default:
        return starts_something(kind);
    }
}

// Only a ';' was forgotten, and what follows can be read as if it were there.
static bool semicolon_forgotten(const struct parser *p, const struct expected *x) {
    if (!p->before_last || !syntax_error_has(x, "';'") || expects_statement(x))
        return false;
    bool new_line = p->before_last->at.line != p->last->at.line;
    return new_line ? may_start_line(p->last_kind) : starts_something(p->last_kind);
}

void syntax_error(struct parser *p, const char *const *expected, size_t n) {
    struct expected x = {.names = expected, .n = n};
    p->failed = true;
    p->recovering = true;
    p->skip_group = p->last_kind == '{';
    if (p->quiet || p->stopped) {
        p->stopped = true;
        return;
    }
    if (p->last_kind == TOK_UNWIND) // its cause was reported
        return;
    if (!special_case(p, &x))
        report_expected(p, &x);
    if (semicolon_forgotten(p, &x))
        tokens_insert_semicolon(p);
}
