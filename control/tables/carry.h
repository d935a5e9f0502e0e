// SPDX-License-Identifier: Apache-2.0
//
// carry: what one switch has in its pipes, brought into another that runs a changed program.
//
// Things are found by their full names. An entry is kept when its table, its action and all fields
// of its key and arguments are there, as wide as they were; a field that the table has besides must
// be one that can match anything, and an exact field may have become one of another kind. Entries
// that match with equal priority stay in their order. A register's or a meter's cells are kept when
// it is of the same shape, those that there are. What the new program has of its own (constant
// entries, initial values, default actions that nobody changed) is the new program's.
//
// Where something is not kept there is a sentence, one for each table or other object.
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
