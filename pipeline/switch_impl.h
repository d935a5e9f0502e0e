// SPDX-License-Identifier: Apache-2.0
//
// switch_impl: the inside of a switch, shared by switch.c (ports, pipes, the run loop) and tm.c
// (where a packet goes between ingress and egress). Nobody else includes it.
//
// Each pipe has two first-in first-out queues of packets: those that wait for its ingress
// (received, resubmitted, recirculated) and those that wait for its egress. The run loop takes a
// burst from each in turn. All packets of one port wait in the same queue, which keeps their order.
#ifndef SILKEN_PIPELINE_SWITCH_IMPL_H
#define SILKEN_PIPELINE_SWITCH_IMPL_H

#include "pipeline/pool.h"
#include "pipeline/pre.h"
#include "pipeline/switch.h"
#include "pipeline/trace.h"

struct fifo {
    struct sk_packet *first, *last;
};

static inline void fifo_push(struct fifo *f, struct sk_packet *p) {
    p->next = NULL;
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
}

static inline struct sk_packet *fifo_pop(struct fifo *f) {
    struct sk_packet *p = f->first;
    if (p) {
        f->first = p->next;
        if (!f->first)
            f->last = NULL;
    }
    return p;
}

struct pipe {
    const struct sk_pipeline_desc *desc;
    struct sk_pipe *state;
    struct fifo ingress, egress;
};

struct port {
    bool up, loopback;
    uint8_t metadata[SK_RESUBMIT_BYTES];
    struct sk_port_stats stats;
};

struct sk_switch {
    const struct sk_program_desc *program;
    struct sk_switch_options opt; // defaults filled in
    struct pipe pipes[SK_PIPES];
    struct port ports[SK_PORTS];
    struct sk_pool *pool;
    struct sk_pre *pre;
    struct sk_observer *observer;
    struct sk_switch_stats stats;
    uint64_t serial;
    uint64_t now;             // ns: the latest that was given
    uint64_t fault_threshold; // a packet is lost when a 53-bit random number is below; 0 never
    uint64_t fault_state;
};

static inline bool port_recirculates(const struct sk_switch *sw, uint16_t port) {
    return sk_port_local(port) == SK_RECIRCULATION_PORT || sw->ports[port].loopback;
}

// An event of the engine's own; 'number' and 'text' by kind (pipeline/trace.h).
static inline void switch_tell(const struct sk_switch *sw, const struct sk_packet *p,
                               enum sk_event_kind kind, uint16_t port, uint64_t number,
                               const char *text) {
    if (!sw->observer || !sw->observer->everything)
        return;
    sw->observer->event(sw->observer, p,
                        &(struct sk_event){.kind = kind,
                                           .gress = SK_IN_ENGINE,
                                           .port = port,
                                           .number = number,
                                           .text = text,
                                           .bytes = p->buf ? sk_packet_data(p) : NULL,
                                           .length = p->len});
}

// Counts the packet as dropped at 'port' and takes its buffer back.
void switch_drop(struct sk_switch *sw, struct sk_packet *p, uint16_t port, enum sk_drop_reason r);

// The end of ingress (tna-facts 5.3): resubmit, drop, or one copy per destination into the egress
// queues. Takes the packet over.
void tm_admit(struct sk_switch *sw, struct sk_packet *p, const struct sk_ingress_out *out,
              uint64_t now_ns);

#endif
