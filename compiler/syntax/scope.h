// SPDX-License-Identifier: Apache-2.0
//
// scope: which identifiers are types at this point of the text.
//
// P4's grammar has two kinds of identifiers: "(a) + b" is a cast when 'a' is a type and an addition
// when it is not. So while the parser reads, this table knows what each name was last declared as,
// and the token stream asks it. It decides nothing else: the real name resolution, with all its
// rules and messages, is check.h's.
//
// The table is one map of name to kind plus a log of what each declaration replaced. Entering a
// scope remembers the log's length; leaving it undoes the log back to there. A mark can therefore
// be left at any time and takes all scopes inside it with it. The parser uses that when it recovers
// from an error: bison discards the half-parsed symbols, their destructors leave the marks they
// hold, and the table is as it was before the construct that could not be read.
#ifndef SILKEN_COMPILER_SYNTAX_SCOPE_H
#define SILKEN_COMPILER_SYNTAX_SCOPE_H

#include <stddef.h>
#include <stdint.h>

#include "compiler/base/arena.h"

enum scope_kind { SCOPE_UNKNOWN, SCOPE_OBJECT, SCOPE_TYPE };

struct scope_mark {
    uint32_t log;   // entries of the log to keep
    uint32_t depth; // scopes that were open
};

struct scope;

struct scope *scope_new(struct arena *a);
void scope_declare(struct scope *s, const char *name, size_t length, enum scope_kind kind);
enum scope_kind scope_lookup(const struct scope *s, const char *name, size_t length);
// What '.name' means: the declaration at the top level, whatever hides it here.
enum scope_kind scope_lookup_top(const struct scope *s, const char *name, size_t length);

struct scope_mark scope_enter(struct scope *s);
void scope_leave(struct scope *s, struct scope_mark mark);
uint32_t scope_depth(const struct scope *s); // 0 at the top level

#endif
