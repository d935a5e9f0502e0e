// SPDX-License-Identifier: Apache-2.0
//
// exchange: a training job whose hosts add up by themselves: tensors go from host to host over a
// transport, by way of parameter servers, round a ring or by the plan of another all-reduce. The
// network only carries them.
//
// WORK. Each worker computes at its own pace (sim/pace.h). Servers: a gradient goes to the server
// or servers of its tensor; when those of all workers are there, the parameters go back to all.
// Ring: sim/transport/placement.h. Other all-reduces: collective.h. What a host has for itself
// takes no time.
//
// FLOWS. A part of a tensor from one host to another is a flow; it begins when it is there to be
// sent, and is complete when the receiver has it: all of it, or by DLCP as much as its bound asks
// for. A host cuts its flows into pieces and gives them to the transport in its order
// (sim/transport/order.h). TCP has a connection for each piece, or one for each pair of hosts.
//
// CHECKED. DLCP: a segment comes once, at its place, with the values that were sent; what is
// complete has its bound; no flow's rate is below its least one; each flow ends, with its bound or
// with an error. TCP and pFabric: the bytes of a piece are all there when it is complete. A worker
// that gets nothing for its hard limit has failed, as has one with a flow that failed; so has the
// job when a host crashes.
//
// Files: training.c (who computes, who sends what to whom), collective.c (plans of all-reduces),
// together.c (training by such a plan), stack.c (a host's flows, pieces and frames), stream.c (TCP
// and pFabric), dlcp.c, outcome.c (results), scenario.c (what a scenario says).
//
// Concurrency: belongs to the run's thread.
#ifndef SILKEN_SIM_EXCHANGE_EXCHANGE_H
#define SILKEN_SIM_EXCHANGE_EXCHANGE_H

#include "sim/sim.h"

struct sim_exchange;

// Null after filling 'err'.
struct sim_exchange *exchange_new(struct sim_job *job, struct sk_error *err);
void exchange_free(struct sim_exchange *x); // null allowed
void exchange_host_down(struct sim_exchange *x, uint32_t station);
// Violates when it should have ended: who waits for what.
void exchange_explain(struct sim_exchange *x);
void exchange_check_end(struct sim_exchange *x);
// Adds the job's members to 'o'; its workers' bytes are those of flows that came.
void exchange_result(const struct sim_exchange *x, json_t *o);
uint64_t exchange_bytes(const struct sim_exchange *x); // that have come, of all workers
uint32_t exchange_workers(const struct sim_exchange *x);

#endif
