// SPDX-License-Identifier: Apache-2.0
//
// phv: which field sits in which container (tna-facts 7.2, 7.4), as the chip's compiler might do
// it. Comes after placement: fields that do not live in the same stages may share a container.
//
// Works in three steps. Fields (fields.c): who reads and writes each variable, from which stage to
// which, and which headers are never in a packet together. Runs (runs.c): neighbouring bytes that
// are cut into containers at byte boundaries, of a header as they stand on the wire, or one
// metadata field; runs between which actions move data belong to one cluster. Containers (place.c):
// what the match-action stages touch goes to normal containers, all that is linked by instructions
// into one group of 16; what is only parsed and deparsed goes to tagalong containers while there
// are any, then to normal ones.
//
// Files:
//
//     phv.c     the steps in order
//     fields.c  readers and writers of each variable, and its lifetime (fields.h)
//     runs.c    the runs that are cut into containers, and their links by instructions
//     place.c   containers for it
//     check.c   whether an allocation contradicts itself, for tests
#ifndef SILKEN_COMPILER_CHIP_PHV_PHV_H
#define SILKEN_COMPILER_CHIP_PHV_PHV_H

#include "compiler/chip/chip.h"

// Fills phv of the pipe and adds violations. Reads the units' parts: units without any live in all
// stages.
void chip_phv(struct chip_report *r, struct chip_pipe *pipe);

// Checks an allocation: null, or what is wrong with it, in the report's arena. No two slices in one
// container meet in bits and time, unless their headers are never in a packet together; containers
// are within the chip's numbers and each gress's; no bit of a variable sits in two containers; when
// phv.fits, every bit of a field of an emitted header, and of what units read and write, has a
// container. For tests.
const char *chip_phv_wrong(const struct chip_report *r, const struct chip_pipe *pipe);

#endif
