// SPDX-License-Identifier: Apache-2.0
//
// sums.h: gradients of several workers added up as they come, segment by segment, each with the
// number of workers in it.
//
// Concurrency: no state; a sum belongs to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_SUMS_H
#define SILKEN_HOSTS_DLCP_SUMS_H

#include "hosts/dlcp/packet.h"

struct dlcp_sums {
    float *sum;              // the caller's, as the next one
    uint16_t *contributions; // by segment
    uint32_t segment;
};

// sum[0..count) += the floats at 'wire', in network order.
void dlcp_add(float *sum, const uint8_t *wire, uint32_t count);

// A dlcp_place: 'aux' is a struct dlcp_sums.
void dlcp_sums_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                     uint16_t contributions);

// Where gradients of some of 'workers' came: what the sum would be if all had been like them. A
// segment without any stays 0 (appendix A of the paper: the mean is over those that came).
void dlcp_sums_scale(const struct dlcp_sums *s, uint32_t elements, uint32_t workers);

#endif
