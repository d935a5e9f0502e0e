// SPDX-License-Identifier: Apache-2.0
//
// graph: a gress's control as units, and how they depend on each other (tna-facts 7.6).
//
// Units are in program order; a table that is applied at several places is one unit, at the first
// of them. Conditions: a unit with 'condition' has the gateway before it that answers it.
// Everything else under that condition, on either side, then has a control dependency on that unit.
// A condition that no unit takes along is a CHIP_GATEWAY, on which what is under it depends. What a
// table's hit, miss or action decides needs no gateway.
//
// Dependencies: besides control at most one from a unit to another, of the kind that keeps them
// furthest apart, from lower ids to higher ones only, and, but for control, none between units that
// exclude each other. A table's action does not hold up what only other actions of the table lead
// to. CHIP_DEP_CONTROL comes from what decides whether a unit runs: what it is under. What may exit
// holds up what is after it as a reader would (CHIP_DEP_ANTI, without bits). That a table's whole
// subtree comes before its neighbours after it (tna-facts 7.6) is left to place.h.
//
// Files:
//
//     graph.c     the steps in order
//     simplify.c  a control as the chip's compiler sees it after its own simplifications
//     parallel.c  an action's statements as the chip runs them, all at once
//     live.c      statements whose results no one reads
//     alias.c     copies that the chip's compiler does not make
//     sums.c      what a deparser's checksums wait for: tables of the chip's compiler
//     units.c     units in program order, and which exclude each other
//     action.c    instructions and accesses of an action
//     gateway.c   conditions
//     deps.c      dependencies and the longest chain
//     limits.c    operations that no action or condition can do
//     rows.c      a condition as the rows of a gateway
//     print.c     units and dependencies as text
#ifndef SILKEN_COMPILER_CHIP_GRAPH_GRAPH_H
#define SILKEN_COMPILER_CHIP_GRAPH_GRAPH_H

#include <stdio.h>

#include "compiler/chip/chip.h"

// Fills units (without need, parts), deps, excludes, dead and critical_path of both gresses of a
// pipe. Adds violations for what no action or gateway of the chip can do. Never fails.
void chip_graph(struct chip_report *r, struct chip_pipe *pipe);

// Adds the bits of variables that an expression reads, each range once. Constants and what is no
// variable add nothing. Linear in the expression times the ranges.
void chip_expr_bits(struct arena *a, const struct ir_expr *e, chip_bits_vec *out);

// Units with reads and writes, dependencies, the longest chain, as text for tests and people.
void chip_graph_print(FILE *out, const struct chip_gress *g);

bool chip_bits_meet(struct chip_bits a, struct chip_bits b); // have a bit in common

#endif
