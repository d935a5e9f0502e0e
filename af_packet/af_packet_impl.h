// SPDX-License-Identifier: Apache-2.0
//
// af_packet_impl: what the room's files share. af_packet.h lists them.
#ifndef SILKEN_AF_PACKET_AF_PACKET_IMPL_H
#define SILKEN_AF_PACKET_AF_PACKET_IMPL_H

#include <stdatomic.h>

#include "af_packet/af_packet.h"

// A ring's frames lie next to each other in memory, since a block is a whole number of frames.
struct af_packet_ring {
    uint8_t *at;
    uint32_t frame, frames;
    uint32_t next; // the frame that is looked at next
};
struct af_packet {
    unsigned queues;
    struct af_packet_ring rx[AF_PACKET_QUEUES], tx;
    bool all;
    bool copies; // the kernel is asked to copy what is sent, and not to read it out of the ring
    // Makes the kernel look at 'tx'. As sendto(2): -1 with errno.
    int (*kick)(struct af_packet *a);
    uint64_t refused_since; // ns of the first time that the kernel refused the next frame; 0: it
                            // has not
    _Atomic uint64_t refused;
    int fd[AF_PACKET_QUEUES];
    void *mapped[AF_PACKET_QUEUES];
    size_t mapped_bytes[AF_PACKET_QUEUES];
    unsigned index;
};

// rings.c: gives the frames that wait on the queue back to the kernel, unread.
void af_packet_pass_over(struct af_packet *a, unsigned queue);

// checksum.c: completes the sum at 'start' + 'offset', which covers the frame from 'start' on and
// holds the sum of what is not in it (a pseudo header). Nothing happens when that is outside the
// frame, or is of SCTP, whose sum is another.
void af_packet_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t offset);

#endif
