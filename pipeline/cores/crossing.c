// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/crossing.h"

#include <stdlib.h>
#include <string.h>

struct crossing *crossing_new(uint32_t n) {
    uint32_t slots = 1;
    while (slots < n)
        slots *= 2;
    size_t bytes =
        (sizeof(struct crossing) + slots * sizeof(struct sk_packet *) + 63) & ~(size_t)63;
    struct crossing *c = aligned_alloc(64, bytes);
    if (!c)
        return NULL;
    memset(c, 0, bytes);
    atomic_init(&c->published, 0);
    atomic_init(&c->taken, 0);
    atomic_init(&c->time, 0);
    c->mask = slots - 1;
    return c;
}

void crossing_free(struct crossing *c) {
    free(c);
}
