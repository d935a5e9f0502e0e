// SPDX-License-Identifier: Apache-2.0
//
// html: the report as a page of its own (chip_print_html in report.h). What this room's files
// share:
//
//     html.c               the page: head, answer, exceeded limits, notes; how text is written
//     html_map.c           the stage map, resources by stage, the list of tables
//     html_graph.c         dependencies: a picture, a list, the critical path
//     html_phv.c           containers, parsers, deparsers
//     page.css, .js what it looks like and does, as they are written into it
//
// Everything can be read without the script; it only lights up what belongs together, sorts and
// filters. All text goes through html_put(), whose %s escapes: there is no other way for a name to
// come into the page. And if there was one, the page's policy lets no script run but its own.
#ifndef SILKEN_COMPILER_CHIP_REPORT_HTML_H
#define SILKEN_COMPILER_CHIP_REPORT_HTML_H

#include "compiler/chip/report/report_impl.h"

extern const char report_page_css[], report_page_js[]; // made by the Makefile

struct html {
    FILE *out;
    const struct chip_report *r;
    const struct chip_pipe *p; // of the section that is being written, and its
    unsigned pipe;             // number, which is part of identifiers
};

// Of printf's conversions there are %s, %u, %d, %zu, %% and %.1f. A string is escaped, for text as
// well as for an attribute in double quotes.
void html_put(struct html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "p0-i12": of a unit, for identifiers and data-unit.
const char *html_unit(const struct html *h, const struct chip_unit *u);
// A name that a line may be broken in, at its dots and underscores.
void html_name(struct html *h, const char *name);
// A name that is cut to so many characters; the whole one is its title.
const char *html_short(const struct html *h, const char *name, unsigned characters);
// A file's name and line.
void html_place(struct html *h, struct loc at);

void html_stage_map(struct html *h);
void html_resources(struct html *h);
void html_tables(struct html *h);
void html_graph(struct html *h);
void html_critical_path(struct html *h);
void html_phv(struct html *h);
void html_parsers(struct html *h);

#endif
