// SPDX-License-Identifier: Apache-2.0
//
// pair.h: what a queue pair of an unreliable connection receives: messages written to memory.
//
// Concurrency: a queue pair belongs to one thread at a time.
#ifndef SILKEN_HOSTS_ROCE_PAIR_H
#define SILKEN_HOSTS_ROCE_PAIR_H

#include "hosts/roce/frame.h"

// Memory that peers may write: offsets in it are their addresses.
struct roce_memory {
    uint8_t *bytes;
    uint64_t length;
    uint32_t rkey;
};

struct roce_inbox {
    uint32_t expected; // number of the packet that comes next
    bool writing;      // a message has begun and has no end yet
    uint64_t address;  // of the message
    uint32_t length;   // of the message
    uint32_t written;  // bytes of it that are there
};

// Whether number 'a' is before 'b', of numbers that wrap.
static inline bool roce_psn_before(uint32_t a, uint32_t b) {
    return ((a - b) & ROCE_PSN_MASK) > ROCE_PSN_MASK / 2;
}

// Takes a packet of this queue pair. Returns ROCE_ACCEPTED, OLD, OUT_OF_ORDER or BAD_WRITE; then
// nothing is written. '*whole' says whether it was the end of a message that is there from its
// first byte to its last, at 'address' and 'length' of the inbox.
enum roce_reason roce_inbox_take(struct roce_inbox *in, const struct roce_memory *memory,
                                 const struct roce_packet *p, bool *whole);

#endif
