// SPDX-License-Identifier: Apache-2.0
//
// libra: jobs of Libra in a simulated network: workers that push batches of sparse gradients,
// servers with the cold rest, switches with p4/libra and Libra_s at their CPU ports, and a
// controller that moves the jobs to a standby. Or without Libra_s, beside jobs of other protocols
// on a ToR with p4/rack/with_libra.p4.
//
// The sums are checked when the job is over. A push of a batch to one place (the switch, a server)
// is certain from its acknowledgement on, and possible before: each certain one must be in the sum
// once, each possible one at most once. A push that a crashed server, or a dead switch, may have
// taken along is only possible. Values are a function of seed, job, worker, batch and key, so the
// sums can be worked out at the end.
//
// TAGS. Integers of a job with at most 6 workers and 31 batches are 2^(5 w) for worker w: a sum
// then tells how often each worker's pushes are in it. Other integers are random: a sum must be
// exact, or that of some of the possible ones where there are few. Floats must be within the error
// of the adder (hosts/libra/adder.h) and of how they are written.
//
// NETWORK. Members send to the address of the switch that has the job at the beginning. After a
// move the other switches send frames for this address to the standby ('learn_us' later), as they
// do where addresses are learned.
//
// Concurrency: belongs to the run.
//
// Files:
//
//     scenario.c     what the scenario says (scenario.h)
//     zipf.c         batches (zipf.h)
//     job.c          jobs and their workers
//     member.c       workers and servers as apps of their hosts
//     switch.c       Libra_s at a switch's CPU port
//     admit.c        jobs of a ToR
//     controller.c   the controller
//     sums.c         what the sums must be
//     result.c       the results of a job
#ifndef SILKEN_SIM_LIBRA_LIBRA_H
#define SILKEN_SIM_LIBRA_LIBRA_H

#include "sim/sim.h"

// Whether a job has hot parameters at a switch with a "tor".
bool libra_is_at_a_tor(const struct scenario *sc);
// 0, or negative with a sentence.
int libra_make(struct sim *s, struct sk_error *err);
void libra_free(struct sim *s);

// The switch is configured, or loses what it has. If a job has hot parameters there, Libra_s runs
// there.
int libra_start(struct sim_station *st, struct sk_error *err);
// The switch's "tor" has been started: it is asked to admit such jobs. 0, or negative with a
// sentence.
int libra_admit(struct sim_station *st, struct sk_error *err);
void libra_stop(struct sim_station *st);
// Whether Libra_s itself tells the switch 'st' where frames for the station go.
bool libra_writes(const struct sim *s, uint32_t st, uint32_t station);
// Where what is for the station's address goes: itself, but for a switch whose jobs have moved.
uint32_t libra_where(const struct sim *s, uint32_t station);

void libra_host_down(struct sim *s, uint32_t station, bool for_ever);
void libra_host_up(struct sim *s, uint32_t station);
// The controller moves the jobs now.
void libra_move(struct sim *s);

// At the limit: which jobs are not done.
void libra_explain(struct sim *s);
// Sums, what is left at CPU ports, reasons of drops.
void libra_check_end(struct sim *s);
// The sums alone; of a run whose switches are processes (sim/real.h), too.
void libra_check_sums(struct sim *s);

// Of such a run: the switch's section "libra" (control/libra/libra.h), a new reference, or null if
// Libra_s does not run there; a job's layout is the file LIBRA_LAYOUT, of its number in the
// scenario.
#define LIBRA_LAYOUT "libra-%zu.layout"
json_t *libra_section(const struct sim *s, const struct sim_station *st);
bool libra_write_layout(const struct sim *s, size_t job, FILE *out); // whether all was written
// Libra_s is in processes from now on.
void libra_is_elsewhere(struct sim *s);
// Adds the jobs' results to the array; whether one has failed.
bool libra_results(const struct sim *s, json_t *jobs);
// What its controller did; null: it has none.
json_t *libra_controller_result(const struct sim *s);

#endif
