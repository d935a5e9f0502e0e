// SPDX-License-Identifier: Apache-2.0
//
// carry_impl: what the files of carry share.
//
//     carry.c          objects of a name in both switches; registers, counters, meters, hashes
//     carry_tables.c   entries, and what hangs on them
#ifndef SILKEN_CONTROL_TABLES_CARRY_IMPL_H
#define SILKEN_CONTROL_TABLES_CARRY_IMPL_H

#include "control/tables/carry.h"
#include "control/tables/names.h"

// A thing in one pipe, and the one of its name there in the other switch.
struct carry_pair {
    struct sk_object from, to;
    bool there; // 'to' is
    unsigned pipe;
};
// What became of it, in the pipe where most was kept, or lost.
struct carry_count {
    size_t kept, lost;
    char why[256]; // the first was lost
};
// Calls 'fn' for each object of the kind in each pipe. Counts 'kept' into '*total', and says what
// was lost, as 'what': "entries".
void carry_each(struct sk_carry *c, enum sk_object_kind kind, const char *what, size_t *total,
                void (*fn)(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n));
void carry_lose(struct carry_count *n, size_t how_many, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
