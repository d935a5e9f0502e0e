// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/cores.h"
#include "pipeline/observe/recorder_impl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/cores/isolated.h"

#define DEFAULT_PACKET_BYTES      9216u
#define DEFAULT_PACKETS           4096u
#define DEFAULT_MAX_RECIRCULATION 64u
#define MAX_PACKET_BYTES          64000u // pkt_length has 16 bits and counts FCS and mirror headers
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
        snprintf(error, error_size, "cpu_port is %u, which is not a device port", o->cpu_port);
    else
        return cores_check(o, error, error_size);
    return false;
}

static bool make_pipe(struct sk_switch *sw, unsigned i) {
    struct pipe *own = &switch_owner(sw, i)->pipes[i];
    const struct sk_pipeline_desc *desc = sw->program->pipelines[sw->program->pipe_of[i]];
    const uint32_t reach = desc->egress_idle ? 0 : desc->egress_reach;
    for (unsigned c = 0; c < sw->n_cores; c++) {
        struct sk_core *core = sw->cores[c];
        core->pipes[i].desc = desc;
        core->egress_reach = reach > core->egress_reach ? reach : core->egress_reach;
    }
    sk_table_use_secret(sw->opt.hash_secret ? sw->opt.hash_secret + i : 0);
    own->state = desc->pipe_new(sw->opt.seed + i);
    sk_table_use_secret(0);
    if (own->state && desc->n_digests > 0)
        own->digests.slots = calloc(SK_DIGEST_QUEUE, sizeof *own->digests.slots);
    return own->state && (own->digests.slots || desc->n_digests == 0);
}

static struct sk_core *make_core(struct sk_switch *sw, unsigned number) {
    struct sk_core *core = calloc(1, sizeof *core);
    if (!core)
        return NULL;
    core->sw = sw;
    core->number = (uint8_t)number;
    core->tx = sw->opt.tx;
    core->aux = sw->opt.aux;
    core->packet_bytes = sw->opt.packet_bytes;
    core->max_recirculation = sw->opt.max_recirculation;
    core->tofino_2 = switch_is_tofino_2(sw);
    core->invariant_crc = sw->program->invariant_crc;
    core->single = sw->opt.single_packets || sw->program->single_packets;
    core->serial = (uint64_t)number << 56; // no two cores give a packet the same
    core->copy_line = line_copier();
    core->ingress_out.on_mirror = run_mirror_received;
    core->egress_out.on_mirror = run_mirror_arrived;
    core->ingress_out.aux = core->egress_out.aux = core;
    core->ingress_out.hops = core->hops;
    core->sent[0].first = core->sent[1].first = UINT64_MAX;
    core->pool = sk_pool_new(sw->opt.n_packets, sw->opt.packet_bytes);
    core->flows = sk_flows_new(); // memory that is not there means that none are remembered
    core->marks = sk_pre_marks_new();
    return core;
}

static bool make_cores(struct sk_switch *sw) {
    bool good = true;
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c] = make_core(sw, c);
        good &= sw->cores[c] && sw->cores[c]->pool && sw->cores[c]->marks;
    }
    good = good && cores_join(sw);
    for (unsigned i = 0; good && i < SK_PIPES; i++)
        good = make_pipe(sw, i);
    return good;
}

void core_port_changed(struct sk_core *core, uint16_t port) {
    const struct port_settings *s = &core->sw->settings[port];
    struct port *p = &core->ports[port];
    const bool ours = switch_has_port(core->sw, port) && owns_port(core, port);
    const bool again = port_recirculates(core->sw, port);
    const bool at_once = ours && !p->queue.listed && (s->up || again);
    const bool crosses =
        !ours && switch_port_is_there(core->sw, port) && !switch_is_isolated(core->sw);
    core->ways[port] =
        (uint8_t)((ours ? PORT_RECEIVES : 0) | (at_once && !again ? PORT_SENDS : 0) |
                  (at_once && again ? PORT_RECIRCULATES : 0) | (crosses ? PORT_CROSSES : 0));
    core_port_trapped(core, port);
    p->longest = s->longest;
    p->longest_tagged = s->longest_tagged;
    memcpy(p->metadata, s->metadata, sizeof p->metadata);
    const struct pipe *pipe = &core->pipes[sk_port_pipe(port)];
    struct sk_hop *h = &core->hops[port];
    *h = (struct sk_hop){0};
    if (!(core->ways[port] & PORT_RECIRCULATES))
        return;
    h->ingress = pipe->desc->ingress;
    h->pipe = pipe->state;
    memcpy(h->metadata, p->metadata, sizeof h->metadata);
}

// The cores are to know a port's settings.
static void tell_cores(struct sk_switch *sw, uint16_t port) {
    for (unsigned c = 0; c < sw->n_cores; c++)
        core_port_changed(sw->cores[c], port);
}

// And so is multicast, which knows by itself which ports are up.
static void tell_all(struct sk_switch *sw, uint16_t port) {
    const struct port_settings *s = &sw->settings[port];
    tell_cores(sw, port);
    pre_port_live(sw->pre, port, (s->up || port_recirculates(sw, port)) && !s->not_forwarding);
}

static void free_core(struct sk_core *core) {
    if (!core)
        return;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        free(core->pipes[i].digests.slots);
        if (core->pipes[i].state)
            core->pipes[i].desc->pipe_free(core->pipes[i].state);
    }
    for (unsigned i = 0; i < SK_PORTS; i++) {
        free(core->ports[i].queue.queues);
        free(core->ports[i].queue.as);
    }
    pktgen_free(core);
    sk_pre_marks_free(core->marks);
    sk_flows_free(core->flows);
    sk_pool_free(core->pool);
    free(core);
}

static void switch_free_all(struct sk_switch *sw) {
    cores_part(sw);
    sk_pre_free(sw->pre);
    for (unsigned c = 0; c < sw->n_cores; c++)
        free_core(sw->cores[c]);
    free(sw);
}

static struct sk_switch *switch_make(const struct sk_program *prog,
                                     const struct sk_switch_options *opt) {
    struct sk_switch *sw = calloc(1, sizeof *sw);
    if (!sw)
        return NULL;
    sw->program = sk_program_desc(prog);
    sw->opt = *opt;
    sw->n_cores = (uint8_t)opt->n_cores;
    memcpy(sw->core_of, opt->core_of, sizeof sw->core_of);
    sw->deflect_port = SK_PORT_INVALID;
    sw->pre = sk_pre_new();
    if (sw->pre && make_cores(sw))
        return sw;
    switch_free_all(sw);
    return NULL;
}

struct sk_switch *sk_switch_new(const struct sk_program *prog, const struct sk_switch_options *opt,
                                char *error, size_t error_size) {
    struct sk_switch_options filled = *opt;
    if (!fill_options(&filled, prog, error, error_size))
        return NULL;
    struct sk_switch *sw = switch_make(prog, &filled);
    if (!sw) {
        snprintf(error, error_size,
                 "not enough memory for the switch: %u pipes with the registers, "
                 "counters and tables of the program",
                 SK_PIPES);
        return NULL;
    }
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct port_settings *s = &sw->settings[port];
        s->internal = sk_port_is_internal(port, switch_is_tofino_2(sw));
        s->longest = s->longest_tagged = filled.packet_bytes;
        tell_all(sw, port);
    }
    return sw;
}

uint64_t sk_switch_remembered(const struct sk_switch *sw) {
    uint64_t n = 0;
    for (unsigned c = 0; c < sw->n_cores; c++)
        n += sw->cores[c]->flows ? sk_flows_total(sw->cores[c]->flows) : 0;
    return n;
}

static bool is_balanced(const struct sk_switch *sw) {
    struct sk_switch_stats s;
    sk_switch_stats(sw, &s);
    uint64_t left = s.tx_packets + sk_switch_inside(sw);
    for (unsigned r = 0; r < SK_DROP_COUNT; r++)
        left += s.drops[r];
    return s.rx_packets + s.copies + s.generated == left;
}

void sk_switch_free(struct sk_switch *sw) {
    if (!sw)
        return;
    // whatever left was counted, once (pipeline/path/send.h); of isolated pipes that were stopped
    // in the middle of a round, buffers that are on their way back are counted twice
    assert(switch_is_isolated(sw) || is_balanced(sw));
    switch_free_all(sw);
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
        sk_switch_stop(sw, sw->cores[0]->now);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sk_pool_free(good ? sw->cores[c]->pool : pools[c]);
        if (good)
            sw->cores[c]->pool = pools[c];
    }
    if (good && !buffers)
        sw->opt.n_packets = 1;
    return good;
}

// ---- injected loss ----

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

// ---- a switch on one core ----

static struct sk_core *only_core(const struct sk_switch *sw) {
    assert(sw->n_cores == 1);
    return sw->cores[0];
}

bool sk_switch_rx(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                  uint64_t now_ns) {
    return sk_core_rx(only_core(sw), dev_port, frame, length, now_ns);
}

void sk_switch_run(struct sk_switch *sw, uint64_t now_ns) {
    sk_core_run(only_core(sw), now_ns);
}

// ---- ports ----

void sk_switch_port_up(struct sk_switch *sw, uint16_t dev_port, bool up) {
    assert(switch_has_port(sw, dev_port));
    const bool went_down = sw->settings[dev_port].up && !up;
    sw->settings[dev_port].up = up;
    sw->settings[dev_port].fell = went_down || (sw->settings[dev_port].fell && !up);
    tell_all(sw, dev_port);
    if (went_down)
        pktgen_port_down(port_owner(sw, dev_port), dev_port);
}

bool sk_switch_port_is_up(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && sw->settings[dev_port].up;
}

void sk_switch_port_loopback(struct sk_switch *sw, uint16_t dev_port, bool loopback) {
    assert(switch_has_port(sw, dev_port));
    sw->settings[dev_port].loopback = loopback;
    tell_all(sw, dev_port);
}

bool sk_switch_port_is_loopback(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && port_recirculates(sw, dev_port);
}

void sk_switch_port_external(struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    sw->settings[dev_port].internal = false;
    tell_all(sw, dev_port);
}

bool sk_switch_port_is_internal(const struct sk_switch *sw, uint16_t dev_port) {
    return switch_has_port(sw, dev_port) && sw->settings[dev_port].internal;
}

void sk_switch_port_longest(struct sk_switch *sw, uint16_t dev_port, uint32_t bytes,
                            uint32_t tagged) {
    const uint32_t most = sw->opt.packet_bytes;
    assert(dev_port < SK_PORTS && tagged >= bytes);
    sw->settings[dev_port].longest = bytes < most ? bytes : most;
    sw->settings[dev_port].longest_tagged = tagged < most ? tagged : most;
    tell_cores(sw, dev_port);
}

void sk_switch_port_metadata(struct sk_switch *sw, uint16_t dev_port, const uint8_t *md,
                             size_t bytes) {
    assert(switch_has_port(sw, dev_port) && bytes <= SK_RESUBMIT_BYTES);
    uint8_t *const all = sw->settings[dev_port].metadata;
    memset(all, 0, SK_RESUBMIT_BYTES);
    memcpy(all, md, bytes);
    tell_cores(sw, dev_port);
    sk_tables_changed();
}

const uint8_t *sk_switch_port_metadata_of(const struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    return sw->settings[dev_port].metadata;
}

void sk_switch_cpu_port(struct sk_switch *sw, uint16_t dev_port) {
    assert(switch_has_port(sw, dev_port));
    sw->opt.cpu_port = dev_port;
}

uint16_t sk_switch_cpu_port_of(const struct sk_switch *sw) {
    return sw->opt.cpu_port;
}

void sk_switch_deflect_to(struct sk_switch *sw, uint16_t dev_port, uint8_t qid) {
    sw->deflect_port = dev_port;
    sw->deflect_qid = qid % SK_PORT_QUEUES;
}

void sk_pre_port_forward(struct sk_switch *sw, uint16_t port, bool forward) {
    assert(switch_has_port(sw, port));
    sw->settings[port].not_forwarding = !forward;
    tell_all(sw, port);
}

bool sk_pre_port_forwards(const struct sk_switch *sw, uint16_t port) {
    assert(switch_has_port(sw, port));
    return !sw->settings[port].not_forwarding;
}

bool sk_switch_is_tofino_2(const struct sk_switch *sw) {
    return switch_is_tofino_2(sw);
}

// ---- what is inside ----

void sk_core_observe(struct sk_core *core, struct sk_observer *o) {
    assert(core->sw->n_cores == 1 || switch_is_isolated(core->sw));
    core->observer = o;
    core->observed = true;
    core_watched(core);
}

const struct sk_program_desc *sk_switch_program(const struct sk_switch *sw) {
    return sw->program;
}

struct sk_pipe *sk_switch_pipe(struct sk_switch *sw, unsigned pipe) {
    assert(pipe < SK_PIPES);
    return switch_owner(sw, pipe)->pipes[pipe].state;
}

const struct sk_pipeline_desc *sk_switch_pipeline(const struct sk_switch *sw, unsigned pipe) {
    assert(pipe < SK_PIPES);
    return sw->cores[0]->pipes[pipe].desc;
}
