// SPDX-License-Identifier: Apache-2.0
//
// way: a packet's way through a core, from where it comes in to where it leaves.
//
// A packet goes on as far as it can while it is in cache: it is resubmitted, crosses the traffic
// manager, passes egress and recirculates without waiting anywhere, and so do the copies of a
// multicast one after the other. Only what must not overtake others waits in a queue: packets for a
// port with a speed, from other cores, behind mirrored copies (which are made while a program runs
// and begin their own way when it is done), and recirculated ones behind such.
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "pipeline/cores.h"
#include "pipeline/recorder_impl.h"
#include "stages/parse.h"

#define BURST  32
#define INLINE static inline __attribute__((always_inline))
// Of bytes that a copy's egress changes: more of them are copied with the rest of the packet.
#define LENT 256u
// Of bytes of the next frame that are fetched while one runs.
#define FETCHED 2048u

// splitmix64: one multiplication chain per packet, any seed is a good one.
static bool lost(struct sk_switch *sw) {
    if (sw->fault_threshold == 0)
        return false;
    uint64_t z = sw->fault_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) >> 11 < sw->fault_threshold;
}

// ---- bytes in front of the packet ----

static void put_be(uint8_t *at, unsigned bytes, uint64_t value) {
    for (unsigned i = bytes; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

// tna-facts 2.1 and 3.1
INLINE void write_ingress_prefix(const struct sk_switch *sw, struct sk_packet *p) {
    const unsigned prefix = sw->program->ingress_prefix;
    uint8_t *at = sk_packet_data(p) - prefix;
    const uint64_t first =
        htobe64((uint64_t)p->resubmitted << 63 | (uint64_t)p->ingress_port << 48 | p->mac_tstamp);
    const uint8_t *data = p->resubmitted ? p->resubmit_data : sw->ports[p->ingress_port].metadata;
    memcpy(at, &first, sizeof first);
    if (prefix == SK_INGRESS_PREFIX) {
        memcpy(at + 8, data, 8);
        return;
    }
    memset(at + 8, 0, prefix - 8);
    memcpy(at + 8, data, SK_RESUBMIT_BYTES);
}

// The same for packets that come in together; a Tofino's.
struct fresh {
    uint8_t prefix[SK_INGRESS_PREFIX];
};
static struct fresh fresh_prefix(const struct sk_switch *sw, uint16_t dev_port, uint64_t arrival) {
    const uint64_t first = htobe64((uint64_t)dev_port << 48 | arrival);
    struct fresh f;
    memcpy(f.prefix, &first, sizeof first);
    memcpy(f.prefix + 8, sw->ports[dev_port].metadata, 8);
    return f;
}

// Of a packet that did not wait: it has not been in a queue nor deflected.
INLINE void write_egress_prefix_at_once(struct sk_packet *p, const struct destination *d,
                                        uint8_t qid, uint64_t now_ns) {
    uint8_t *at = sk_packet_data(p) - SK_EGRESS_PREFIX;
    const uint64_t enq = now_ns & 0x3ffff;
    const uint64_t words[3] = {
        htobe64((uint64_t)d->port << 48 | enq >> 16),
        htobe64(enq << 48),
        htobe64((uint64_t)d->rid << 24 | (uint64_t)d->rid_first << 16 | (qid & 0x1fu) << 8 |
                (d->cos & 7u)),
    };
    const uint16_t length = htobe16((uint16_t)(p->len + SK_FCS_BYTES));
    memcpy(at, words, sizeof words);
    at[24] = 0;
    memcpy(at + 25, &length, sizeof length);
}

// Three words of eight bytes, most significant first, and three bytes (tna-facts 2.5).
static void write_egress_prefix(struct sk_packet *p, uint64_t now_ns) {
    uint8_t *at = sk_packet_data(p) - SK_EGRESS_PREFIX;
    const uint64_t waited = (now_ns - p->enq_tstamp) & 0x3ffff, enq = p->enq_tstamp & 0x3ffff;
    const uint64_t words[3] = {
        htobe64((uint64_t)p->egress_port << 48 | (uint64_t)(p->enq_qdepth & 0x7ffff) << 24 |
                (uint64_t)p->enq_congest << 16 | enq >> 16),
        // the byte of app_pool_congest_stat is 0, so are the upper bits of the waiting time
        htobe64(enq << 48 | (uint64_t)(p->deq_qdepth & 0x7ffff) << 24 |
                (uint64_t)p->deq_congest << 16),
        htobe64(waited << 40 | (uint64_t)p->rid << 24 | (uint64_t)p->rid_first << 16 |
                (p->qid & 0x1fu) << 8 | (p->cos & 7u)),
    };
    const uint16_t length = htobe16((uint16_t)(p->len + SK_FCS_BYTES));
    memcpy(at, words, sizeof words);
    at[24] = p->deflected;
    memcpy(at + 25, &length, sizeof length);
}

// A Tofino 2 has the same fields with 32-bit times and queues of 7 bits, and a byte behind them.
static void write_egress_prefix_2(struct sk_packet *p, uint64_t now_ns) {
    write_egress_prefix(p, now_ns);
    uint8_t *at = sk_packet_data(p) - SK_EGRESS_PREFIX_2;
    memmove(at, at + 1, SK_EGRESS_PREFIX);
    put_be(at + 6, 4, p->enq_tstamp & 0xffffffff);
    put_be(at + 15, 4, (now_ns - p->enq_tstamp) & 0xffffffff);
    at[22] = p->qid & 0x7f;
    at[27] = 0;
}

// ---- coming in ----

// Before it has a buffer. The frame is 'length' bytes long, of which 'there' can be looked at.
static bool refuse(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t there,
                   uint32_t length, enum sk_drop_reason r) {
    const struct sk_packet p = {.serial = sw->serial, .ingress_port = dev_port, .len = length};
    if (sw->recorder)
        recorder_received(sw->recorder, dev_port % SK_PORTS, frame, there, length, sw->serial,
                          sw->now);
    switch_refuse(sw, &p, dev_port, r);
    return false;
}

static bool refuse_port(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame,
                        uint32_t length) {
    assert(!switch_has_port(sw, dev_port)); // those of other cores are theirs
    return refuse(sw, dev_port, frame, 0, length, SK_DROP_PORT_DOWN);
}

static bool length_is_good(const struct sk_switch *sw, uint32_t length) {
    return length >= SK_MIN_FRAME && length <= sw->opt.packet_bytes;
}

static bool receive_or_lose(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame,
                            uint32_t length) {
    bool too_long = length > sw->opt.packet_bytes;
    if (!lost(sw) && length_is_good(sw, length))
        return true;
    return refuse(sw, dev_port, frame, too_long ? 0 : length, length,
                  too_long                ? SK_DROP_TOO_LONG
                  : length < SK_MIN_FRAME ? SK_DROP_TOO_SHORT
                                          : SK_DROP_FAULT);
}

// Counts the frame in; false when it goes no further.
static inline bool receive(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame,
                           uint32_t length, uint64_t now_ns) {
    switch_events(sw, now_ns); // what happens by itself before the packet comes
    sw->stats.rx_packets++;
    sw->serial++;
    if (dev_port >= SK_PORTS || !(sw->ways[dev_port] & PORT_RECEIVES))
        return refuse_port(sw, dev_port, frame, length);
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    stats->rx_packets++;
    stats->rx_bytes += length;
    if (sw->fault_threshold || !length_is_good(sw, length))
        return receive_or_lose(sw, dev_port, frame, length);
    return true;
}

static void show_received(struct sk_switch *sw, const struct sk_packet *p, uint64_t now_ns) {
    switch_tell(sw, p, SK_EV_RECEIVED, p->ingress_port, now_ns, NULL);
    if (sw->recorder)
        recorder_received(sw->recorder, p->ingress_port, sk_packet_data(p), p->len, p->len,
                          p->serial, now_ns);
}

static inline void come_in(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *p,
                           uint64_t now_ns) {
    p->ingress_port = dev_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    p->serial = sw->serial;
    if (sw->watched)
        show_received(sw, p, now_ns);
    ingress_push(&sw->pipes[sk_port_pipe(dev_port)], p);
}

bool sk_switch_rx(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                  uint64_t now_ns) {
    if (!receive(sw, dev_port, frame, length, now_ns))
        return false;
    struct sk_packet *p = sk_pool_get(sw->pool);
    if (!p)
        return refuse(sw, dev_port, frame, length, length, SK_DROP_NO_BUFFER);
    memcpy(sk_packet_data(p), frame, length);
    p->len = length;
    come_in(sw, dev_port, p, now_ns);
    return true;
}

void sk_switch_rx_packet(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *p,
                         uint64_t now_ns) {
    sk_pool_adopt(sw->pool, p);
    if (receive(sw, dev_port, sk_packet_data(p), p->len, now_ns))
        come_in(sw, dev_port, p, now_ns);
    else
        sk_pool_put(p);
}

// ---- mirrored copies ----

static void mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_switch *sw = aux;
    tm_mirror(sw, p, m, SK_MIRROR_IN, sw->pass_ns);
}

static void mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_switch *sw = aux;
    tm_mirror(sw, p, m, SK_MIRROR_OUT, sw->pass_ns);
}

// ---- from egress to the port ----

// Of a packet that nobody watches, at a port that is there.
INLINE void drop(struct sk_switch *sw, struct sk_packet *p, uint16_t port, enum sk_drop_reason r) {
    sw->stats.drops[r]++;
    sw->ports[port].stats.drops[r]++;
    sk_pool_put(p);
}

// The packet, on its way into ingress again; null when it ended.
INLINE struct sk_packet *recirculate(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns,
                                     const bool plain) {
    if (p->passes >= sw->opt.max_recirculation) {
        switch_drop(sw, p, p->egress_port, SK_DROP_RECIRC_LIMIT);
        return NULL;
    }
    if (!sk_packet_recentre(p)) {
        switch_drop(sw, p, p->egress_port, SK_DROP_TOO_LONG);
        return NULL;
    }
    if (!plain)
        switch_tell(sw, p, SK_EV_RECIRCULATED, p->egress_port, 0, NULL);
    p->passes++;
    p->resubmitted = false;
    p->ingress_port = p->egress_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    sw->stats.recirculated++;
    struct pipe *pipe = &sw->pipes[sk_port_pipe(p->ingress_port)];
    if (!plain && sw->n_pktgens)
        pktgen_recirculated(sw, p, now_ns);
    if (pipe->again == 0)
        return p;
    ingress_push(pipe, p); // behind those that came before it
    return NULL;
}

// SK_DROP_COUNT: it may be sent.
INLINE enum sk_drop_reason why_not_sent(struct sk_switch *sw, const struct sk_packet *p,
                                        const bool plain) {
    if (p->len > sw->ports[p->egress_port].longest)
        return SK_DROP_TOO_LONG;
    if (p->len == 0)
        return SK_DROP_TOO_SHORT;
    return !plain && lost(sw) ? SK_DROP_FAULT : SK_DROP_COUNT;
}

static inline void count_sent(struct sk_switch *sw, uint16_t port, uint32_t length) {
    struct sk_port_stats *stats = &sw->ports[port].stats;
    sw->stats.tx_packets++;
    stats->tx_packets++;
    stats->tx_bytes += length;
}

INLINE void transmit(struct sk_switch *sw, struct sk_packet *p, const bool plain) {
    const uint16_t port = p->egress_port;
    const uint32_t length = p->len;
    const enum sk_drop_reason r = why_not_sent(sw, p, plain);
    if (__builtin_expect(r != SK_DROP_COUNT, 0)) {
        switch_drop(sw, p, port, r);
        return;
    }
    // An observer is told when the packet is sent; what is given away cannot be shown then.
    const bool watched = !plain && sw->watched;
    const bool whole = sk_pool_is_shared(sw->pool) && !(watched && sw->observer);
    const bool recorded = watched && sw->recorder && recorder_sending(sw->recorder, p, sw->now);
    const bool taken =
        whole ? sk_pool_send(p, port) : sw->opt.tx(sw->opt.aux, port, sk_packet_data(p), length);
    if (recorded)
        recorder_sent(sw->recorder, taken);
    if (!taken) {
        switch_drop(sw, p, port, SK_DROP_TX_FULL);
        return;
    }
    count_sent(sw, port, length);
    if (whole)
        return;
    if (watched)
        switch_tell(sw, p, SK_EV_SENT, port, 0, NULL);
    sk_pool_put(p);
}

// The packet has its place and its prefix. False when the program drops it.
INLINE bool run_egress_program(struct sk_switch *sw, const struct pipe *pipe, struct sk_packet *p,
                               uint64_t now_ns) {
    struct sk_egress_out *out = &sw->egress_out;
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (__builtin_expect(sw->observed, 0))
        p->observer = sw->observer;
    switch_tell(sw, p, SK_EV_EGRESS, p->egress_port, now_ns, NULL);
    sk_egress_out_clear(out);
    out->on_mirror = mirror_arrived;
    out->aux = sw;
    sw->pass_ns = now_ns;
    pipe->desc->egress(pipe->state, p, out);
    if (out->mirror.wanted && !out->mirror.told && !(out->drop_ctl & 4))
        tm_mirror(sw, p, &out->mirror, SK_MIRROR_OUT, now_ns);
    return !(out->drop_ctl & 1);
}

// With all that 'p' knows of its queue.
static struct sk_packet *leave(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    if (!p->bypass_egress) {
        if (!sk_packet_recentre(p)) {
            switch_drop(sw, p, port, SK_DROP_TOO_LONG);
            return NULL;
        }
        if (switch_is_tofino_2(sw))
            write_egress_prefix_2(p, now_ns);
        else
            write_egress_prefix(p, now_ns);
        if (!run_egress_program(sw, &sw->pipes[sk_port_pipe(port)], p, now_ns)) {
            switch_drop(sw, p, port, SK_DROP_EGRESS_DROP);
            return NULL;
        }
    }
    queue_sent(sw, port, p->len, now_ns);
    if (port_recirculates(sw, port))
        return recirculate(sw, p, now_ns, false);
    transmit(sw, p, false);
    return NULL;
}

// Who looks at the packets sees all that is known of them.
static struct sk_packet *leave_in_full(struct sk_switch *sw, struct sk_packet *p,
                                       const struct destination *d,
                                       const struct sk_ingress_out *out, uint64_t now_ns) {
    address(p, d, out);
    queue_passed(p, now_ns);
    return leave(sw, p, now_ns);
}

INLINE struct sk_packet *at_once(struct sk_switch *sw, struct sk_packet *p,
                                 const struct destination *d, const struct sk_ingress_out *out,
                                 uint64_t now_ns, const bool plain) {
    const struct pipe *pipe = &sw->pipes[sk_port_pipe(d->port)];
    if (__builtin_expect((!plain && sw->watched) || switch_is_tofino_2(sw), 0))
        return leave_in_full(sw, p, d, out, now_ns);
    p->egress_port = d->port;
    if (!out->bypass_egress) {
        if (!sk_packet_recentre(p)) {
            drop(sw, p, d->port, SK_DROP_TOO_LONG);
            return NULL;
        }
        if (!pipe->desc->egress_idle) {
            write_egress_prefix_at_once(p, d, out->qid, now_ns);
            if (!run_egress_program(sw, pipe, p, now_ns)) {
                drop(sw, p, d->port, SK_DROP_EGRESS_DROP);
                return NULL;
            }
        }
    }
    if (sw->ways[d->port] & PORT_RECIRCULATES)
        return recirculate(sw, p, now_ns, plain);
    transmit(sw, p, plain);
    return NULL;
}

struct sk_packet *way_at_once(struct sk_switch *sw, struct sk_packet *p,
                              const struct destination *d, const struct sk_ingress_out *out,
                              uint64_t now_ns) {
    return at_once(sw, p, d, out, now_ns, false);
}

// Lines of 64 bytes: more than 'bytes' by 63 at most, which a buffer has behind a packet.
_Static_assert(SK_POOL_SLACK >= 63 && LENT % 64 == 0, "whole lines are copied");
INLINE void copy_lines(uint8_t *to, const uint8_t *from, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += 64)
        memcpy(to + at, from + at, 64);
}

bool way_lent(struct sk_switch *sw, struct sk_packet *p, const struct destination *d,
              const struct sk_ingress_out *out, uint64_t now_ns) {
    const struct pipe *pipe = &sw->pipes[sk_port_pipe(d->port)];
    const bool runs = !out->bypass_egress && !pipe->desc->egress_idle;
    const uint32_t reach = runs ? pipe->desc->egress_reach : 0, len = p->len, head = p->head;
    const uint32_t changed = reach < len ? reach : len;
    const uint16_t from = p->egress_port;
    uint8_t kept[LENT];
    if (sk_pool_is_shared(sw->pool) || sw->watched || switch_is_tofino_2(sw) || changed > LENT ||
        !sk_packet_is_centred(p) || !(sw->ways[d->port] & PORT_SENDS))
        return false;
    copy_lines(kept, p->buf + head, changed);
    p->egress_port = d->port;
    enum sk_drop_reason r = SK_DROP_COUNT;
    if (runs) {
        write_egress_prefix_at_once(p, d, out->qid, now_ns);
        if (!run_egress_program(sw, pipe, p, now_ns))
            r = SK_DROP_EGRESS_DROP;
    }
    if (r == SK_DROP_COUNT)
        r = why_not_sent(sw, p, false);
    if (r == SK_DROP_COUNT && !sw->opt.tx(sw->opt.aux, d->port, sk_packet_data(p), p->len))
        r = SK_DROP_TX_FULL;
    if (r == SK_DROP_COUNT)
        count_sent(sw, d->port, p->len);
    else
        switch_refuse(sw, p, d->port, r);
    p->head = head;
    p->len = len;
    p->egress_port = from;
    copy_lines(p->buf + head, kept, changed);
    return true;
}

// ---- ingress ----

// One pass of ingress; the packet has its prefix. What goes on in ingress at once, or null.
INLINE struct sk_packet *pass(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p,
                              uint64_t now_ns, const bool plain) {
    struct sk_ingress_out *out = &sw->ingress_out;
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (__builtin_expect(sw->observed, 0))
        p->observer = sw->observer;
    if (!plain)
        switch_tell(sw, p, SK_EV_INGRESS, p->ingress_port, now_ns, NULL);
    sk_ingress_out_clear(out);
    out->on_mirror = mirror_received;
    out->aux = sw;
    sw->pass_ns = now_ns;
    pipe->desc->ingress(pipe->state, p, out);
    if (__builtin_expect(out->digest.packed, 0))
        digest_push(sw, (unsigned)(pipe - sw->pipes), &out->digest, now_ns);
    if (!plain && sw->watched)
        return tm_admit(sw, p, out, now_ns);
    // what most packets ask for, without looking at what only others need
    const unsigned asks = out->parser_drop | out->resubmit | out->mcast_a_valid |
                          out->mcast_b_valid | out->copy_to_cpu;
    const uint16_t port = out->ucast_port % SK_PORTS;
    if (!asks && out->drop_ctl & 1) { // in an aggregation the end of most
        drop(sw, p, p->ingress_port, SK_DROP_INGRESS_DROP);
        return NULL;
    }
    if (asks || !out->ucast_valid || !goes_at_once(sw, port))
        return tm_admit(sw, p, out, now_ns);
    const struct destination d = {port, 0, false, out->ingress_cos};
    return at_once(sw, p, &d, out, now_ns, plain);
}

// From its first pass, for which it has its prefix, to where it leaves or waits.
INLINE void run_on(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p, uint64_t now_ns,
                   const bool plain) {
    while ((p = pass(sw, pipe, p, now_ns, plain))) {
        pipe = &sw->pipes[sk_port_pipe(p->ingress_port)];
        write_ingress_prefix(sw, p);
    }
}

void way_leave(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    p = leave(sw, p, now_ns);
    if (p)
        ingress_push(&sw->pipes[sk_port_pipe(p->ingress_port)], p);
}

// Nothing happens by itself, and nobody looks.
static bool is_plain(const struct sk_switch *sw) {
    return !sw->watched && !sw->fault_threshold && !sw->n_shaped && !sw->n_pktgens;
}

// Of a burst 'i' packets have run.
INLINE bool run_ingress(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns, int i,
                        const bool plain) {
    struct sk_packet *p;
    for (; i < BURST && (p = ingress_pop(pipe)); i++) {
        if (p->next)
            __builtin_prefetch(sk_packet_data(p->next));
        write_ingress_prefix(sw, p);
        run_on(sw, pipe, p, now_ns, plain);
    }
    return i > 0;
}

INLINE bool run_pipe(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns, int i) {
    bool worked = false;
    struct sk_packet *p;
    if (pipe->ingress.first)
        worked = is_plain(sw) ? run_ingress(sw, pipe, now_ns, i, true)
                              : run_ingress(sw, pipe, now_ns, i, false);
    for (int n = 0; n < BURST && (p = fifo_pop(&pipe->egress)); n++) {
        way_leave(sw, p, now_ns);
        worked = true;
    }
    return worked;
}

bool way_run(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns) {
    return run_pipe(sw, pipe, now_ns, 0);
}

// ---- bursts ----

// One packet of a burst: what comes before its first pass.
INLINE bool take_in(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *p, uint64_t arrival,
                    uint64_t *bytes) {
    sk_pool_adopt(sw->pool, p);
    sw->serial++;
    *bytes += p->len;
    if (__builtin_expect(!length_is_good(sw, p->len), 0)) {
        receive_or_lose(sw, dev_port, sk_packet_data(p), p->len);
        sk_pool_put(p);
        return false;
    }
    p->ingress_port = dev_port;
    p->mac_tstamp = arrival;
    p->serial = sw->serial;
    return true;
}

// They need not wait for anything, and nothing is before them.
static bool run_at_once(const struct sk_switch *sw, uint16_t dev_port) {
    return is_plain(sw) && !switch_is_tofino_2(sw) && dev_port < SK_PORTS &&
           sw->ways[dev_port] & PORT_RECEIVES && !sw->pipes[sk_port_pipe(dev_port)].ingress.first;
}

// What the packets of a burst that runs at once have in common.
struct burst {
    struct pipe *pipe;
    uint64_t arrival, time, bytes;
    struct fresh fresh;
};
static struct burst begin_burst(struct sk_switch *sw, uint16_t dev_port, uint64_t now_ns) {
    const uint64_t arrival = now_ns & SK_TSTAMP_MASK;
    struct burst b = {.pipe = &sw->pipes[sk_port_pipe(dev_port)],
                      .arrival = arrival,
                      .time = now_ns,
                      .fresh = fresh_prefix(sw, dev_port, arrival)};
    if (now_ns > sw->now)
        sw->now = now_ns;
    else if (sw->n_cores > 1)
        b.time = sw->now;
    return b;
}

INLINE void run_one(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *p, struct burst *b) {
    if (!take_in(sw, dev_port, p, b->arrival, &b->bytes))
        return;
    memcpy(sk_packet_data(p) - SK_INGRESS_PREFIX, b->fresh.prefix, SK_INGRESS_PREFIX);
    run_on(sw, b->pipe, p, b->time, true);
}

static void end_burst(struct sk_switch *sw, uint16_t dev_port, const struct burst *b, unsigned n) {
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    sw->stats.rx_packets += n;
    stats->rx_packets += n;
    stats->rx_bytes += b->bytes;
}

unsigned sk_switch_rx_burst(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *const *p,
                            unsigned n, uint64_t now_ns) {
    if (n > BURST || !run_at_once(sw, dev_port)) {
        for (unsigned i = 0; i < n; i++)
            sk_switch_rx_packet(sw, dev_port, p[i], now_ns);
        return sk_switch_run(sw, now_ns);
    }
    struct burst b = begin_burst(sw, dev_port, now_ns);
    if (b.pipe->desc->ahead)
        b.pipe->desc->ahead(b.pipe->state, p, n);
    for (unsigned i = 0; i < n; i++)
        run_one(sw, dev_port, p[i], &b);
    end_burst(sw, dev_port, &b, n);
    return sk_switch_run(sw, now_ns);
}

static void fetch_frame(const struct sk_frame_in *f) {
    const uint32_t length = f->length < FETCHED ? f->length : FETCHED;
    for (uint32_t at = 0; at < length; at += 64)
        __builtin_prefetch(f->bytes + at);
}

// Into a buffer of the switch's: the one that the last packet has just left, as a rule.
static struct sk_packet *copy_in(struct sk_switch *sw, const struct sk_frame_in *f) {
    struct sk_packet *p = length_is_good(sw, f->length) ? sk_pool_take(sw->pool) : NULL;
    if (!p)
        return NULL;
    p->head = SK_POOL_START;
    p->len = f->length;
    memcpy(sk_packet_data(p), f->bytes, f->length);
    return p;
}

unsigned sk_switch_rx_frames(struct sk_switch *sw, uint16_t dev_port,
                             const struct sk_frame_in *frames, unsigned n, uint64_t now_ns) {
    const bool at_once = run_at_once(sw, dev_port);
    struct burst b = {0};
    unsigned taken = 0;
    if (at_once)
        b = begin_burst(sw, dev_port, now_ns);
    for (unsigned i = 0; i < n; i++) {
        if (i + 1 < n)
            fetch_frame(&frames[i + 1]);
        struct sk_packet *p = at_once ? copy_in(sw, &frames[i]) : NULL;
        if (p) {
            run_one(sw, dev_port, p, &b);
            taken++;
        } else { // what cannot run at once is refused in the general way, or waits
            sk_switch_rx(sw, dev_port, frames[i].bytes, frames[i].length, now_ns);
        }
    }
    if (at_once)
        end_burst(sw, dev_port, &b, taken);
    return sk_switch_run(sw, now_ns);
}

// ---- frames with a time each ----

// Something waits that a packet left behind.
INLINE bool waits(const struct sk_switch *sw) {
    bool any = false;
    for (unsigned i = 0; i < SK_PIPES; i++)
        any |= sw->pipes[i].ingress.first || sw->pipes[i].egress.first;
    return any;
}

// What sk_switch_run has still to do when the only packet that waited, for the ingress of 'pipe', has been run.
static void run_rest(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns) {
    run_pipe(sw, pipe, now_ns, 1);
    for (pipe++; pipe < sw->pipes + SK_PIPES; pipe++)
        way_run(sw, pipe, now_ns);
    sk_switch_run(sw, now_ns);
}

// Nothing waits, and nothing but the frame itself makes anything happen.
INLINE void run_frame(struct sk_switch *sw, const struct sk_lent_frame *f) {
    if (!receive(sw, f->port, f->bytes, f->length, f->time_ns))
        return;
    struct sk_packet *p = sk_pool_get_guest(sw->pool, f->bytes, f->length);
    if (!p) {
        refuse(sw, f->port, f->bytes, f->length, f->length, SK_DROP_NO_BUFFER);
        return;
    }
    const uint64_t arrival = f->time_ns & SK_TSTAMP_MASK;
    const struct fresh fresh = fresh_prefix(sw, f->port, arrival);
    struct pipe *pipe = &sw->pipes[sk_port_pipe(f->port)];
    p->ingress_port = f->port;
    p->mac_tstamp = arrival;
    p->serial = sw->serial;
    memcpy(f->bytes - SK_INGRESS_PREFIX, fresh.prefix, SK_INGRESS_PREFIX);
    run_on(sw, pipe, p, f->time_ns, true);
    if (waits(sw))
        run_rest(sw, pipe, f->time_ns);
    assert(!sw->pool->guest); // nothing is inside
}

void sk_switch_rx_lent(struct sk_switch *sw, const struct sk_lent_frame *frames, unsigned n) {
    const bool plain = is_plain(sw) && !switch_is_tofino_2(sw) && sw->n_cores == 1 &&
                       !sk_pool_is_shared(sw->pool) && !waits(sw);
    for (unsigned i = 0; i < n; i++) {
        const struct sk_lent_frame *f = &frames[i];
        if (plain) {
            run_frame(sw, f);
            continue;
        }
        sk_switch_rx(sw, f->port, f->bytes, f->length, f->time_ns);
        sk_switch_run(sw, f->time_ns);
    }
}
