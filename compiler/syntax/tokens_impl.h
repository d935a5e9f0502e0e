// SPDX-License-Identifier: Apache-2.0
//
// tokens_impl: what the files of the token stream share (tokens.h).
//
//     tokens.c            values of literals, brackets, handing out
//     tokens_look.c       whether '<' opens type arguments
//     tokens_annot.c      annotations
//     tokens_forgotten.c  forgotten marks, and what to skip after an error
#ifndef SILKEN_COMPILER_SYNTAX_TOKENS_IMPL_H
#define SILKEN_COMPILER_SYNTAX_TOKENS_IMPL_H

#include "compiler/syntax/build.h"
#include "compiler/syntax/tokens.h"
#include "p4_parse.h"

// A program nested deeper is nobody's; a bound lets every phase recurse over the tree.
#define MAX_OPEN_BRACKETS AST_MAX_DEPTH

static inline const struct token *token_at(const struct parser *p, size_t i) {
    return &p->tokens[i < p->end ? i : p->end];
}

static inline int kind_at(const struct parser *p, size_t i) {
    return i < p->end ? p->tokens[i].kind : TOK_YYEOF;
}

static inline bool tokens_is_word(const struct token *t) {
    char c = t->length ? t->text[0] : '\0';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool tokens_is_block(const struct bracket *b) {
    return b->close == '}';
}

// ---- tokens.c
int tokens_closing(int kind); // the kind that closes this bracket, or 0
void tokens_drop_angles(struct parser *p);
// Closes the innermost bracket that 'kind' can close, and those inside it that were forgotten.
// Returns the kind the grammar is to see.
int tokens_close_bracket(struct parser *p, int kind);

// ---- tokens_look.c
// Does '<' at token 'i' open type arguments?
bool tokens_open_type_args(const struct parser *p, size_t i);

// ---- tokens_annot.c: null when the next tokens are none
struct annotation *tokens_annotation(struct parser *p);
struct annotation *tokens_pragma(struct parser *p);

// ---- tokens_forgotten.c
// Closes parameters whose ')' was forgotten, if they end here.
bool tokens_close_params(struct parser *p);
// Skips what cannot be where reading goes on. Returns TOK_SKIPPED when a whole group was skipped,
// 0 when the next token is to be looked at as usual.
int tokens_skip(struct parser *p);
// Closes one construct when the next keyword stands too deep.
bool tokens_unwind(struct parser *p);

#endif
