// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/memory.h"

void chip_memory(struct chip_report *r, struct chip_pipe *pipe) {
    (void)r;
    (void)pipe;
}
