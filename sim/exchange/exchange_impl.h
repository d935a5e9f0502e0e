// SPDX-License-Identifier: Apache-2.0
//
// exchange_impl: what the files of this folder share.
#ifndef SILKEN_SIM_EXCHANGE_EXCHANGE_IMPL_H
#define SILKEN_SIM_EXCHANGE_EXCHANGE_IMPL_H

#include "hosts/dlcp/dlcp.h"
#include "sim/exchange/collective.h"
#include "sim/exchange/exchange.h"
#include "sim/job.h"
#include "sim/pace.h"
#include "sim/transport/frame.h"
#include "sim/transport/order.h"
#include "sim/transport/pfabric.h"
#include "sim/transport/placement.h"
#include "sim/transport/tcp.h"

#define X_LISTS      2u // receivers' signals, then data
#define X_RING_WORDS 8u // bits for the steps of a ring
#define X_ACK_BYTES  96u

enum xkind { X_PUSH, X_PULL, X_RING, X_COLLECTIVE, X_KINDS };
extern const char *const xkind_names[];

struct xflow {
    struct sim_exchange *x;
    struct xstack *from, *to;
    enum xkind kind;
    // part: the number of the server, of the chunk, or of the track; step: of a collective, the
    // receiver's stage
    uint32_t layer, part, step;
    uint64_t iteration;
    uint64_t bytes, given, arrived;
    uint32_t pieces; // given
    uint64_t began;
    struct xflow *before, *after; // in the list of those on their way
};

// A piece of a flow in a connection's stream.
struct xpiece {
    struct xflow *flow;
    uint64_t bytes, end; // its end in the stream
};

// One of a pipe's two ends, on its host.
struct xend {
    struct xpipe *pipe;
    struct xstack *stack;
    bool listed, receives;
    struct xend *next; // in the list of those that may have something to send
    uint64_t rank;     // DLCP's data: the smallest to a host goes first
    struct sim_timer timer;
};

// What carries a piece, or a connection that carries many.
struct xpipe {
    struct sim_exchange *x;
    uint32_t slot, generation;
    bool used;
    struct xend sender, receiver;
    struct xpipe *hash_next;
    // TCP, kept: pieces in the order of the stream
    struct xpiece *pieces;
    size_t n_pieces, piece_capacity;
    size_t arrived, returned; // so many are there; so many have given their credit back
    uint64_t end;             // of what was given
    struct tcp_sender tcp;
    struct tcp_receiver tcp_receiver;
    struct pfabric_sender pfabric;
    struct pfabric_receiver pfabric_receiver;
    // DLCP
    struct dlcp_name name;
    struct dlcp_sender *dlcp; // null: over and forgotten
    struct dlcp_receiver *dlcp_receiver;
    uint32_t elements, there; // there: placed
    uint64_t *seen;           // segments, a bit each
    float *values;            // null: zeros
    bool enough, credited;
};

struct xack {
    uint32_t length;
    uint8_t bytes[X_ACK_BYTES];
};

// DLCP's data to one host: ends that may have something to send, by rank.
struct xlane {
    struct xend *first;
    struct xlane *next; // of a host's lanes with any, in turn
};

// What runs on a host of a job.
struct xstack { // first member: what the host knows of it
    struct sim_app app;
    struct sim_exchange *x;
    uint32_t station;
    bool down;
    struct tr_end at;
    struct order order;
    struct xend *first[X_LISTS], *last[X_LISTS];
    struct xlane *lanes; // owned: by station
    struct xlane *first_lane, *last_lane;
    struct xack *acks; // a ring
    size_t acks_at, n_acks, ack_capacity;
};

// A part of a tensor's all-reduce that goes its own way (collective.h), in one iteration.
struct xtrack {
    uint32_t stage;
    bool own; // the worker's values are out
};

struct xworker {
    struct sim_exchange *x;
    uint32_t rank;
    struct xstack *stack;
    struct sim_pace pace;
    struct sim_random random;
    struct sim_timer timer, watch;
    uint32_t *left;        // by layer: parts that are not back
    uint64_t *own;         // ring: by layer: own gradients that are out
    uint32_t *received;    // ring: [2 * layer + iteration's parity]
    uint64_t *held;        // ring: steps that came before the own gradient: X_RING_WORDS each
    struct xtrack *tracks; // collectives: [2 * track + iteration's parity]
    uint8_t *came;         // collectives: [the same * stages + stage]
    bool finished, failed, gone;
    uint64_t began, progress, finished_at;
    json_t *times;
};

struct xtimes { // of completed flows, us
    double *us;
    size_t n, capacity;
};

struct xcounts {
    uint64_t segments, again, timeouts, recoveries, marks;       // of ended streams
    uint64_t data, repeated, important, signals, rounds, halved; // DLCP's senders
    uint64_t came, needless, missing, reports;                   // its receivers
    uint64_t elements, lost, needless_bytes;
    uint64_t refused[DLCP_REASON_COUNT];
};

struct sim_exchange {
    struct sim_job *job;
    const struct scn_exchange *as;
    struct sim *sim;
    struct xstack **stacks; // by station; null: not of the job
    struct xworker *workers;
    uint32_t n_workers, n_servers;
    uint64_t begun; // flows of DLCP
    size_t n_layers;
    struct placement *places; // by layer
    uint64_t *tensor_base;    // by layer: number of its first piece, for DLCP's names
    uint32_t *pieces_of;      // by layer: of each part, at most
    uint32_t *arrivals;       // [layer * n_servers + part]
    struct collective plan;   // collectives
    uint32_t stages;
    uint32_t *first_track; // by layer, and the number of all
    uint64_t furthest;     // iterations that anybody has begun
    struct xpipe **pipes;  // by slot
    uint32_t n_pipes, n_used;
    uint32_t *free_slots;
    uint32_t n_free;
    struct xpipe **connections;   // kept ones: [from * n_stations + to]
    struct xpipe **hash;          // DLCP's pipes by name
    struct dlcp_peer **peers;     // [from * n_stations + to]
    struct xtimes times[X_KINDS]; // by kind
    struct xcounts counts;
    uint64_t bytes, live_flows;
    struct xflow *flows;
};

#define X_HASH 65536u

static inline uint64_t xnow(const struct sim_exchange *x) {
    return x->sim->events.now;
}
static inline bool x_is_dlcp(const struct sim_exchange *x) {
    return x->as->transport == SCN_DLCP;
}

// training.c
void x_send(struct sim_exchange *x, const struct xflow *as);
uint64_t x_tensor_bytes(const struct sim_exchange *x, uint32_t layer);
void x_flow_arrived(struct xflow *f); // all of it is there; frees it
void x_failed(struct sim_exchange *x, const struct xstack *at, const char *why);

// together.c
void xtogether_init(struct sim_exchange *x);
void xtogether_free(struct sim_exchange *x);
// The worker's values of a layer are there; a flow has come. True when it has the layer's sum.
bool xtogether_own(struct xworker *w, uint32_t layer);
bool xtogether_arrived(struct xworker *w, const struct xflow *f);

// stack.c
struct xstack *xstack_new(struct sim_exchange *x, uint32_t station);
void xstack_free(struct xstack *s);
// 'urgency': of its layer, 0 in front.
void xstack_submit(struct xstack *s, struct xflow *f);
void xstack_pump(struct xstack *s); // gives pieces to the transport, as far as its order lets it
void xend_ready(struct xend *e);    // it may have something to send
void xend_wait(struct xend *e, uint64_t until);
uint32_t x_urgency(const struct sim_exchange *x, uint32_t layer);
struct xpipe *xpipe_new(struct sim_exchange *x, struct xstack *from, struct xstack *to);
void xpipe_release(struct xpipe *p);
void xstack_ack(struct xstack *s, const uint8_t *frame, size_t length); // is sent before data
void x_piece_arrived(struct xflow *f, uint64_t bytes);
void x_credit_back(struct xstack *s, uint64_t bytes);

// stream.c
void xstream_give(struct xflow *f, uint64_t bytes);
size_t xstream_next(struct xend *e, uint8_t *buf, size_t cap, uint64_t now);
void xstream_expire(struct xend *e, uint64_t now);
bool xstream_wants(const struct sim_exchange *x, const uint8_t *frame, uint32_t length);
void xstream_deliver(struct xstack *s, const uint8_t *frame, uint32_t length, uint64_t now);
void xstream_end(struct xpipe *p); // counts and frees what it has

// dlcp.c
void xdlcp_give(struct xflow *f, uint64_t bytes);
size_t xdlcp_next(struct xend *e, uint8_t *buf, size_t cap, uint64_t now);
bool xdlcp_wants(const struct xstack *s, const uint8_t *frame, uint32_t length);
void xdlcp_deliver(struct xstack *s, const uint8_t *frame, uint32_t length, uint64_t now);
void xdlcp_end(struct xpipe *p);
void xdlcp_forget(struct xend *e); // its host has crashed

#endif
