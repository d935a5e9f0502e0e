// SPDX-License-Identifier: Apache-2.0
//
// notes: what the simulated control plane writes into a switch, as a configuration file of `silken
// run` says it (control/config/config.h), for a run whose switches are processes (real.h).
//
//     json_t *config = note_switch(s, station, &err);  // "entries", "multicast", "queues"...
//
// Before a run, with all switches still in this process. The other functions are for those who
// write, and do nothing while nobody asks.
#ifndef SILKEN_SIM_NOTES_H
#define SILKEN_SIM_NOTES_H

#include "control/tables/control.h"
#include "sim/sim.h"

// Configures the switch and returns all that was written, a new reference: without ports and
// program. Null after filling 'err'.
json_t *note_switch(struct sim *s, struct sim_station *st, struct sk_error *err);

// An entry as a configuration or a request has it; a new reference.
json_t *note_entry_json(const struct sk_entry_spec *e);
void note_entry(struct sim *s, const struct sk_entry_spec *e);
// What "filled" of a configuration says.
void note_filled(struct sim *s, const char *tables);
void note_node(struct sim *s, uint32_t node, uint16_t rid, uint16_t port);
void note_group(struct sim *s, uint32_t id, const struct sk_pre_member *members, uint32_t n);
// A part of a configuration, as text that was read already.
void note_part(struct sim *s, const char *text);

#endif
