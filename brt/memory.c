// SPDX-License-Identifier: Apache-2.0
#include "brt/memory.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define ALIGNMENT   ((size_t)16)

struct brt_block {
    struct brt_block *next;
    size_t bytes;
    _Alignas(16) unsigned char data[];
};

static void *memory_alloc(void *aux, size_t bytes) {
    return brt_take(aux, bytes);
}

static void memory_free(void *aux, void *pointer) {
    (void)aux;
    (void)pointer; // goes with its block
}

void brt_memory_init(struct brt_memory *m, size_t limit) {
    *m = (struct brt_memory){.limit = limit};
    m->allocator =
        (ProtobufCAllocator){.alloc = memory_alloc, .free = memory_free, .allocator_data = m};
}

static struct brt_block *memory_block(struct brt_memory *m, size_t bytes) {
    const size_t wanted = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct brt_block *b = wanted > m->limit - m->used ? NULL : malloc(sizeof *b + wanted);
    m->refused = m->refused || !b;
    if (!b)
        return NULL;
    b->next = m->blocks;
    b->bytes = m->left = wanted;
    m->blocks = b;
    m->used += wanted;
    return b;
}

void *brt_take(struct brt_memory *m, size_t bytes) {
    if (bytes > m->limit) {
        m->refused = true;
        return NULL;
    }
    const size_t rounded = bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    if ((!m->blocks || rounded > m->left) && !memory_block(m, rounded))
        return NULL;
    void *at = m->blocks->data + (m->blocks->bytes - m->left);
    m->left -= rounded;
    return memset(at, 0, rounded);
}

static void memory_drop(struct brt_memory *m) {
    struct brt_block *b = m->blocks;
    m->blocks = b->next;
    m->used -= b->bytes;
    free(b);
}

void brt_memory_reuse(struct brt_memory *m) {
    while (m->blocks && (m->blocks->next || m->blocks->bytes > BLOCK_BYTES))
        memory_drop(m);
    m->left = m->blocks ? m->blocks->bytes : 0;
    m->refused = false;
}

void brt_memory_free(struct brt_memory *m) {
    while (m->blocks)
        memory_drop(m);
    m->left = 0;
}
