// SPDX-License-Identifier: Apache-2.0
//
// log: what pipes that run on several threads have to tell, until it is put in order.
//
// Each pipe adds lines and violations with their times; when no pipe runs they are given out in the
// order of (time, pipe), those of one pipe and time as they were added. When it is to be the order
// in which one thread would have told them ('exact'), those of one time are in the order in which
// their packets were received; with a port that has a speed this is not known.
#ifndef SILKEN_PCAP_REPLAY_LOG_H
#define SILKEN_PCAP_REPLAY_LOG_H

#include <stdio.h>

#include "pipeline/switch/switch.h"
#include "pipeline/trace.h"

struct replay_log;
struct replay_log *replay_log_new(const struct sk_switch *sw, bool exact);
void replay_log_free(struct replay_log *log); // null allowed

// On the thread that runs the pipe, about packet 'serial'. The text is copied.
void replay_log_line(struct replay_log *log, unsigned pipe, uint64_t serial, const char *text,
                     size_t length);
// An observer of the pipe's violations.
struct sk_observer *replay_log_observer(struct replay_log *log, unsigned pipe);

// While no pipe runs: gives everything out and forgets it. Lines go to 'lines' (may be null when
// there are none), violations to 'observer' (likewise); they have of their packet what
// a violation is told with: serial, passes and resubmits. False: what is to be exact is not known.
bool replay_log_merge(struct replay_log *log, FILE *lines, struct sk_observer *observer);

#endif
