// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/pack.h"

#include <string.h>

#define M LIBRA_PLACES

static size_t pack_packets(size_t n) {
    return (n + M - 1) / M;
}

// How many pairs the fullest register has.
static size_t pack_fullest(const struct libra_pair *pairs, size_t n) {
    size_t count[M] = {0}, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = ++count[pairs[i].rank % M];
        most = c > most ? c : most;
    }
    return most;
}

size_t libra_pack_most(const struct libra_pair *pairs, size_t n, bool any) {
    // all of one register: one in each push, the rest in others
    return any ? 2 * pack_packets(n) : pack_fullest(pairs, n);
}

unsigned libra_packet_passes(const struct libra_packet *packet) {
    unsigned passes = 1;
    for (unsigned p = 0; p < M; p++) {
        unsigned pass = (packet->places[p].rank % M + M - p) % M + 1;
        if (packet->used >> p & 1 && pass > passes)
            passes = pass;
    }
    return passes;
}

// ---- packets with pairs at any place ----

// A matching of pairs and places (Kuhn): pair i may be at the 'reach' places before that of its
// register, and there.
struct pack_match {
    const struct libra_pair *pairs;
    unsigned reach;
    int pair_at[M]; // of each place; negative: none
    uint32_t tried; // places, for the pair that is being placed
};

static bool pack_place(struct pack_match *match, int i) {
    unsigned target = match->pairs[i].rank % M;
    for (unsigned d = 0; d <= match->reach; d++) {
        unsigned p = (target + M - d) % M;
        if (match->tried >> p & 1)
            continue;
        match->tried |= 1u << p;
        if (match->pair_at[p] < 0 || pack_place(match, match->pair_at[p])) {
            match->pair_at[p] = i;
            return true;
        }
    }
    return false;
}

static bool pack_all_placed(struct pack_match *match, unsigned n) {
    memset(match->pair_at, -1, sizeof match->pair_at);
    for (unsigned i = 0; i < n; i++) {
        match->tried = 0;
        if (!pack_place(match, (int)i))
            return false;
    }
    return true;
}

// At most M pairs, with the fewest passes.
static void pack_any(const struct libra_pair *pairs, unsigned n, struct libra_packet *packet) {
    struct pack_match match = {.pairs = pairs};
    while (!pack_all_placed(&match, n))
        match.reach++; // with a reach of M - 1 each pair may be anywhere
    memset(packet, 0, sizeof *packet);
    packet->any = true;
    packet->passes = match.reach + 1;
    for (unsigned p = 0; p < M; p++)
        if (match.pair_at[p] >= 0) {
            packet->places[p] = pairs[match.pair_at[p]];
            packet->used |= (uint16_t)(1u << p);
        }
}

// ---- all of a batch ----

struct pack_rest { // pairs that wait for a packet of the other kind
    struct libra_pair pairs[M];
    unsigned n;
    struct libra_packet *next;
};

static void pack_flush(struct pack_rest *rest) {
    if (rest->n > 0)
        pack_any(rest->pairs, rest->n, rest->next++);
    rest->n = 0;
}

size_t libra_pack(const struct libra_pair *pairs, size_t n, bool any,
                  struct libra_packet *packets) {
    size_t pushes = any ? pack_packets(n) : pack_fullest(pairs, n), cursor[M] = {0};
    struct pack_rest rest = {.next = packets + pushes};
    for (size_t i = 0; i < pushes; i++)
        packets[i] = (struct libra_packet){.passes = 1};
    for (size_t i = 0; i < n; i++) {
        unsigned k = pairs[i].rank % M;
        if (cursor[k] < pushes) {
            struct libra_packet *packet = &packets[cursor[k]++];
            packet->places[k] = pairs[i];
            packet->used |= (uint16_t)(1u << k);
            continue;
        }
        rest.pairs[rest.n++] = pairs[i];
        if (rest.n == M)
            pack_flush(&rest);
    }
    pack_flush(&rest);
    return (size_t)(rest.next - packets);
}
