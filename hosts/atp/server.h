// SPDX-License-Identifier: Apache-2.0
//
// server.h: one flow of an ATP parameter server as a state machine without input, output or clock.
//
// The server of a flow takes gradients, one worker's or the sum of some or of all, adds up what the
// switches did not, and sends the sums as parameter packets to the job's group (ATP, NSDI 2021,
// section 3.6). It is driven as a worker is:
//
//      for (;;) {
//          while ((len = atp_server_write(s, frame, sizeof frame, now)) > 0)
//              send frame[0..len)
//          wait for a frame, or until atp_server_deadline(s)
//          atp_server_read(s, frame, len, now)         for each frame that came
//          atp_server_expire(s, now)
//      }
//
// FRAGMENTS. For each of the fragments that workers can have in flight there is a set of the
// workers whose values are in the sum, and the sum (64 bits a value: it cannot overflow here). A
// gradient whose workers are all missing is added; one that has all those that are there, and more,
// takes the sum's place; any other overlap is dropped. When nobody is missing, the parameters are
// sent, and kept until no worker can ask for them again: a gradient for a fragment which is
// complete is answered with the parameters, once within `repeat_every` for all that send it again,
// and sooner when a worker asks for a second time: the answer to its first question was lost.
//
// OVERFLOW. A value that is the greatest or the least of 32 bits may have been more, and a worker
// that sends floats has values that do not fit: the fragment starts again, all workers are asked
// for floats, and those are added up in double precision (section 3.8). The switches keep such a
// value whatever is added to it. Integers cannot be asked for so: if a part of the sum leaves the
// range, the result is at or near the limit, which depends on the order.
//
// COLLISIONS. A gradient with `collision` makes the server send a new index with the parameters
// (section 3.6).
//
// FAILURE. atp_server_reshape() gives the job new places (appendix A.3): what is not complete
// begins again under new numbers, and a packet says so to all, some times until all have sent
// something with these, and whenever somebody uses an old one. The aggregators of what was not
// complete are released by time-out.
//
// EXACTLY ONCE. Nobody counts twice, as sums with the same worker in both are never added up,
// neither here nor in a switch; and what is dropped for that reason is sent again by its worker
// alone, since the first repetition takes away the aggregator that held it. So any loss, repetition
// and order is fine for the sums. What goes wrong at other places:
//
//      workers differ about an index      while news of a rehash are under way: parts of the sum
//                                         wait in two aggregators. Those who miss it send it again,
//                                         which frees theirs; parameters go to each index
//      parameters lost on one branch      its aggregators are freed by the repetition, or by the
//                                         parameters that this brings
//      the last parameters of all lost    as above: a worker rests only when it has those which
//                                         have passed its aggregators
//      request for floats lost            fixed point numbers come again, and so does the request
//      fixed point numbers after that     dropped; floats free the aggregator that one may have
//                                         taken
//
// WHAT THE NETWORK MUST KEEP. If a gradient arrives at a switch after its worker has the
// parameters, a repetition by the network or one that was overtaken, then it takes an aggregator
// that nobody frees: the switch's time-out has to, or other parameters with this fragment's number.
// Links that keep the order and repeat nothing leave no aggregator behind
// (harness/hosts/atp/test_schedules.c). And numbers wrap: such a gradient, or an aggregator that it
// has taken, must be gone before the flow has sent 2^(24 - flow_bits) - 2 * window_max more
// fragments, 4 GB for one flow. So `abandoned_after` in the switch has to be less than the time for
// that, a third of a second at 100 Gbps: else the sum of an old fragment is taken for the new
// one's.
//
// Memory is 2 * window_max fragments, whatever the tensors' length.
//
// Concurrency: a server belongs to one thread at a time.
#ifndef SILKEN_HOSTS_ATP_SERVER_H
#define SILKEN_HOSTS_ATP_SERVER_H

#include "hosts/atp/worker.h"

struct atp_server_config {
    struct atp_flow flow;
    struct atp_shape shape;        // copied
    enum atp_type type;            // of all tensors of the job
    uint32_t first_index, indices; // as the workers'
    bool rehash;                   // answer collisions with a new index
    bool dynamic_scale;      // adapt the scaling factor to how often sums overflow (appendix B.3)
    uint32_t window_max;     // the greatest of the workers'
    uint64_t repeat_every;   // least time between answers about a fragment to different workers; ns
    uint64_t restart_every;  // from the first packet about a new shape to the second; then doubled
    uint64_t first_fragment; // the first one's number; else 0
};

// Rehashing on, fixed scale, floats, all indices, the greatest window, 500 us, 10 ms.
void atp_server_config_init(struct atp_server_config *config);

struct atp_server_stats {
    uint64_t gradients;       // accepted: added to a sum
    uint64_t values_from[3];  // of them: of one worker, of some, of all
    uint64_t completed;       // fragments
    uint64_t parameters_sent; // packets, repetitions included
    uint64_t repeated;        // of them, repetitions
    uint64_t overflows;       // fragments asked for as floats
    uint64_t rehashed;        // new indices given
    uint64_t marks;           // gradients with ECN
    uint64_t ignored[ATP_REASON_COUNT];
};

struct atp_server;

// Makes a server in '*s'; errors as those of atp_worker_new().
int atp_server_new(struct atp_server **s, const struct atp_server_config *config, const char **why);
void atp_server_free(struct atp_server *s);

// A session of the job starts: everything is as in a new server, but for the job's shape and the
// counters.
void atp_server_enter(struct atp_server *s, uint16_t session);

// Writes the next frame to send, as atp_worker_write().
size_t atp_server_write(struct atp_server *s, uint8_t *buf, size_t cap, uint64_t now);
uint32_t atp_server_queued(const struct atp_server *s);

enum atp_reason atp_server_read(struct atp_server *s, const uint8_t *frame, size_t len,
                                uint64_t now);

uint64_t atp_server_deadline(const struct atp_server *s);
void atp_server_expire(struct atp_server *s, uint64_t now);

// The job's workers have other places from now on; their number stays.
int atp_server_reshape(struct atp_server *s, const struct atp_shape *shape, uint64_t now,
                       const char **why);

// The first fragment that is not complete: where a worker that takes another's place begins.
uint64_t atp_server_first(const struct atp_server *s);

struct atp_server_stats atp_server_stats(const struct atp_server *s);

// For each worker, whether its values of fragment 'number' (counted from 0) are in the sum, and
// whether the sum is complete: for invariants. False when the server has no memory of it.
bool atp_server_look(const struct atp_server *s, uint64_t number, struct atp_members *members,
                     bool *complete);

#endif
