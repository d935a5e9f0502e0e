// SPDX-License-Identifier: Apache-2.0
//
// dlcp.h: tensors sent and received by DLCP, of which a bounded part may be lost (Wang et al.,
// 2020; numbers in parentheses are sections of the paper).
//
// A station is a host's end of all its flows: one device, one address. A flow is one tensor on its
// way from one station to another, in one iteration. Both ends name it alike: job, tensor,
// iteration, and whether it is the way back ('pull'). The sender says of each packet which layer it
// is of and whether its gradients are important; switches let front layers go first, and drop what
// is not important when queues are long. The receiver has enough as soon as the bound is met; what
// is lost beyond it is sent again.
//
//      struct silken_dlcp_config config;
//      struct silken_dlcp *station;
//      struct silken_dlcp_flow *flow;
//      char why[256];
//
//      silken_dlcp_config_init(&config);
//      config.self = (struct silken_address){"02:00:00:00:01:00", "10.0.0.1"};
//      config.device = "net_memif0,role=client,id=0,socket=/tmp/w0.sock";
//      if (silken_dlcp_open(&station, &config, why, sizeof why) != 0)
//          say why;
//      struct silken_dlcp_tensor weights = {.values = w, .count = n, .iteration = i, .pull = true};
//      silken_dlcp_recv(station, &server, &weights, 0.01, &flow);
//      silken_dlcp_wait(flow);
//      while (silken_dlcp_missing(flow, &first, &count))
//          do without count elements from first on;
//      silken_dlcp_end(flow);
//
// silken/allreduce.h has sums over all workers of a job above this (SILKEN_DLCP).
//
// A flow's memory stays the caller's, and must stay until the flow has ended. Nothing happens
// behind the application's back: frames are sent and received in silken_dlcp_wait(), _next() and
// _run() alone. A station and its flows belong to one thread at a time. Results are 0 or an error
// code (silken/error.h).
#ifndef SILKEN_DLCP_H
#define SILKEN_DLCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silken/allreduce.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

struct silken_dlcp;
struct silken_dlcp_flow;

struct silken_dlcp_config {
    uint16_t size; // of this struct, from silken_dlcp_config_init()
    struct silken_address self;
    const char *device; // as in struct silken_config, but not udp:, which loses the marks
    int cpu;            // of DPDK's device; -1: any
    struct sk_transport *transport; // or one that is open, taken over on success
    uint32_t link_mbps;             // the link's rate, with which each flow begins
    uint16_t first_port, ports;     // UDP ports to send from: turned among so many, 1 to 16, to use
                                    // all paths of a network that chooses by flow
    uint32_t period_us;             // between reports of the receiving rate
    uint32_t burst_us;              // of sending that is made up for after a wait
    uint32_t rto_min_us, rto_max_us, rto_initial_us; // of signals
    uint32_t hard_limit_ms; // without a word of the other end until a flow has failed
};

// Fills '*config' with the defaults: 10 Gbps, one port (50000), reports every 200 us, bursts of
// 200 us, timeouts from 2 to 200 ms beginning with 20 ms, a limit of 30 s. Address and device
// remain to be set.
void silken_dlcp_config_init_sized(struct silken_dlcp_config *config, size_t size);
#define silken_dlcp_config_init(config) silken_dlcp_config_init_sized((config), sizeof *(config))

// Returns 0, SILKEN_ERR_INVALID, SILKEN_ERR_UNSUPPORTED (udp:), SILKEN_ERR_NOMEM or what opening
// the transport gave; then a sentence is in 'why' (of 'why_cap' bytes).
int silken_dlcp_open(struct silken_dlcp **station, const struct silken_dlcp_config *config,
                     char *why, size_t why_cap);
// Ends a station with all its flows. NULL is accepted.
void silken_dlcp_close(struct silken_dlcp *station);

struct silken_dlcp_tensor {
    float *values; // sent: only read
    size_t count;  // 1 to 2^31
    uint8_t job;
    uint16_t tensor;
    uint32_t iteration;
    bool pull;
    // Sent. Layer 'layer' of 'layers', 0 in front; 0 layers: it is the only one.
    uint32_t layer, layers;
    double bound;           // share that may be missing; the receiver's counts if it is less
    uint16_t contributions; // workers in the values; 0: one
    const uint16_t *segment_contributions; // instead, by segment; or NULL
    // Received. If this is set, values are added to those at 'values', and the workers in each
    // segment to these numbers, one for each SILKEN_DLCP_SEGMENT elements.
    uint16_t *sums;
};
#define SILKEN_DLCP_SEGMENT 363 // elements of a packet

// Whether 'count' values, which are segment 'segment' of a tensor, are important (3.2.2). NULL: if
// their mean magnitude is at least the median of such means, estimated from 0.1 % of the tensor.
typedef bool silken_dlcp_prio(void *context, const float *values, uint32_t count, uint32_t segment);
// The paper's threshold instead: the median of all magnitudes, which marks nearly every packet.
bool silken_dlcp_prio_paper(void *context, const float *values, uint32_t count, uint32_t segment);

// Begin a flow to or from another station. Both ends have to begin it; neither has to be first.
// Return 0, SILKEN_ERR_INVALID (a bound outside [0, 1), such a flow exists already, ...) or
// SILKEN_ERR_NOMEM.
int silken_dlcp_send(struct silken_dlcp *station, const struct silken_address *to,
                     const struct silken_dlcp_tensor *tensor, silken_dlcp_prio *prio_func,
                     void *context, struct silken_dlcp_flow **flow);
int silken_dlcp_recv(struct silken_dlcp *station, const struct silken_address *from,
                     const struct silken_dlcp_tensor *tensor, double bound,
                     struct silken_dlcp_flow **flow);

// Returns when the flow has ended: 0, or SILKEN_ERR_STALLED: the other end does not answer, or has
// begun again. What was received has met its bound then.
int silken_dlcp_wait(struct silken_dlcp_flow *flow);
// The next flow that has ended, in the order in which they do, each once; NULL: none has within so
// many milliseconds. Not one that silken_dlcp_wait() has returned for.
struct silken_dlcp_flow *silken_dlcp_next(struct silken_dlcp *station, uint32_t ms);
// Sends and receives for so long.
void silken_dlcp_run(struct silken_dlcp *station, uint32_t ms);

// Of a flow that has ended. Its result, as silken_dlcp_wait() has it; its tensor as it was given.
int silken_dlcp_result(const struct silken_dlcp_flow *flow);
const struct silken_dlcp_tensor *silken_dlcp_tensor_of(const struct silken_dlcp_flow *flow);
bool silken_dlcp_is_sent(const struct silken_dlcp_flow *flow); // else received
// Received: the elements that are there; and the next range that is missing: false if there is
// none. Sent: the segments that are important.
size_t silken_dlcp_elements(const struct silken_dlcp_flow *flow);
bool silken_dlcp_missing(struct silken_dlcp_flow *flow, size_t *first, size_t *count);
uint32_t silken_dlcp_marked(const struct silken_dlcp_flow *flow);

// Gives the flow back; one that has not ended fails at the other end. NULL is accepted.
void silken_dlcp_end(struct silken_dlcp_flow *flow);

struct silken_dlcp_stats {
    uint64_t packets_sent, repeated, important; // data packets; of them
    uint64_t signals;                           // sent
    uint64_t rate_halved;                       // times
    uint64_t rate_least;                        // reports at 1 % of the link's rate
    uint64_t packets_came;                      // data packets that came
    uint64_t packets_lost;     // of those that the senders had sent when the last one came
    uint64_t needless;         // repetitions of what was there
    uint64_t rounds;           // asked for because more than the bound was missing
    uint64_t paths_left;       // for loss
    uint64_t refused;          // frames and packets, by any reason
    uint64_t marked, segments; // of what was sent: important segments, and all
};
void silken_dlcp_stats(const struct silken_dlcp *station, struct silken_dlcp_stats *stats);
// Name and number of frames refused by reason 'kind', from 1 on; NULL: there is no such reason.
const char *silken_dlcp_refused(const struct silken_dlcp *station, unsigned kind, uint64_t *n);

// Of a communicator whose protocol is SILKEN_DLCP, as of the last piece of progress; else
// SILKEN_ERR_UNSUPPORTED.
struct silken_dlcp_job_stats {
    struct silken_dlcp_stats station;
    uint64_t missing_push; // gradients that did not come to this server, or from the ring's
                           // neighbour on the first way
    uint64_t missing_pull; // sums that did not come back: elements
};
int silken_dlcp_job_stats(struct silken_comm *comm, struct silken_dlcp_job_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
