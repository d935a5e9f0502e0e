// SPDX-License-Identifier: Apache-2.0
//
// alarms: conditions that are reported to the operator without a request.
//
//     stuck-job          slots of a job wait and nothing of them has changed for 'job_stuck'
//                        seconds, whatever packets come. Names the workers that they wait for.
//     leaking-aggregator an aggregator of ATP is held, and nothing was added to it for 'aggregator'
//                        seconds
//     flapping-link      a port's link changed 'flaps' times within FLAP_NS
//     queue-drops        a port drops more than 'queue_drops' packets a second because its queue is
//                        full, or its device does not take them
//     full-table         a table is full (at 'table_full' per cent of its size)
//     deleted-interface  the kernel's interface of a port was deleted; raised by the caller
//                        that runs the switch
//     ...                and the alarms of the ToR's control plane (control/tor)
//
// An alarm is raised once and sent as an event:
//
//     {"event": "alarm", "alarm": kind, "what": which job, port, table, "on": true,
//      "text": one sentence, "since": ns}
//
// When its cause is gone, the event is sent again with "on": false. A cause that comes and goes
// must stay away for some time (calm_ns) first.
//
// Thread-safety: one thread. Works on moments (watch.h) and does not touch the switch.
#ifndef SILKEN_CONTROL_WATCH_ALARMS_H
#define SILKEN_CONTROL_WATCH_ALARMS_H

#include "control/config/config.h"
#include "control/watch/watch.h"

struct sk_alarms;

// 'tell' takes a reference over for each alarm that is raised or cleared.
struct sk_alarms *sk_alarms_new(const struct sk_config_alarms *options,
                                void (*tell)(void *aux, json_t *event), void *aux);
void sk_alarms_free(struct sk_alarms *a); // null allowed
// Limits that changed; alarms that would not be raised with them are cleared at the next look.
void sk_alarms_set(struct sk_alarms *a, const struct sk_config_alarms *options);

// Every second or so, times ascending. 'aggregators' as sk_aggregators_json() has them, or null.
void sk_alarms_look(struct sk_alarms *a, const struct sk_watch *w, const json_t *aggregators);
// 'name' as in a moment (SK_WATCH_NAME), "" without.
void sk_alarms_link(struct sk_alarms *a, uint16_t port, const char *name, bool up, uint64_t now_ns);
// Another's event: {"event": "alarm", "alarm", "on" and what it is about}. Without "on" it lasts a
// minute. Events of other kinds are none of ours: false.
bool sk_alarms_take(struct sk_alarms *a, const json_t *event, uint64_t now_ns);

// Those that are raised, and how often each kind was: new references.
json_t *sk_alarms_json(const struct sk_alarms *a);
json_t *sk_alarms_raised(const struct sk_alarms *a);

#endif
