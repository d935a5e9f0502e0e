// SPDX-License-Identifier: Apache-2.0
//
// align: which of the packets that a port sent is which of its golden ones, in order, when some are
// missing, some are more, and some are not what they were.
//
// As long as each is its golden one nothing is kept. From the first that is not, what is sent
// waits, and as many golden packets are read ahead, until the two fit again: at the same distance
// on both sides by one packet; by one that was sent at the golden one's time, when no golden one
// before is of a later time, and none that was sent more before is golden further on; and else by
// two in a row, so that packets that happen to be alike do not lead astray. What lies before that
// was changed, pair by pair, and what is left over on one side is missing or too much. When
// ALIGN_WINDOW packets wait the first of them is a pair. It knows nothing of packets: the owner
// says what is equal.
#ifndef SILKEN_PCAP_REPLAY_ALIGN_H
#define SILKEN_PCAP_REPLAY_ALIGN_H

#include <stdbool.h>

#define ALIGN_WINDOW 64u

// All get 'aux'. Who is told of a packet owns it from then on.
struct align_owner {
    void *aux;
    bool (*equal)(void *aux, const void *sent, const void *golden);
    // The golden one's time against that at which the other was sent: negative before it, 0 the
    // same; positive also when they are not known.
    int (*time)(void *aux, const void *sent, const void *golden);
    // The next golden one into '*golden'. 1, 0 when there is none, -1 on an error.
    int (*next)(void *aux, void **golden);
    void (*same)(void *aux, void *sent, void *golden);
    void (*changed)(void *aux, void *sent, void *golden);
    void (*extra)(void *aux, void *sent);
    // 'then' was sent next, and stays whose it is; null: nothing was.
    void (*missing)(void *aux, void *golden, const void *then);
};

struct align;
struct align *align_new(const struct align_owner *owner); // aborts when memory is short
bool align_is_empty(const struct align *a); // nothing waits, and nothing was read ahead
// The next one that was sent. -1: as next().
int align_sent(struct align *a, void *sent);
// No more are sent. Golden packets after the last one are missing, but for those that were not read
// yet; none of them is when the replay was 'stopped': they go to same() with a null. -1: as next().
int align_end(struct align *a, bool stopped);
void align_free(struct align *a); // what still waits goes to same(); null allowed

#endif
