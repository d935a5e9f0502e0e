// SPDX-License-Identifier: Apache-2.0
//
// generate: random P4_16/TNA programs, as text, that the compiler should accept.
//
// The same seed gives the same text. One statement or brace stands on each line, so that a program
// can be reduced line by line (reduce.h). The text begins behind the #include lines.
//
// Rooms: generate.c (types, the frame of a program), generate_expr.c (expressions),
// generate_stmt.c (statements, functions, sub-controls), generate_object.c (actions, tables,
// registers, counters, hashes), generate_parser.c (parsers, checksums).
//
// To let programs use a new construct: print it in one of these files, chosen by chance, and give
// what it makes (variables, objects) to the scope it belongs to.
#ifndef SILKEN_HARNESS_GENERATE_H
#define SILKEN_HARNESS_GENERATE_H

#include <stddef.h>
#include <stdint.h>

// The text is malloc'ed, the caller frees it.
char *generate_program(uint64_t seed, size_t *length);
// One whose passes depend on the packet and the tables alone, and many of whose packets leave as
// they came: such programs take notes (compiler/instrument/notes.c).
char *generate_calm_program(uint64_t seed, size_t *length);
// A program that repeats one operation over many registers (generate_lanes.c).
char *generate_lanes_program(uint64_t seed, size_t *length);

#endif
