// SPDX-License-Identifier: Apache-2.0
//
// sums.h: gradients of several workers added up as they come, segment by segment, each with the
// number of workers in it.
//
// Concurrency: no state; a sum belongs to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_SUMS_H
#define SILKEN_HOSTS_DLCP_SUMS_H

#include <string.h>

#include "hosts/dlcp/packet.h"

struct dlcp_sums {
    float *sum;              // the caller's, as the next one
    uint16_t *contributions; // by segment
    uint32_t segment;
};

static inline void dlcp_add(float *restrict sum, const uint8_t *restrict wire, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        float value;
        memcpy(&bits, wire + 4 * (size_t)i, sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(&value, &bits, sizeof value);
        sum[i] += value;
    }
}

// A dlcp_place: 'aux' is a struct dlcp_sums.
static inline void dlcp_sums_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                                   uint16_t contributions) {
    struct dlcp_sums *s = (struct dlcp_sums *)aux;
    dlcp_add(s->sum + offset, wire, count);
    s->contributions[offset / s->segment] =
        (uint16_t)(s->contributions[offset / s->segment] + contributions);
}

// Where gradients of some of 'workers' came: what the sum would be if all had been like them. A
// segment without any stays 0 (appendix A of the paper: the mean is over those that came).
static inline void dlcp_sums_scale(const struct dlcp_sums *s, uint32_t elements, uint32_t workers) {
    for (uint32_t i = 0; i < dlcp_segments(elements, s->segment); i++) {
        float *v = s->sum + (size_t)i * s->segment;
        const uint32_t n = dlcp_segment_count(elements, s->segment, i);
        if (s->contributions[i] == workers || s->contributions[i] == 0)
            continue;
        const float factor = (float)workers / (float)s->contributions[i];
        for (uint32_t k = 0; k < n; k++)
            v[k] *= factor;
    }
}

#endif
