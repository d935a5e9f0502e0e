// SPDX-License-Identifier: Apache-2.0
//
// drive.h: an engine, a transport and the clock, joined; internal to hosts/.
//
// Whoever drives calls sk_drive_step() again and again, and sk_drive_rest() after a step in which
// nothing moved. Frames are built in the transport's own buffers, a burst at a time; what the
// transport does not take stays built and goes first next time.
//
// Concurrency: a drive belongs to one thread at a time.
#ifndef SILKEN_HOSTS_COMMUNICATOR_DRIVE_H
#define SILKEN_HOSTS_COMMUNICATOR_DRIVE_H

#include "hosts/core/engine.h"
#include "hosts/transport/transport.h"

struct sk_drive {
    struct sk_engine *engine;
    struct sk_transport *transport;
    struct sk_frame frames[SK_BURST]; // lent by the transport
    uint32_t unsent, unsent_from;     // those that are built, and of them the first not sent
    uint32_t refused;                 // frames that the transport did not take last time
};

// Receives, lets time pass, sends. Returns whether a frame moved; '*events' gets what expire()
// said.
bool sk_drive_step(struct sk_drive *d, uint64_t now, unsigned *events);

// Lets other threads run until something may be to do, for a millisecond at most.
void sk_drive_rest(struct sk_drive *d);

// The station is done: serves others that still wait for it, for two seconds at most, and sends
// what the engine has to say of its end. Either may be NULL.
void sk_drive_leave(struct sk_drive *d);

// Frees the engine and closes the transport; either may be NULL.
void sk_drive_free(struct sk_drive *d);

#endif
