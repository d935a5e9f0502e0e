// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/crossing.h"

#include <stdlib.h>
#include <string.h>

static struct crossing *crossing_make(uint32_t n, size_t slot_bytes) {
    uint32_t slots = 1;
    while (slots < n)
        slots *= 2;
    size_t bytes = (sizeof(struct crossing) + slots * slot_bytes + 127) & ~(size_t)127;
    struct crossing *c = aligned_alloc(128, bytes);
    if (!c)
        return NULL;
    memset(c, 0, bytes);
    atomic_init(&c->published, 0);
    atomic_init(&c->taken, 0);
    atomic_init(&c->time, 0);
    c->mask = slots - 1;
    return c;
}

struct crossing *crossing_new(uint32_t n) {
    return crossing_make(n, sizeof(struct sk_packet *));
}

struct crossing *crossing_new_noted(uint32_t n) {
    return crossing_make(n, sizeof(struct crossed));
}

void crossing_free(struct crossing *c) {
    free(c);
}
