// SPDX-License-Identifier: Apache-2.0
//
// models: the layers of a model by name, and what an iteration on one accelerator takes.
#ifndef SILKEN_SIM_MODELS_H
#define SILKEN_SIM_MODELS_H

#include "sim/scenario.h"

// 'layers' are in the order of the backward pass: the last of the model first.
struct scn_model {
    const char *name;
    double compute_ns; // forward and backward, of a batch
    size_t n;
    struct scn_layer layers[SCN_MAX_LAYERS];
};
// False: there is none of that name.
bool scn_model(const char *name, struct scn_model *out);
extern const char *const scn_model_names[]; // ends with null

#endif
