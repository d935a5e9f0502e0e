// SPDX-License-Identifier: Apache-2.0
//
// carry: moves the state of a switch's pipes into another switch, which runs a changed program.
//
// Objects are found by their full names. An entry is kept if the new program has its table, its
// action and all fields of its key and arguments, with the same widths. A key field that is new in
// the table must be of a kind that can match anything; an exact field may have become one of
// another kind. Entries of equal priority keep their order. The cells of a register or a meter are
// kept if the shape is the same, as far as the new program has them. The new program's own state
// (constant entries, initial values, default actions that nobody changed) is not replaced.
//
// A sentence reports what is not kept, one for each table or other object.
//
// Thread-safety: as all of control/; neither switch runs.
#ifndef SILKEN_CONTROL_TABLES_CARRY_H
#define SILKEN_CONTROL_TABLES_CARRY_H

#include <jansson.h>

#include "control/tables/control.h"

struct sk_carry {
    struct sk_switch *from, *to;
    size_t entries; // of tables, profiles and value sets, groups, default actions: those in several
                    // pipes once
    size_t cells;   // of registers, counters and meters, of each pipe
    json_t *lost;   // sentences: an array of the caller's
};

// Registers, counters and meters with an index, and what the control plane has put into hashes and
// key masks. Before anything else.
void sk_carry_cells(struct sk_carry *c);
// Members, groups, entries, default actions, value sets.
void sk_carry_tables(struct sk_carry *c);
// What packets left in entries that are in both switches: counts, hits, ages, direct registers,
// states of meters. A meter that has another specification in 'to' starts again.
void sk_carry_activity(struct sk_carry *c);

#endif
