// SPDX-License-Identifier: Apache-2.0
//
// A switch of the network: a compiled program in an engine of its own.
//
// The engine's ports have the rates of their links, so packets wait in its queues, where egress
// sees their depth and tail drop happens, and never in the link's: a packet goes onto the link when
// the one before it has left it. Passes inside the switch take no time.
#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "base/error.h"
#include "sim/cpu.h"
#include "sim/libra/libra.h"
#include "sim/sim.h"
#include "pipeline/switch/core.h"

#define CELL_BYTES 80u

static bool sim_node_leave(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    struct sim_node *n = aux;
    const uint16_t port = n->port_of[dev_port];
    if (dev_port == SK_CPU_PORT && n->control) {
        control_take(n->control, frame, length);
        return true;
    }
    if (dev_port == SK_CPU_PORT && n->cpu) {
        cpu_take(n->cpu, frame, length);
        return true;
    }
    if (port >= n->n_ports)
        return false;
    sim_link_send(n->ports[port].out, frame, length);
    return true;
}

// Runs the switch up to now, and sees to it that it is run again when a port has a packet to send.
// Its control plane answers in no time, as far as the cores are concerned.
void node_run(struct sim_node *n) {
    do
        sk_switch_run(n->sw, n->sim->events.now);
    while (n->control && control_turn(n->control));
    const uint64_t next = sk_core_next(sk_switch_core(n->sw, 0), true);
    if (next != UINT64_MAX)
        sim_timer_set(&n->timer, next);
}

static void sim_node_wake(void *who, void *what) {
    struct sim_node *n = who;
    (void)what;
    if (n->sw)
        node_run(n);
}

bool node_deliver(void *station, uint32_t port, const uint8_t *bytes, uint32_t length) {
    struct sim_node *n = ((struct sim_station *)station)->node;
    if (!n->sw)
        return false;
    sk_switch_rx(n->sw, n->ports[port].dev_port, bytes, length, n->sim->events.now);
    node_run(n);
    return true;
}

bool node_give(struct sim_node *n, const uint8_t *frame, uint32_t length) {
    return sk_switch_rx(n->sw, SK_CPU_PORT, frame, length, n->sim->events.now);
}

uint16_t node_port_to(const struct sim_node *n, uint32_t station) {
    for (uint32_t i = 0; i < n->sim->scenario->n_stations; i++)
        for (size_t p = 0; n->sim->stations[i].node == n && p < n->n_ports; p++)
            if (n->ports[p].out == &n->sim->links[route(n->sim, i, station)])
                return n->ports[p].dev_port;
    return SK_PORT_INVALID;
}

// ---- making it ----

static uint32_t buffers(const struct sim_node *n) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < n->n_ports; i++)
        bytes += n->ports[i].out->queue_bytes ? n->ports[i].out->queue_bytes : 1u << 20;
    const uint64_t want = 256 + bytes / 300;
    return want > 65536 ? 65536 : (uint32_t)want;
}

struct sk_port_queue node_queue(const struct sim_link *out) {
    const uint32_t cells = (out->queue_bytes + CELL_BYTES - 1) / CELL_BYTES;
    return (struct sk_port_queue){.speed_mbps = out->rate_mbps,
                                  .limit_red = cells,
                                  .limit_yellow = cells,
                                  .limit_green = cells};
}

static int set_port(struct sim_node *n, const struct sim_port *p, struct sk_error *err) {
    const struct sk_port_queue q = node_queue(p->out);
    sk_switch_port_up(n->sw, p->dev_port, true);
    return sk_switch_port_queue(n->sw, p->dev_port, &q) == 0
               ? 0
               : sk_fail(err, "port %u: its queue is refused", p->dev_port);
}

static int power_on(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    char error[256];
    const struct sk_switch_options opt = {.tx = sim_node_leave,
                                          .aux = n,
                                          .packet_bytes = SIM_MAX_FRAME,
                                          .n_packets = buffers(n),
                                          .seed = n->sim->seed + st->id};
    n->sw = sk_switch_new(n->program, &opt, error, sizeof error);
    if (!n->sw)
        return sk_fail(err, "switch %s: %s", st->as->name, error);
    n->configured = false;
    for (size_t i = 0; i < n->n_ports; i++)
        if (set_port(n, &n->ports[i], err) < 0)
            return -1;
    sk_switch_run(n->sw, n->sim->events.now);
    return 0;
}

int node_make(struct sim *s, struct sim_station *st, struct sk_program *program,
              struct sk_error *err) {
    struct sim_node *n = st->node = calloc(1, sizeof *n);
    const struct scenario *sc = s->scenario;
    if (!n || !(n->ports = calloc(2 * sc->n_cables + 1, sizeof *n->ports)))
        abort();
    n->sim = s;
    n->program = program;
    n->ecn_bytes = (uint32_t)sim_draw(&s->draws, &st->as->ecn_bytes);
    sim_timer_init(&n->timer, &s->events, sim_node_wake, n);
    sim_timer_init(&n->control_timer, &s->events, control_wake, n);
    memset(n->port_of, 0xff, sizeof n->port_of);
    for (uint32_t l = 0; l < s->n_links; l++) {
        if (link_to(s, l ^ 1) != st->id)
            continue;
        const uint32_t i = (uint32_t)n->n_ports++;
        const uint16_t dev = (uint16_t)(i % st->as->pipes << 7 | i / st->as->pipes);
        n->ports[i] = (struct sim_port){&s->links[l], dev};
        n->port_of[dev] = (uint16_t)i;
        s->links[l ^ 1].station = st;
        s->links[l ^ 1].port = i;
        s->links[l ^ 1].deliver = node_deliver;
    }
    return power_on(st, err);
}

int node_configure(struct sim_station *st, struct sk_error *err) {
    if (!st->node->sw && power_on(st, err) < 0)
        return -1;
    if (config_write(st, err) < 0 || control_start(st, err) < 0 || libra_start(st, err) < 0 ||
        sim_tor_start(st, err) < 0 || libra_admit(st, err) < 0) {
        sk_error_prefix(err, "switch %s", st->as->name);
        return -1;
    }
    st->node->configured = true;
    return 0;
}

// ---- the end of one of its lives ----

static void sim_node_add_stats(struct sk_switch_stats *sum, const struct sk_switch_stats *x) {
    sum->rx_packets += x->rx_packets;
    sum->tx_packets += x->tx_packets;
    sum->copies += x->copies;
    sum->recirculated += x->recirculated;
    sum->resubmitted += x->resubmitted;
    sum->mirrored += x->mirrored;
    sum->generated += x->generated;
    sum->digests += x->digests;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        sum->drops[i] += x->drops[i];
}

void node_stats(const struct sim_node *n, struct sk_switch_stats *out) {
    *out = (struct sk_switch_stats){0};
    if (n->sw)
        sk_switch_stats(n->sw, out);
    sim_node_add_stats(out, &n->before);
}

bool node_conserves(const struct sim_node *n) {
    struct sk_switch_stats x;
    node_stats(n, &x);
    uint64_t gone = x.tx_packets + (n->sw ? sk_switch_inside(n->sw) : 0);
    for (int i = 0; i < SK_DROP_COUNT; i++)
        gone += x.drops[i];
    return x.rx_packets + x.copies + x.generated == gone;
}

void node_restart(struct sim_station *st) {
    struct sim_node *n = st->node;
    struct sk_switch_stats last;
    if (!n->sw)
        return;
    control_stop(n);
    paths_forget(n);
    sim_tor_stop(n);
    libra_stop(st);
    sk_switch_stop(n->sw, n->sim->events.now);
    sk_switch_stats(n->sw, &last);
    sim_node_add_stats(&n->before, &last);
    sk_switch_free(n->sw);
    n->sw = NULL;
    n->configured = false;
    n->restarts++;
    sim_trace_add(&n->sim->trace, n->sim->events.now, st->as->name, "restarts", NULL, 0);
}

void node_free(struct sim_node *n) {
    if (!n)
        return;
    control_stop(n);
    paths_forget(n);
    cpu_free(n->cpu);
    sk_switch_free(n->sw);
    json_decref(n->alarms);
    free(n->ports);
    free(n);
}
