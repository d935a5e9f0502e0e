// SPDX-License-Identifier: Apache-2.0
//
// scenario_impl: shared by the files that read a scenario: scenario.c (the file as a whole),
// scenario_topology.c, scenario_jobs.c, scenario_faults.c, and scenario_values.c, from which all
// the small readers below are. Nobody else includes it. Readers fail the document and return
// something harmless, as those of base/json.h.
#ifndef SILKEN_SIM_SCENARIO_IMPL_H
#define SILKEN_SIM_SCENARIO_IMPL_H

#include "sim/models.h"
#include "sim/scenario.h"

void *scn_keep(const struct sk_at *at, size_t n,
               size_t size); // zeroed; lives as long as the scenario

// A member that is a number from 'least' to 'most'; 'otherwise' when it is not there.
double scn_number(const struct sk_at *at, const char *key, double least, double most,
                  double otherwise);
uint32_t scn_whole(const struct sk_at *at, const char *key, uint32_t least, uint32_t most,
                   uint32_t otherwise);
struct sim_range scn_range(const struct sk_at *at, const char *key, double least, double most,
                           double otherwise);
bool scn_flag(const struct sk_at *at, const char *key, bool otherwise);
const char *scn_word(const struct sk_at *at, const char *key, const char *otherwise);
// Index of a member's word in a list that ends with null.
unsigned scn_choice(const struct sk_at *at, const char *key, const char *const *words,
                    unsigned otherwise);

// The path of a file that is named relative to the scenario.
const char *scn_beside(const struct sk_at *at, const char *word);

// The station of that name; 'hosts', 'switches': which kinds it may be of.
uint32_t scn_station_named(const struct scenario *s, const struct sk_at *at, bool hosts,
                           bool switches);
uint32_t *scn_stations(const struct scenario *s, const struct sk_at *list, bool hosts,
                       bool switches, size_t *n);
// The cable called "a-b".
uint32_t scn_cable_named(const struct scenario *s, const struct sk_at *at);

void scn_read_topology(struct scenario *s, const struct sk_at *root);
void scn_read_jobs(struct scenario *s, const struct sk_at *root);
// libra/scenario.c: a job whose protocol is "libra", item 'i' of the list
void scn_read_libra(struct scenario *s, const struct sk_at *at, size_t i);
// own/scenario.c: a job whose protocol is "own", the same
void scn_read_own(struct scenario *s, const struct sk_at *at, size_t i);
void scn_read_controller(struct scenario *s, const struct sk_at *root);
void scn_read_background(struct scenario *s, const struct sk_at *root);
void scn_read_faults(struct scenario *s, const struct sk_at *root);
// exchange/scenario.c: a job whose protocol is a transport
bool scn_is_exchange(const struct sk_at *at);
void scn_read_exchange(struct scenario *s, const struct sk_at *at, struct scn_job *job);
void scn_read_work(const struct sk_at *at, struct scn_work *w);

#endif
