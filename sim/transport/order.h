// SPDX-License-Identifier: Apache-2.0
//
// order: what a host sends first: the order in which tensors are there, or ByteScheduler's (Peng et
// al., SOSP 2019): a tensor is cut into partitions, those of front layers go first, and only so
// many bytes are in the transport's hands at a time (credit), so that a more urgent tensor need not
// wait behind much.
//
//     order_add(&o, layer, bytes, flow);
//     while (order_next(&o, &part))      // may be given to the transport now
//         ...
//     order_done(&o, part.bytes);        // it has arrived: its credit is back
#ifndef SILKEN_SIM_TRANSPORT_ORDER_H
#define SILKEN_SIM_TRANSPORT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_part {
    uint32_t urgency; // layer, 0 in front: the smallest goes first; of equal ones the older
    uint64_t bytes;
    void *of;  // the caller's
    bool last; // of its tensor
};
struct order_item { // a tensor of which something is left
    uint32_t urgency;
    uint64_t left, age;
    void *of;
};
struct order {
    uint64_t partition, credit; // bytes; 0: not cut, no limit
    bool by_layer;              // else the oldest first
    uint64_t out;               // bytes in the transport's hands
    uint64_t age;
    struct order_item *heap;
    size_t n, capacity;
};

void order_add(struct order *o, uint32_t urgency, uint64_t bytes, void *of);
// False: nothing waits, or there is no credit. With nothing out one part may always go.
bool order_next(struct order *o, struct order_part *out);
void order_done(struct order *o, uint64_t bytes);
void order_free(struct order *o);

#endif
