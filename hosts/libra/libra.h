// SPDX-License-Identifier: Apache-2.0
//
// libra: sums of the hot parameters of sparse models (Libra, Pan et al., 2022; numbers in
// parentheses are sections of the paper).
//
// A sparse model has up to billions of parameters, of which an iteration touches few, and some far
// more often than others. A switch keeps the sums of those "hot" ones; parameter servers have the
// rest. This room has what hosts of such a job need: so far who is hot, where a hot parameter lies,
// how workers pack pairs so that a packet meets each register of the switch once, the addition of
// floats as a switch can make it, a worker's part of the protocol with a switch, and parameter
// servers.
//
// Files:
//
//     key_map.c   a number for each key of 64 bits
//     heat.c      how often each parameter was updated, and who is hot (3.3, 5.3)
//     layout.c    the file that all members of a job load: the hot keys by rank
//     pack.c      pairs to packets (3.4, algorithm 1)
//     adder.c     the sum of floats by tables (3.5)
//     frame.c     the bytes of a packet
//     cold.c      the bytes of a packet between workers and servers
//     worker.c    a worker's part of the protocol, with a switch (3.4, 3.6) or a server
//     server.c    a parameter server
#ifndef SILKEN_HOSTS_LIBRA_LIBRA_H
#define SILKEN_HOSTS_LIBRA_LIBRA_H

#include "hosts/libra/adder.h"
#include "hosts/libra/heat.h"
#include "hosts/libra/key_map.h"
#include "hosts/libra/layout.h"
#include "hosts/libra/pack.h"
#include "hosts/libra/server.h"
#include "hosts/libra/worker.h"

#endif
