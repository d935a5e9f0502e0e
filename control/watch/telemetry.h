// SPDX-License-Identifier: Apache-2.0
//
// telemetry: a moment of the switch (watch.h) through DPDK's telemetry, for what already collects
// that of other DPDK processes (dpdk-telemetry.py and its kind). A parameter follows its command
// after a comma.
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
// What is not there is null. DPDK's text takes ASCII, 127 bytes in a string and 16 KiB in a reply:
// other characters are '?', a longer string ends in "...", a longer list in "and N more"; what is
// no letter or digit in a name is '_'.
//
// Thread-safety: DPDK calls from threads of its own, one for each client. They wait here, for
// TELEMETRY_WAIT_MS at most, until the thread that may read the switch answers all of them with one
// moment.
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
