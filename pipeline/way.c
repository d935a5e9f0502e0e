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

#define BURST 32

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
static void write_ingress_prefix(const struct sk_switch *sw, struct sk_packet *p) {
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

// ---- a packet's way ----

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

// Counts the frame in; false when it goes no further.
static bool receive(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                    uint64_t now_ns) {
    switch_events(sw, now_ns); // what happens by itself before the packet comes
    sw->stats.rx_packets++;
    sw->serial++;
    if (!switch_has_port(sw, dev_port))
        return refuse(sw, dev_port, frame, 0, length, SK_DROP_PORT_DOWN);
    assert(owns_port(sw, dev_port));
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    stats->rx_packets++;
    stats->rx_bytes += length;
    bool too_long = length > sw->opt.packet_bytes;
    if (lost(sw) || too_long || length < SK_MIN_FRAME)
        return refuse(sw, dev_port, frame, too_long ? 0 : length, length,
                      too_long                ? SK_DROP_TOO_LONG
                      : length < SK_MIN_FRAME ? SK_DROP_TOO_SHORT
                                              : SK_DROP_FAULT);
    return true;
}

static void show_received(struct sk_switch *sw, const struct sk_packet *p, uint64_t now_ns) {
    switch_tell(sw, p, SK_EV_RECEIVED, p->ingress_port, now_ns, NULL);
    if (sw->recorder)
        recorder_received(sw->recorder, p->ingress_port, sk_packet_data(p), p->len, p->len,
                          p->serial, now_ns);
}

static void come_in(struct sk_switch *sw, uint16_t dev_port, struct sk_packet *p, uint64_t now_ns) {
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

struct mirroring {
    struct sk_switch *sw;
    uint64_t now_ns;
};

static void mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    const struct mirroring *mirroring = aux;
    tm_mirror(mirroring->sw, p, m, SK_MIRROR_IN, mirroring->now_ns);
}

static void mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    const struct mirroring *mirroring = aux;
    tm_mirror(mirroring->sw, p, m, SK_MIRROR_OUT, mirroring->now_ns);
}

// The packet, on its way into ingress again; null when it ended.
static struct sk_packet *recirculate(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    if (p->passes >= sw->opt.max_recirculation) {
        switch_drop(sw, p, p->egress_port, SK_DROP_RECIRC_LIMIT);
        return NULL;
    }
    if (!sk_packet_recentre(p)) {
        switch_drop(sw, p, p->egress_port, SK_DROP_TOO_LONG);
        return NULL;
    }
    switch_tell(sw, p, SK_EV_RECIRCULATED, p->egress_port, 0, NULL);
    p->passes++;
    p->resubmitted = false;
    p->ingress_port = p->egress_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    sw->stats.recirculated++;
    struct pipe *pipe = &sw->pipes[sk_port_pipe(p->ingress_port)];
    pktgen_recirculated(sw, p, now_ns);
    if (pipe->again == 0)
        return p;
    ingress_push(pipe, p); // behind those that came before it
    return NULL;
}

static void transmit(struct sk_switch *sw, struct sk_packet *p) {
    uint16_t port = p->egress_port;
    uint32_t length = p->len;
    if (length > sw->ports[port].longest || length == 0) {
        switch_drop(sw, p, port, length ? SK_DROP_TOO_LONG : SK_DROP_TOO_SHORT);
        return;
    }
    if (lost(sw)) {
        switch_drop(sw, p, port, SK_DROP_FAULT);
        return;
    }
    // An observer is told when the packet is sent; what is given away cannot be shown then.
    const bool whole = sk_pool_is_shared(sw->pool) && !(sw->watched && sw->observer);
    const bool recorded = sw->watched && sw->recorder && recorder_sending(sw->recorder, p, sw->now);
    const bool taken =
        whole ? sk_pool_send(p, port) : sw->opt.tx(sw->opt.aux, port, sk_packet_data(p), length);
    if (recorded)
        recorder_sent(sw->recorder, taken);
    if (!taken) {
        switch_drop(sw, p, port, SK_DROP_TX_FULL);
        return;
    }
    sw->stats.tx_packets++;
    sw->ports[port].stats.tx_packets++;
    sw->ports[port].stats.tx_bytes += length;
    if (whole)
        return;
    switch_tell(sw, p, SK_EV_SENT, port, 0, NULL);
    sk_pool_put(p);
}

// False when the packet ended here.
static bool run_egress_program(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p,
                               uint64_t now_ns) {
    if (!sk_packet_recentre(p)) {
        switch_drop(sw, p, p->egress_port, SK_DROP_TOO_LONG);
        return false;
    }
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    if (sw->program->egress_prefix == SK_EGRESS_PREFIX_2)
        write_egress_prefix_2(p, now_ns);
    else
        write_egress_prefix(p, now_ns);
    p->observer = sw->observer;
    switch_tell(sw, p, SK_EV_EGRESS, p->egress_port, now_ns, NULL);
    struct sk_egress_out out;
    sk_egress_out_clear(&out);
    struct mirroring m = {sw, now_ns};
    out.on_mirror = mirror_arrived;
    out.aux = &m;
    pipe->desc->egress(pipe->state, p, &out);
    if (out.mirror.wanted && !out.mirror.told && !(out.drop_ctl & 4))
        tm_mirror(sw, p, &out.mirror, SK_MIRROR_OUT, now_ns);
    if (out.drop_ctl & 1) {
        switch_drop(sw, p, p->egress_port, SK_DROP_EGRESS_DROP);
        return false;
    }
    return true;
}

struct sk_packet *way_egress(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    uint16_t port = p->egress_port;
    if (!p->bypass_egress && !run_egress_program(sw, &sw->pipes[sk_port_pipe(port)], p, now_ns))
        return NULL;
    queue_sent(sw, port, p->len, now_ns);
    if (port_recirculates(sw, port))
        return recirculate(sw, p, now_ns);
    transmit(sw, p);
    return NULL;
}

// One pass of ingress. What goes on in ingress at once, or null.
static struct sk_packet *pass(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p,
                              uint64_t now_ns) {
    p->global_tstamp = now_ns & SK_TSTAMP_MASK;
    write_ingress_prefix(sw, p);
    p->observer = sw->observer;
    switch_tell(sw, p, SK_EV_INGRESS, p->ingress_port, now_ns, NULL);
    struct mirroring m = {sw, now_ns};
    struct sk_ingress_out out;
    sk_ingress_out_clear(&out);
    out.on_mirror = mirror_received;
    out.aux = &m;
    pipe->desc->ingress(pipe->state, p, &out);
    if (out.digest.packed)
        digest_push(sw, (unsigned)(pipe - sw->pipes), &out.digest, now_ns);
    // what most packets ask for, without looking at what only others need
    const bool plain = out.ucast_valid && !out.parser_drop && !out.resubmit && !out.mcast_a_valid &&
                       !out.mcast_b_valid && !out.copy_to_cpu && !(out.drop_ctl & 1);
    if (!plain || sw->observer || !goes_at_once(sw, out.ucast_port % SK_PORTS))
        return tm_admit(sw, p, &out, now_ns);
    const struct destination d = {out.ucast_port, 0, false, out.ingress_cos};
    address(p, &d, &out);
    queue_passed(p, now_ns);
    return way_egress(sw, p, now_ns);
}

static void run_ingress(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    do
        p = pass(sw, &sw->pipes[sk_port_pipe(p->ingress_port)], p, now_ns);
    while (p);
}

void way_leave(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    p = way_egress(sw, p, now_ns);
    if (p)
        ingress_push(&sw->pipes[sk_port_pipe(p->ingress_port)], p);
}

bool way_run(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns) {
    bool worked = false;
    struct sk_packet *p;
    for (int i = 0; i < BURST && (p = ingress_pop(pipe)); i++) {
        if (p->next)
            __builtin_prefetch(sk_packet_data(p->next));
        run_ingress(sw, p, now_ns);
        worked = true;
    }
    for (int i = 0; i < BURST && (p = fifo_pop(&pipe->egress)); i++) {
        way_leave(sw, p, now_ns);
        worked = true;
    }
    return worked;
}
