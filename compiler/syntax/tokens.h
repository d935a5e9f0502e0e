// SPDX-License-Identifier: Apache-2.0
//
// tokens: from text to what the grammar reads. Internal to syntax.h.
//
// Two steps. lex_p4() (p4.l) cuts the whole text into an array of tokens that know their place but
// nothing of P4's scopes. p4_lex() (tokens.c) then hands them to the grammar one by one and settles
// what a character-level scanner cannot:
//
//   - whether an identifier is a type at this point (scope.h);
//   - whether '<' opens type arguments or compares: the array allows looking ahead as far as
//     needed, so the grammar needs neither three copies of its expressions nor a list of which
//     names take type arguments;
//   - which '>' closes bit<...>, so that a width may be any expression;
//   - annotations, which are one token each: their bodies are token soup to the grammar;
//   - after a syntax error, what to skip: whole {...} groups, so that reading goes on after the
//     construct and not somewhere inside it;
//   - marks that were forgotten: a ';' at the end of a line, the ')' of parameters, and closing
//     braces, which show when a keyword comes that cannot stand where it does.
#ifndef SILKEN_COMPILER_SYNTAX_TOKENS_H
#define SILKEN_COMPILER_SYNTAX_TOKENS_H

#include "compiler/syntax/ast.h"
#include "compiler/syntax/scope.h"

struct token {
    int kind; // the grammar's token numbers; each identifier is TOK_IDENTIFIER at first
    struct loc at;
    const char *text; // in the source text, not terminated
    uint32_t length;
};
typedef VEC(struct token) token_vec;

struct name {
    const char *text;
    struct loc at;
};

// A bracket that is open at the current token.
struct bracket {
    int close; // the kind of token that closes it: ')', ']', '}' or TOK_VALUE_CLOSE
    bool is_for, is_params;
    struct loc at;
};

struct parser {
    struct arena *a;
    struct diag *d;
    struct scope *scope;
    struct program *program;

    // ---- the token stream ----
    const struct token *tokens; // the last one is TOK_YYEOF
    size_t next, end;           // index of the token to hand out next; index of the end token
    int start;                  // TOK_START_..., handed out first; 0 afterwards
    int last_kind;              // kind handed out last
    const struct token *last, *before_last; // handed out last; null at the start
    bool after_dot;                         // the token before the last was '.'
    const int32_t *balance;   // per token: '{' less '}' before it; null for annotations
    VEC(struct bracket) open; // open ( [ {
    VEC(size_t) angles;       // number of open brackets at each open TOK_ARGS_OPEN

    // ---- errors ----
    bool quiet;         // report nothing: trying whether an annotation's text is an expression list
    bool stopped;       // given up: the rest of the text is not read
    bool failed;        // a syntax error was found
    bool recovering;    // between a syntax error and the point where reading goes on
    bool skip_group;    // the offending token opened a group
    size_t last_index;  // where the token handed out last begins
    int insert;         // a mark to hand out next, as if it had not been forgotten
    size_t inserted_at; // index of the token before which a ';' was inserted last, + 1
    size_t top_from, top_index; // from the former token, the next keyword of the top level
    unsigned unwinding;         // consecutive TOK_UNWIND handed out

    // ---- results of parsing an annotation's arguments ----
    struct annotation *annotation;
};

// All tokens of the text, a TOK_YYEOF last. Reports what is no token at all.
void lex_p4(struct arena *a, struct diag *d, uint32_t file, const char *text, size_t length,
            token_vec *out);
// A literal's value; reports a literal that is too large.
// '*sized': it says its width, which may be 0.
big token_integer(struct parser *p, const struct token *t, bool *sized, unsigned *width,
                  bool *is_signed);
// A string literal's text with its escapes decoded.
const char *token_string(struct arena *a, const struct token *t);

// To be called once, when 'tokens' is set.
void tokens_start(struct parser *p);
// The next token's kind and place; TOK_ANNOTATION sets '*annotation', others p->last.
int tokens_next(struct parser *p, struct loc *at, struct annotation **annotation);
// The brace handed out last opens a value, not a block.
void tokens_in_value(struct parser *p);
// The parenthesis handed out last opens parameters.
void tokens_in_params(struct parser *p);
// Hands out a ';' next and then the token handed out last again, unless that did not help the
// first time. Only for tokens that are not brackets.
void tokens_insert_semicolon(struct parser *p);
// Called when the grammar has found its way again after an error.
void tokens_recovered(struct parser *p);
// Parses the tokens [from, to) as the arguments of 'annotation', by a parser of its own; with
// 'quiet' they may as well be something else.
void parse_annotation_args(struct parser *p, size_t from, size_t to, bool quiet,
                           struct annotation *annotation);

#endif
