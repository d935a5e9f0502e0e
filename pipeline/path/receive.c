// SPDX-License-Identifier: Apache-2.0
//
// receive: how packets come into a core: one frame by itself, a burst of a port's packets, frames
// that have a time each. Where nothing else can happen meanwhile, a packet runs from here to where
// it leaves; otherwise it waits for ingress, and sk_core_run runs it.
#include <assert.h>

#include "pipeline/cores/cores.h"
#include "pipeline/path/ingress.h"

#define BURST 32

// ---- one frame ----

// Refuses a frame that has no packet buffer yet. It has 'length' bytes, of which 'there' can be
// read.
static bool receive_refuse(struct sk_core *core, uint16_t dev_port, const uint8_t *frame,
                           uint32_t there, uint32_t length, enum sk_drop_reason r) {
    const struct sk_packet p = {.serial = core->serial, .ingress_port = dev_port, .len = length};
    if (core->recorder)
        recorder_received(core->recorder, dev_port % SK_PORTS, frame, there, length, core->serial,
                          core->now);
    core_refuse(core, &p, dev_port, r);
    return false;
}

static bool refuse_port(struct sk_core *core, uint16_t dev_port, const uint8_t *frame,
                        uint32_t length) {
    assert(!switch_has_port(core->sw, dev_port)); // those of other cores are theirs
    return receive_refuse(core, dev_port, frame, 0, length, SK_DROP_PORT_DOWN);
}

static bool length_is_good(const struct sk_core *core, uint32_t length) {
    return length >= SK_MIN_FRAME && length <= core->packet_bytes;
}

static bool __attribute__((noinline)) receive_crc_is_wrong(const uint8_t *frame, uint32_t length) {
    return roce_is_to_port(frame, length) && !(roce_is(frame, length) && roce_crc_is_right(frame));
}

// Whether the frame may be taken in, apart from simulated loss.
static inline bool frame_is_good(const struct sk_core *core, const uint8_t *frame,
                                 uint32_t length) {
    return length_is_good(core, length) &&
           (__builtin_expect(!core->invariant_crc, 1) || !receive_crc_is_wrong(frame, length));
}

// Frames that are to be taken in one after the other, of which the invariant CRCs are looked at
// together: that is faster than one by one.
struct receive_checked {
    const uint8_t *frame[ROCE_CHECKED];
    unsigned index[ROCE_CHECKED]; // among all that come
    unsigned n, wrong;            // of those that come a bit for each that is not to be taken in
};

static inline void receive_check(const struct sk_core *core, struct receive_checked *c, unsigned i,
                                 const uint8_t *frame, uint32_t length) {
    if (!length_is_good(core, length) || !roce_is_to_port(frame, length))
        return;
    if (!roce_is(frame, length)) {
        c->wrong |= 1u << i;
        return;
    }
    c->frame[c->n] = frame;
    c->index[c->n++] = i;
}

static inline unsigned receive_wrong_crcs(const struct receive_checked *c) {
    const unsigned wrong = roce_wrong_crcs(c->frame, c->n);
    unsigned all = c->wrong;
    for (unsigned i = 0; i < c->n; i++)
        all |= (wrong >> i & 1) << c->index[i];
    return all;
}

// Of the next ones of n that come, a bit for each that must not be taken in because of its CRC.
static unsigned __attribute__((noinline))
receive_wrong_lent(const struct sk_core *core, const struct sk_lent_frame *f, unsigned n) {
    struct receive_checked c;
    c.n = c.wrong = 0;
    for (unsigned i = 0; i < n && i < ROCE_CHECKED; i++)
        receive_check(core, &c, i, f[i].bytes, f[i].length);
    return receive_wrong_crcs(&c);
}
static unsigned __attribute__((noinline))
receive_wrong_packets(const struct sk_core *core, struct sk_packet *const *p, unsigned n) {
    struct receive_checked c;
    c.n = c.wrong = 0;
    for (unsigned i = 0; i < n && i < ROCE_CHECKED; i++)
        receive_check(core, &c, i, sk_packet_data(p[i]), p[i]->len);
    return receive_wrong_crcs(&c);
}

static bool receive_or_lose(struct sk_core *core, uint16_t dev_port, const uint8_t *frame,
                            uint32_t length) {
    const bool too_long = length > core->packet_bytes, gone = lost(core);
    if (!gone && frame_is_good(core, frame, length))
        return true;
    return receive_refuse(core, dev_port, frame, too_long ? 0 : length, length,
                          too_long                ? SK_DROP_TOO_LONG
                          : length < SK_MIN_FRAME ? SK_DROP_TOO_SHORT
                          : gone                  ? SK_DROP_FAULT
                                                  : SK_DROP_ROCE_CRC);
}

// Counts the frame in; false when the port receives nothing.
INLINE bool count_in(struct sk_core *core, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                     uint64_t now_ns, const bool plain) {
    if (plain)
        core->now = now_ns > core->now ? now_ns : core->now;
    else
        core_events(core, now_ns); // what happens by itself before the packet comes
    core->stats.rx_packets++;
    core->serial++;
    if (dev_port >= SK_PORTS || !(core->ways[dev_port] & PORT_RECEIVES))
        return refuse_port(core, dev_port, frame, length);
    struct sk_port_stats *stats = &core->ports[dev_port].stats;
    stats->rx_packets++;
    stats->rx_bytes += length;
    return true;
}

// Likewise; false when it goes no further.
INLINE bool receive(struct sk_core *core, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                    uint64_t now_ns, const bool plain) {
    if (!count_in(core, dev_port, frame, length, now_ns, plain))
        return false;
    if ((!plain && core->fault_threshold) || !frame_is_good(core, frame, length))
        return receive_or_lose(core, dev_port, frame, length);
    return true;
}

static inline void record_received(struct sk_core *core, const struct sk_packet *p,
                                   uint64_t now_ns) {
    if (__builtin_expect(core->recorder != NULL, 0))
        recorder_received(core->recorder, p->ingress_port, sk_packet_data(p), p->len, p->len,
                          p->serial, now_ns);
}

static inline void come_in(struct sk_core *core, uint16_t dev_port, struct sk_packet *p,
                           uint64_t now_ns) {
    p->ingress_port = dev_port;
    p->arrived = (uint16_t)p->len;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    p->serial = core->serial;
    if (core->watched)
        core_tell(core, p, SK_EV_RECEIVED, p->ingress_port, now_ns, NULL);
    record_received(core, p, now_ns);
    ingress_push(&core->pipes[sk_port_pipe(dev_port)], p);
}

bool sk_core_rx(struct sk_core *core, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                uint64_t now_ns) {
    if (!receive(core, dev_port, frame, length, now_ns, false))
        return false;
    struct sk_packet *p = sk_pool_get(core->pool);
    if (!p)
        return receive_refuse(core, dev_port, frame, length, length, SK_DROP_NO_BUFFER);
    memcpy(sk_packet_data(p), frame, length);
    p->len = length;
    come_in(core, dev_port, p, now_ns);
    return true;
}

void sk_core_rx_refused(struct sk_core *core, uint16_t dev_port, const uint8_t *frame,
                        uint32_t there, uint32_t length, enum sk_drop_reason r, uint64_t now_ns) {
    if (count_in(core, dev_port, frame, length, now_ns, false))
        receive_refuse(core, dev_port, frame, there, length, r);
}

void sk_core_rx_packet(struct sk_core *core, uint16_t dev_port, struct sk_packet *p,
                       uint64_t now_ns) {
    sk_pool_adopt(core->pool, p);
    if (receive(core, dev_port, sk_packet_data(p), p->len, now_ns, false))
        come_in(core, dev_port, p, now_ns);
    else
        sk_pool_put(p);
}

// ---- bursts ----

// They need not wait for anything, and nothing is before them.
static bool run_at_once(const struct sk_core *core, uint16_t dev_port) {
    return send_is_plain(core) && dev_port < SK_PORTS &&
           (core->ways[dev_port] & (PORT_RECEIVES | PORT_TRAPS)) == PORT_RECEIVES &&
           !core->pipes[sk_port_pipe(dev_port)].ingress.first;
}

// What the packets of a burst that runs at once have in common.
struct burst {
    struct pipe *pipe;
    uint64_t arrival, time, bytes, serial;
    unsigned wrong;                    // of the next few packets, a bit for each whose CRC is
    uint8_t prefix[SK_INGRESS_PREFIX]; // before each
};
static struct burst begin_burst(struct sk_core *core, uint16_t dev_port, unsigned n,
                                uint64_t now_ns) {
    const uint64_t arrival = now_ns & SK_TSTAMP_MASK;
    struct burst b = {.pipe = &core->pipes[sk_port_pipe(dev_port)],
                      .arrival = arrival,
                      .time = now_ns,
                      .serial = core->serial};
    sk_ingress_prefix(b.prefix + sizeof b.prefix, false, dev_port, arrival,
                      core->ports[dev_port].metadata);
    core->pool->in_use += n;
    if (now_ns > core->now)
        core->now = now_ns;
    else if (core->sw->n_cores > 1)
        b.time = core->now;
    return b;
}

// Packet i of a burst of n: what comes before its first pass.
INLINE bool take_in(struct sk_core *core, uint16_t dev_port, struct sk_packet *const *packets,
                    unsigned i, unsigned n, struct burst *b) {
    struct sk_packet *const p = packets[i];
    bool good = length_is_good(core, p->len);
    if (__builtin_expect(core->invariant_crc, 0)) {
        if (i % ROCE_CHECKED == 0)
            b->wrong = receive_wrong_packets(core, packets + i, n - i);
        good &= !(b->wrong >> i % ROCE_CHECKED & 1);
    }
    sk_pool_adopted(core->pool, p);
    b->serial++;
    b->bytes += p->len;
    if (__builtin_expect(!good, 0)) {
        core->serial = b->serial;
        receive_or_lose(core, dev_port, sk_packet_data(p), p->len);
        sk_pool_put(p);
        return false;
    }
    p->ingress_port = dev_port;
    p->arrived = (uint16_t)p->len;
    p->mac_tstamp = b->arrival;
    p->serial = b->serial;
    return true;
}

static void __attribute__((noinline))
receive_go_on(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns) {
    go_on_plain(core, p, w, now_ns, NULL);
    allow_hops(core);
}

// With found[i] for the first pass of packet i. 'seen': somebody records, or packets may name an
// observer.
INLINE void run_burst(struct sk_core *core, uint16_t dev_port, struct sk_packet *const *packets,
                      unsigned n, struct sk_entry *const *found, struct burst *b, const bool seen) {
    struct sk_ingress_out *const out = &core->ingress_out;
    struct leaving leaving = {.number = SK_PORTS};
    struct pipe *const pipe = b->pipe;
    const uint64_t stamp = b->time & SK_TSTAMP_MASK;
    core->pass_ns = b->time;
    allow_hops(core);
    for (unsigned i = 0; i < n; i++) {
        struct sk_packet *const p = packets[i];
        if (__builtin_expect(!take_in(core, dev_port, packets, i, n, b), 0))
            continue;
        if (seen) {
            record_received(core, p, b->time);
            begin_plain(core, p, b->time);
        }
        memcpy(sk_packet_data(p) - SK_INGRESS_PREFIX, b->prefix, sizeof b->prefix);
        out->ahead = found[i];
        p->global_tstamp = stamp;
        const uint64_t w = pass_plain(core, pipe, p);
        if (!seen && __builtin_expect(send_straight(core, p, w, &leaving), 1))
            continue;
        if (!seen && ends_plain(core, p, w))
            continue;
        receive_go_on(core, p, w, b->time);
        leaving.number = SK_PORTS;
    }
    out->ahead = NULL;
    out->max_passes = 0;
}

// ---- bursts of flows ----

// A pipe's state belongs to the core that runs the pipe.
static void take_notes(const struct pipe *pipe, struct sk_notes *notes) {
    if (pipe->desc->takes_notes)
        *(struct sk_notes **)(void *)pipe->state = notes;
}

// Whether the packet, of which ingress wished 'w', goes straight on to a port, by an egress that
// takes notes.
static bool goes_straight(struct sk_core *core, const struct sk_packet *p, uint64_t w) {
    const uint16_t number = SK_WISH_PORT(w);
    const struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
    return (w & (SK_WISHES_OF_WAY & ~SK_WISH_BYPASS)) == SK_WISH_UCAST &&
           core->ways[number] & PORT_SENDS && !pipe->egress.first && sk_packet_is_centred(p) &&
           (w & SK_WISH_BYPASS || pipe->desc->egress_idle || pipe->desc->takes_notes);
}

// It begins and ends where it did, and is what it was.
static bool is_as_it_came(const struct sk_packet *p, const struct sk_notes *n, const uint8_t *was,
                          bool all) {
    const uint8_t *const data = sk_packet_data(p);
    const uint32_t there = n->length < SK_NOTED ? n->length : SK_NOTED;
    return data + p->len == n->frame + n->length && data <= n->frame &&
           (!all || data == n->frame) && memcmp(n->frame, was, there) == 0;
}

// Runs a packet that was taken in from its first pass on, and remembers what it did if that can be
// done again.
static void __attribute__((noinline))
run_noted(struct sk_core *core, const struct pipe *pipe, struct sk_packet *p, uint32_t tag,
          uint64_t generation, uint64_t now_ns) {
    struct sk_notes notes;
    uint8_t was[SK_NOTED];
    memset(&notes, 0, offsetof(struct sk_notes, notes));
    notes.buffer = p->buf;
    notes.frame = sk_packet_data(p);
    notes.length = p->len;
    notes.moment[0].from = notes.frame - SK_INGRESS_PREFIX + SK_INGRESS_TIME_AT;
    notes.moment[0].to = notes.frame - SK_INGRESS_PREFIX + SK_INGRESS_TIME_END;
    memcpy(was, notes.frame, sizeof was);
    take_notes(pipe, &notes);
    const uint64_t w = pass_plain(core, pipe, p);
    take_notes(pipe, NULL);
    const uint16_t out = SK_WISH_PORT(w), in = p->ingress_port;
    notes.unfit |= p->passes || !is_as_it_came(p, &notes, was, false);
    if (!goes_straight(core, p, w)) {
        sk_flows_refuse(core->flows, tag);
        receive_go_on(core, p, w, now_ns);
        return;
    }
    const struct pipe *const to = &core->pipes[sk_port_pipe(out)];
    bool sends = true;
    p->egress_port = out;
    if (!(w & SK_WISH_BYPASS) && !to->desc->egress_idle) {
        const struct destination d = {out, 0, false, sk_wish_cos(w)};
        write_egress_prefix_at_once(p, &d, sk_wish_qid(w), now_ns);
        notes.place = 0;
        const uint8_t *const prefix = sk_packet_data(p) - SK_EGRESS_PREFIX;
        // its time and its length; depths, and what it waited, are 0
        notes.moment[0].from = prefix + SK_EGRESS_TIME_AT;
        notes.moment[0].to = prefix + SK_EGRESS_TIME_END;
        notes.moment[1].from = prefix + SK_EGRESS_LENGTH_AT;
        notes.moment[1].to = prefix + SK_EGRESS_PREFIX;
        p->global_tstamp = now_ns & SK_TSTAMP_MASK;
        take_notes(to, &notes);
        const uint64_t e = to->desc->egress(to->state, p, &core->egress_out);
        take_notes(to, NULL);
        notes.unfit |= (e & SK_WISHES_IN_OUT) != 0;
        sends = end_egress(core, p, e, now_ns);
    }
    if (sends && !notes.unfit && is_as_it_came(p, &notes, was, true))
        sk_flows_keep(core->flows, tag, in, out, was, &notes, generation);
    else
        sk_flows_refuse(core->flows, tag);
    if (sends)
        transmit(core, p, true);
    else
        drop(core, p, out, core->egress_drop);
    allow_hops(core);
}

// Sends the packet by this port, or loses it as every packet is lost there. False: it cannot go
// there at once.
INLINE bool send_as(struct sk_core *core, struct sk_packet *p, uint16_t out, struct leaving *l) {
    if (__builtin_expect(send_straight(core, p, SK_WISH_UCAST | SK_WISH_BYPASS | out, l), 1))
        return true;
    if (!(core->ways[out] & PORT_SENDS) || core->pipes[sk_port_pipe(out)].egress.first)
        return false;
    p->egress_port = out;
    transmit(core, p, true);
    return true;
}

static bool remembers_flows(struct sk_core *core, const struct pipe *pipe, unsigned n) {
    return pipe->desc->takes_notes && core->flows && core->pool->buffers &&
           sk_flows_tries(core->flows, n);
}

// As run_burst, where no one looks: packets of flows that are known are sent as those before were.
static void run_flows(struct sk_core *core, uint16_t dev_port, struct sk_packet *const *packets,
                      unsigned n, struct burst *b) {
    struct sk_ingress_out *const out = &core->ingress_out;
    struct leaving leaving = {.number = SK_PORTS};
    struct pipe *const pipe = b->pipe;
    const uint64_t generation = sk_tables_generation();
    struct sk_flow *flows[BURST];
    uint32_t tags[BURST];
    struct sk_flow *last = NULL;
    bool noted = false;
    core->pass_ns = b->time;
    allow_hops(core);
    out->ahead = NULL;
    for (unsigned i = 0; i < n; i++) {
        const struct sk_packet *const p = packets[i];
        const uint8_t *const frame = sk_packet_data(p);
        const bool fits = p->head + SK_NOTED <= p->cap;
        flows[i] = NULL;
        tags[i] = 0;
        if (last && fits && sk_flow_has(last, dev_port, frame, p->len, generation)) {
            tags[i] = last->tag;
            flows[i] = last;
        } else if (fits) {
            tags[i] = sk_flow_tag(frame, dev_port);
            flows[i] = sk_flows_find(core->flows, tags[i], dev_port, frame, p->len, generation);
            last = flows[i];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        struct sk_packet *const p = packets[i];
        const uint32_t length = p->len;
        // it may be there by now, or another where it was
        if (__builtin_expect(noted, 0) && tags[i])
            flows[i] = sk_flows_find(core->flows, tags[i], dev_port, sk_packet_data(p), length,
                                     generation);
        if (__builtin_expect(!take_in(core, dev_port, packets, i, n, b), 0))
            continue;
        if (flows[i] && send_as(core, p, flows[i]->out, &leaving)) {
            sk_flows_count(core->flows, flows[i], length);
            continue;
        }
        memcpy(sk_packet_data(p) - SK_INGRESS_PREFIX, b->prefix, sizeof b->prefix);
        p->global_tstamp = b->time & SK_TSTAMP_MASK;
        leaving.number = SK_PORTS;
        if (!flows[i] && tags[i] && sk_flows_wants(core->flows, tags[i], generation)) {
            run_noted(core, pipe, p, tags[i], generation, b->time);
            noted = true;
            continue;
        }
        const uint64_t w = pass_plain(core, pipe, p);
        if (!send_straight(core, p, w, &leaving) && !ends_plain(core, p, w))
            receive_go_on(core, p, w, b->time);
        leaving.number = SK_PORTS;
    }
    sk_flows_flush(core->flows, b->time & SK_TSTAMP_MASK);
    out->max_passes = 0;
}

static void receive_end_burst(struct sk_core *core, uint16_t dev_port, const struct burst *b,
                              unsigned n) {
    struct sk_port_stats *stats = &core->ports[dev_port].stats;
    core->serial = b->serial;
    core->stats.rx_packets += n;
    stats->rx_packets += n;
    stats->rx_bytes += b->bytes;
}

unsigned sk_core_rx_burst(struct sk_core *core, uint16_t dev_port, struct sk_packet *const *p,
                          unsigned n, uint64_t now_ns) {
    if (n > BURST || !run_at_once(core, dev_port)) {
        const bool traps = dev_port < SK_PORTS && core->ways[dev_port] & PORT_TRAPS;
        for (unsigned i = 0; i < n && !(traps && core_trap(core, dev_port, p + i, n - i)); i++)
            sk_core_rx_packet(core, dev_port, p[i], now_ns);
        return sk_core_run(core, now_ns);
    }
    struct burst b = begin_burst(core, dev_port, n, now_ns);
    if (!core->recorder && !core->observed && remembers_flows(core, b.pipe, n)) {
        run_flows(core, dev_port, p, n, &b);
    } else {
        struct sk_entry *found[BURST];
        if (b.pipe->desc->ahead)
            b.pipe->desc->ahead(b.pipe->state, p, n, found);
        else
            memset(found, 0, sizeof found);
        if (core->recorder || core->observed)
            run_burst(core, dev_port, p, n, found, &b, true);
        else
            run_burst(core, dev_port, p, n, found, &b, false);
    }
    receive_end_burst(core, dev_port, &b, n);
    // then there is nothing to run
    return core->sw->n_cores == 1 && !core->recorder && !waits(core) ? 0
                                                                     : sk_core_run(core, now_ns);
}

// ---- packets that came as one frame ----

_Static_assert(SK_ALIKE_SHOWN == SK_NOTED, "said twice");

static struct sk_flow *flow_of_shown(struct sk_core *core, uint16_t dev_port, const uint8_t *shown,
                                     uint32_t length, const uint8_t *differs) {
    struct sk_flow *const f = length_is_good(core, length)
                                  ? sk_flows_find(core->flows, sk_flow_tag(shown, dev_port),
                                                  dev_port, shown, length, sk_tables_generation())
                                  : NULL;
    return f && !sk_flow_looks_at(f, differs) ? f : NULL;
}

// By this port, at once, and as long as it is.
static bool leaves_whole(struct sk_core *core, uint16_t out, const uint8_t *shown,
                         uint32_t length) {
    const struct sk_packet p = {.buf = (uint8_t *)shown, .len = length};
    const struct leaving l = leave_for(core, out);
    return l.number == out && !too_long(l.port, &p);
}

bool sk_core_is_single(const struct sk_core *core) {
    return core->single;
}

int sk_core_alike_port(struct sk_core *core, uint16_t dev_port, struct sk_alike *a) {
    if (!run_at_once(core, dev_port) || core->recorder || core->observed ||
        !remembers_flows(core, &core->pipes[sk_port_pipe(dev_port)], a->packets))
        return -1;
    struct sk_flow *const first = flow_of_shown(core, dev_port, a->first, a->length, a->differs);
    struct sk_flow *const last =
        first ? flow_of_shown(core, dev_port, a->last, a->last_length, a->differs) : NULL;
    if (!last || last->out != first->out || !leaves_whole(core, first->out, a->first, a->length) ||
        !leaves_whole(core, first->out, a->last, a->last_length))
        return -1;
    a->flow_of[0] = first;
    a->flow_of[1] = last;
    return first->out;
}

void sk_core_alike_sent(struct sk_core *core, uint16_t dev_port, const struct sk_alike *a,
                        uint16_t out, uint64_t now_ns) {
    struct burst b = begin_burst(core, dev_port, 0, now_ns);
    const uint64_t bytes = (uint64_t)(a->packets - 1) * a->length;
    b.serial += a->packets;
    b.bytes = bytes + a->last_length;
    receive_end_burst(core, dev_port, &b, a->packets);
    send_count_many(core, out, a->packets, b.bytes);
    sk_flows_count_many(core->flows, a->flow_of[0], a->packets - 1, bytes);
    sk_flows_count_many(core->flows, a->flow_of[1], 1, a->last_length);
    sk_flows_flush(core->flows, b.time & SK_TSTAMP_MASK);
}

// ---- frames with a time each ----

// What sk_core_run has still to do when the only packet that waited, for the ingress of 'pipe', has
// been run.
static void run_rest(struct sk_core *core, struct pipe *pipe, uint64_t now_ns) {
    run_pipe_from(core, pipe, now_ns, 1);
    for (pipe++; pipe < core->pipes + SK_PIPES; pipe++)
        run_pipe(core, pipe, now_ns);
    sk_core_run(core, now_ns);
}

// What ingress will look at of the next packet, while this one is run.
INLINE void fetch(const uint8_t *bytes, uint32_t length, uint32_t reach) {
    const size_t n = length < reach ? length : reach;
    size_t at = 0;
    for (; at + 192 < n; at += 256) {
        __builtin_prefetch(bytes + at);
        __builtin_prefetch(bytes + at + 64);
        __builtin_prefetch(bytes + at + 128);
        __builtin_prefetch(bytes + at + 192);
    }
    for (; at < n; at += 64)
        __builtin_prefetch(bytes + at);
}

// What frames of one port have in common.
struct coming {
    uint16_t number; // SK_PORTS: of none
    struct pipe *pipe;
    sk_ingress_fn ingress;
    struct sk_port_stats *stats;
    uint64_t metadata, packets, bytes;
    uint32_t reach;
};
// False: the port receives nothing.
static bool come_by(struct sk_core *core, struct coming *c, uint16_t number) {
    if (number >= SK_PORTS || !(core->ways[number] & PORT_RECEIVES))
        return false;
    struct port *const port = &core->ports[number];
    struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
    *c = (struct coming){.number = number,
                         .pipe = pipe,
                         .ingress = pipe->desc->ingress,
                         .stats = &port->stats,
                         .reach = pipe->desc->ingress_reach};
    memcpy(&c->metadata, port->metadata, sizeof c->metadata);
    return true;
}
static void count_come(struct sk_core *core, struct coming *c) {
    if (c->number == SK_PORTS)
        return;
    core->stats.rx_packets += c->packets;
    c->stats->rx_packets += c->packets;
    c->stats->rx_bytes += c->bytes;
    c->number = SK_PORTS;
}

// A frame that cannot be taken in: as one that comes by itself.
static void __attribute__((noinline))
refuse_frame(struct sk_core *core, struct coming *c, const struct sk_lent_frame *f) {
    count_come(core, c);
    if (receive(core, f->port, f->bytes, f->length, f->time_ns, true))
        receive_refuse(core, f->port, f->bytes, f->length, f->length, SK_DROP_NO_BUFFER);
}

// Nothing waits, and nothing but the frames themselves makes anything happen. One at a time is a
// guest in the pool, and one that ended in ingress leaves its packet to the next.
static void run_frames(struct sk_core *core, const struct sk_lent_frame *frames, unsigned n) {
    struct sk_ingress_out *const out = &core->ingress_out;
    const bool seen = core->recorder || core->observed;
    struct drops drops = {0, SK_DROP_INGRESS_DROP, 0};
    struct coming c = {.number = SK_PORTS};
    struct sk_packet *p = NULL; // one that has ended
    uint64_t stamp = 0, now_ns = 0, again = 0;
    unsigned wrong = 0;
    out->max_passes = core->max_recirculation; // nothing waits
    for (unsigned i = 0; i < n; i++) {
        const struct sk_lent_frame *const f = &frames[i];
        uint8_t *const frame = f->bytes;
        const uint32_t length = f->length;
        if (i + 1 < n)
            fetch(f[1].bytes, f[1].length, c.reach);
        if (__builtin_expect(core->invariant_crc, 0) && i % ROCE_CHECKED == 0)
            wrong = receive_wrong_lent(core, f, n - i);
        if (f->time_ns != now_ns || i == 0) {
            now_ns = f->time_ns;
            stamp = now_ns & SK_TSTAMP_MASK;
            core->now = now_ns > core->now ? now_ns : core->now;
            core->pass_ns = now_ns;
        }
        if (__builtin_expect(f->port != c.number, 0)) {
            count_come(core, &c);
            if (!come_by(core, &c, f->port)) {
                refuse_frame(core, &c, f);
                continue;
            }
        }
        const bool good = length_is_good(core, length) && !(wrong >> i % ROCE_CHECKED & 1);
        if (p && good) {
            sk_pool_next_guest(p, frame, length);
        } else if (!good || !(p = sk_pool_get_guest(core->pool, frame, length))) {
            refuse_frame(core, &c, f);
            continue;
        }
        c.packets++;
        c.bytes += length;
        p->ingress_port = c.number;
        p->arrived = (uint16_t)length;
        p->mac_tstamp = p->global_tstamp = stamp;
        p->serial = ++core->serial;
        if (__builtin_expect(seen, 0))
            record_received(core, p, now_ns);
        const enum end end = run_frame(core, c.ingress, c.pipe->state, p, frame, c.number,
                                       &c.metadata, stamp, now_ns, seen, &drops, &again);
        if (end == END_KEPT)
            continue;
        p = NULL;
        if (end == END_WAITS && waits(core)) {
            out->max_passes = 0;
            run_rest(core, c.pipe, now_ns);
        }
        out->max_passes = core->max_recirculation;
    }
    if (p)
        sk_pool_put(p);
    out->max_passes = 0;
    core->stats.recirculated += again;
    count_come(core, &c);
    count_drops(core, &drops);
    assert(!core->pool->guest); // nothing is inside
}

void sk_core_rx_lent(struct sk_core *core, const struct sk_lent_frame *frames, unsigned n) {
    const bool plain = send_is_plain(core) && core->sw->n_cores == 1 &&
                       !sk_pool_is_shared(core->pool) && !waits(core);
    if (plain)
        run_frames(core, frames, n);
    for (unsigned i = 0; i < n && !plain; i++) {
        const struct sk_lent_frame *f = &frames[i];
        sk_core_rx(core, f->port, f->bytes, f->length, f->time_ns);
        sk_core_run(core, f->time_ns);
    }
    sk_pool_no_guests(core->pool);
    if (core->recorder)
        recorder_publish(core->recorder, core->now);
}
