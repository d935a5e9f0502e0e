// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/communicator/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/model_switch.h"
#include "harness/hosts/netsim.h"
#include "harness/hosts/communicator/together.h"

#define RING 1024

static void *run_loop(void *argument) {
    switch_loop_run(argument);
    return NULL;
}

static void must_be_zero(int rc, const char *what) {
    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", what, silken_strerror(rc));
        abort();
    }
}

static void format_address(const struct sk_endpoint *e, char mac[18], char ip[16]) {
    snprintf(mac, 18, "%02x:%02x:%02x:%02x:%02x:%02x", e->mac[0], e->mac[1], e->mac[2], e->mac[3],
             e->mac[4], e->mac[5]);
    snprintf(ip, 16, "%u.%u.%u.%u", e->ip >> 24, e->ip >> 16 & 255, e->ip >> 8 & 255, e->ip & 255);
}

// The worker's end of a new link, whose other end becomes a port.
static struct sk_transport *open_link(struct cluster *c, unsigned port,
                                      const struct sk_faults *faults) {
    struct sk_transport *ends[2], *t;

    must_be_zero(sk_transport_ring_open(ends, RING), "ring");
    c->loop.port[port] = ends[1];
    t = ends[0];
    if (faults)
        must_be_zero(sk_transport_faulty_open(&t, ends[0], faults), "faults");
    return t;
}

// All lanes of a worker have its addresses: their switches do not know of each other.
static void open_worker(struct cluster *c, unsigned rank, const struct swml_flow *flow,
                        struct silken_config config, const struct sk_faults *faults) {
    struct silken_lane lane[SWITCH_LOOP_LANES] = {0};
    char mac[2][18], ip[2][16], why[256] = "";

    format_address(&flow->worker, mac[0], ip[0]);
    format_address(&flow->fabric, mac[1], ip[1]);
    for (unsigned i = 0; i < c->lanes; i++) {
        lane[i] = (struct silken_lane){
            .worker_mac = mac[0],
            .worker_ip = ip[0],
            .worker_port = flow->worker.port,
            .cpu = -1,
            .transport = open_link(c, i * c->workers + rank, faults),
        };
    }
    config.lane = c->lanes > 1 ? lane : NULL;
    config.transport = lane[0].transport;
    config.rank = rank;
    config.worker_mac = mac[0];
    config.worker_ip = ip[0];
    config.worker_port = flow->worker.port;
    config.switch_mac = mac[1];
    config.switch_ip = ip[1];
    config.switch_port = flow->fabric.port;
    config.job = flow->job;
    must_be_zero(silken_open(&c->comm[rank], &config, why, sizeof why), why);
}

void cluster_start(struct cluster *c, const struct silken_config *config,
                   const struct sk_faults *faults) {
    struct sut_job job = netsim_default_job(config->workers, config->k, 0, config->pool_size);

    for (unsigned i = 0; i < config->workers; i++)
        job.flow[i].halves = config->f16;
    memset(c, 0, sizeof *c);
    c->workers = c->loop.ports = config->workers;
    c->lanes = c->loop.lanes = config->lanes ? config->lanes : 1;
    c->loop.sut = c->sut;
    for (unsigned i = 0; i < c->lanes; i++) {
        c->sut[i] = model_switch_new();
        must_be_zero(c->sut[i].reset(c->sut[i].state, &job), "switch");
    }
    for (unsigned i = 0; i < config->workers; i++)
        open_worker(c, i, &job.flow[i], *config, faults);
    must_be_zero(pthread_create(&c->thread, NULL, run_loop, &c->loop), "thread");
}

void cluster_stop(struct cluster *c) {
    switch_loop_stop(&c->loop);
    pthread_join(c->thread, NULL);
    for (unsigned i = 0; i < c->workers; i++)
        silken_close(c->comm[i]);
    for (unsigned i = 0; i < c->workers * c->lanes; i++)
        sk_transport_close(c->loop.port[i]);
    for (unsigned i = 0; i < c->lanes; i++)
        c->sut[i].free(c->sut[i].state);
}

void cluster_run(struct cluster *c, void (*work)(void *context, unsigned rank), void *context) {
    run_together(c->workers, work, context);
}
