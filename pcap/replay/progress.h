// SPDX-License-Identifier: Apache-2.0
//
// progress: a line on a terminal that says how far a replay is, how fast it goes and how long it
// will take. It appears when a replay has taken a second, and goes when other lines are written.
#ifndef SILKEN_PCAP_REPLAY_PROGRESS_H
#define SILKEN_PCAP_REPLAY_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

struct replay_progress;
// The terminal is what file descriptor 'fd' is.
struct replay_progress *replay_progress_new(int fd);
void replay_progress_free(struct replay_progress *p); // null allowed; the line goes
// What else is to be written on the terminal meanwhile goes here. Line by line; belongs to 'p'.
FILE *replay_progress_messages(struct replay_progress *p);
// Another replay begins; null allowed.
void replay_progress_begin(struct replay_progress *p);
// 'done' of 'size' bytes are read (a size of 0: nobody knows how many there are), 'packets' of at
// most 'limit' (0: any number) went in. Looks at the clock itself; cheap enough for every hundredth
// packet.
void replay_progress_show(struct replay_progress *p, uint64_t done, uint64_t size, uint64_t packets,
                          uint64_t limit);

#endif
