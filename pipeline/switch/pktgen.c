// SPDX-License-Identifier: Apache-2.0
//
// pktgen: each pipe's packet generator (tna-facts 2.9, 5.8).
//
// An application, when triggered, sends batches of packets from the pipe's buffer, each with a
// header in front that says which it is; they enter the ingress parser as if received on one of the
// pipe's internal ports. All times are of the switch's clock: a packet or batch starts a gap after
// the start of the one before, but never before the port, which has 100 Gb/s, is free again.
//
// On a Tofino 2 an application may take the falls of some ports only (two masks for each pipe), and
// when one is enabled, ports that are down may trigger those of their pipe again, or if they have
// not yet.
//
// A timer's next period starts when the packets of this one are out, at the earliest. Triggers that
// come while an application is busy wait; when more than TRIGGERS wait, they are lost.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/switch/switch_impl.h"

#define HEADER_BYTES  6u
#define WIRE_OVERHEAD 24u // FCS, preamble, gap between packets
#define TRIGGERS      64u
#define MIN_LENGTH    8u // with the header an Ethernet header's length

struct app {
    struct sk_pktgen_app as;
    struct sk_pktgen_counts counts;
    bool sending;
    uint64_t next; // packet when sending, else trigger of a timer; UINT64_MAX: none
    uint64_t batch_start, triggered_at;
    uint32_t batch, packet;  // of the next packet
    uint32_t keys[TRIGGERS]; // of the triggers that wait, the first is being served when sending
    uint32_t n_keys;
};

struct pktgen {
    struct app apps[SK_PKTGEN_APPS];
    uint8_t buffer[SK_PKTGEN_BUFFER];
    bool gated; // the next two count
    struct sk_pktgen_ports ports;
    uint64_t clear[2]; // local ports that trigger when they go down
    uint64_t masks[SK_PKTGEN_MASKS][2];
    enum sk_pktgen_replay replay;
    uint64_t told[2]; // local ports that triggered an application when they went down last
};

static struct pktgen *generator(struct sk_core *core, unsigned pipe) {
    struct pipe *p = &core->pipes[pipe];
    if (p->pktgen)
        return p->pktgen;
    p->pktgen = calloc(1, sizeof *p->pktgen);
    if (!p->pktgen)
        return NULL;
    for (unsigned i = 0; i < SK_PKTGEN_APPS; i++)
        p->pktgen->apps[i].next = UINT64_MAX;
    memset(p->pktgen->masks, 0xff, sizeof p->pktgen->masks);
    core->n_pktgens++;
    return p->pktgen;
}

void pktgen_free(struct sk_core *core) {
    for (unsigned i = 0; i < SK_PIPES; i++)
        free(core->pipes[i].pktgen);
}

static unsigned apps_of(bool tofino_2) {
    return tofino_2 ? SK_PKTGEN_APPS : SK_PKTGEN_APPS / 2;
}

unsigned sk_pktgen_apps(const struct sk_switch *sw) {
    return apps_of(switch_is_tofino_2(sw));
}

// ---- ports that go down ----

static uint64_t port_bit(unsigned local) {
    return UINT64_C(1) << (local % 64);
}

static void pktgen_trigger(struct app *a, uint32_t key, uint64_t now_ns);

static void pktgen_fallen(struct sk_core *core, struct pktgen *g, uint16_t port, uint64_t now_ns) {
    const unsigned local = port & 127u;
    for (unsigned i = 0; i < apps_of(core->tofino_2); i++) {
        const struct sk_pktgen_app *as = &g->apps[i].as;
        if (!as->enabled || as->trigger != SK_PKTGEN_PORT_DOWN ||
            !(g->masks[as->port_mask][local / 64] & port_bit(local)))
            continue;
        g->told[local / 64] |= port_bit(local);
        pktgen_trigger(&g->apps[i], port, now_ns);
    }
}

// An application was enabled: ports that are down trigger now.
static void pktgen_replay(struct sk_switch *sw, unsigned pipe, uint64_t now_ns) {
    struct sk_core *core = switch_owner(sw, pipe);
    struct pktgen *g = core->pipes[pipe].pktgen;
    for (unsigned local = 0; g->replay != SK_PKTGEN_REPLAY_NONE && local < SK_PIPE_PORTS; local++) {
        const uint16_t port = (uint16_t)(pipe << 7 | local);
        const bool told = g->told[local / 64] & port_bit(local);
        if (switch_has_port(sw, port) && sw->settings[port].fell &&
            (g->replay == SK_PKTGEN_REPLAY_ALL || !told))
            pktgen_fallen(core, g, port, now_ns);
    }
}

int sk_pktgen_set_mask(struct sk_switch *sw, unsigned pipe, unsigned mask,
                       const uint64_t ports[2]) {
    if (pipe >= SK_PIPES || mask >= SK_PKTGEN_MASKS)
        return -EINVAL;
    struct pktgen *g = generator(switch_owner(sw, pipe), pipe);
    if (g)
        memcpy(g->masks[mask], ports, sizeof g->masks[mask]);
    return g ? 0 : -ENOMEM;
}

void sk_pktgen_mask(const struct sk_switch *sw, unsigned pipe, unsigned mask, uint64_t ports[2]) {
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    for (unsigned i = 0; i < 2; i++)
        ports[i] = g ? g->masks[mask][i] : UINT64_MAX;
}

int sk_pktgen_set_replay(struct sk_switch *sw, unsigned pipe, enum sk_pktgen_replay replay) {
    struct pktgen *g = pipe < SK_PIPES ? generator(switch_owner(sw, pipe), pipe) : NULL;
    if (!g)
        return pipe < SK_PIPES ? -ENOMEM : -EINVAL;
    g->replay = replay;
    return 0;
}

enum sk_pktgen_replay sk_pktgen_replay(const struct sk_switch *sw, unsigned pipe) {
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    return g ? g->replay : SK_PKTGEN_REPLAY_NONE;
}

// ---- control ----

// A Tofino 2's CPU ports can be made to recirculate, and then to generate.
static bool can_generate(const struct sk_switch *sw, unsigned pipe, unsigned local) {
    uint16_t port = (uint16_t)(pipe << 7 | local);
    if (!switch_is_tofino_2(sw))
        return sk_port_is_internal(port, false);
    return local < SK_INTERNAL_PORTS_2 && port_recirculates(sw, port);
}

static bool pktgen_fits(const struct sk_switch *sw, unsigned pipe, const struct sk_pktgen_app *a) {
    bool period = a->trigger != SK_PKTGEN_PERIODIC || a->timer_ns > 0;
    return a->trigger <= SK_PKTGEN_RECIRCULATION && period && a->length >= MIN_LENGTH &&
           (uint32_t)a->offset + a->length <= SK_PKTGEN_BUFFER && a->batches >= 1 &&
           a->batches <= 65536 && a->packets >= 1 && a->packets <= 65536 &&
           a->port_mask < SK_PKTGEN_MASKS && can_generate(sw, pipe, a->source_port);
}

static bool has_timer(const struct sk_pktgen_app *a) {
    return a->trigger == SK_PKTGEN_ONE_SHOT || a->trigger == SK_PKTGEN_PERIODIC;
}

int sk_pktgen_set(struct sk_switch *sw, unsigned pipe, unsigned app, const struct sk_pktgen_app *as,
                  uint64_t now_ns) {
    struct sk_pktgen_app usual = *as;
    if (as->source_port == SK_PKTGEN_USUAL) {
        usual.source_port = switch_is_tofino_2(sw) ? SK_PKTGEN_PORT_2 : SK_RECIRCULATION_PORT;
        as = &usual;
    }
    if (pipe >= SK_PIPES || app >= sk_pktgen_apps(sw) ||
        (as->enabled && !pktgen_fits(sw, pipe, as)))
        return -EINVAL;
    // it would have 16 bytes of the packet after the header
    if (as->enabled && as->trigger == SK_PKTGEN_RECIRCULATION && switch_is_tofino_2(sw))
        return -ENOTSUP;
    struct pktgen *g = generator(switch_owner(sw, pipe), pipe);
    if (!g)
        return -ENOMEM;
    struct app *a = &g->apps[app];
    const bool timed = as->enabled && has_timer(as), was_enabled = a->as.enabled;
    *a = (struct app){.as = *as, .next = timed ? now_ns + as->timer_ns : UINT64_MAX};
    if (as->enabled && !was_enabled && as->trigger == SK_PKTGEN_PORT_DOWN)
        pktgen_replay(sw, pipe, now_ns);
    return 0;
}

void sk_pktgen_get(const struct sk_switch *sw, unsigned pipe, unsigned app,
                   struct sk_pktgen_app *as, struct sk_pktgen_counts *counts) {
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    *as = g ? g->apps[app].as : (struct sk_pktgen_app){0};
    *counts = g ? g->apps[app].counts : (struct sk_pktgen_counts){0};
}

void sk_pktgen_put_counts(struct sk_switch *sw, unsigned pipe, unsigned app,
                          const struct sk_pktgen_counts *counts) {
    struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    if (g)
        g->apps[app].counts = *counts;
}

const uint8_t *sk_pktgen_bytes(const struct sk_switch *sw, unsigned pipe) {
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    return g ? g->buffer : NULL;
}

// ---- which ports take part ----

int sk_pktgen_gate(struct sk_switch *sw, unsigned pipe, struct sk_pktgen_ports ports) {
    struct pktgen *g = pipe < SK_PIPES ? generator(switch_owner(sw, pipe), pipe) : NULL;
    if (!g)
        return pipe < SK_PIPES ? -ENOMEM : -EINVAL;
    g->gated = true;
    g->ports = ports;
    return 0;
}

struct sk_pktgen_ports sk_pktgen_ports(const struct sk_switch *sw, unsigned pipe) {
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    return g ? g->ports : (struct sk_pktgen_ports){0};
}

int sk_pktgen_clear_down(struct sk_switch *sw, uint16_t port) {
    const unsigned pipe = sk_port_pipe(port), local = port & 127u;
    struct pktgen *g = generator(switch_owner(sw, pipe), pipe);
    if (!g)
        return -ENOMEM;
    g->clear[local / 64] |= UINT64_C(1) << (local % 64);
    return 0;
}

bool sk_pktgen_is_clear(const struct sk_switch *sw, uint16_t port) {
    const unsigned pipe = sk_port_pipe(port), local = port & 127u;
    const struct pktgen *g = switch_owner(sw, pipe)->pipes[pipe].pktgen;
    return g && g->clear[local / 64] >> (local % 64) & 1;
}

static bool pktgen_is_open(const struct sk_core *core, const struct pktgen *g, uint8_t open,
                           unsigned local) {
    const unsigned first = core->tofino_2 ? 0 : SK_RECIRCULATION_PORT;
    return !g->gated || (local >= first && local - first < 8 && open >> (local - first) & 1);
}

// Whether a port that goes down triggers; it does not again before it is cleared.
static bool takes_down(struct pktgen *g, unsigned local) {
    const uint64_t bit = UINT64_C(1) << (local % 64);
    const bool is = !g->gated || g->clear[local / 64] & bit;
    g->clear[local / 64] &= ~bit;
    return is;
}

int sk_pktgen_buffer(struct sk_switch *sw, unsigned pipe, uint32_t offset, const uint8_t *bytes,
                     uint32_t length) {
    if (pipe >= SK_PIPES || offset > SK_PKTGEN_BUFFER || length > SK_PKTGEN_BUFFER - offset)
        return -EINVAL;
    struct pktgen *g = generator(switch_owner(sw, pipe), pipe);
    if (!g)
        return -ENOMEM;
    memcpy(g->buffer + offset, bytes, length);
    return 0;
}

// ---- triggers ----

static void pktgen_begin(struct app *a, uint64_t now_ns) {
    a->sending = true;
    a->batch = a->packet = 0;
    a->next = a->batch_start = a->triggered_at = now_ns;
    a->counts.triggers++;
    a->counts.batches++;
}

static void pktgen_trigger(struct app *a, uint32_t key, uint64_t now_ns) {
    if (a->n_keys == TRIGGERS)
        return;
    a->keys[a->n_keys++] = key;
    if (!a->sending)
        pktgen_begin(a, now_ns);
}

void pktgen_port_down(struct sk_core *core, uint16_t port) {
    struct pktgen *g = core->pipes[sk_port_pipe(port)].pktgen;
    if (!g)
        return;
    g->told[(port & 127u) / 64] &= ~port_bit(port & 127u);
    if (takes_down(g, port & 127u))
        pktgen_fallen(core, g, port, core->now);
}

void pktgen_recirculated(struct sk_core *core, const struct sk_packet *p, uint64_t now_ns) {
    struct pktgen *g = core->pipes[sk_port_pipe(p->ingress_port)].pktgen;
    if (!g || !core->sw->settings[p->ingress_port].internal || p->len < 4 ||
        !pktgen_is_open(core, g, g->ports.match, p->ingress_port & 127u))
        return;
    const uint8_t *d = sk_packet_data(p);
    uint32_t first = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];
    for (unsigned i = 0; i < apps_of(core->tofino_2); i++) {
        const struct sk_pktgen_app *as = &g->apps[i].as;
        if (as->enabled && as->trigger == SK_PKTGEN_RECIRCULATION &&
            ((first ^ as->pattern) & as->mask) == 0)
            pktgen_trigger(&g->apps[i], first & 0xffffff, now_ns);
    }
}

// ---- packets ----

static void pktgen_put16(uint8_t *at, uint32_t v) {
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
}

static void pktgen_write_header(uint8_t *at, const struct app *a, unsigned pipe, unsigned app,
                                bool tofino_2) {
    memset(at, 0, HEADER_BYTES);
    at[0] = (uint8_t)(pipe << (tofino_2 ? 4 : 3) | app);
    if (has_timer(&a->as)) {
        pktgen_put16(at + 2, a->batch);
    } else {
        at[1] = (uint8_t)(a->keys[0] >> 16);
        pktgen_put16(at + 2, a->keys[0]);
    }
    pktgen_put16(at + 4, a->packet);
}

static void generate(struct sk_core *core, const struct app *a, unsigned pipe, unsigned app,
                     uint64_t now_ns) {
    uint16_t port = (uint16_t)(pipe << 7 | a->as.source_port);
    uint32_t length = HEADER_BYTES + a->as.length;
    core->stats.generated++;
    core->serial++;
    struct sk_packet *p = sk_pool_get(core->pool);
    if (!p) {
        const struct sk_packet none = {.serial = core->serial, .ingress_port = port};
        core_refuse(core, &none, port, SK_DROP_NO_BUFFER);
        return;
    }
    if (length > core->packet_bytes) {
        core_drop(core, p, port, SK_DROP_TOO_LONG);
        return;
    }
    uint8_t *at = sk_packet_data(p);
    pktgen_write_header(at, a, pipe, app, core->tofino_2);
    memcpy(at + HEADER_BYTES, core->pipes[pipe].pktgen->buffer + a->as.offset, a->as.length);
    p->len = length;
    p->arrived = (uint16_t)length;
    p->ingress_port = port;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    p->serial = core->serial;
    core_tell(core, p, SK_EV_RECEIVED, port, now_ns, NULL);
    fifo_push(&core->pipes[pipe].ingress, p);
}

// After the last packet of a run: what the application does next, not before 'free'.
static void pktgen_finish(struct app *a, uint64_t free) {
    a->sending = false;
    a->next = UINT64_MAX;
    if (a->as.trigger == SK_PKTGEN_PERIODIC) {
        uint64_t period = a->triggered_at + a->as.timer_ns;
        a->next = period > free ? period : free;
    } else if (!has_timer(&a->as)) {
        memmove(a->keys, a->keys + 1, --a->n_keys * sizeof *a->keys);
        if (a->n_keys > 0)
            pktgen_begin(a, free);
    }
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void pktgen_advance(struct app *a, uint64_t now_ns) {
    // 100 Gb/s: 12.5 bytes a ns
    uint64_t wire = ((a->as.length + HEADER_BYTES + WIRE_OVERHEAD) * 2u + 24u) / 25u;
    uint64_t free = now_ns + wire;
    a->counts.packets++;
    if (++a->packet < a->as.packets) {
        a->next = later(now_ns + a->as.packet_gap_ns, free);
        return;
    }
    a->packet = 0;
    if (++a->batch < a->as.batches) {
        a->counts.batches++;
        a->next = a->batch_start = later(a->batch_start + a->as.batch_gap_ns, free);
        return;
    }
    pktgen_finish(a, free);
}

bool sk_pktgen_any(const struct sk_switch *sw) {
    for (unsigned c = 0; c < sw->n_cores; c++)
        if (sw->cores[c]->n_pktgens)
            return true;
    return false;
}

void sk_pktgen_end(struct sk_switch *sw) {
    sw->pktgens_off = true;
}

uint64_t pktgen_next(const struct sk_core *core, unsigned *pipe) {
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < SK_PIPES && !core->sw->pktgens_off; i++) {
        const struct pktgen *g = core->pipes[i].pktgen;
        for (unsigned k = 0; g && k < apps_of(core->tofino_2); k++)
            if (g->apps[k].next < first &&
                pktgen_is_open(core, g, g->ports.generate, g->apps[k].as.source_port)) {
                first = g->apps[k].next;
                *pipe = i;
            }
    }
    return first;
}

void pktgen_fire(struct sk_core *core, unsigned pipe, uint64_t now_ns) {
    struct pktgen *g = core->pipes[pipe].pktgen;
    unsigned first = SK_PKTGEN_APPS;
    for (unsigned k = 0; k < apps_of(core->tofino_2); k++)
        if ((first == SK_PKTGEN_APPS || g->apps[k].next < g->apps[first].next) &&
            pktgen_is_open(core, g, g->ports.generate, g->apps[k].as.source_port))
            first = k;
    struct app *a = &g->apps[first]; // one is due: pktgen_next()
    if (!a->sending)
        pktgen_begin(a, now_ns);
    generate(core, a, pipe, first, now_ns);
    pktgen_advance(a, now_ns);
}
