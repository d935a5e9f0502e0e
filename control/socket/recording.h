// SPDX-License-Identifier: Apache-2.0
//
// recording: whether a running switch records the packets of its ports, and for which client.
//
// There is one recording at a time: for a client of the control socket, which receives the memory
// of the rings (pipeline/observe/recorder.h) and writes files with its own rights, or for the
// switch's own process. A separate thread allocates and frees this memory, because that takes
// milliseconds and the pipes do not wait: a client repeats its request until the memory is ready.
//
// The control plane's thread, which is not an lcore, calls all functions; where a comment says so,
// while all lcores pause.
#ifndef SILKEN_CONTROL_SOCKET_RECORDING_H
#define SILKEN_CONTROL_SOCKET_RECORDING_H

#include <pthread.h>

#include "base/error.h"
#include "pipeline/observe/recorder.h"

struct sk_recording;

struct sk_recording *sk_recording_new(struct sk_switch *sw);
unsigned sk_recording_cores(const struct sk_recording *r); // of the switch
// Also ends what is recorded. No lcore runs. Null allowed.
void sk_recording_free(struct sk_recording *r);

// For a client. 0: the memory is being taken, ask again soon; 1: it records, into the memory whose
// descriptor is put into '*fd' (the recording's own); -1 with a sentence. The filter in '*opt' is
// the recording's from here on. Lcores pause.
int sk_recording_start(struct sk_recording *r, const struct sk_recorder_options *opt, int *fd,
                       struct sk_error *err);
// Somebody records, or is about to; who that is, with a sentence in 'err'.
bool sk_recording_is_on(const struct sk_recording *r, struct sk_error *err);
// Ends what a client started, if it did. Lcores pause.
void sk_recording_stop(struct sk_recording *r);

// For this process, into a recorder of the caller's, from here until sk_recording_own_stop(). No
// lcore runs, or all pause.
void sk_recording_own(struct sk_recording *r, struct sk_recorder *recorder);
void sk_recording_own_stop(struct sk_recording *r);

// A new thread runs wherever this process may, and not only where the lcore that starts it does.
// 0 or an errno.
int sk_thread_anywhere(pthread_t *thread, void *(*run)(void *aux), void *aux);

#endif
