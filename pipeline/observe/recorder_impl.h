// SPDX-License-Identifier: Apache-2.0
//
// recorder_impl: the rings' layout, and what the engine calls. Only the inside of a switch and the
// recorder's own files include it.
//
// The memory: a page that says what follows, then each core's ring, and one for notes: a struct
// record_ring and its data. Positions count bytes up, never back; a record is whole lines of a
// cache and never wraps around the end: what is left there is skipped.
#ifndef SILKEN_PIPELINE_OBSERVE_RECORDER_IMPL_H
#define SILKEN_PIPELINE_OBSERVE_RECORDER_IMPL_H

#include <stdatomic.h>

#include "pipeline/observe/recorder.h"

#define RECORD_LINE   64u
#define RECORD_MAGIC  UINT64_C(0x314352656b6c6953)
#define RECORD_PAGE   4096u
#define RECORD_SKIP   255u // a kind: nothing but the way to the ring's start
#define RECORD_RECENT 256u
#define RECORD_RINGS  (SK_PIPES + 1u)

struct record {
    uint64_t time_ns, serial;
    uint32_t total; // bytes to the next one
    uint32_t length, wire_length, lost;
    uint16_t port, ingress_port;
    uint8_t kind, n_drops;
    uint16_t more_drops;
    struct record_drop {
        uint16_t port;
        uint8_t reason, unused;
    } drops[SK_RECORD_DROPS];
    uint8_t bytes[];
};
_Static_assert(sizeof(struct record) == RECORD_LINE, "a record's head is one line");

struct record_memory { // the first page
    uint64_t magic, ring_bytes;
    uint32_t n_rings;
    _Atomic(uint32_t) ended;
};
struct record_ring {
    // the core's: up to where records can be read, and a time before which none will come any more
    _Alignas(RECORD_LINE) _Atomic(uint64_t) published;
    _Atomic(uint64_t) horizon;
    _Alignas(RECORD_LINE) _Atomic(uint64_t) taken; // the reader's
    _Alignas(RECORD_LINE) _Atomic(uint64_t) lost[SK_PORTS];
    uint8_t unused[RECORD_PAGE - 2 * RECORD_LINE];
    uint8_t data[];
};
_Static_assert(sizeof(struct record_ring) == 2 * RECORD_PAGE, "rings begin with a page");

static inline size_t record_memory_bytes(unsigned n_rings, uint64_t ring_bytes) {
    return RECORD_PAGE + n_rings * (sizeof(struct record_ring) + ring_bytes);
}
static inline struct record_ring *record_ring_of(struct record_memory *m, unsigned i,
                                                 uint64_t ring_bytes) {
    return (struct record_ring *)((uint8_t *)m + RECORD_PAGE +
                                  i * (sizeof(struct record_ring) + ring_bytes));
}

// What a core has of its ring. Nothing here is read from the shared memory but 'taken'.
struct recorder_core {
    struct record_ring *ring;
    uint64_t mask;
    uint64_t put, published, taken_seen;
    uint32_t snaplen;
    uint32_t lost;     // since the last record
    uint32_t reserved; // of the record being made
    const bool *ports;
    const struct sk_filter *filter; // null: all frames
    uint64_t lost_of[SK_PORTS];
    // Where the last packets were put, to tell their end as long as nobody has read them.
    struct {
        uint64_t serial, at;
    } recent[RECORD_RECENT];
};

struct recorder_core *recorder_core(struct sk_recorder *r, unsigned core);
struct record_memory *recorder_memory(struct sk_recorder *r);

// A frame that was received, before any program sees it. 'length' of its bytes are there.
void recorder_received(struct recorder_core *c, uint16_t port, const uint8_t *frame,
                       uint32_t length, uint32_t wire_length, uint64_t serial, uint64_t now_ns);
// A packet about to be sent: false when it is not recorded. Then, when it is known whether the port
// took it, recorder_sent().
bool recorder_sending(struct recorder_core *c, const struct sk_packet *p, uint64_t now_ns);
void recorder_sent(struct recorder_core *c, bool taken);
// A packet, or a copy of it, that ended at 'port' (which may be none).
void recorder_dropped(struct recorder_core *c, const struct sk_packet *p, uint16_t port,
                      enum sk_drop_reason reason, uint64_t now_ns);
// A packet that was recorded as sent at 'port', which did not send it after all; also shows the
// reader all, since the core may not run any more.
void recorder_unsent(struct recorder_core *c, const struct sk_packet *p, uint16_t port,
                     uint64_t now_ns);
// Shows the reader all that was put, and that the clock is there.
void recorder_publish(struct recorder_core *c, uint64_t now_ns);

#endif
