// SPDX-License-Identifier: Apache-2.0
//
// ingress: a packet's passes of ingress, from its arrival to the traffic manager. The results of a
// pass are evaluated here; the most frequent ones are carried out without the traffic manager.
//
// 'plain' is a constant: no timed events, observers or simulated loss (send_is_plain).
#ifndef SILKEN_PIPELINE_PATH_INGRESS_H
#define SILKEN_PIPELINE_PATH_INGRESS_H

#include "pipeline/cores/cores.h"
#include "pipeline/path/egress.h"

// ---- the bytes in front (pipeline/prefix.h) ----

INLINE void write_ingress_prefix(const struct sk_core *core, struct sk_packet *p) {
    const uint8_t *data = p->resubmitted ? p->resubmit_data : core->ports[p->ingress_port].metadata;
    if (core->sw->program->ingress_prefix == SK_INGRESS_PREFIX)
        sk_ingress_prefix(sk_packet_data(p), p->resubmitted, p->ingress_port, p->mac_tstamp, data);
    else
        sk_ingress_prefix_2(sk_packet_data(p), p->resubmitted, p->ingress_port, p->mac_tstamp,
                            data);
}

// ---- ingress ----

// The packet goes into ingress again, as it was received; one of a Tofino. False when it must not:
// then nothing has happened.
INLINE bool resubmit_at_once(struct sk_core *core, struct sk_packet *p,
                             struct sk_ingress_out *out) {
    if (__builtin_expect(p->resubmitted || sk_port_local(p->ingress_port) >= SK_NO_RESUBMIT_FROM,
                         0))
        return false;
    p->resubmitted = true;
    p->resubmits++;
    // in words, as the program has just written them: one load of two stores waits for both
    for (unsigned at = 0; at < SK_RESUBMIT_BYTES; at += 8) {
        uint64_t word;
        memcpy(&word, out->resubmit_data + at, 8);
        memcpy(p->resubmit_data + at, &word, 8);
    }
    memset(out->resubmit_data, 0, sizeof out->resubmit_data);
    core->stats.resubmitted++;
    return true;
}

// The same, and the packet has its prefix: as it was received, but for who sees it and what was
// said.
INLINE bool resubmit_plain(struct sk_core *core, struct sk_packet *p, struct sk_ingress_out *out) {
    if (!resubmit_at_once(core, p, out))
        return false;
    sk_ingress_prefix(sk_packet_data(p), true, p->ingress_port, p->mac_tstamp, p->resubmit_data);
    return true;
}

// The end of a pass that wished 'w'. What goes on in ingress at once, or null.
INLINE struct sk_packet *end_pass(struct sk_core *core, const struct pipe *pipe,
                                  struct sk_packet *p, uint64_t w, uint64_t now_ns,
                                  const bool plain) {
    struct sk_ingress_out *out = &core->ingress_out;
    // what most packets ask for, without looking at what only others need
    if (!(w & (SK_WISHES_IN_OUT | SK_WISH_MCAST_A)) &&
        (plain || (!core->watched && !core->tofino_2))) {
        const uint16_t port = SK_WISH_PORT(w);
        const bool resubmits = w & SK_WISH_RESUBMIT;
        if (resubmits && resubmit_at_once(core, p, out))
            return p;
        if (!resubmits && sk_wish_drop_ctl(w) & 1) { // in an aggregation the end of most
            drop(core, p, p->ingress_port, sk_ingress_drop(w));
            return NULL;
        }
        if (!resubmits && w & SK_WISH_UCAST && goes_at_once(core, port)) {
            const struct destination d = {port, 0, false, sk_wish_cos(w)};
            return leave_at_once(core, p, &d, w & SK_WISH_BYPASS, sk_wish_qid(w), now_ns, plain);
        }
        if (!resubmits && w & SK_WISH_UCAST && core->ways[port] & PORT_CROSSES &&
            cores_cross_wished(core, p, w))
            return NULL;
    }
    sk_ingress_wishes(w, out);
    if (__builtin_expect(out->digest.packed, 0))
        digest_push(core, (unsigned)(pipe - core->pipes), &out->digest, now_ns);
    if (__builtin_expect(out->adv_flow_ctl, 0))
        flow_control_message(core, out->adv_flow_ctl, now_ns);
    p = tm_admit(core, p, out, now_ns);
    sk_ingress_out_clear(out);
    return p;
}

// From its first pass, for which it has its prefix, to where it leaves or waits.
INLINE void run_on(struct sk_core *core, struct pipe *pipe, struct sk_packet *p, uint64_t now_ns,
                   const bool plain) {
    for (;;) {
        p->global_tstamp = now_ns & SK_TSTAMP_MASK;
        if (__builtin_expect(core->observed, 0))
            p->observer = core->observer;
        if (!plain)
            core_tell(core, p, SK_EV_INGRESS, p->ingress_port, now_ns, NULL);
        core->pass_ns = now_ns;
        const uint64_t w = pipe->desc->ingress(pipe->state, p, &core->ingress_out);
        if (!(p = end_pass(core, pipe, p, w, now_ns, plain)))
            return;
        core->ingress_out.ahead = NULL; // that was of its first pass
        pipe = &core->pipes[sk_port_pipe(p->ingress_port)];
        write_ingress_prefix(core, p);
    }
}

// Something waits that a packet left behind.
INLINE bool waits(const struct sk_core *core) {
    uintptr_t any = 0;
    for (unsigned i = 0; i < SK_PIPES; i++)
        any |= (uintptr_t)core->pipes[i].ingress.first | (uintptr_t)core->pipes[i].egress.first;
    return any;
}

// Where it is plain: programs may go on by themselves from now on, as nothing waits that a packet
// could overtake.
INLINE void allow_hops(struct sk_core *core) {
    core->ingress_out.max_passes = waits(core) ? 0 : core->max_recirculation;
}

// A pass of ingress where it is plain, and those that the program went on with.
INLINE uint64_t pass_plain(struct sk_core *core, const struct pipe *pipe, struct sk_packet *p) {
    const uint8_t passes = p->passes;
    const uint64_t w = pipe->desc->ingress(pipe->state, p, &core->ingress_out);
    core->stats.recirculated += (uint8_t)(p->passes - passes);
    return w;
}

// From a pass that wished 'w' into ingress again, at a port that recirculates, as sk_hop_on does.
INLINE bool hop(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t stamp) {
    const uint16_t number = SK_WISH_PORT(w);
    const struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
    const struct sk_hop *const h = &core->hops[number];
    if (!h->ingress || pipe->egress.first || pipe->again || p->passes >= core->max_recirculation ||
        !sk_packet_is_centred(p))
        return false;
    sk_hop_prefix(sk_packet_data(p), h, number, stamp);
    sk_hopped(p, 1, number, stamp, p->len);
    core->stats.recirculated++;
    return true;
}

// The same through egress, if egress does nothing but let the packet go on, as it does in most
// passes: then nothing waits anywhere that did not before. THROUGH_NOT: nothing has happened.
// THROUGH_ASIDE: the packet goes on, and copies of it may wait.
enum through { THROUGH_NOT, THROUGH_ON, THROUGH_ASIDE, THROUGH_ENDED };

// What egress wished is not only that, or the packet needs another place.
static enum through __attribute__((noinline))
through_aside(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns) {
    if (!end_egress(core, p, w, now_ns)) {
        drop(core, p, p->egress_port, core->egress_drop);
        return THROUGH_ENDED;
    }
    if (!(p = recirculate(core, p, now_ns, true)))
        return THROUGH_ENDED;
    write_ingress_prefix(core, p);
    allow_hops(core);
    return THROUGH_ASIDE;
}

static enum through __attribute__((noinline))
hop_through(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns) {
    const uint16_t number = SK_WISH_PORT(w);
    const struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
    const struct sk_hop *const h = &core->hops[number];
    if (pipe->egress.first || pipe->again || p->passes >= core->max_recirculation ||
        !sk_packet_is_centred(p))
        return THROUGH_NOT;
    const struct destination d = {number, 0, false, sk_wish_cos(w)};
    p->egress_port = number;
    if (!pipe->desc->egress_idle) {
        write_egress_prefix_at_once(p, &d, sk_wish_qid(w), now_ns);
        p->global_tstamp = now_ns & SK_TSTAMP_MASK;
        if (__builtin_expect(core->observed, 0))
            p->observer = core->observer;
        core->pass_ns = now_ns;
        const uint64_t e = pipe->desc->egress(pipe->state, p, &core->egress_out);
        const bool goes_on = !(e & (SK_WISHES_IN_OUT | SK_WISH_DROPS)) && sk_packet_is_centred(p);
        if (__builtin_expect(!goes_on, 0))
            return through_aside(core, p, e, now_ns);
    }
    sk_hop_prefix(sk_packet_data(p), h, number, now_ns & SK_TSTAMP_MASK);
    sk_hopped(p, 1, number, now_ns & SK_TSTAMP_MASK, p->len);
    core->stats.recirculated++;
    return THROUGH_ON;
}

// To a port that recirculates, not past egress.
INLINE bool wishes_through(const struct sk_core *core, uint64_t w) {
    return (w & SK_WISHES_OF_WAY) == SK_WISH_UCAST && core->hops[SK_WISH_PORT(w)].ingress;
}

// A pass that wished 'w' was the last one, and nothing is left of its packet: in an aggregation
// most.
static inline bool wishes_end(uint64_t w) {
    return (w & (SK_WISHES_OF_WAY & ~(SK_WISH_UCAST | SK_WISH_BYPASS))) == SK_WISH_DROPS;
}

// What became of a packet: something of it may wait, it ended in ingress, or it did and is still
// the caller's.
enum end { END_WAITS, END_DROPPED, END_KEPT };

// Where it is plain: goes on from a pass that wished 'w'. What is the same in all passes it has
// been given (begin_plain). 'drops': if it ends in ingress and nothing of it waits anywhere, it is
// counted there and kept; or null.
INLINE enum end go_on_plain(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns,
                            struct drops *drops) {
    struct sk_ingress_out *const out = &core->ingress_out;
    bool alone = true;
    for (;;) {
        const uint64_t way = w & (SK_WISHES_OF_WAY & ~(SK_WISH_UCAST | SK_WISH_BYPASS));
        bool next = sk_wish_is_past_egress(w) ? hop(core, p, w, now_ns & SK_TSTAMP_MASK)
                                              : (way & ~SK_WISH_DROPS) == SK_WISH_RESUBMIT &&
                                                    resubmit_plain(core, p, out);
        if (!next && wishes_through(core, w)) {
            const enum through through = hop_through(core, p, w, now_ns);
            if (__builtin_expect(through == THROUGH_ENDED, 0))
                return END_WAITS;
            alone &= through != THROUGH_ASIDE;
            next = through != THROUGH_NOT;
        }
        if (!next) {
            if (wishes_end(w)) {
                const enum sk_drop_reason reason = sk_ingress_drop(w);
                if (drops && alone) {
                    count_drop(core, drops, p->ingress_port, reason);
                    return END_KEPT;
                }
                drop(core, p, p->ingress_port, reason);
                return alone ? END_DROPPED : END_WAITS;
            }
            alone = false;
            p = (w & SK_WISHES_OF_WAY) == SK_WISH_MCAST_A
                    ? tm_multicast(core, p, w, now_ns)
                    : end_pass(core, &core->pipes[sk_port_pipe(p->ingress_port)], p, w, now_ns,
                               true);
            if (!p)
                return END_WAITS;
            write_ingress_prefix(core, p);
            allow_hops(core);
        }
        out->ahead = NULL; // that was of its first pass
        w = pass_plain(core, &core->pipes[sk_port_pipe(p->ingress_port)], p);
    }
}

// The end of most packets of an aggregation: dropped in ingress, where it was plain. False: nothing
// has happened.
INLINE bool ends_plain(struct sk_core *core, struct sk_packet *p, uint64_t w) {
    if ((w & SK_WISHES_OF_WAY) != SK_WISH_DROPS)
        return false;
    drop(core, p, p->ingress_port, sk_ingress_drop(w));
    return true;
}

INLINE void begin_plain(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (__builtin_expect(core->observed, 0))
        p->observer = core->observer;
    core->pass_ns = now_ns;
}

// Where it is plain: a frame that has just come in, and fills a guest's packet, from its first pass
// on; 'ingress' is its pipe's. 'seen': somebody records, or packets may name an observer. Adds to
// 'again' how often the program went on by itself. As go_on_plain.
INLINE enum end run_frame(struct sk_core *core, sk_ingress_fn ingress, struct sk_pipe *state,
                          struct sk_packet *p, uint8_t *frame, uint16_t port,
                          const uint64_t *metadata, uint64_t stamp, uint64_t now_ns,
                          const bool seen, struct drops *drops, uint64_t *again) {
    if (__builtin_expect(seen, 0))
        begin_plain(core, p, now_ns);
    sk_ingress_prefix(frame, false, port, stamp, metadata);
    const uint64_t w = ingress(state, p, &core->ingress_out);
    *again += p->passes;
    if (!seen && wishes_end(w)) {
        count_drop(core, drops, p->ingress_port, sk_ingress_drop(w));
        return END_KEPT;
    }
    return go_on_plain(core, p, w, now_ns, seen ? NULL : drops);
}

#endif
