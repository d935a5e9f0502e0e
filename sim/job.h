// SPDX-License-Identifier: Apache-2.0
//
// job: a training job: workers that submit the same tensors, and whether the sums are right.
//
// Tensors are numbered from 0 on; tensor t of the job is cut into the job's flows by position, and
// a lane carries a worker's part of one flow. Values are a function of seed, job, tensor, worker
// and element, so whoever wants to know what a sum must be works it out: a contribution that is
// missing or counted twice, a value of another tensor or element, all show.
//
// WORK. Constant: so many tensors are in flight until all are done. Training: an iteration is the
// forward pass (a third of the compute time), then the backward pass, in which one layer's gradient
// after the other comes out and is submitted; the next iteration begins when all sums are there.
// Each worker goes by its own clock.
//
// A worker that is stopped by time (stop_ms) goes on up to the last tensor that anybody has begun:
// otherwise the others would wait for it.
//
// CRASHES. A worker's host that crashes takes its lanes along. SwitchML has no answer to that: the
// others reach their hard limit, and the job has failed. ATP has (appendix A.3): when the host is
// back, the servers start again at the first fragment that is not complete, and a new worker goes
// on from there. Without its worker, or its server, an ATP job waits, and fails at the workers'
// hard limit.
#ifndef SILKEN_SIM_JOB_H
#define SILKEN_SIM_JOB_H

#include "hosts/core/engine.h"
#include "hosts/atp/server.h"
#include "hosts/atp/worker.h"
#include "hosts/switchml/worker.h"
#include "sim/sim.h"

// A place in a job with sessions, of a worker or a server, and who has it now (process.h).
struct sim_process;
struct sim_seat {
    struct sim_job *job;
    struct sim_worker *worker;   // null: it is a server's
    uint32_t number;             // worker's rank, server's number
    struct sim_process *process; // null: nobody
    uint32_t incarnation;        // the last that has begun, from 1 on
    uint32_t refusals; // processes that ended since they could not join, or their session was over
};

// What all workers' tensor of one number has in common.
struct sim_tensor {
    uint64_t number;
    size_t count;
    enum sk_reach reach; // of job->as->work.collectives; else for all
    uint32_t who;
    uint32_t left;  // workers that have not got the sum
    uint32_t *sums; // integers: what it must be
    double *reals;  // floats
    struct sim_tensor *next;
};

// A worker's copy of a tensor while it is in flight.
struct sim_copy {
    struct sim_worker *worker;
    struct sim_tensor *tensor;
    uint32_t *data;
    uint32_t parts; // lanes that have not got theirs
    uint64_t submitted;
    struct sim_copy *next;
};

// A part of a copy, as a lane carries it; the cookie of its tensor.
struct sim_part {
    struct sim_copy *copy;
    size_t from, count; // elements of the tensor
    uint64_t fragment;  // ATP: the part's first, of all of the flow's
    struct sim_part *next;
};

struct sim_lane { // first member: what the host knows of it
    struct sim_app app;
    struct sim_worker *worker;
    uint32_t flow;
    bool failed;
    struct swml_worker *swml; // one of the two
    struct atp_worker *atp;
    uint64_t fragments; // ATP: of all tensors submitted
    uint64_t first;     // ATP: of a worker that took another's place: where it began
    struct sim_part *parts;
};

struct sim_worker {
    struct sim_job *job;
    uint32_t rank, station;
    struct sim_seat seat;                  // of a job with sessions
    struct sim_lane *lanes[SCN_MAX_FLOWS]; // null: crashed
    uint64_t next;                         // tensor to submit
    uint64_t done;                         // tensors of which the sum is there
    uint64_t in_flight;                    // submitted and not done
    struct sim_copy *copies;
    bool failed, crashed, finished;
    bool gone; // crashed, and nobody takes its place
    // training
    uint64_t iteration;
    size_t layer;           // whose gradient comes out next
    uint64_t started;       // of the iteration
    struct sim_random pace; // jitter
    double stretch;
    struct sim_timer timer;
    // for results
    uint64_t finished_at, bytes_before; // of lanes that are gone
    uint64_t retransmissions_before;
    json_t *times; // us from submission to the sum, or of iterations
};

struct sim_server { // one flow's, on a host
    struct sim_app app;
    struct sim_job *job;
    uint32_t flow;
    struct atp_server *atp;
    uint64_t
        renumbered; // by how much the numbers of fragments are ahead, after workers were replaced
};

struct sim_job {
    struct sim *sim;
    const struct scn_job *as;
    uint8_t number; // on the wire; 1 is the scenario's first
    struct sim_worker *workers;
    uint32_t n_workers;
    bool failed, over; // over: all workers are through, have failed, or are gone
    uint64_t count;    // tensors, or UINT64_MAX
    size_t elements;   // constant: of a tensor
    uint64_t start_ns, stop_ns;
    uint64_t furthest; // tensors that anybody has begun
    uint64_t verified; // elements of sums that were looked at
    struct sim_tensor *tensors;
    uint64_t value_seed;
    struct sim_sessions *sessions; // null: it has none
    struct sim_exchange *exchange; // its hosts add up by themselves: all else is theirs; else null
    struct sim_levels *levels;     // SwitchML, of a job with "levels"; else null
    // the protocol
    uint32_t at, slots, pool_base, flow_bits;
    struct sim_server *servers[SCN_MAX_FLOWS]; // by flow; null: crashed
    struct atp_shape *shapes[SCN_MAX_FLOWS];
    struct atp_place *places[SCN_MAX_FLOWS]; // of each worker
    uint32_t window, window_max, first_index, indices;
    uint64_t rto_initial, rto_min, rto_max, hard_limit;
};

// job.c
struct sim_job *job_new(struct sim *s, uint32_t i, struct sk_error *err);
void job_free(struct sim_job *job);
void job_part_done(struct sim_lane *lane, struct sim_part *part); // its sum is there
void job_worker_failed(struct sim_worker *w);
void job_host_down(struct sim_job *job, uint32_t station, bool for_ever);
void job_host_up(struct sim_job *job, uint32_t station);
bool job_ends(const struct sim_job *job); // by itself, some time
void job_is_over(struct sim_job *job);
// Of jobs with sessions: a worker begins from its first tensor on; what it had in hand is gone; a
// sum is there and was looked at.
void job_worker_begins(struct sim_worker *w);
void job_worker_stops(struct sim_worker *w);
void job_copy_done(struct sim_copy *copy);

// values.c: what is in the tensors
// 'worker': its rank, and of a job with sessions its incarnation in the upper bits (values_who).
void values_fill(const struct sim_job *job, uint64_t tensor, uint32_t worker, size_t count,
                 uint32_t *out);
static inline uint32_t values_who(uint32_t rank, uint32_t incarnation) {
    return incarnation << 10 | rank;
}
// Of a job with sessions: a new one, of which the sum is not known yet.
struct sim_tensor *values_tensor(struct sim_job *job, uint64_t number, size_t count);
// The sum of the tensors of such workers: who[job->n_workers].
void values_sum(struct sim_job *job, struct sim_tensor *t, const uint32_t *who);
// Compares elements that 'worker' (values_who) has with what they must be: sums, or what it had, if
// they are not for it. Index of the first that is wrong, or count.
size_t values_wrong(const struct sim_job *job, const struct sim_tensor *t, uint32_t worker,
                    const uint32_t *data, size_t from, size_t count);
void values_release(struct sim_job *job, struct sim_tensor *t); // one worker is through with it

// switchml.c and atp.c: lanes
int switchml_prepare(struct sim_job *job, struct sk_error *err);
struct sim_lane *switchml_lane(struct sim_worker *w, struct sk_error *err);
// Whether the frame looks as if it were the lane's.
bool switchml_lane_wants(const struct sim_lane *lane, const uint8_t *frame, uint32_t length);
bool atp_lane_wants(const struct sim_lane *lane, const uint8_t *frame, uint32_t length);
int atp_prepare(struct sim_job *job, struct sk_error *err);
struct sim_lane *atp_lane(struct sim_worker *w, uint32_t flow, uint64_t first,
                          struct sk_error *err);
struct sim_server *atp_server_app(struct sim_job *job, uint32_t flow, struct sk_error *err);
uint32_t atp_server_station(const struct sim_job *job, uint32_t flow);
// The address of the group to which the servers' parameters go, for all flows of one server.
void atp_group_mac(const struct sim_job *job, uint32_t server, uint8_t mac[6]);

// levels.c: the switches of a job over several, each of which sums what is below it.
#define LEVELS_BELOW 32u
struct sim_level {
    uint32_t station, above;      // switches; above SCN_NONE: it is the top
    uint32_t below[LEVELS_BELOW]; // stations, workers' and switches'; the index is the bit
    uint32_t n_below;
};
struct sim_levels {
    size_t n;
    struct sim_level level[];
};
// From the workers' places. Null after filling 'err': they do not fit.
struct sim_levels *levels_of(const struct sim_job *job, struct sk_error *err);
// The part of a switch; null: it has none.
const struct sim_level *levels_at(const struct sim_job *job, uint32_t station);

// lane.c: a lane of either protocol; switchml_lane() and atp_lane() put the state machine in
struct sim_lane *lane_new(struct sim_worker *w, uint32_t flow);
// Bytes of sums that the lane has received.
uint64_t lane_bytes(const struct sim_lane *lane);
uint64_t lane_retransmissions(const struct sim_lane *lane);
// A part of a tensor is to be summed. The cookie comes back through job_part_done.
int lane_submit(struct sim_lane *lane, struct sim_part *part, uint32_t *data);

#endif
