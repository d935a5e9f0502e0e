// SPDX-License-Identifier: Apache-2.0
//
// phv: which field sits in which container (tna-facts 7.2, 7.4), as the chip's compiler might do it. Comes
// after placement: fields that do not live in the same stages may share a container.
#ifndef SILKEN_COMPILER_CHIP_PHV_H
#define SILKEN_COMPILER_CHIP_PHV_H

#include "compiler/chip/chip.h"

// Fills phv of the pipe and adds violations.
void chip_phv(struct chip_report *r, struct chip_pipe *pipe);

#endif
