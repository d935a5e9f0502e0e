// SPDX-License-Identifier: Apache-2.0
//
// phv: the steps one after another. See phv.h.
#include "compiler/chip/report_add.h"
#include "compiler/chip/phv/phv_impl.h"

void chip_phv(struct chip_report *r, struct chip_pipe *pipe) {
    struct phv p = {.r = r, .pipe = pipe, .a = r->arena, .stages = (int)r->limits->stages};
    for (unsigned g = 0; g < 2; g++) {
        p.gress[g].g = &pipe->gress[g];
        p.gress[g].min_depth = pipe->parser[g].min_depth;
        p.gress[g].parses = pipe->parser[g].max_depth > 0;
    }
    phv_fields(&p);
    phv_runs(&p);
    phv_place(&p);
    if (r->target == CHIP_TOFINO2)
        chip_note(
            r,
            "Containers of a Tofino 2 are counted as if all were of the normal kind; fields that "
            "are only parsed and deparsed take none, as if they stayed in the packet's buffer.");
}
