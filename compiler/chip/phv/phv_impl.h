// SPDX-License-Identifier: Apache-2.0
//
// phv_impl: what the files of phv share. See phv.h.
#ifndef SILKEN_COMPILER_CHIP_PHV_PHV_IMPL_H
#define SILKEN_COMPILER_CHIP_PHV_PHV_IMPL_H

#include "compiler/chip/phv/fields.h"
#include "compiler/chip/phv/phv.h"

#define PHV_SIZES 3 // 8, 16, 32 bits

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
// A program that takes more of them does not fit: the rest of its fields is left over unseen.
#define PHV_MAX_WORK 20000000u

// runs.c
void phv_runs(struct phv *p);
// place.c
void phv_place(struct phv *p);

#endif
