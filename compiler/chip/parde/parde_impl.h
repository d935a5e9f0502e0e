// SPDX-License-Identifier: Apache-2.0
//
// parde_impl: what the files of parde share. See parde.h.
#ifndef SILKEN_COMPILER_CHIP_PARDE_PARDE_IMPL_H
#define SILKEN_COMPILER_CHIP_PARDE_PARDE_IMPL_H

#include "compiler/chip/parde/parde.h"
#include "compiler/chip/phv/fields.h"

#define PARDE_MAX_STATES 1000u // of a parser that is looked at in detail

// What a state takes from the packet, and how often its loop runs.
struct parde_state {
    uint64_t bytes;   // extracted and skipped
    unsigned visits;  // at most, on one way; 1 outside of loops
    unsigned ways_in; // cases and unconditional transitions that lead here
    bool in_loop;
    unsigned component; // states of one loop have one number
};
struct parde_parser {
    struct chip_report *r;
    const struct ir_gress *ir;
    struct parde_state *states; // by id; null: too many states
};

// ways.c
void parde_ways(struct parde_parser *p);
uint64_t parde_longest(const struct parde_parser *p);
// To accept or reject, whichever is nearer: a select that no case matches rejects.
uint64_t parde_shortest(const struct parde_parser *p);
// The states that follow one: cases first, then the unconditional one. Ends at -3.
#define PARDE_END (-3)
int parde_next(const struct ir_state *s, size_t i);

// select.c: what selects match on.
void parde_selects(struct parde_parser *p);

// sums.c: units that the parser's checksums need; '*over' is set to where there are more than
// 'most'.
unsigned parde_sum_units(struct parde_parser *p, struct loc *over, unsigned most);

// writes.c: metadata that is assigned on one way more than once.
void parde_writes(struct parde_parser *p, const struct phv_gress *g);

#endif
