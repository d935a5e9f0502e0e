// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PACKET_BYTES      9216u
#define DEFAULT_PACKETS           4096u
#define DEFAULT_MAX_RECIRCULATION 64u
#define DEFAULT_CPU_PORT          64u
#define MAX_PACKET_BYTES          64000u // pkt_length has 16 bits and counts FCS and bridge headers
#define MAX_RECIRCULATION         255u   // sk_packet.passes has 8 bits

#define MIN_FRAME 14u
#define FCS_BYTES 4u
#define BURST     32

const char *sk_drop_text(enum sk_drop_reason r) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        SK_DROP_REASONS(TEXT)
#undef TEXT
    };
    assert(r < SK_DROP_COUNT);
    return texts[r];
}

// ---- making and ending ----

static bool fill_options(struct sk_switch_options *o, char *error, size_t error_size) {
    o->packet_bytes = o->packet_bytes ? o->packet_bytes : DEFAULT_PACKET_BYTES;
    o->n_packets = o->n_packets ? o->n_packets : DEFAULT_PACKETS;
    o->max_recirculation = o->max_recirculation ? o->max_recirculation : DEFAULT_MAX_RECIRCULATION;
    o->cpu_port = o->cpu_port ? o->cpu_port : DEFAULT_CPU_PORT;
    o->n_cores = o->n_cores ? o->n_cores : 1;
    if (!o->tx)
        snprintf(error, error_size, "a switch needs a tx callback");
    else if (o->packet_bytes < MIN_FRAME || o->packet_bytes > MAX_PACKET_BYTES)
        snprintf(error, error_size, "packet_bytes is %u; it must be %u to %u", o->packet_bytes,
                 MIN_FRAME, MAX_PACKET_BYTES);
    else if (o->max_recirculation > MAX_RECIRCULATION)
        snprintf(error, error_size, "max_recirculation is %u; it must be at most %u",
                 o->max_recirculation, MAX_RECIRCULATION);
    else if (!sk_port_exists(o->cpu_port))
        snprintf(error, error_size, "cpu_port is %u, which is no device port", o->cpu_port);
    else
        return cores_check(o, error, error_size);
    return false;
}

static bool make_pipe(struct sk_switch *sw, unsigned i) {
    struct pipe *own = &switch_owner(sw, i)->pipes[i];
    const struct sk_pipeline_desc *desc = sw->program->pipelines[sw->program->pipe_of[i]];
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->pipes[i].desc = desc;
    sw->pipes[i].state = own->state = desc->pipe_new(sw->opt.seed + i);
    if (own->state && desc->n_digests > 0)
        own->digests.slots = calloc(SK_DIGEST_QUEUE, sizeof *own->digests.slots);
    return own->state && (own->digests.slots || desc->n_digests == 0);
}

static struct sk_switch *make_core(const struct sk_program *prog,
                                   const struct sk_switch_options *opt, unsigned number) {
    struct sk_switch *sw = calloc(1, sizeof *sw);
    if (!sw)
        return NULL;
    sw->program = sk_program_desc(prog);
    sw->opt = *opt;
    sw->core = (uint8_t)number;
    sw->n_cores = (uint8_t)opt->n_cores;
    memcpy(sw->core_of, opt->core_of, sizeof sw->core_of);
    sw->deflect_port = SK_PORT_INVALID;
    sw->pool = sk_pool_new(opt->n_packets, opt->packet_bytes);
    sw->marks = sk_pre_marks_new();
    return sw;
}

static bool make_cores(struct sk_switch *root, const struct sk_program *prog) {
    root->cores[0] = root;
    for (unsigned c = 1; c < root->n_cores; c++)
        if (!(root->cores[c] = make_core(prog, &root->opt, c)))
            return false;
    root->pre = sk_pre_new();
    bool good = root->pre && cores_join(root);
    for (unsigned c = 0; c < root->n_cores; c++) {
        struct sk_switch *sw = root->cores[c];
        good &= sw->pool && sw->marks;
        sw->pre = root->pre;
        memcpy(sw->cores, root->cores, sizeof sw->cores);
    }
    for (unsigned i = 0; good && i < SK_PIPES; i++)
        good = make_pipe(root, i);
    return good;
}

// Multicast knows which ports are up by itself.
static void tell_pre(struct sk_switch *sw, uint16_t port) {
    const struct port *p = &sw->ports[port];
    pre_port_live(sw->pre, port, (p->up || port_recirculates(sw, port)) && !p->not_forwarding);
}

struct sk_switch *sk_switch_new(const struct sk_program *prog, const struct sk_switch_options *opt,
                                char *error, size_t error_size) {
    struct sk_switch_options filled = *opt;
    if (!fill_options(&filled, error, error_size))
        return NULL;
    struct sk_switch *sw = make_core(prog, &filled, 0);
    if (!sw || !make_cores(sw, prog)) {
        snprintf(error, error_size,
                 "not enough memory for the switch: %u pipes with the registers, "
                 "counters and tables of the program",
                 SK_PIPES);
        sk_switch_free(sw);
        return NULL;
    }
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        tell_pre(sw, port);
        sk_switch_port_longest(sw, port, filled.packet_bytes);
    }
    return sw;
}

static void free_core(struct sk_switch *sw) {
    if (!sw)
        return;
    for (unsigned i = 0; i < SK_PIPES; i++)
        free(sw->pipes[i].digests.slots);
    pktgen_free(sw);
    sk_pre_marks_free(sw->marks);
    sk_pool_free(sw->pool);
    free(sw);
}

void sk_switch_free(struct sk_switch *sw) {
    if (!sw)
        return;
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (sw->pipes[i].state)
            sw->pipes[i].desc->pipe_free(sw->pipes[i].state);
    cores_part(sw);
    sk_pre_free(sw->pre);
    for (unsigned c = sw->n_cores; c-- > 0;) // the first is 'sw'
        free_core(sw->cores[c]);
}

// ---- drops and injected loss ----

static void count_drop(struct sk_switch *sw, uint16_t port, enum sk_drop_reason r) {
    sw->stats.drops[r]++;
    if (port < SK_PORTS)
        sw->ports[port].stats.drops[r]++;
}

void switch_refuse(struct sk_switch *sw, const struct sk_packet *p, uint16_t port,
                   enum sk_drop_reason r) {
    switch_tell(sw, p, SK_EV_DROPPED, port, 0, sk_drop_text(r));
    count_drop(sw, port, r);
}

void switch_drop(struct sk_switch *sw, struct sk_packet *p, uint16_t port, enum sk_drop_reason r) {
    switch_refuse(sw, p, port, r);
    sk_pool_put(p);
}

void sk_switch_faults(struct sk_switch *sw, double loss, uint64_t seed) {
    assert(loss >= 0 && loss <= 1);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c]->fault_threshold = (uint64_t)(loss * (double)((uint64_t)1 << 53));
        sw->cores[c]->fault_state = seed + c;
    }
}

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
    put_be(at, 2, (uint64_t)p->resubmitted << 15 | p->ingress_port);
    put_be(at + 2, 6, p->mac_tstamp);
    const uint8_t *data = p->resubmitted ? p->resubmit_data : sw->ports[p->ingress_port].metadata;
    memset(at + 8, 0, prefix - 8);
    memcpy(at + 8, data, prefix == SK_INGRESS_PREFIX ? 8 : SK_RESUBMIT_BYTES);
}

// tna-facts 2.5
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
    memcpy(at, words, sizeof words);
    at[24] = p->deflected;
    put_be(at + 25, 2, p->len + FCS_BYTES);
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

// Before it has a buffer.
static bool refuse(struct sk_switch *sw, uint16_t dev_port, enum sk_drop_reason r) {
    const struct sk_packet p = {.serial = sw->serial, .ingress_port = dev_port};
    switch_refuse(sw, &p, dev_port, r);
    return false;
}

static void run_events(struct sk_switch *sw, uint64_t now_ns);

bool sk_switch_rx(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                  uint64_t now_ns) {
    run_events(sw, now_ns); // what happens by itself before the packet comes
    sw->stats.rx_packets++;
    sw->serial++;
    if (!switch_has_port(sw, dev_port))
        return refuse(sw, dev_port, SK_DROP_PORT_DOWN);
    assert(owns_port(sw, dev_port));
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    stats->rx_packets++;
    stats->rx_bytes += length;
    bool too_long = length > sw->opt.packet_bytes;
    if (lost(sw) || too_long || length < MIN_FRAME)
        return refuse(sw, dev_port,
                      too_long             ? SK_DROP_TOO_LONG
                      : length < MIN_FRAME ? SK_DROP_TOO_SHORT
                                           : SK_DROP_FAULT);
    struct sk_packet *p = sk_pool_get(sw->pool);
    if (!p)
        return refuse(sw, dev_port, SK_DROP_NO_BUFFER);
    memcpy(sk_packet_data(p), frame, length);
    p->len = length;
    p->ingress_port = dev_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    p->serial = sw->serial;
    switch_tell(sw, p, SK_EV_RECEIVED, dev_port, now_ns, NULL);
    fifo_push(&sw->pipes[sk_port_pipe(dev_port)].ingress, p);
    return true;
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

static void run_ingress(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p,
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
    tm_admit(sw, p, &out, now_ns);
}

static void recirculate(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    if (p->passes >= sw->opt.max_recirculation) {
        switch_drop(sw, p, p->egress_port, SK_DROP_RECIRC_LIMIT);
        return;
    }
    if (!sk_packet_recentre(p)) {
        switch_drop(sw, p, p->egress_port, SK_DROP_TOO_LONG);
        return;
    }
    switch_tell(sw, p, SK_EV_RECIRCULATED, p->egress_port, 0, NULL);
    p->passes++;
    p->resubmitted = false;
    p->ingress_port = p->egress_port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    sw->stats.recirculated++;
    pktgen_recirculated(sw, p, now_ns);
    fifo_push(&sw->pipes[sk_port_pipe(p->ingress_port)].ingress, p);
}

static void transmit(struct sk_switch *sw, struct sk_packet *p) {
    uint16_t port = p->egress_port;
    if (p->len > sw->ports[port].longest || p->len == 0) {
        switch_drop(sw, p, port, p->len ? SK_DROP_TOO_LONG : SK_DROP_TOO_SHORT);
        return;
    }
    if (lost(sw)) {
        switch_drop(sw, p, port, SK_DROP_FAULT);
        return;
    }
    if (!sw->opt.tx(sw->opt.aux, port, sk_packet_data(p), p->len)) {
        switch_drop(sw, p, port, SK_DROP_TX_FULL);
        return;
    }
    switch_tell(sw, p, SK_EV_SENT, port, 0, NULL);
    sw->stats.tx_packets++;
    sw->ports[port].stats.tx_packets++;
    sw->ports[port].stats.tx_bytes += p->len;
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

static void run_egress(struct sk_switch *sw, struct pipe *pipe, struct sk_packet *p,
                       uint64_t now_ns) {
    if (!p->bypass_egress && !run_egress_program(sw, pipe, p, now_ns))
        return;
    queue_sent(sw, p->egress_port, p->len, now_ns);
    if (port_recirculates(sw, p->egress_port))
        recirculate(sw, p, now_ns);
    else
        transmit(sw, p);
}

// A burst of each queue. False when both were empty.
static bool run_pipe(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns) {
    bool worked = false;
    struct sk_packet *p;
    for (int i = 0; i < BURST && (p = fifo_pop(&pipe->ingress)); i++) {
        run_ingress(sw, pipe, p, now_ns);
        worked = true;
    }
    for (int i = 0; i < BURST && (p = fifo_pop(&pipe->egress)); i++) {
        run_egress(sw, pipe, p, now_ns);
        worked = true;
    }
    return worked;
}

uint64_t sk_switch_now(const struct sk_switch *sw) {
    uint64_t now = 0;
    for (unsigned c = 0; c < sw->n_cores; c++)
        now = sw->cores[c]->now > now ? sw->cores[c]->now : now;
    return now;
}

// Ends: recirculations, mirrors of mirrors and resubmits are limited, and each group has finitely
// many copies.
static void drain(struct sk_switch *sw, uint64_t now_ns) {
    for (bool worked = true; worked;) {
        worked = false;
        for (unsigned i = 0; i < SK_PIPES; i++)
            worked |= run_pipe(sw, &sw->pipes[i], now_ns);
    }
}

// What happens by itself until now, in the order of its time; packets that a port sends come before
// those that are generated at the same time.
static void run_events(struct sk_switch *sw, uint64_t now_ns) {
    uint16_t port = 0;
    unsigned pipe = 0;
    while (sw->n_shaped || sw->n_pktgens) {
        uint64_t sent = queue_next(sw, &port), generated = pktgen_next(sw, &pipe);
        uint64_t t = sent <= generated ? sent : generated;
        if (t > now_ns)
            break;
        t = t > sw->now ? t : sw->now; // a port's speed changed meanwhile
        sw->now = t;
        drain(sw, t); // what was there before
        if (sent <= generated)
            run_egress(sw, &sw->pipes[sk_port_pipe(port)], queue_pop(sw, port), t);
        else
            pktgen_fire(sw, pipe, t);
        drain(sw, t);
    }
    sw->now = now_ns > sw->now ? now_ns : sw->now;
}

unsigned sk_switch_run(struct sk_switch *sw, uint64_t now_ns) {
    unsigned arrived = 0;
    run_events(sw, now_ns);
    if (sw->n_cores > 1)
        arrived = cores_arrive(sw, &now_ns);
    drain(sw, now_ns);
    // a port that was idle may send at once what has just come
    if (sw->n_shaped)
        run_events(sw, now_ns);
    sw->now = now_ns > sw->now ? now_ns : sw->now;
    if (sw->n_cores > 1)
        cores_publish(sw);
    return arrived;
}

uint64_t sk_switch_next(const struct sk_switch *sw, bool timers) {
    uint16_t port;
    unsigned pipe;
    uint64_t sent = queue_next(sw, &port), generated = timers ? pktgen_next(sw, &pipe) : UINT64_MAX;
    return sent <= generated ? sent : generated;
}

// ---- ports ----

void sk_switch_port_up(struct sk_switch *sw, uint16_t dev_port, bool up) {
    assert(switch_has_port(sw, dev_port));
    bool went_down = sw->ports[dev_port].up && !up;
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->ports[dev_port].up = up;
    tell_pre(sw, dev_port);
    if (went_down)
        pktgen_port_down(port_owner(sw, dev_port), dev_port);
}

bool sk_switch_port_is_up(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && sw->ports[dev_port].up;
}

void sk_switch_port_loopback(struct sk_switch *sw, uint16_t dev_port, bool loopback) {
    assert(switch_has_port(sw, dev_port));
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->ports[dev_port].loopback = loopback;
    tell_pre(sw, dev_port);
}

bool sk_switch_port_is_loopback(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && port_recirculates(sw, dev_port);
}

void sk_switch_port_longest(struct sk_switch *sw, uint16_t dev_port, uint32_t bytes) {
    assert(dev_port < SK_PORTS);
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->ports[dev_port].longest =
            bytes < sw->opt.packet_bytes ? bytes : sw->opt.packet_bytes;
}

void sk_switch_port_metadata(struct sk_switch *sw, uint16_t dev_port, const uint8_t *md,
                             size_t bytes) {
    assert(switch_has_port(sw, dev_port) && bytes <= SK_RESUBMIT_BYTES);
    uint8_t all[SK_RESUBMIT_BYTES] = {0};
    memcpy(all, md, bytes);
    for (unsigned c = 0; c < sw->n_cores; c++)
        memcpy(sw->cores[c]->ports[dev_port].metadata, all, sizeof all);
}

const uint8_t *sk_switch_port_metadata_of(const struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    return sw->ports[dev_port].metadata;
}

void sk_switch_cpu_port(struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->opt.cpu_port = dev_port;
}

void sk_switch_deflect_to(struct sk_switch *sw, uint16_t dev_port, uint8_t qid) {
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c]->deflect_port = dev_port;
        sw->cores[c]->deflect_qid = qid % SK_QUEUES;
    }
}

void sk_pre_port_forward(struct sk_switch *sw, uint16_t port, bool forward) {
    assert(switch_has_port(sw, port));
    sw->ports[port].not_forwarding = !forward;
    tell_pre(sw, port);
}

// ---- what is inside ----

void sk_switch_observe(struct sk_switch *sw, struct sk_observer *o) {
    assert(sw->n_cores == 1);
    sw->observer = o;
}

const struct sk_program_desc *sk_switch_program(const struct sk_switch *sw) {
    return sw->program;
}

struct sk_pipe *sk_switch_pipe(struct sk_switch *sw, unsigned pipe) {
    assert(pipe < SK_PIPES);
    return sw->pipes[pipe].state;
}

const struct sk_pipeline_desc *sk_switch_pipeline(const struct sk_switch *sw, unsigned pipe) {
    assert(pipe < SK_PIPES);
    return sw->pipes[pipe].desc;
}

void sk_switch_tx_lost(struct sk_switch *sw, uint16_t dev_port, uint64_t packets, uint64_t bytes) {
    assert(dev_port < SK_PORTS);
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    assert(stats->tx_packets >= packets && stats->tx_bytes >= bytes);
    stats->tx_packets -= packets;
    stats->tx_bytes -= bytes;
    stats->drops[SK_DROP_TX_FULL] += packets;
    sw->stats.tx_packets -= packets;
    sw->stats.drops[SK_DROP_TX_FULL] += packets;
}
