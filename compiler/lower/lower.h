// SPDX-License-Identifier: Apache-2.0
//
// lower: checked AST -> pipeline IR.
//
// Instantiates 'main' at compile time: evaluates constructor arguments, inlines sub-parsers,
// sub-controls and functions, gives every object its fully qualified name, flattens structs and
// stacks into variables, lowers generics by substitution. Constructs that are legal P4 but not
// covered are refused with "not supported yet: ..." at their place; nothing is ever approximated.
// Afterwards regonce.h checks the hardware's rule on the result.
//
// Files:
//
//     lower.c     the program: packages, pipelines, wire types
//     gress.c     one gress: its blocks and the variables they share
//     tidy.c      the end of a gress: unused variables, names, ids
//     zeroed.c    metadata that the chip's compiler zeroes
//     leaving.c   counters of the bytes that leave
//     env.c       environments: what names and type parameters stand for
//     value.c     values: making, copying, comparing, assigning
//     storage.c   values made after a type: storage, zeros
//     header.c    validity; unions and varbit fields as headers of fixed size
//     expr.c      expressions, except calls
//     op.c        operators and casts
//     late.c      products and shifts whose operands are known when calls have been inlined
//     lvalue.c    places to assign to
//     call.c      calls: dispatch, built-in methods, functions, actions
//     bind.c      arguments to parameters: copies and references
//     coalesce.c  copies that cannot be told from the original
//     block.c     sub-controls
//     stmt.c      statements, except loops (loop.c)
//     object.c    instances such as 'Register<...>(...) r;'
//     extern.c    methods of externs in controls and deparsers
//     place.c     the places where an extern may be called
//     register.c  registers and their actions; salu.c what those can call; queue.c
//     logs, queues and stacks; onebit.c actions on single bits; one_access.c
//     reads and writes that are one access
//     meter.c     counters, meters and filters
//     deparser.c  resubmit, mirror and digest
//     choices.c   by which field a deparser selects among them
//     table.c     tables; entry.c their entries; profile.c action profiles
//     parser.c    states, selects and sub-parsers; packet.c methods of packet_in
//     sums.c      where in a word each part of a parser's checksum begins
//     hash.c      hashes; pcounter.c a parser's counters
//     scan.c      questions about the AST
//     minmax.c    min8, max8, min16 and max16 of a Tofino 2
//     names.c     names that the source gives to values
#ifndef SILKEN_COMPILER_LOWER_LOWER_H
#define SILKEN_COMPILER_LOWER_LOWER_H

#include "compiler/ir/ir.h"
#include "compiler/check/types.h"

// Null after an error was reported. 'p' must have passed check_program.
struct ir_program *lower_program(struct arena *a, struct diag *d, const char *path,
                                 struct program *p);

#endif
