// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/graph.h"

void chip_graph(struct chip_report *r, struct chip_pipe *pipe) {
    (void)r;
    (void)pipe;
}
