// SPDX-License-Identifier: Apache-2.0
//
// way: a packet's way through a core, from where it comes in to where it leaves.
//
// A packet goes on as far as it can while it is in cache: it is resubmitted, crosses the traffic
// manager, passes egress and recirculates without waiting anywhere, and so do the copies of a
// multicast one after the other. Only what must not overtake others waits in a queue: packets for a
// port with a speed, from other cores, behind mirrored copies (which are made while a program runs
// and begin their own way when it is done), and recirculated ones behind such.
#include "pipeline/switch/way_impl.h"

#define BURST 32

// ---- bytes in front of the packet that waited ----

static void write_egress_prefix(const struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    const uint64_t enq = p->enq_tstamp, waited = now_ns - enq;
    uint8_t *const frame = sk_packet_data(p);
    sk_egress_prefix(frame, sk_egress_place(p->egress_port, p->enq_qdepth, p->enq_congest, enq),
                     sk_egress_times(enq, p->deq_qdepth, p->deq_congest),
                     sk_egress_copy(waited, p->rid, p->rid_first, sk_egress_queue(p->qid, p->cos)),
                     p->deflected, sk_egress_length(p->len));
    if (core->tofino_2)
        sk_egress_prefix_2(frame, enq, waited, p->qid);
}

// ---- mirrored copies ----

void way_mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_core *core = aux;
    tm_mirror(core, p, m, SK_MIRROR_IN, core->pass_ns);
}

void way_mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_core *core = aux;
    tm_mirror(core, p, m, SK_MIRROR_OUT, core->pass_ns);
}

// ---- from a queue to the port ----

// With all that 'p' knows of its queue.
static struct sk_packet *leave(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    if (!p->bypass_egress) {
        if (!sk_packet_recentre(p)) {
            core_drop(core, p, port, SK_DROP_TOO_LONG);
            return NULL;
        }
        write_egress_prefix(core, p, now_ns);
        if (!run_egress_program(core, &core->pipes[sk_port_pipe(port)], p, now_ns, false)) {
            core_drop(core, p, port, SK_DROP_EGRESS_DROP);
            return NULL;
        }
    }
    queue_sent(core, port, p->len, now_ns);
    if (port_recirculates(core->sw, port))
        return recirculate(core, p, now_ns, false);
    transmit(core, p, false);
    return NULL;
}

// Who looks at the packets sees all that is known of them.
struct sk_packet *way_leave_in_full(struct sk_core *core, struct sk_packet *p,
                                    const struct destination *d, const struct sk_ingress_out *out,
                                    uint64_t now_ns) {
    address(p, d, out);
    queue_passed(p, now_ns);
    return leave(core, p, now_ns);
}

void way_leave(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    p = leave(core, p, now_ns);
    if (p)
        ingress_push(&core->pipes[sk_port_pipe(p->ingress_port)], p);
}

// ---- from ingress to the port ----

struct sk_packet *way_at_once(struct sk_core *core, struct sk_packet *p,
                              const struct destination *d, const struct sk_ingress_out *out,
                              uint64_t now_ns) {
    if (core->watched || core->tofino_2)
        return way_leave_in_full(core, p, d, out, now_ns);
    return at_once(core, p, d, out->bypass_egress, out->qid, now_ns, false);
}

// ---- queues ----

// Of a burst 'i' packets have run.
INLINE bool run_ingress(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i,
                        const bool plain) {
    struct sk_packet *p;
    for (; i < BURST && (p = ingress_pop(pipe)); i++) {
        if (p->next)
            __builtin_prefetch(sk_packet_data(p->next));
        write_ingress_prefix(core, p);
        run_on(core, pipe, p, now_ns, plain);
    }
    return i > 0;
}

bool way_run_from(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i) {
    bool worked = false;
    struct sk_packet *p;
    if (pipe->ingress.first)
        worked = way_is_plain(core) ? run_ingress(core, pipe, now_ns, i, true)
                                    : run_ingress(core, pipe, now_ns, i, false);
    for (int n = 0; n < BURST && (p = fifo_pop(&pipe->egress)); n++) {
        way_leave(core, p, now_ns);
        worked = true;
    }
    return worked;
}

bool way_run(struct sk_core *core, struct pipe *pipe, uint64_t now_ns) {
    return way_run_from(core, pipe, now_ns, 0);
}
