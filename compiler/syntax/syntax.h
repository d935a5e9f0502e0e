// SPDX-License-Identifier: Apache-2.0
//
// syntax: P4_16 text to AST.
//
// The whole grammar of the current P4_16 specification is accepted (flex and bison; the lexer is
// told by the scope table which identifiers are types, as the specification's grammar demands).
// Errors are reported with their place and parsing goes on at the next declaration or statement,
// so one run shows many errors. Nothing is read from disk here: preprocess.h does that.
//
// Files:
//
//     preprocess.c  the C preprocessor as a child process
//     align.c       preprocessed text in the columns of the source
//     p4.l          the scanner
//     tokens.c      the tokens that the grammar reads (tokens_impl.h lists the files)
//     scope.c       which identifiers are types
//     p4.y          the grammar
//     parse.c       runs scanner and grammar
//     error.c       messages about syntax errors
//     build.h       what the grammar's actions call to build the tree:
//     build_decl.c  makes declarations and parts of tables
//     build_expr.c  makes types and expressions
//     build_stmt.c  makes statements
//     ast.c         functions on the tree (ast.h)
//     dump.c        the tree as text
#ifndef SILKEN_COMPILER_SYNTAX_SYNTAX_H
#define SILKEN_COMPILER_SYNTAX_SYNTAX_H

#include "compiler/syntax/ast.h"

// Parses preprocessed text (with #line markers "# 12 "file.p4"" as the C preprocessor writes them;
// 'path' names the file until the first marker). Returns the program, possibly partial when errors
// were reported; never null. Any byte sequence is allowed as input. Reentrant.
struct program *parse_p4(struct arena *a, struct diag *d, const char *path, const char *text,
                         size_t length);

#endif
