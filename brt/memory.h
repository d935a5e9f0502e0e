// SPDX-License-Identifier: Apache-2.0
//
// memory: the memory of one call, allocated in blocks and freed together.
//
// A short message can need much memory (an empty message in a list has two bytes on the wire and
// some eighty in memory), so there is a limit: an allocation past it returns null, and decoding
// fails.
#ifndef SILKEN_BRT_MEMORY_H
#define SILKEN_BRT_MEMORY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

struct brt_block;
struct brt_memory {
    struct brt_block *blocks;
    size_t used, limit; // bytes in blocks
    size_t left;        // in the first block
    bool refused;       // the limit was met since the last use
    ProtobufCAllocator allocator;
};

void brt_memory_init(struct brt_memory *m, size_t limit);
// Zeroed, aligned to 16 bytes; null past the limit.
void *brt_take(struct brt_memory *m, size_t bytes);
// All but the first block goes back: for the next use.
void brt_memory_reuse(struct brt_memory *m);
void brt_memory_free(struct brt_memory *m);

#endif
