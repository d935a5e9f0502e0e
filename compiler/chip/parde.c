// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/parde.h"

void chip_parde(struct chip_report *r, struct chip_pipe *pipe) {
    (void)r;
    (void)pipe;
}
