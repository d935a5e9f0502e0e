// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/salu.h"

void chip_salu(struct chip_report *r, struct chip_pipe *pipe) {
    (void)r;
    (void)pipe;
}
