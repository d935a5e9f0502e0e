// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/heat.h"

#include <stdlib.h>

#define STEP 1000u // 5.3 adds that many parameters at a time

void libra_heat_add(struct libra_heat *heat, uint64_t key, uint64_t updates) {
    int added;
    *libra_key_map_add(&heat->map, key, 0, &added) += updates;
    heat->total += updates;
}

static int heat_compare(const void *one, const void *other) {
    const struct libra_ranked *a = one, *b = other;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

struct libra_ranked *libra_heat_rank(const struct libra_heat *heat) {
    struct libra_ranked *all = calloc(heat->map.n, sizeof *all);
    size_t n = 0;
    if (!all && heat->map.n > 0)
        abort();
    for (size_t i = 0; i < heat->map.room; i++)
        if (heat->map.slots[i].used)
            all[n++] = (struct libra_ranked){heat->map.slots[i].key, heat->map.slots[i].value};
    qsort(all, n, sizeof *all, heat_compare);
    return all;
}

// The smallest k whose updates are at least the portion of all; n at most.
static size_t heat_of_portion(const struct libra_ranked *ranked, size_t n, double wanted) {
    uint64_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        if ((double)sum >= wanted)
            return k;
        sum += ranked[k].count;
    }
    return n;
}

// The multiple of STEP beyond which STEP more add less than 1 % of all.
static size_t heat_of_steps(const struct libra_ranked *ranked, size_t n, uint64_t total) {
    for (size_t k = 0; k < n; k += STEP) {
        uint64_t more = 0;
        for (size_t i = k; i < n && i < k + STEP; i++)
            more += ranked[i].count;
        if (more < total / 100.0)
            return k;
    }
    return n;
}

size_t libra_heat_hot(const struct libra_ranked *ranked, size_t n,
                      const struct libra_choice *choice) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += ranked[i].count;
    size_t k = heat_of_portion(ranked, n, choice->portion * (double)total);
    size_t room = (size_t)(choice->memory * LIBRA_SWITCH_BYTES / LIBRA_PARAMETER_BYTES);
    if (choice->stop_at_one_hundredth) {
        size_t stop = heat_of_steps(ranked, n, total);
        k = k < stop ? k : stop;
    }
    return k < room ? k : room;
}

void libra_heat_clear(struct libra_heat *heat) {
    libra_key_map_clear(&heat->map);
    heat->total = 0;
}
