// SPDX-License-Identifier: Apache-2.0
//
// group.h: a worker of a job that sums tensors by DLCP, as a state machine without input, output or
// clock. The results may differ between workers, since a bounded part of what is sent may be
// missing at one and not at another.
//
// Over servers, which are on the hosts of the first workers: a tensor of more than 'cut' bytes is
// cut over all servers, another goes to one of them, chosen at random, but by all alike. A server
// adds up what comes of each segment, and sends everybody the mean of those that came, times the
// number of workers; the server's worker is always one of them. A segment that does not come back
// is the worker's own gradient, times the number of workers (DLCP, appendix A).
//
// Over a ring: the tensor is cut into as many parts as there are workers, and each part goes round
// once to be summed and once more to be known. Each packet carries the number of workers in its
// values. Of a segment that is missing on the first way, the sum begins anew from the own one; on
// the second way the own gradient, times the number of workers, takes its place.
//
// NAMES. Of submission k, with 't' tensors in an iteration, the tensor is k mod t and the iteration
// k / t; the tensor is layer k mod t of t, or counted from behind ('backwards'), which decides its
// class. On a ring the number of the step is a part of the tensor's number.
//
// Concurrency: a group belongs to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_GROUP_H
#define SILKEN_HOSTS_DLCP_GROUP_H

#include "hosts/dlcp/station.h"

#define DLCP_WORKERS_MOST 256u

struct dlcp_group;

struct dlcp_group_config {
    struct dlcp_station_config station;
    uint32_t rank, workers;
    uint32_t servers;              // 1 to 'workers'; 0: a ring
    const struct sk_endpoint *end; // by rank; needed while the group is made
    uint8_t job;
    uint32_t bound, pull_bound; // millionths that may be missing, of the first way and the second
    uint32_t tensors;           // of an iteration, at least 1
    bool backwards;             // the last layer is submitted first
    uint64_t cut;               // bytes
    enum dlcp_threshold threshold;
};

// Returns 0, SILKEN_ERR_INVALID ('*why' says what is wrong) or SILKEN_ERR_NOMEM.
int dlcp_group_new(struct dlcp_group **g, const struct dlcp_group_config *config, const char **why);
void dlcp_group_free(struct dlcp_group *g); // NULL is accepted

// Sums 'count' floats over all workers. 'in' and 'out' are the same or do not overlap, and stay
// until the call has ended. Returns 0 or SILKEN_ERR_NOMEM.
int dlcp_group_submit(struct dlcp_group *g, const float *in, float *out, size_t count, void *cookie,
                      uint64_t now);
// A call that has ended, each once.
bool dlcp_group_done(struct dlcp_group *g, void **cookie);
bool dlcp_group_busy(const struct dlcp_group *g); // calls have not ended
// A flow has failed: no call will end any more.
bool dlcp_group_failed(const struct dlcp_group *g);

// As a station's. dlcp_group_read() and dlcp_group_write() also end calls.
size_t dlcp_group_write(struct dlcp_group *g, uint8_t *frame, size_t cap, uint64_t now);
enum dlcp_reason dlcp_group_read(struct dlcp_group *g, const uint8_t *frame, size_t len,
                                 uint64_t now);
uint64_t dlcp_group_deadline(const struct dlcp_group *g);
bool dlcp_group_queued(const struct dlcp_group *g); // there may be frames to be sent

struct dlcp_group_stats {
    struct dlcp_station_stats station;
    uint64_t tensors, elements; // that have ended
    uint64_t missing_push;      // gradients that servers or neighbours were not given, elements
    uint64_t missing_pull;      // sums that did not come, elements
};
struct dlcp_group_stats dlcp_group_stats(const struct dlcp_group *g);

#endif
