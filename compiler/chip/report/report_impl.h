// SPDX-License-Identifier: Apache-2.0
//
// report_impl: what the report's three forms share.
#ifndef SILKEN_COMPILER_CHIP_REPORT_REPORT_IMPL_H
#define SILKEN_COMPILER_CHIP_REPORT_REPORT_IMPL_H

#include "compiler/chip/report/report.h"

// The pipe with most stages, the first of those; null: the compiler refused the program.
const struct chip_pipe *report_fullest(const struct chip_report *r);
const char *report_gress(enum ir_gress_kind kind);       // "ingress"
const char *report_unit_kind(const struct chip_unit *u); // "table", "statements", "condition"
// "hdr.ipv4.ttl", or "hdr.ipv4.ttl[3:0]" for some of its bits. In the report's arena.
const char *report_bits(const struct chip_report *r, struct chip_bits bits);
// The name without the pipe's and the control's: "Ingress.sub.t" of "pipe.Ingress.sub.t" is "sub.t"
// where the gress is known anyway.
const char *report_name(const struct chip_pipe *p, const struct chip_unit *u);
// "file.p4:12", without folders; or "" for none.
const char *report_place(const struct chip_report *r, struct loc at);
// What a dependency is about, in words: "match: hdr.ipv4.ttl, written at l2.p4:33, read at
// l2.p4:40".
const char *report_reason(const struct chip_report *r, const struct chip_dep *d);
// The dependency by which 'to' cannot come before 'from', which are neighbours on the critical
// path; null: none.
const struct chip_dep *report_edge(const struct chip_gress *g, unsigned from, unsigned to);
unsigned report_first_stage(const struct chip_unit *u);
// Units that take at least one thing of 'stage', in program order.
bool report_in_stage(const struct chip_unit *u, unsigned stage);
// What a pipe takes of a resource: in a stage (0 where nothing is), in all, and the stage with
// most.
unsigned report_used(const struct chip_pipe *p, unsigned stage, unsigned resource);
uint64_t report_total(const struct chip_pipe *p, unsigned resource);
unsigned report_peak(const struct chip_pipe *p, unsigned resource, unsigned *stage);
// The stages that a report shows: those of the chip, and of what is after them, when the program
// needs more, those that something is in.
struct report_stages {
    unsigned *v;
    size_t n;
};
struct report_stages report_stages(const struct chip_report *r, const struct chip_pipe *p);
// Whether a unit takes anything of a stage.
bool report_stage_in_use(const struct chip_pipe *p, unsigned stage);

#endif
