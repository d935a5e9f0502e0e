// SPDX-License-Identifier: Apache-2.0
//
// salu: register actions, register by register. See salu.h.
#include "compiler/chip/salu.h"

#include "compiler/chip/salu_impl.h"

void chip_salu(struct chip_report *r, struct chip_pipe *pipe) {
    for (unsigned g = 0; g < 2; g++)
        salu_once(r, pipe->gress[g].ir);
}
