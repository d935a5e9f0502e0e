// SPDX-License-Identifier: Apache-2.0
//
// salu: whether register actions fit a stateful ALU, and registers their users (tna-facts 6).
#ifndef SILKEN_COMPILER_CHIP_SALU_SALU_H
#define SILKEN_COMPILER_CHIP_SALU_SALU_H

#include "compiler/chip/chip.h"

// Adds violations only. Reads the IR and, for which unit uses what, the units' actions.
void chip_salu(struct chip_report *r, struct chip_pipe *pipe);

#endif
