// SPDX-License-Identifier: Apache-2.0
//
// parde: parser and deparser against the chip's (tna-facts 3, 5 and 7.5).
//
// Files:
//
//     parde.c   the chip's resources that parser and deparser take
//     states.c  states and rows of a parser as the chip has them
//     select.c  the match registers of a state's keys
//     sums.c    checksum units of a parser
//     ways.c    paths through a parser, and their depth
//     writes.c  metadata that a parser assigns more than once
#ifndef SILKEN_COMPILER_CHIP_PARDE_PARDE_H
#define SILKEN_COMPILER_CHIP_PARDE_PARDE_H

#include "compiler/chip/chip.h"

// Fills parser and deparser of both gresses of the pipe and adds violations. What depends on
// containers, the parser's states and rows, is left to chip_parde_states.
void chip_parde(struct chip_report *r, struct chip_pipe *pipe);

// States and rows of both parsers, when it is known which containers they fill: after chip_phv.
void chip_parde_states(struct chip_report *r, struct chip_pipe *pipe);

#endif
