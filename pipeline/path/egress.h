// SPDX-License-Identifier: Apache-2.0
//
// egress: a packet's pass of egress, from the traffic manager to where it is sent.
//
// 'plain' is a constant: no timed events, observers or simulated loss (send_is_plain).
#ifndef SILKEN_PIPELINE_PATH_EGRESS_H
#define SILKEN_PIPELINE_PATH_EGRESS_H

#include "pipeline/path/send.h"

// ---- the bytes in front (pipeline/prefix.h) ----

// Of a packet that did not wait: it has not been in a queue nor deflected.
INLINE void write_egress_prefix_at_once(struct sk_packet *p, const struct destination *d,
                                        uint8_t qid, uint64_t now_ns) {
    sk_egress_prefix(sk_packet_data(p), sk_egress_place(d->port, 0, 0, now_ns),
                     sk_egress_times(now_ns, 0, 0, 0),
                     sk_egress_copy(0, d->rid, d->rid_first, sk_egress_queue(qid, d->cos)), false,
                     sk_egress_length(p->arrived));
}

// Of one that waited: with all that it knows of its queue.
static inline void write_egress_prefix(const struct sk_core *core, struct sk_packet *p,
                                       uint64_t now_ns) {
    const uint64_t enq = p->enq_tstamp, waited = now_ns - enq;
    uint8_t *const frame = sk_packet_data(p);
    sk_egress_prefix(frame, sk_egress_place(p->egress_port, p->enq_qdepth, p->enq_congest, enq),
                     sk_egress_times(enq, p->deq_qdepth, p->deq_congest, p->pool_congest),
                     sk_egress_copy(waited, p->rid, p->rid_first, sk_egress_queue(p->qid, p->cos)),
                     p->deflected, sk_egress_length(p->arrived));
    if (core->tofino_2)
        sk_egress_prefix_2(frame, enq, waited, p->qid);
}

// ---- the program ----

// Egress wished 'w'. False when the program drops the packet, for the reason core->egress_drop.
INLINE bool end_egress(struct sk_core *core, const struct sk_packet *p, uint64_t w,
                       uint64_t now_ns) {
    struct sk_egress_out *out = &core->egress_out;
    if (__builtin_expect(!(w & SK_WISHES_IN_OUT), 1)) {
        if (!(sk_wish_drop_ctl(w) & 1))
            return true;
        core->egress_drop = sk_egress_drop(w & SK_WISH_TWICE);
        return false;
    }
    const uint8_t drop_ctl = out->drop_ctl;
    core->egress_drop = sk_egress_drop(out->twice);
    if (out->adv_flow_ctl)
        flow_control_message(core, out->adv_flow_ctl, now_ns);
    if (out->mirror.wanted && !out->mirror.told && !(drop_ctl & 4))
        tm_mirror(core, p, &out->mirror, SK_MIRROR_OUT, now_ns);
    sk_egress_out_clear(out);
    return !(drop_ctl & 1);
}

// The packet has its place and its prefix. False when the program drops it.
INLINE bool run_egress_program(struct sk_core *core, const struct pipe *pipe, struct sk_packet *p,
                               uint64_t now_ns, const bool plain) {
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (__builtin_expect(core->observed, 0))
        p->observer = core->observer;
    if (!plain)
        core_tell(core, p, SK_EV_EGRESS, p->egress_port, now_ns, NULL);
    core->pass_ns = now_ns;
    return end_egress(core, p, pipe->desc->egress(pipe->state, p, &core->egress_out), now_ns);
}

// ---- to the port ----

// Of a Tofino, one that did not wait, to a port that goes_at_once. What goes on in ingress at once,
// or null.
INLINE struct sk_packet *leave_at_once(struct sk_core *core, struct sk_packet *p,
                                       const struct destination *d, bool bypass, uint8_t qid,
                                       uint64_t now_ns, const bool plain) {
    const struct pipe *pipe = &core->pipes[sk_port_pipe(d->port)];
    p->egress_port = d->port;
    if (!bypass && !pipe->desc->egress_idle) {
        if (!sk_packet_recentre(p)) {
            drop(core, p, d->port, SK_DROP_TOO_LONG);
            return NULL;
        }
        write_egress_prefix_at_once(p, d, qid, now_ns);
        if (!run_egress_program(core, pipe, p, now_ns, plain)) {
            drop(core, p, d->port, core->egress_drop);
            return NULL;
        }
    }
    return to_port(core, p, core->ways[d->port] & PORT_RECIRCULATES, now_ns, plain);
}

// One that waited, or that knows all that it would know if it had. What goes on in ingress at once,
// or null.
static inline struct sk_packet *leave_in_full(struct sk_core *core, struct sk_packet *p,
                                              uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    if (!p->bypass_egress) {
        if (!sk_packet_recentre(p)) {
            core_drop(core, p, port, SK_DROP_TOO_LONG);
            return NULL;
        }
        write_egress_prefix(core, p, now_ns);
        if (!run_egress_program(core, &core->pipes[sk_port_pipe(port)], p, now_ns, false)) {
            core_drop(core, p, port, core->egress_drop);
            return NULL;
        }
    }
    queue_sent(core, port, p->len, now_ns);
    return to_port(core, p, port_recirculates(core->sw, port), now_ns, false);
}

// To a port that goes_at_once; who looks at the packet sees all that is known of it. As above.
static inline struct sk_packet *leave_now(struct sk_core *core, struct sk_packet *p,
                                          const struct destination *d,
                                          const struct sk_ingress_out *out, uint64_t now_ns) {
    if (!core->watched && !core->tofino_2)
        return leave_at_once(core, p, d, out->bypass_egress, out->qid, now_ns, false);
    switch_address(p, d, out);
    queue_passed(p, now_ns);
    return leave_in_full(core, p, now_ns);
}

#endif
