// SPDX-License-Identifier: Apache-2.0
#include "bench/rack_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "bench/bench.h"

#define DRAIN 64u

struct rack_ports {
    struct rack *r;
    struct rte_mempool *pool;
    uint16_t ids[RACK_WORKERS];
};

static void give_up(const char *why) __attribute__((noreturn));
static void give_up(const char *why) {
    fprintf(stderr, "bench: switchml on ports: %s\n", why);
    exit(1);
}

static void inject(const struct rack_ports *p, unsigned burst) {
    const struct rack *r = p->r;
    struct rte_mbuf *m[RACK_SLOTS];
    const uint8_t *frame = r->frames + (size_t)burst * RACK_SLOTS * r->stride;
    if (rte_pktmbuf_alloc_bulk(p->pool, m, RACK_SLOTS))
        give_up("no buffer");
    for (unsigned s = 0; s < RACK_SLOTS; s++, frame += r->stride)
        memcpy(rte_pktmbuf_append(m[s], (uint16_t)r->frame_bytes), frame, r->frame_bytes);
    if (rte_eth_tx_burst(p->ids[burst % RACK_WORKERS], 0, m, RACK_SLOTS) != RACK_SLOTS)
        give_up("a ring is full");
}

static void take(const struct rack_ports *p, uint16_t port, struct rte_mbuf **m, uint16_t n) {
    for (uint16_t i = 0; i < n; i++)
        rack_take(p->r, port, rte_pktmbuf_mtod(m[i], const uint8_t *), m[i]->pkt_len);
    rte_pktmbuf_free_bulk(m, n);
}

static void drain(const struct rack_ports *p) {
    for (unsigned w = 0; w < RACK_WORKERS; w++) {
        struct rte_mbuf *m[DRAIN];
        for (uint16_t n; (n = rte_eth_rx_burst(p->ids[w], 0, m, DRAIN)) > 0;)
            take(p, (uint16_t)w, m, n);
    }
}

// Ticks that the polling of one round takes.
static uint64_t poll_round(const struct rack_ports *p) {
    uint64_t ticks = 0;
    for (unsigned burst = 0; burst < 2 * RACK_WORKERS; burst++) {
        unsigned received = 0;
        inject(p, burst);
        const uint64_t from = bench_tsc();
        for (unsigned polls = 0; received < RACK_SLOTS; polls++) {
            received += sk_ports_poll(p->r->ports, 0, sk_switch_now(p->r->sw) + 1000);
            if (polls > 1000)
                give_up("packets do not arrive");
        }
        ticks += bench_tsc() - from;
        drain(p);
    }
    return ticks;
}

struct rack_ports *rack_ports_new(struct rack *r, int cpu) {
    char error[512], names[RACK_WORKERS][32];
    struct sk_port_spec specs[RACK_WORKERS] = {0};
    struct rack_ports *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->r = r;
    for (unsigned w = 0; w < RACK_WORKERS; w++) {
        snprintf(names[w], sizeof names[w], "net_ring_w%u", w);
        specs[w].dev_port = (uint16_t)w;
        specs[w].device = names[w];
    }
    const struct sk_ports_options options = {.cpu = cpu};
    r->ports = sk_ports_open(specs, RACK_WORKERS, &options, error, sizeof error);
    if (!r->ports)
        give_up(error);
    sk_ports_attach(r->ports, r->sw);
    for (unsigned w = 0; w < RACK_WORKERS; w++)
        if (rte_eth_dev_get_port_by_name(names[w], &p->ids[w]))
            give_up("a device is not there");
    // what a device receives into
    p->pool = rte_mempool_lookup("silken");
    if (!p->pool)
        give_up("no pool of packets");
    const uint64_t sent = r->sent;
    r->wrong = 0;
    r->verify = true;
    poll_round(p);
    r->verify = false;
    if (r->sent - sent != 2 * RACK_SLOTS * RACK_WORKERS || r->wrong)
        give_up("the results are wrong");
    return p;
}

double rack_ports_trial(struct rack_ports *p, double ns) {
    uint64_t ticks = 0, rounds = 0;
    const long before = bench_switches();
    const double end = bench_wall_ns() + ns;
    while (bench_wall_ns() < end || rounds == 0) {
        ticks += poll_round(p);
        rounds++;
    }
    if (bench_switches() != before)
        return 0;
    return (double)ticks / bench_tsc_per_ns() / (double)(rounds * RACK_PACKETS);
}

void rack_ports_free(struct rack_ports *p) {
    sk_ports_close(p->r->ports);
    p->r->ports = NULL;
    free(p);
}
