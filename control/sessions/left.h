// SPDX-License-Identifier: Apache-2.0
//
// left: what a job of Libra leaves: cells and records that its last packets may still change.
//
// A push goes several passes, so when the job's entries are deleted, some are between two passes,
// and add to its cells a little later. Cells and records are another job's only after that. Time
// alone does not say when: each pass stamps the packet anew. Either no packet at all waits for
// another pass; or those that were there before have gone on, whereby each has a record, and all
// that these records say is done.
//
// Concurrency: on the control thread.
#ifndef SILKEN_CONTROL_SESSIONS_LEFT_H
#define SILKEN_CONTROL_SESSIONS_LEFT_H

#include <stddef.h>

#include "control/sessions/clear.h"

#define SESSIONS_RECORDS_MOST 64u // members of all jobs: a bit for each
#define SESSIONS_LEFTS        64u
#define SESSIONS_LOOK_NS      UINT64_C(2000000) // between two looks, which pause the pipes

// What a job waits for that has been given some of them.
#define SESSIONS_WAITS "for the last packets of the job that had its cells"

struct sessions_left {
    uint32_t first, count;  // cells
    uint64_t records;       // a bit for each
    uint64_t looked, since; // of sessions_left_look()
};

// All zero: nothing is left.
struct sessions_lefts {
    struct sessions_left list[SESSIONS_LEFTS];
    size_t n;
};

void sessions_left_add(struct sessions_lefts *l, uint32_t first, uint32_t count, uint64_t records);
// Forgets what nothing can change any more. 'gone': the entries of all of them are deleted. Asked
// again and again while something is left: a push that was lost inside is given up after 30 s.
void sessions_left_look(struct sessions_lefts *l, const struct sessions_switch *sw, uint64_t now,
                        bool gone);
// Whether nothing of these cells and records is left.
bool sessions_left_none(const struct sessions_lefts *l, uint32_t first, uint32_t count,
                        uint64_t records);

#endif
