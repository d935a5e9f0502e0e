// SPDX-License-Identifier: Apache-2.0
//
// place: which stages each unit goes to (tna-facts 7.6). Both gresses share the stages.
//
// Files:
//
//     place.c   stage after stage is filled with the most urgent unit that fits
//     graph.c   the order in which units may be placed
//     stage.c   the contents of a stage, and whether a unit fits as well
//     report.c  why a program needs more stages than there are
#ifndef SILKEN_COMPILER_CHIP_PLACE_PLACE_H
#define SILKEN_COMPILER_CHIP_PLACE_PLACE_H

#include "compiler/chip/chip.h"

// Fills parts and 'earliest' of all units, stages of the gresses and of the pipe. Goes on past the
// chip's last stage; then adds a violation that names the chain of dependencies, or the resource,
// that is in the way.
void chip_place(struct chip_report *r, struct chip_pipe *pipe);

#endif
