// SPDX-License-Identifier: Apache-2.0
//
// graph: a gress's control as units, and how they depend on each other (tna-facts 7.6).
#ifndef SILKEN_COMPILER_CHIP_GRAPH_H
#define SILKEN_COMPILER_CHIP_GRAPH_H

#include "compiler/chip/chip.h"

// Fills units (without need, parts), deps, excludes, dead and critical_path of both gresses of a pipe. Adds
// violations for what no action or gateway of the chip can do.
void chip_graph(struct chip_report *r, struct chip_pipe *pipe);

#endif
