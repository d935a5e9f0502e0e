// SPDX-License-Identifier: Apache-2.0
//
// phv_impl: what the files of phv share. See phv.h.
#ifndef SILKEN_COMPILER_CHIP_PHV_PHV_IMPL_H
#define SILKEN_COMPILER_CHIP_PHV_PHV_IMPL_H

#include "compiler/chip/phv/phv.h"

#define PHV_SIZES 3 // 8, 16, 32 bits

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

// A variable's bits in a run, as bits from the run's first.
struct phv_bits {
    const struct ir_var *var;
    unsigned lo, width, at;
};
struct phv_run {
    unsigned gress;
    const struct ir_header *header; // null: metadata
    struct loc loc;
    VEC(struct phv_bits) bits;
    unsigned bytes;
    bool *whole; // [i]: no cut in front of byte i
    bool normal; // the stages touch it
    bool exact;  // it is deparsed: containers hold nothing beyond it
    bool failed;
    unsigned least, most; // bytes of its containers at least and at most, as far as that is settled
    int first, last;
    unsigned id, cluster;
};
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

// A program that takes more of them does not fit: the rest of its fields is left over unseen.
#define PHV_MAX_WORK 20000000u

// fields.c
void phv_fields(struct phv *p);
bool phv_header_lives(const struct phv *p, unsigned g, const struct ir_header *h);
// A packet may have both; runs without a header are always there.
bool phv_together(const struct phv *p, unsigned g, const struct ir_header *a,
                  const struct ir_header *b);
// runs.c
void phv_runs(struct phv *p);
// place.c
void phv_place(struct phv *p);

#endif
