// SPDX-License-Identifier: Apache-2.0
//
// clear: empties what a job has left in a switch, before its next session starts
// (session/message.h).
//
// The order matters. First packets of the job are stopped at their arrival (the `closed` action of
// the program's table `sessions`). Then those that had passed are waited for:
// sk_switch_passes_since(). Then its registers are cleared, some cells in a pause, and the job is
// opened for the next session.
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

struct sessions_switch {
    struct sk_switch *sw;
    // Around what touches the switch; may be null.
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    void *aux;
};

// Slots of p4/switchml, and aggregators of p4/atp, that the program has; 0: none.
uint32_t sessions_slots(const struct sessions_switch *s);
uint32_t sessions_aggregators(const struct sessions_switch *s);

// Slots, in all pipes: who has contributed, and how many are missing. Elements and exponents need
// not be cleared.
void sessions_clear_slots(const struct sessions_switch *s, uint32_t first, uint32_t count);
// Aggregators, in all pipes: whose they are.
void sessions_clear_aggregators(const struct sessions_switch *s, uint32_t first, uint32_t count);
// Those of them that the job has, wherever they are.
void sessions_clear_aggregators_of(const struct sessions_switch *s, unsigned job);

// Whether packets that came before 'time' (ns) are still under way between passes.
bool sessions_under_way(const struct sessions_switch *s, uint64_t time);

#endif
