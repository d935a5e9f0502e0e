// SPDX-License-Identifier: Apache-2.0
//
// clear: clears the state of a job in a switch before the job's next session starts
// (session/message.h).
//
// The order matters. First, the program drops the job's packets on arrival (the `closed` action of
// its table `sessions`). Second, the packets that were admitted before have to leave:
// sk_switch_passes_since(). Third, the job's registers are cleared, some cells in each pause, and
// the job is opened for the next session.
//
// Concurrency: on the control thread.
#ifndef SILKEN_CONTROL_SESSIONS_CLEAR_H
#define SILKEN_CONTROL_SESSIONS_CLEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

// Names of the programs' objects.
#define SESSIONS_OF_SWITCHML "admission.sessions"
#define SESSIONS_OF_ATP      "classify.sessions"
#define SESSIONS_WORKERS     "admission.workers"

struct sessions_switch {
    struct sk_switch *sw;
    // Around what touches the switch; may be null.
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    void *aux;
};

// Slots of p4/switchml, and aggregators of p4/atp, that the program has; 0: none.
uint32_t sessions_slots(const struct sessions_switch *s);
// Whether it is the program of p4/switchml that adds 16-bit floats.
bool sessions_are_halves(const struct sessions_switch *s);
uint32_t sessions_aggregators(const struct sessions_switch *s);

// Whether it is the program of p4/switchml for RoCEv2, too: the version is the lowest bit of its
// cells' numbers, else it is above that of the slot.
bool sessions_are_roce(const struct sessions_switch *s);

// Whether it is p4/switchml's program for jobs over several switches.
bool sessions_are_levels(const struct sessions_switch *s);

// Slots, in all pipes: who has contributed, and how many are missing. Elements and exponents need
// not be cleared.
void sessions_clear_slots(const struct sessions_switch *s, uint32_t first, uint32_t count);
// Aggregators, in all pipes: whose they are.
void sessions_clear_aggregators(const struct sessions_switch *s, uint32_t first, uint32_t count);
// Those of them that the job has, wherever they are.
void sessions_clear_aggregators_of(const struct sessions_switch *s, unsigned job);

// ---- p4/libra ----

#define SESSIONS_PLACES 16u // registers of cells
// Cells of each register, and workers that have records, of the program; 0: none.
uint32_t sessions_cells(const struct sessions_switch *s);
uint32_t sessions_records(const struct sessions_switch *s);
// These cells of each register, in all pipes, and the records of one worker: what was added.
void sessions_clear_cells(const struct sessions_switch *s, uint32_t first, uint32_t count);
void sessions_clear_record(const struct sessions_switch *s, uint32_t worker);
// Whether a push of the worker has begun and is not done: it is in one of its passes, or was lost
// inside the switch.
bool sessions_adds(const struct sessions_switch *s, uint32_t worker);

// Whether packets that came before 'time' (ns) are still under way between passes.
bool sessions_under_way(const struct sessions_switch *s, uint64_t time);
// Whether any are, whenever they came. 'now': ns.
bool sessions_passes(const struct sessions_switch *s, uint64_t now);

#endif
