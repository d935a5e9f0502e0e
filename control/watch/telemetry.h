// SPDX-License-Identifier: Apache-2.0
//
// telemetry: a snapshot of the switch (watch.h) through DPDK's telemetry, for tools that already
// collect the telemetry of other DPDK processes (such as dpdk-telemetry.py). A comma separates a
// command from its parameter.
//
//     /silken/info               version, program, counts of the switch
//     /silken/ports              numbers of the ports
//     /silken/port,PORT          number or name: counts of the port, drops by reason, its device,
//                                its queues
//     /silken/drops[,PORT]       by reason, those that happened
//     /silken/tables             names
//     /silken/table,NAME         size, entries of each pipe
//     /silken/jobs               as KIND/NAME
//     /silken/job,KIND/NAME      as the metrics have it; what workers have, in arrays of the same
//                                order
//     /silken/alarms             one sentence each
//
// A missing value is null. DPDK's text is ASCII, with at most 127 bytes in a string and 16 KiB in a
// reply: other characters become '?', a longer string ends in "...", a longer list in "and N more".
// In a name, a character that is neither a letter nor a digit becomes '_'.
//
// Thread-safety: DPDK calls from its own threads, one for each client. They wait here for at most
// TELEMETRY_WAIT_MS, until the thread that may read the switch answers all of them with one
// snapshot.
#ifndef SILKEN_CONTROL_WATCH_TELEMETRY_H
#define SILKEN_CONTROL_WATCH_TELEMETRY_H

#include "control/watch/watch.h"

#define TELEMETRY_WAIT_MS 5000
#define TELEMETRY_STRING  127u
#define TELEMETRY_LIST    500u // items; DPDK has room for 512
#define TELEMETRY_REPLY   15000u

// Registers the commands, once in a process; until telemetry_begin() all of them are null. 0, or
// negative with a sentence.
int telemetry_register(struct sk_error *err);
void telemetry_begin(void);
// Whether somebody waits: cheap, to be asked in each turn.
bool telemetry_is_asked(void);
// Answers all that wait. 'alarms' as sk_alarms_json() has them.
void telemetry_answer(const struct sk_watch *w, const json_t *alarms);
// From now on all is null, and no one waits.
void telemetry_end(void);

// What a command says, before it is DPDK's: a new reference, or null. 'parameter' may be null.
json_t *telemetry_json(const struct sk_watch *w, const json_t *alarms, const char *command,
                       const char *parameter);

#endif
