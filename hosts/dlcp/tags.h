// SPDX-License-Identifier: Apache-2.0
//
// tags.h: what a packet says to switches: the class of its layer, and whether its gradients are
// important (DLCP, 3.2.2).
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_DLCP_TAGS_H
#define SILKEN_HOSTS_DLCP_TAGS_H

#include <stdbool.h>
#include <stdint.h>

// With what the mean magnitude of a segment is compared. Both are estimated from 0.1 % of the
// tensor, but from DLCP_SAMPLES_LEAST segments or elements at least, or all if it has fewer.
enum dlcp_threshold {
    DLCP_MEDIAN_OF_MEANS,  // the median of the segments' means: some half of them are above it
    DLCP_MEDIAN_OF_VALUES, // the median of all magnitudes, as the paper has it: of values with a
                           // peak at 0 nearly all means are above it
};
#define DLCP_SAMPLES_LEAST 31u

// Whether 'count' values are important, which are segment 'segment' of their tensor. 'values' is
// NULL in flows without values.
typedef bool dlcp_prio(void *aux, const float *values, uint32_t count, uint32_t segment);

// Layer 'layer' of 'layers' (0 is in front): floor(layer P / layers) of the P classes.
uint8_t dlcp_class(uint32_t layer, uint32_t layers);

// The mean magnitude of 1 value or more; NaN counts as infinite.
float dlcp_magnitude(const float *values, uint32_t count);

// The threshold for a tensor of 'elements' in segments of 'segment'.
float dlcp_threshold_of(enum dlcp_threshold kind, const float *values, uint32_t elements,
                        uint32_t segment);

#endif
