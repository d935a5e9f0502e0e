// SPDX-License-Identifier: Apache-2.0
//
// tables: jobs of the published client in the tables of p4/switchml (p4/switchml/README.md, Control
// plane). A worker is where the entry of forward.macs for its MAC address says. The client counts
// its calls in job_number, so a worker has an entry of admission.workers for each of the 256
// numbers, and the job has no sessions. Slots, replication ids, nodes and groups are those that
// nothing else in the switch has when the job comes.
// Jobs by RoCEv2, in the program that has it, are beside them; they have replication ids below 256.
//
// Concurrency: on the control thread.
#ifndef SILKEN_CONTROL_PUBLISHED_TABLES_H
#define SILKEN_CONTROL_PUBLISHED_TABLES_H

#include "control/published/published.h"
#include "control/sessions/clear.h"

struct published_tables;

// 'ip' in host order: the switch's addresses, which workers send to. 'now' is of the switch's
// clock. Null with a sentence: the program is not like p4/switchml.
struct published_tables *published_tables_new(const struct sessions_switch *on,
                                              const uint8_t mac[6], uint32_t ip,
                                              uint64_t (*now)(void), struct sk_error *err);
void published_tables_free(struct published_tables *t); // null allowed; leaves the tables alone
// Another switch, whose program has the same tables or not, or other functions from now on.
int published_tables_replaced(struct published_tables *t, const struct sessions_switch *on,
                              struct sk_error *err);

// Of struct published_options, with the tables as 'aux'.
int published_tables_locate(void *tables, const struct admission_request *r,
                            struct admission_place *place, struct sk_error *err);
int published_tables_add(void *tables, struct admission_job *job, struct sk_error *err);
void published_tables_remove(void *tables, const char *name);
uint64_t published_tables_packets(void *tables, const char *name);

#endif
