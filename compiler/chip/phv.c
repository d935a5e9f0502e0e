// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/phv.h"

void chip_phv(struct chip_report *r, struct chip_pipe *pipe) {
    (void)r;
    (void)pipe;
}
