// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/key_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"

#define FIRST_ROOM 1024u

// The finisher of MurmurHash3, over the key and the secret: each bit depends on all.
static uint64_t key_map_hash(uint64_t key, uint64_t secret) {
    uint64_t h = key ^ secret;
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h += secret;
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

// Where the key is, or would be.
static struct libra_key_slot *key_map_slot(const struct libra_key_map *map, uint64_t key) {
    size_t i = (size_t)key_map_hash(key, map->secret) & (map->room - 1);
    while (map->slots[i].used && map->slots[i].key != key)
        i = (i + 1) & (map->room - 1);
    return &map->slots[i];
}

static void key_map_grow(struct libra_key_map *map) {
    struct libra_key_map larger = {
        .n = map->n,
        .room = map->room ? map->room * 2 : FIRST_ROOM,
        .secret = map->secret ? map->secret : sk_random_secret(),
    };
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        abort(); // as everywhere where a few bytes are not to be had
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].used)
            *key_map_slot(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
}

uint64_t *libra_key_map_add(struct libra_key_map *map, uint64_t key, uint64_t value, int *added) {
    if (map->n * 2 >= map->room)
        key_map_grow(map);
    struct libra_key_slot *slot = key_map_slot(map, key);
    *added = !slot->used;
    if (!slot->used) {
        *slot = (struct libra_key_slot){.key = key, .value = value, .used = true};
        map->n++;
    }
    return &slot->value;
}

const uint64_t *libra_key_map_find(const struct libra_key_map *map, uint64_t key) {
    if (map->room == 0)
        return NULL;
    const struct libra_key_slot *slot = key_map_slot(map, key);
    return slot->used ? &slot->value : NULL;
}

void libra_key_map_clear(struct libra_key_map *map) {
    free(map->slots);
    *map = (struct libra_key_map){0};
}
