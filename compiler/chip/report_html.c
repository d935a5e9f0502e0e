// SPDX-License-Identifier: Apache-2.0
//
// report_html: the report as one page.
#include "compiler/chip/report_impl.h"

void chip_print_html(FILE *out, const struct chip_report *r) {
    fprintf(out, "<!doctype html><title>%s</title>\n", r->limits->title);
}
