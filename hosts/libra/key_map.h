// SPDX-License-Identifier: Apache-2.0
//
// key_map.h: a number for each key of 64 bits; keys are added and never removed.
//
// Open addressing with linear probing, at most half full. The hash has a secret, so whoever chooses
// keys cannot choose such that they meet; which keys are in the map, not their order in memory,
// decides what the functions say. One thread at a time.
#ifndef SILKEN_HOSTS_LIBRA_KEY_MAP_H
#define SILKEN_HOSTS_LIBRA_KEY_MAP_H

#include <stddef.h>
#include <stdint.h>

struct libra_key_slot {
    uint64_t key, value;
    uint8_t used;
};
struct libra_key_map {
    struct libra_key_slot *slots; // owned; null while empty
    size_t n, room;               // room: a power of two, or 0
    uint64_t secret;
};

// The key's value, added as 'value' if it was not there ('*added' says so). The pointer is valid
// until the next call.
uint64_t *libra_key_map_add(struct libra_key_map *map, uint64_t key, uint64_t value, int *added);
// Null: it is not there.
const uint64_t *libra_key_map_find(const struct libra_key_map *map, uint64_t key);
void libra_key_map_clear(struct libra_key_map *map); // frees; the map is empty again

#endif
