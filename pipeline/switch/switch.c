// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/cores.h"
#include "pipeline/observe/recorder_impl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/cores/apart.h"

#define DEFAULT_PACKET_BYTES      9216u
#define DEFAULT_PACKETS           4096u
#define DEFAULT_MAX_RECIRCULATION 64u
#define MAX_PACKET_BYTES          64000u // pkt_length has 16 bits and counts FCS and bridge headers
#define MAX_RECIRCULATION         255u   // sk_packet.passes has 8 bits

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

static bool fill_options(struct sk_switch_options *o, const struct sk_program *prog, char *error,
                         size_t error_size) {
    uint16_t cpu_port =
        sk_program_desc(prog)->ingress_prefix == SK_INGRESS_PREFIX_2 ? SK_CPU_PORT_2 : SK_CPU_PORT;
    o->packet_bytes = o->packet_bytes ? o->packet_bytes : DEFAULT_PACKET_BYTES;
    o->n_packets = o->n_packets ? o->n_packets : DEFAULT_PACKETS;
    o->max_recirculation = o->max_recirculation ? o->max_recirculation : DEFAULT_MAX_RECIRCULATION;
    o->cpu_port = o->cpu_port ? o->cpu_port : cpu_port;
    o->n_cores = o->n_cores ? o->n_cores : 1;
    if (!o->tx)
        snprintf(error, error_size, "a switch needs a tx callback");
    else if (o->packet_bytes < SK_MIN_FRAME || o->packet_bytes > MAX_PACKET_BYTES)
        snprintf(error, error_size, "packet_bytes is %u; it must be %u to %u", o->packet_bytes,
                 SK_MIN_FRAME, MAX_PACKET_BYTES);
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
    const uint32_t reach = desc->egress_idle ? 0 : desc->egress_reach;
    for (unsigned c = 0; c < sw->n_cores; c++) {
        struct sk_switch *core = sw->cores[c];
        core->pipes[i].desc = desc;
        core->egress_reach = reach > core->egress_reach ? reach : core->egress_reach;
    }
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
    sw->serial = (uint64_t)number << 56; // no two cores give a packet the same
    sw->n_cores = (uint8_t)opt->n_cores;
    memcpy(sw->core_of, opt->core_of, sizeof sw->core_of);
    sw->copy_line = line_copier();
    sw->deflect_port = SK_PORT_INVALID;
    sw->ingress_out.on_mirror = way_mirror_received;
    sw->egress_out.on_mirror = way_mirror_arrived;
    sw->ingress_out.aux = sw->egress_out.aux = sw;
    sw->ingress_out.hops = sw->hops;
    sw->sent[0].first = sw->sent[1].first = UINT64_MAX;
    sw->pool = sk_pool_new(opt->n_packets, opt->packet_bytes);
    sw->flows = sk_flows_new(); // memory that is not there means that none are remembered
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

void switch_port_changed(struct sk_switch *sw, uint16_t port) {
    const struct port *p = &sw->ports[port];
    bool ours = switch_has_port(sw, port) && owns_port(sw, port),
         again = port_recirculates(sw, port);
    bool at_once = ours && !p->queue.listed && (p->up || again);
    sw->ways[port] = (uint8_t)((ours ? PORT_RECEIVES : 0) | (at_once && !again ? PORT_SENDS : 0) |
                               (at_once && again ? PORT_RECIRCULATES : 0));
    const struct pipe *pipe = &sw->pipes[sk_port_pipe(port)];
    struct sk_hop *h = &sw->hops[port];
    *h = (struct sk_hop){0};
    if (!(sw->ways[port] & PORT_RECIRCULATES))
        return;
    h->ingress = pipe->desc->ingress;
    h->pipe = pipe->state;
    memcpy(h->metadata, p->metadata, sizeof h->metadata);
}

// Multicast knows which ports are up by itself.
static void tell_pre(struct sk_switch *sw, uint16_t port) {
    const struct port *p = &sw->ports[port];
    for (unsigned c = 0; c < sw->n_cores; c++)
        switch_port_changed(sw->cores[c], port);
    pre_port_live(sw->pre, port, (p->up || port_recirculates(sw, port)) && !p->not_forwarding);
}

struct sk_switch *sk_switch_new(const struct sk_program *prog, const struct sk_switch_options *opt,
                                char *error, size_t error_size) {
    struct sk_switch_options filled = *opt;
    if (!fill_options(&filled, prog, error, error_size))
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
        for (unsigned c = 0; c < sw->n_cores; c++)
            sw->cores[c]->ports[port].internal = sk_port_is_internal(port, switch_is_tofino_2(sw));
        tell_pre(sw, port);
        sk_switch_port_longest(sw, port, filled.packet_bytes, filled.packet_bytes);
    }
    return sw;
}

static void free_core(struct sk_switch *sw) {
    if (!sw)
        return;
    for (unsigned i = 0; i < SK_PIPES; i++)
        free(sw->pipes[i].digests.slots);
    for (unsigned i = 0; i < sw->n_shaped; i++)
        free(sw->ports[sw->shaped[i]].queue.queues);
    pktgen_free(sw);
    sk_pre_marks_free(sw->marks);
    sk_flows_free(sw->flows);
    sk_pool_free(sw->pool);
    free(sw);
}

uint64_t sk_switch_remembered(const struct sk_switch *sw) {
    uint64_t n = 0;
    for (unsigned c = 0; c < sw->n_cores; c++)
        n += sw->cores[c]->flows ? sk_flows_total(sw->cores[c]->flows) : 0;
    return n;
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

bool sk_tx_nowhere(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    (void)aux, (void)dev_port, (void)frame, (void)length;
    return true;
}

bool sk_switch_use_buffers(struct sk_switch *sw, const struct sk_buffers *buffers) {
    struct sk_pool *pools[SK_PIPES] = {0};
    bool good = true;
    for (unsigned c = 0; c < sw->n_cores; c++) {
        pools[c] = buffers ? sk_pool_new_of(buffers) : sk_pool_new(1, sw->opt.packet_bytes);
        good &= pools[c] != NULL;
    }
    if (good)
        sk_switch_stop(sw, sw->now);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sk_pool_free(good ? sw->cores[c]->pool : pools[c]);
        if (good)
            sw->cores[c]->pool = pools[c];
        if (good && !buffers)
            sw->cores[c]->opt.n_packets = 1;
    }
    return good;
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
    // one that its port did not take has been recorded as such
    if (sw->recorder && r != SK_DROP_TX_FULL)
        recorder_dropped(sw->recorder, p, port, r, sw->now);
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

uint64_t sk_switch_now(const struct sk_switch *sw) {
    uint64_t now = 0;
    for (unsigned c = 0; c < sw->n_cores; c++)
        now = sw->cores[c]->now > now ? sw->cores[c]->now : now;
    return now;
}

uint64_t sk_switch_core_now(const struct sk_switch *core) {
    return core->now;
}

uint64_t sk_switch_serial(const struct sk_switch *core) {
    return core->serial;
}

void sk_switch_set_serial(struct sk_switch *core, uint64_t serial) {
    core->serial = serial;
}

// Ends: recirculations, mirrors of mirrors and resubmits are limited, and each group has finitely
// many copies.
static void drain(struct sk_switch *sw, uint64_t now_ns) {
    for (bool worked = true; worked;) {
        worked = false;
        for (unsigned i = 0; i < SK_PIPES; i++)
            worked |= way_run(sw, &sw->pipes[i], now_ns);
    }
}

// What happens by itself until now, in the order of its time; packets that a port sends come before
// those that are generated at the same time.
void switch_timed_events(struct sk_switch *sw, uint64_t now_ns) {
    uint16_t port = 0;
    unsigned pipe = 0;
    while (sw->n_shaped || sw->n_pktgens || sw->arrivals.first) {
        uint64_t sent = queue_next(sw, &port), generated = pktgen_next(sw, &pipe);
        const uint64_t arrives = apart_next(sw);
        uint64_t t = sent <= generated ? sent : generated;
        const bool arrival = arrives < t;
        t = arrival ? arrives : t;
        if (t > now_ns)
            break;
        t = t > sw->now ? t : sw->now; // a port's speed changed meanwhile
        sw->now = t;
        drain(sw, t); // what was there before
        if (arrival)
            apart_arrive(sw, t);
        else if (sent <= generated)
            way_leave(sw, queue_pop(sw, port), t);
        else
            pktgen_fire(sw, pipe, t);
        drain(sw, t);
    }
}

unsigned sk_switch_run(struct sk_switch *sw, uint64_t now_ns) {
    unsigned arrived = 0;
    switch_events(sw, now_ns);
    const bool rings = sw->n_cores > 1 && !switch_is_apart(sw);
    if (rings)
        arrived = cores_arrive(sw, &now_ns);
    drain(sw, now_ns);
    // a port that was idle may send at once what has just come
    if (sw->n_shaped)
        switch_events(sw, now_ns);
    sw->now = now_ns > sw->now ? now_ns : sw->now;
    if (rings)
        cores_publish(sw);
    if (sw->recorder)
        recorder_publish(sw->recorder, sw->now);
    return arrived;
}

uint64_t sk_switch_next(const struct sk_switch *sw, bool timers) {
    uint16_t port;
    unsigned pipe;
    uint64_t sent = queue_next(sw, &port), generated = timers ? pktgen_next(sw, &pipe) : UINT64_MAX;
    const uint64_t first = sent <= generated ? sent : generated, arrives = apart_next(sw);
    return arrives < first ? arrives : first;
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

void sk_switch_port_external(struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->ports[dev_port].internal = false;
    tell_pre(sw, dev_port);
}

bool sk_switch_port_is_internal(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && sw->ports[dev_port].internal;
}

void sk_switch_port_longest(struct sk_switch *sw, uint16_t dev_port, uint32_t bytes,
                            uint32_t tagged) {
    const uint32_t most = sw->opt.packet_bytes;
    assert(dev_port < SK_PORTS && tagged >= bytes);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c]->ports[dev_port].longest = bytes < most ? bytes : most;
        sw->cores[c]->ports[dev_port].longest_tagged = tagged < most ? tagged : most;
    }
}

void sk_switch_port_metadata(struct sk_switch *sw, uint16_t dev_port, const uint8_t *md,
                             size_t bytes) {
    assert(switch_has_port(sw, dev_port) && bytes <= SK_RESUBMIT_BYTES);
    uint8_t all[SK_RESUBMIT_BYTES] = {0};
    memcpy(all, md, bytes);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        memcpy(sw->cores[c]->ports[dev_port].metadata, all, sizeof all);
        switch_port_changed(sw->cores[c], dev_port);
    }
    sk_tables_changed();
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
        sw->cores[c]->deflect_qid = qid % SK_PORT_QUEUES;
    }
}

void sk_pre_port_forward(struct sk_switch *sw, uint16_t port, bool forward) {
    assert(switch_has_port(sw, port));
    sw->ports[port].not_forwarding = !forward;
    tell_pre(sw, port);
}

// ---- what is inside ----

void sk_switch_observe(struct sk_switch *sw, struct sk_observer *o) {
    assert(sw->n_cores == 1 || switch_is_apart(sw));
    sw->observer = o;
    sw->observed = true;
    switch_watched(sw);
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

void sk_switch_tx_lost(struct sk_switch *sw, uint16_t dev_port, const struct sk_packet *p) {
    assert(dev_port < SK_PORTS);
    struct sk_port_stats *stats = &sw->ports[dev_port].stats;
    assert(stats->tx_packets >= 1 && stats->tx_bytes >= p->len);
    stats->tx_packets--;
    stats->tx_bytes -= p->len;
    sw->stats.tx_packets--;
    count_drop(sw, dev_port, SK_DROP_TX_FULL);
    if (sw->recorder)
        recorder_unsent(sw->recorder, p, dev_port, sw->now);
}
