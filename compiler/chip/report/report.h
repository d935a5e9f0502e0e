// SPDX-License-Identifier: Apache-2.0
//
// report: the report of chip.h for people on a terminal, for programs (JSON), and as one page that
// needs no network (HTML).
//
// Files:
//
//     report.c  code that the three forms share
//     text.c    for a terminal; lines.c: text in columns, with colours
//     json.c    for programs
//     html.c    as a page (html.h lists its files)
#ifndef SILKEN_COMPILER_CHIP_REPORT_REPORT_H
#define SILKEN_COMPILER_CHIP_REPORT_REPORT_H

#include <stdio.h>

#include "compiler/chip/chip.h"

// 'columns': the terminal's width, at least 40. Nothing is kept; write errors are the stream's
// owner's to see.
void chip_print_text(FILE *out, const struct chip_report *r, bool colour, unsigned columns);
void chip_print_json(FILE *out, const struct chip_report *r);
void chip_print_html(FILE *out, const struct chip_report *r);

#endif
