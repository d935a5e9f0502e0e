// SPDX-License-Identifier: Apache-2.0
//
// parse: runs the scanner and the grammar; also over the arguments of annotations.
#include "compiler/syntax/syntax.h"

#include <stdint.h>

#include "compiler/syntax/build.h"
#include "p4_parse.h"

#define MAX_TEXT (64u << 20)

struct program *parse_p4(struct arena *a, struct diag *d, const char *path, const char *text,
                         size_t length) {
    struct parser p = {.a = a, .d = d, .program = ARENA_NEW(a, struct program)};
    uint32_t file = diag_file(d, path);
    if (length > MAX_TEXT) {
        struct loc at = {.file = file, .line = 1, .col = 1};
        diag_error(d, at, "the program has %zu bytes; more than %u are not supported", length,
                   MAX_TEXT);
        return p.program;
    }
    token_vec tokens = {0};
    lex_p4(a, d, file, text, length, &tokens);
    p.scope = scope_new(a);
    p.tokens = tokens.v;
    p.end = tokens.n - 1;
    p.start = TOK_START_PROGRAM;
    tokens_start(&p);
    p4_parse(&p);
    return p.program;
}

// Most annotations are @name("text") or @size(12): no grammar is needed for these.
static bool single_literal(struct parser *p, size_t from, size_t to, struct annotation *n) {
    if (to != from + 1)
        return false;
    const struct token *t = &p->tokens[from];
    if (t->kind != TOK_STRING && t->kind != TOK_INTEGER)
        return false;
    expr_vec *args = exprs_one(p, t->kind == TOK_STRING ? expr_string(p, t) : expr_integer(p, t));
    p->annotation = n;
    annotation_args(p, args);
    return true;
}

void parse_annotation_args(struct parser *p, size_t from, size_t to, bool quiet,
                           struct annotation *annotation) {
    if (from == to || single_literal(p, from, to, annotation))
        return;
    struct parser sub = {.a = p->a, .d = p->d, .scope = p->scope, .program = p->program};
    sub.tokens = p->tokens;
    sub.next = from;
    sub.end = to; // the closing bracket stands for the end
    sub.start = TOK_START_ARGUMENTS;
    sub.quiet = quiet;
    sub.annotation = annotation;
    p4_parse(&sub);
    if (sub.failed) {
        annotation->args.n = 0;
        annotation->keys.n = 0;
    }
}
