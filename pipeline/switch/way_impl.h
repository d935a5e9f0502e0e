// SPDX-License-Identifier: Apache-2.0
//
// way_impl: what a packet passes on its way through a core when it waits nowhere: ingress, the way to
// egress, egress, the port, and ingress again. way.c has what comes out of queues, receive.c what comes
// in, tm.c a multicast's copies; they print these functions into loops of their own, so that what is known of
// all packets of a loop is asked once. Nobody else includes it.
//
// 'plain' is a constant: nothing happens by itself, and nobody looks (way_is_plain).
#ifndef SILKEN_PIPELINE_SWITCH_WAY_IMPL_H
#define SILKEN_PIPELINE_SWITCH_WAY_IMPL_H

#include <string.h>

#include "pipeline/hop.h"
#include "pipeline/observe/recorder_impl.h"
#include "pipeline/switch/switch_impl.h"
#include "stages/parse.h"

#define INLINE static inline __attribute__((always_inline))

// splitmix64: one multiplication chain per packet, any seed is a good one.
static inline bool lost(struct sk_core *core) {
    if (core->fault_threshold == 0)
        return false;
    uint64_t z = core->fault_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) >> 11 < core->fault_threshold;
}

// ---- bytes in front of the packet ----

// (pipeline/prefix.h)
INLINE void write_ingress_prefix(const struct sk_core *core, struct sk_packet *p) {
    const uint8_t *data = p->resubmitted ? p->resubmit_data : core->ports[p->ingress_port].metadata;
    if (core->sw->program->ingress_prefix == SK_INGRESS_PREFIX)
        sk_ingress_prefix(sk_packet_data(p), p->resubmitted, p->ingress_port, p->mac_tstamp, data);
    else
        sk_ingress_prefix_2(sk_packet_data(p), p->resubmitted, p->ingress_port, p->mac_tstamp,
                            data);
}

// Of a packet that did not wait: it has not been in a queue nor deflected.
INLINE void write_egress_prefix_at_once(struct sk_packet *p, const struct destination *d,
                                        uint8_t qid, uint64_t now_ns) {
    sk_egress_prefix(sk_packet_data(p), sk_egress_place(d->port, 0, 0, now_ns),
                     sk_egress_times(now_ns, 0, 0),
                     sk_egress_copy(0, d->rid, d->rid_first, sk_egress_queue(qid, d->cos)), false,
                     sk_egress_length(p->len));
}

// ---- way.c ----
// Who looks at the packets sees all that is known of them.
struct sk_packet *way_leave_in_full(struct sk_core *core, struct sk_packet *p,
                                    const struct destination *d, const struct sk_ingress_out *out,
                                    uint64_t now_ns);
// Runs the pipe as way_run does, but of the burst of its ingress 'i' packets have run.
bool way_run_from(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i);

// Nothing happens by itself, nobody looks, and it is a Tofino. It may be recorded: those are copies, made wherever a
// packet comes, goes or ends.
static inline bool way_is_plain(const struct sk_core *core) {
    return !core->watched && !core->fault_threshold && !core->n_shaped && !core->n_pktgens &&
           !core->tofino_2;
}

// ---- from egress to the port ----

// Of a packet that nobody watches, at a port that is there.
INLINE void drop(struct sk_core *core, struct sk_packet *p, uint16_t port, enum sk_drop_reason r) {
    if (__builtin_expect(core->recorder != NULL, 0))
        recorder_dropped(core->recorder, p, port, r, core->now);
    core->stats.drops[r]++;
    core->ports[port].stats.drops[r]++;
    sk_pool_put(p);
}

// The packet, on its way into ingress again; null when it ended.
INLINE struct sk_packet *recirculate(struct sk_core *core, struct sk_packet *p, uint64_t now_ns,
                                     const bool plain) {
    if (p->passes >= core->max_recirculation) {
        core_drop(core, p, p->egress_port, SK_DROP_RECIRC_LIMIT);
        return NULL;
    }
    if (!sk_packet_recentre(p)) {
        core_drop(core, p, p->egress_port, SK_DROP_TOO_LONG);
        return NULL;
    }
    if (!plain)
        core_tell(core, p, SK_EV_RECIRCULATED, p->egress_port, 0, NULL);
    p->passes++;
    p->resubmitted = false;
    p->ingress_port = p->egress_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    core->stats.recirculated++;
    struct pipe *pipe = &core->pipes[sk_port_pipe(p->ingress_port)];
    if (!plain && core->n_pktgens)
        pktgen_recirculated(core, p, now_ns);
    if (pipe->again == 0)
        return p;
    ingress_push(pipe, p); // behind those that came before it
    return NULL;
}

static inline bool has_tag(const struct sk_packet *p) {
    const uint8_t *const type = sk_packet_data(p) + 12;
    return p->len >= 16 && type[0] == 0x81 && type[1] == 0x00;
}

INLINE bool too_long(const struct port *port, const struct sk_packet *p) {
    return __builtin_expect(p->len > port->longest, 0) &&
           (p->len > port->longest_tagged || !has_tag(p));
}

// SK_DROP_COUNT: it may be sent.
INLINE enum sk_drop_reason why_not_sent(struct sk_core *core, const struct sk_packet *p,
                                        const bool plain) {
    if (too_long(&core->ports[p->egress_port], p))
        return SK_DROP_TOO_LONG;
    if (p->len == 0)
        return SK_DROP_TOO_SHORT;
    return !plain && lost(core) ? SK_DROP_FAULT : SK_DROP_COUNT;
}

static inline void count_sent(struct sk_core *core, struct port *port, uint32_t length) {
    core->stats.tx_packets++;
    port->stats.tx_packets++;
    port->stats.tx_bytes += length;
}

INLINE void transmit(struct sk_core *core, struct sk_packet *p, const bool plain) {
    const uint16_t port = p->egress_port;
    const uint32_t length = p->len;
    const enum sk_drop_reason r = why_not_sent(core, p, plain);
    if (__builtin_expect(r != SK_DROP_COUNT, 0)) {
        core_drop(core, p, port, r);
        return;
    }
    // An observer is told when the packet is sent; what is given away cannot be shown then.
    const bool watched = !plain && core->watched;
    const bool whole = sk_pool_is_shared(core->pool) && !(watched && core->observer);
    const bool recorded = __builtin_expect(core->recorder != NULL, 0) &&
                          recorder_sending(core->recorder, p, core->now);
    const bool taken =
        whole ? sk_pool_send(p, port) : core->tx(core->aux, port, sk_packet_data(p), length);
    if (recorded)
        recorder_sent(core->recorder, taken);
    if (!taken) {
        core_drop(core, p, port, SK_DROP_TX_FULL);
        return;
    }
    count_sent(core, &core->ports[port], length);
    if (whole)
        return;
    if (watched)
        core_tell(core, p, SK_EV_SENT, port, 0, NULL);
    sk_pool_put(p);
}

// Egress wished 'w'. False when the program drops the packet.
INLINE bool end_egress(struct sk_core *core, const struct sk_packet *p, uint64_t w,
                       uint64_t now_ns) {
    struct sk_egress_out *out = &core->egress_out;
    if (__builtin_expect(!(w & SK_WISHES_IN_OUT), 1))
        return !(sk_wish_drop_ctl(w) & 1);
    const uint8_t drop_ctl = out->drop_ctl;
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

// To a port that goes_at_once, of a Tofino; who looks at the packets has no use for it.
INLINE struct sk_packet *at_once(struct sk_core *core, struct sk_packet *p,
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
            drop(core, p, d->port, SK_DROP_EGRESS_DROP);
            return NULL;
        }
    }
    if (core->ways[d->port] & PORT_RECIRCULATES)
        return recirculate(core, p, now_ns, plain);
    transmit(core, p, plain);
    return NULL;
}

// ---- copies without buffers ----

// A multicast's copies are made in the packet's own buffer, one after the other: of its bytes those are kept
// that egress may change. More of them than LENT, and a copy has a buffer.
#define LENT 256u
struct lender {
    uint32_t changed, head, len;
    bool bypass;
    uint64_t now_ns;
    // of what egress has in front of a copy, what all have in common
    uint64_t times, queue;
    uint16_t length;
    uint8_t kept[LENT];
};

// Lines: more than 'bytes' by 63 at most, which a buffer has behind a packet.
_Static_assert(SK_POOL_SLACK >= LINE_BYTES - 1 && LENT % LINE_BYTES == 0, "whole lines are copied");
INLINE void copy_lines(const struct sk_core *core, uint8_t *to, const uint8_t *from,
                       uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += LINE_BYTES)
        core->copy_line(to + at, from + at);
}

// Before the first copy; false: each needs a buffer. Who looks at the packets sees all of them.
INLINE bool begin_lending(struct sk_core *core, const struct sk_packet *p, bool bypass, uint8_t qid,
                          uint8_t cos, uint64_t now_ns, struct lender *l) {
    const uint32_t reach = bypass ? 0 : core->egress_reach;
    l->head = p->head;
    l->len = p->len;
    l->changed = reach < p->len ? reach : p->len;
    l->bypass = bypass;
    l->now_ns = now_ns;
    l->times = sk_egress_times(now_ns, 0, 0);
    l->queue = sk_egress_queue(qid, cos);
    l->length = sk_egress_length(p->len);
    if (sk_pool_is_shared(core->pool) || core->watched || core->tofino_2 || l->changed > LENT ||
        !sk_packet_is_centred(p))
        return false;
    copy_lines(core, l->kept, sk_packet_data(p), l->changed);
    return true;
}

INLINE void write_lent_prefix(uint8_t *data, const struct lender *l, uint16_t port, uint16_t rid,
                              bool rid_first) {
    sk_egress_prefix(data, sk_egress_place(port, 0, 0, l->now_ns), l->times,
                     sk_egress_copy(0, rid, rid_first, l->queue), false, l->length);
}

// The packet stays the caller's and as it is. False when the port does not send at once: then nothing has
// happened.
INLINE bool lend(struct sk_core *core, struct sk_packet *p, const struct lender *l, uint16_t number,
                 uint16_t rid, bool rid_first) {
    const struct pipe *pipe = &core->pipes[sk_port_pipe(number) % SK_PIPES];
    struct port *const port = &core->ports[number % SK_PORTS];
    enum sk_drop_reason r = SK_DROP_COUNT;
    if (number >= SK_PORTS || !(core->ways[number] & PORT_SENDS) || pipe->egress.first)
        return false;
    p->egress_port = number;
    const bool runs = !l->bypass && !pipe->desc->egress_idle;
    if (runs) {
        write_lent_prefix(sk_packet_data(p), l, number, rid, rid_first);
        if (!run_egress_program(core, pipe, p, l->now_ns, true))
            r = SK_DROP_EGRESS_DROP;
    }
    const uint32_t length = p->len;
    if (__builtin_expect(r == SK_DROP_COUNT, 1)) {
        if (__builtin_expect(too_long(port, p) || length == 0 || core->fault_threshold, 0))
            r = why_not_sent(core, p, false);
        if (r == SK_DROP_COUNT) {
            const bool recorded = __builtin_expect(core->recorder != NULL, 0) &&
                                  recorder_sending(core->recorder, p, core->now);
            if (!core->tx(core->aux, number, sk_packet_data(p), length))
                r = SK_DROP_TX_FULL;
            if (recorded)
                recorder_sent(core->recorder, r == SK_DROP_COUNT);
        }
    }
    if (__builtin_expect(r == SK_DROP_COUNT, 1))
        count_sent(core, port, length);
    else
        core_refuse(core, p, number, r);
    if (runs) {
        p->head = l->head;
        p->len = l->len;
        copy_lines(core, sk_packet_data(p), l->kept, l->changed);
    }
    return true;
}

// ---- ingress ----

// The packet goes into ingress again, as it was received; one of a Tofino. False when it must not: then
// nothing has happened.
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

// The same, and the packet has its prefix: as it was received, but for who sees it and what was said.
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
            drop(core, p, p->ingress_port, sk_ingress_drop(w & SK_WISH_CONSUMED));
            return NULL;
        }
        if (!resubmits && w & SK_WISH_UCAST && goes_at_once(core, port)) {
            const struct destination d = {port, 0, false, sk_wish_cos(w)};
            return at_once(core, p, &d, w & SK_WISH_BYPASS, sk_wish_qid(w), now_ns, plain);
        }
    }
    sk_ingress_wishes(w, out);
    if (__builtin_expect(out->digest.packed, 0))
        digest_push(core, (unsigned)(pipe - core->pipes), &out->digest, now_ns);
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

// Where it is plain: programs may go on by themselves from now on, as nothing waits that a packet could overtake.
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
    sk_hopped(p, 1, number, stamp);
    core->stats.recirculated++;
    return true;
}

// Drops that are alike are counted when another one comes.
struct drops {
    uint16_t port;
    enum sk_drop_reason reason;
    uint64_t n;
};
static inline void count_drops(struct sk_core *core, struct drops *d) {
    core->stats.drops[d->reason] += d->n;
    core->ports[d->port].stats.drops[d->reason] += d->n;
    d->n = 0;
}
INLINE void count_drop(struct sk_core *core, struct drops *d, uint16_t port,
                       enum sk_drop_reason reason) {
    if (__builtin_expect(d->port != port || d->reason != reason, 0)) {
        count_drops(core, d);
        d->port = port;
        d->reason = reason;
    }
    d->n++;
}

// A pass that wished 'w' was the last one, and nothing is left of its packet: in an aggregation most.
static inline bool wishes_end(uint64_t w) {
    return (w & (SK_WISHES_OF_WAY & ~(SK_WISH_UCAST | SK_WISH_BYPASS))) == SK_WISH_DROPS;
}

// What became of a packet: something of it may wait, it ended in ingress, or it did and is still the caller's.
enum end { END_WAITS, END_DROPPED, END_KEPT };

// Where it is plain: goes on from a pass that wished 'w'. What is the same in all passes it has been given
// (begin_plain). 'drops': if it ends in ingress and nothing of it waits anywhere, it is counted there and kept; or null.
INLINE enum end go_on_plain(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns,
                            struct drops *drops) {
    struct sk_ingress_out *const out = &core->ingress_out;
    bool alone = true;
    for (;;) {
        const uint64_t way = w & (SK_WISHES_OF_WAY & ~(SK_WISH_UCAST | SK_WISH_BYPASS));
        const bool next = sk_wish_is_past_egress(w) ? hop(core, p, w, now_ns & SK_TSTAMP_MASK)
                                                    : (way & ~SK_WISH_DROPS) == SK_WISH_RESUBMIT &&
                                                          resubmit_plain(core, p, out);
        if (!next) {
            if (wishes_end(w)) {
                const enum sk_drop_reason reason = sk_ingress_drop(w & SK_WISH_CONSUMED);
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

// The end of most packets of an aggregation: dropped in ingress, where it was plain. False: nothing has happened.
INLINE bool ends_plain(struct sk_core *core, struct sk_packet *p, uint64_t w) {
    if ((w & SK_WISHES_OF_WAY) != SK_WISH_DROPS)
        return false;
    drop(core, p, p->ingress_port, sk_ingress_drop(w & SK_WISH_CONSUMED));
    return true;
}

INLINE void begin_plain(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (__builtin_expect(core->observed, 0))
        p->observer = core->observer;
    core->pass_ns = now_ns;
}

// run_on where it is plain; as go_on_plain.
INLINE enum end run_plain(struct sk_core *core, const struct pipe *pipe, struct sk_packet *p,
                          uint64_t now_ns) {
    begin_plain(core, p, now_ns);
    return go_on_plain(core, p, pass_plain(core, pipe, p), now_ns, NULL);
}

#endif
