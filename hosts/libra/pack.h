// SPDX-License-Identifier: Apache-2.0
//
// pack.h: pairs of hot parameters to packets, so that a packet meets each register of the switch
// once (Libra 3.4, algorithm 1).
//
// A packet has as many places as the switch has registers, m. In a push, place j has a parameter of
// register j. What algorithm 1 leaves over goes into packets of another kind ("any"), whose pairs
// are at any place. A switch that adds integers handles a push in one pass, and takes no others; it
// gets as many as the fullest register needs.
//
// A switch that adds floats has two lanes, for even and for odd registers, and handles two places a
// turn (p4/libra/floats.p4). In turn t, lane i meets the pair that is at place (2 (t mod 8) + i + t
// div 8) mod 16 when the packet comes: a push is done in eight turns, and an "any" has sixteen, in
// which each pair meets each lane. Which pair gets which place is chosen so that the last one is
// handled as early as can be. A turn without pairs is one pass, another one two (more if other
// packets change its cells meanwhile), and the packet's first pass comes before.
//
// Algorithm 1 as it is printed looks through all packets for each pair. With as many places as
// registers, the first packet that has none of register k yet is one further for each pair of k, so
// a cursor for each register does the same in a time that grows with the number of pairs alone.
#ifndef SILKEN_HOSTS_LIBRA_PACK_H
#define SILKEN_HOSTS_LIBRA_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRA_PLACES 16u // of a packet, and registers of the switch: m

struct libra_pair {
    uint32_t rank;  // of a hot parameter
    uint32_t value; // bits of an integer, or of a float where the switch adds floats
};
struct libra_packet {
    uint16_t used;  // bit j: place j has a pair
    bool any;       // pairs are at any place
    unsigned turns; // of the switch that adds floats, until the last pair is handled
    struct libra_pair places[LIBRA_PLACES];
};

// The most packets that these pairs can make. 'any': the switch takes packets of the other kind,
// too.
size_t libra_pack_most(const struct libra_pair *pairs, size_t n, bool any);
// Packs 'n' pairs into 'packets' (room for libra_pack_most()); how many they are. Two of the same
// rank come into two packets, or two places of one of the other kind. Any thread.
size_t libra_pack(const struct libra_pair *pairs, size_t n, bool any, struct libra_packet *packets);
// How many turns the places of a packet need.
unsigned libra_packet_turns(const struct libra_packet *packet);
// How many passes it makes through a switch that adds floats, if no other packet comes between.
unsigned libra_packet_passes(const struct libra_packet *packet);

#endif
