// SPDX-License-Identifier: Apache-2.0
//
// lane.h: one lane of a communicator, for allreduce.c only.
//
// A lane joins a worker of some protocol (engine.h), a transport and the clock. At any time at most
// one thread, the driver, runs the engine and the transport: the lane's own thread, or one of those
// that wait for a share. What the driver shares with the others is under the lock: the list of
// shares it has not taken yet, the state of those it has, a copy of the counters, and what is to be
// told to the engine.
//
// A share is a lane's part of a request: a tensor of its own for the lane's engine. Its memory is
// the caller's, and stays until sk_lane_wait() or sk_lane_test() has said that it has ended, or the
// lane is gone.
//
// Lanes know nothing of each other.
#ifndef SILKEN_HOSTS_COMMUNICATOR_LANE_H
#define SILKEN_HOSTS_COMMUNICATOR_LANE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "silken/allreduce.h"
#include "hosts/communicator/drive.h"

struct sk_share {
    struct sk_tensor tensor;
    struct sk_share *next;
    bool ended;
    int result; // once it has ended
};

// A first-in-first-out list.
struct sk_shares {
    struct sk_share *first, *last;
};

struct sk_lane {
    // The driver's.
    struct sk_drive drive;
    uint64_t busy_since; // while the engine is busy
    uint64_t busy_ns;
    void (*say)(void *context, const char *text);
    void *say_context;
    struct silken_lease *lease; // of the communicator, or NULL
    bool over;                  // the place is lost: the engine is not driven any more

    // Under the lock.
    pthread_mutex_t lock;
    pthread_cond_t changed;  // a share has come or ended, the driver has left, or we close
    struct sk_shares fresh;  // not yet given to the engine
    struct sk_shares active; // given to the engine and not ended
    bool driven;             // there is a driver
    bool begun;              // the communicator has been used: the lane is to join the session
    bool joining;            // it has not yet
    bool audiences;          // it has, and the switch serves tensors that are not for all
    bool closing;
    int fault;    // why no more shares are taken, or 0
    void *places; // for the engine's move(), or NULL
    struct silken_stats stats;
    uint64_t tx_joined, rx_joined; // of the transport's

    bool has_lock, has_thread;
    pthread_t thread;
    cpu_set_t processors; // of the thread
};

// Makes the zeroed '*lane' ready for shares. Messages go to 'say', called by the driver. To be
// freed with sk_lane_free() from then on; engine and transport are put into 'drive' by the
// caller.
void sk_lane_init(struct sk_lane *lane, void (*say)(void *context, const char *text),
                  void *say_context);

// Gives the lane a thread of its own, on those processors. Returns 0 or SILKEN_ERR_NOMEM.
int sk_lane_start(struct sk_lane *lane, const cpu_set_t *processors);

// Ends the thread, if there is one.
void sk_lane_stop(struct sk_lane *lane);

// The same; frees the engine, closes the transport. Shares that have not ended are let go.
void sk_lane_free(struct sk_lane *lane);

// The communicator is used: the lane joins the job's session, also without a share.
void sk_lane_begin(struct sk_lane *lane);

// Returns when the lane is in the session, or cannot be any more; drives the lane if nobody else
// does.
void sk_lane_join(struct sk_lane *lane);

// Whether the switch serves tensors that are not for all; joins first. The lane's fault is looked
// at apart.
bool sk_lane_audiences(struct sk_lane *lane);

// Takes a share, whose tensor is set. It ends at once with SILKEN_ERR_CLOSED if the lane has
// failed.
void sk_lane_submit(struct sk_lane *lane, struct sk_share *share);

// Returns when the share has ended, with its result; drives the lane if nobody else does.
int sk_lane_wait(struct sk_lane *lane, struct sk_share *share);

// Does one step if nobody drives the lane. Returns whether the share has ended.
bool sk_lane_test(struct sk_lane *lane, const struct sk_share *share);

// Tells the engine, before the driver's next step, that the job has another shape; 'places' is from
// malloc() and the lane's from now on. A lane without a driver has it told by the next one.
void sk_lane_move(struct sk_lane *lane, void *places);

// Why the lane takes no more shares, or 0.
int sk_lane_fault(struct sk_lane *lane);

// The lane's counters; a share counts as a tensor.
struct silken_stats sk_lane_stats(struct sk_lane *lane);

// Adds the lane's frames that went and came as one with others.
void sk_lane_segments(struct sk_lane *lane, uint64_t *sent, uint64_t *received);

#endif
