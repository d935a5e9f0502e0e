// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/pack.h"

#include <string.h>

#define M     LIBRA_PLACES
#define LANES 2u // pairs in a turn
#define TURNS (M / LANES)

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

// The turn in which the pair at place p meets its lane; and the place of that turn.
static unsigned pack_turn(unsigned p, uint32_t rank) {
    unsigned d = (p + rank) % LANES;
    return d * TURNS + (p + M - d) % M / LANES;
}

static unsigned pack_place_of(unsigned turn, uint32_t rank) {
    return (LANES * (turn % TURNS) + rank % LANES + turn / TURNS) % M;
}

// A bit for each turn that handles a pair.
static uint32_t pack_turns(const struct libra_packet *packet) {
    uint32_t turns = 0;
    for (unsigned p = 0; p < M; p++)
        if (packet->used >> p & 1)
            turns |= UINT32_C(1) << pack_turn(p, packet->places[p].rank);
    return turns;
}

unsigned libra_packet_turns(const struct libra_packet *packet) {
    unsigned n = 0;
    for (uint32_t turns = pack_turns(packet); turns; turns >>= 1)
        n++;
    return n;
}

unsigned libra_packet_passes(const struct libra_packet *packet) {
    unsigned turns = libra_packet_turns(packet);
    return 1 + (turns ? turns : 1) + (unsigned)__builtin_popcount(pack_turns(packet));
}

// ---- packets with pairs at any place ----

// A matching of pairs and places (Kuhn): pair i may be at the places of turns 0 to 'reach'.
struct pack_match {
    const struct libra_pair *pairs;
    unsigned reach;
    int pair_at[M]; // of each place; negative: none
    uint32_t tried; // places, for the pair that is being placed
};

static bool pack_place(struct pack_match *match, int i) {
    for (unsigned turn = 0; turn <= match->reach; turn++) {
        unsigned p = pack_place_of(turn, match->pairs[i].rank);
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

// At most M pairs, with the fewest turns.
static void pack_any(const struct libra_pair *pairs, unsigned n, struct libra_packet *packet) {
    struct pack_match match = {.pairs = pairs};
    while (!pack_all_placed(&match, n))
        match.reach++; // with a reach of M - 1 each pair may be anywhere
    memset(packet, 0, sizeof *packet);
    packet->any = true;
    packet->turns = match.reach + 1;
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
        packets[i] = (struct libra_packet){0};
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
    for (size_t i = 0; i < pushes; i++)
        packets[i].turns = libra_packet_turns(&packets[i]);
    return (size_t)(rest.next - packets);
}
