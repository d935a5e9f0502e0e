// SPDX-License-Identifier: Apache-2.0
//
// pace: the computing of a worker in training: forward pass, then backward pass, in which one
// layer's gradient after the other comes out. A layer's forward pass waits for its own parameters,
// or all of it for those of all layers (scn_work.by_layer).
//
// Layers are numbered as scn_work has them: 0 is the last of the model, whose gradient comes out
// first. A state machine: the time comes in, the next deadline goes out.
#ifndef SILKEN_SIM_PACE_H
#define SILKEN_SIM_PACE_H

#include "sim/scenario.h"

enum pace_event {
    PACE_NONE,     // nothing yet
    PACE_GRADIENT, // of '*layer'
    PACE_BEGINS,   // an iteration: its first forward pass
};

struct sim_pace {
    const struct scn_work *work;
    double stretch;      // of this iteration's computing
    uint64_t iterations; // to do
    uint64_t iteration;  // that it is in; has not begun yet when 'begun' is false
    bool begun, forward;
    size_t position;  // of the pass that it is in: layers that it is through
    uint64_t *there;  // by layer: iterations whose parameters are there
    size_t n_there;   // layers whose parameters of the last iteration are there
    uint64_t free_at; // when what it computes now is done
    bool computes;
};

void pace_init(struct sim_pace *p, const struct scn_work *work, uint64_t iterations);
void pace_free(struct sim_pace *p);
// The layer's parameters of one more iteration are there.
void pace_parameters(struct sim_pace *p, size_t layer);
// What happens at 'now'; asked until it is PACE_NONE. 'stretch' of the next iteration is the
// caller's to set on PACE_BEGINS.
enum pace_event pace_step(struct sim_pace *p, uint64_t now, size_t *layer);
// SIM_NEVER: it waits for parameters, or is done.
uint64_t pace_deadline(const struct sim_pace *p);
// All iterations are through, and all their parameters are there.
bool pace_done(const struct sim_pace *p);

#endif
