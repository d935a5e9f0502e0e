// SPDX-License-Identifier: Apache-2.0
//
// process: members of jobs with sessions (session/message.h): processes that are killed, end, and
// begin again.
//
// A job with sessions has a seat for each worker and each server. Who has it at a time is a
// process: the engine that a real communicator or a real server runs (hosts/communicator), in
// virtual time, with a nonce of its own. Each process of a seat is another incarnation, and a
// worker's values are a function of its incarnation, too: so what an earlier one has sent can never
// look right. Whoever finishes an all-reduce compares it with the sum over the incarnations that
// are in its session, one of each worker.
//
// A worker's process is done when it has all its sums. When those of all workers are, they begin
// again, until the job's stop_ms; then the job is over. A process whose session is over, or that
// cannot join, ends with a sentence, and is started again a little later, as whoever watches over
// processes would do. One that is done while others are not begins again after some seconds:
// somebody began again too late to get the last sums with it.
//
// Half of all processes that end say so to the coordinator (LEAVE), the others are killed.
#ifndef SILKEN_SIM_PROCESS_H
#define SILKEN_SIM_PROCESS_H

#include "sim/job.h"

// 0, or -1 after filling 'err': its engines cannot be made. The first processes begin at the job's
// start.
int processes_make(struct sim_job *job, struct sk_error *err);
void processes_free(struct sim_job *job); // one without sessions is allowed

// The processes of jobs with sessions on a station are killed at 'at', workers' or servers', and
// others begin at 'until'. What the first ones were about to send then is sent 'late' ns later.
void processes_restart_at(struct sim *s, uint32_t station, bool servers, uint64_t at,
                          uint64_t until, uint64_t late);
void processes_host_down(struct sim_job *job, uint32_t station, bool for_ever);
void processes_host_up(struct sim_job *job, uint32_t station);

void process_submit(struct sim_copy *copy);             // its worker has a process
void process_finished(struct sim_worker *w);            // it has all its sums
uint64_t processes_sessions(const struct sim_job *job); // how many there were in which somebody was

#endif
