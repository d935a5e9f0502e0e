// SPDX-License-Identifier: Apache-2.0
//
// fields: who reads and writes each variable of a gress, from which stage to which it lives, and
// which headers a packet may have together. Allocation of containers stands on it, and so does what
// parser and deparser take (compiler/chip/parde).
#ifndef SILKEN_COMPILER_CHIP_PHV_FIELDS_H
#define SILKEN_COMPILER_CHIP_PHV_FIELDS_H

#include "compiler/chip/chip.h"

// What is known of one variable.
struct phv_field {
    bool read, written; // by units
    bool computed;      // an ALU's operation other than a move reads or writes it
    bool result;        // such an operation writes it
    bool parsed;        // the parser writes it
    bool deparsed;      // the deparser reads it
    bool intrinsic;     // the chip reads it at the end of the gress, from a container of its own
    uint64_t ways;      // which units touch it and how: equal for fields that go together
    bool several;       // more than one unit touches it
    int unit;           // the first one that does, -1: none
    int first_write, first, last; // stages
};

struct phv_gress {
    const struct chip_gress *g;
    struct phv_field *fields; // by variable id
    // By header id.
    bool *extracted, *emitted, *made /* set valid in the control */;
    bool *together;     // [a * headers + b]: some packet may have both
    unsigned min_depth; // bytes of the shortest way through the parser
    bool parses;        // its parser does anything
};

struct phv_run; // phv_impl.h
typedef VEC(struct phv_run *) phv_run_vec;

struct phv {
    struct chip_report *r;
    struct chip_pipe *pipe;
    struct arena *a;
    int stages;
    struct phv_gress gress[2];
    phv_run_vec runs;
    uint64_t work[2]; // of each gress: comparisons of fields that may share a container
};

void phv_fields(struct phv *p);
bool phv_header_lives(const struct phv *p, unsigned g, const struct ir_header *h);
// A packet may have both; runs without a header are always there.
bool phv_together(const struct phv *p, unsigned g, const struct ir_header *a,
                  const struct ir_header *b);

#endif
