// SPDX-License-Identifier: Apache-2.0
//
// engine.h: a protocol as the code around it sees it; internal to hosts/.
//
// An engine is a state machine without input, output or clock: a SwitchML worker, all flows of an
// ATP worker's lane, a flow of an ATP server, or all flows of a host of DLCP. drive.h joins it to a
// transport and the clock, and knows only this. lane.h gives tensors to engines of workers.
//
// An engine is a struct whose first member is struct sk_engine. The operations mean what those of
// the same names in hosts/switchml/worker.h do; in a server's engine the workers' ones are NULL.
//
// Concurrency: an engine belongs to one thread at a time.
//
// Files of this room, which all protocols share:
//
//     endpoint.c  one end of a conversation over UDP
//     error.c     the texts of the error codes (silken/error.h)
//     fetch.h     prefetches memory
//     float_bits.h  a float as its bits, and back
//     halves.c    16-bit floats on a switch that adds integers
//     quantise.c  floating point on a switch that adds integers
//     rto.h       the retransmission timeout
//     text.h      sentences in a buffer of fixed size
//     timers.c    one timer for each of a fixed number of things
//     wire_type.c tensors of all types as those of the wire
//     udp.c       Ethernet, IPv4 and UDP before the protocols
//     window.c    how many packets may be in flight
#ifndef SILKEN_HOSTS_CORE_ENGINE_H
#define SILKEN_HOSTS_CORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silken/allreduce.h"

#define SK_ENGINE_NEVER UINT64_MAX

// What expire() returns.
#define SK_ENGINE_STALLED 1u
#define SK_ENGINE_FAILED  2u

// Who has elements to add, and who gets the sums (hosts/switchml/worker.h, enum swml_reach). All
// but the first are for engines that say they have audiences.
enum sk_reach { SK_ALL, SK_TO_ONE, SK_FROM_ONE, SK_NONE };

// F32 or I32; on a switch of 16-bit floats (silken/allreduce.h, F16) F32 or F16.
struct sk_tensor {
    enum silken_type type;
    const void *in;
    void *out;
    size_t count;
    void *cookie;
    uint32_t layer, layers; // DLCP: which layer it is of how many; 0 layers: as the job says
    enum sk_reach reach;
    uint32_t who; // of SK_TO_ONE and SK_FROM_ONE: its rank
};

struct sk_engine;

struct sk_engine_ops {
    size_t (*write)(struct sk_engine *e, uint8_t *buf, size_t cap, uint64_t now);
    uint32_t (*queued)(const struct sk_engine *e);
    void (*read)(struct sk_engine *e, const uint8_t *frame, size_t len, uint64_t now);
    uint64_t (*deadline)(struct sk_engine *e);
    unsigned (*expire)(struct sk_engine *e, uint64_t now);
    void (*free)(struct sk_engine *e);
    // The station is done: write() says so to whoever has to know.
    void (*leave)(struct sk_engine *e);
    // Others still wait for what it has to send, although its own work is done. NULL: they never
    // do.
    bool (*lingers)(const struct sk_engine *e);

    // Workers.
    int (*submit)(struct sk_engine *e, const struct sk_tensor *tensor, uint64_t now);
    bool (*done)(struct sk_engine *e, void **cookie);
    bool (*busy)(const struct sk_engine *e);
    // Waits for its job's session to start, which needs all lanes of all workers.
    bool (*joining)(const struct sk_engine *e);
    // The id of the session that it is in, or was; 0: it has not been in one.
    uint64_t (*session)(const struct sk_engine *e);
    // Once it has joined: whether the switch serves tensors that are not for all. NULL: it does
    // not.
    bool (*audiences)(const struct sk_engine *e);
    void (*explain)(const struct sk_engine *e, uint64_t now, char *buf, size_t cap);
    // Sets the protocol's members, and leaves the others.
    void (*stats)(const struct sk_engine *e, struct silken_stats *stats);
    // The job has another shape: 'places' is what the engine's maker makes of it, and only read.
    // NULL in protocols without shapes.
    void (*move)(struct sk_engine *e, const void *places);
};

struct sk_engine {
    const struct sk_engine_ops *ops;
    int fault; // with SK_ENGINE_FAILED: the error; 0: SILKEN_ERR_STALLED
};

#endif
