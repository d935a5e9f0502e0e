// SPDX-License-Identifier: Apache-2.0
//
// report_text: the report for people at a terminal.
#include "compiler/chip/report_impl.h"

void chip_print_text(FILE *out, const struct chip_report *r, bool colour, unsigned columns) {
    (void)columns;
    fprintf(out, "%s %s\n", r->fits ? "fits" : "does not fit", r->limits->title);
    for (size_t i = 0; i < r->violations.n; i++) {
        const struct chip_violation *v = &r->violations.v[i];
        if (v->at.line)
            fprintf(out, "%s:%u:%u: ", diag_path(r->diag, v->at.file), v->at.line, v->at.col);
        fprintf(out, "error: %s\n", v->message);
        diag_print_source(r->diag, out, v->at, colour);
    }
}
