// SPDX-License-Identifier: Apache-2.0
//
// threads: the pipes of a switch on threads, with one outcome whatever the number of threads.
//
// What pipes do to each other goes through the traffic manager: copies for a port of another pipe,
// multicast, mirrors, recirculation in another pipe. There are two ways to know that pipes can run
// each for itself for a while.
//
// One is that such a packet takes a time to get there ('crossing_ns', pipeline/cores/isolated.h),
// always the same. What happens in one pipe within so many ns then depends on that pipe and on what
// left others before, and on nothing else. The other, when it takes no time, is to try: the pipes
// run each for itself, and if none ever sends a packet to another one, that was right. If one does,
// everything is thrown away and the replay starts again on one thread (replay.c): of a switch in
// which a packet passes several pipes at one instant, nothing can be done at once.
//
// What pipes do each for itself is a round. It begins with the first thing that happens in any pipe
// and ends before 'crossing_ns' later, or with the last packet that has been read. In it each pipe
// takes what happens to it in the order of (time; what happens by itself, then packets from other
// pipes in the order in which they left and of the pipes, then received ones in the order of the
// captures). Rounds follow from the packets and their times alone, so every number of threads has
// the same ones, one thread too; a packet's bytes, its time, every pipe's state and counts are the
// same. What pipes write in common (lines about drops, messages) is put in order when a round is
// over (pcap/replay/log.h).
//
// A pipe stays on one thread, pipe p on thread p modulo their number; a round with so little in it
// that waking others takes longer is run on the first one alone. With observers that tell of
// everything or compare packets ('one_by_one') all rounds are, and end with the ns in which they
// begin: what they tell is in the order of time then.
#ifndef SILKEN_PCAP_REPLAY_THREADS_H
#define SILKEN_PCAP_REPLAY_THREADS_H

#include "pcap/replay/replay.h"
#include "pipeline/switch/switch.h"

struct replay_threads_options {
    struct sk_switch *sw; // its pipes are isolated
    uint64_t crossing_ns; // UINT64_MAX: no packet crosses ('between' sees to it)
    uint64_t longest_ns;  // of a round, where packets are generated: 'between' may end it
    unsigned threads;     // 1 to SK_PIPES
    bool one_by_one;
    bool count_generated; // one_by_one: packets are numbered with the generated ones among them
    // The next packet, not before the one before it; false: there is none. Its bytes need last
    // until the next call only.
    bool (*next)(void *aux, struct replay_packet *out);
    // There is no next one, but packets are generated until then, in ns, if that is later than the
    // last one.
    uint64_t (*until)(void *aux);
    // A round is over: while this is called no pipe runs. False: this is the end.
    bool (*between)(void *aux);
    void *aux;
};

// Runs all packets, and then on until nothing waits; packet generators end with the last packet, or
// at 'until'. 'next' and 'between' are called on this thread. False: a thread could not be started.
bool replay_threads_run(const struct replay_threads_options *opt);

#endif
