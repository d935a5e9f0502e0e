/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/hosts/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/model_switch.h"
#include "harness/hosts/netsim.h"

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

static void format_address(const struct swml_endpoint *e, char mac[18], char ip[16]) {
    snprintf(mac, 18, "%02x:%02x:%02x:%02x:%02x:%02x", e->mac[0], e->mac[1], e->mac[2], e->mac[3],
             e->mac[4], e->mac[5]);
    snprintf(ip, 16, "%u.%u.%u.%u", e->ip >> 24, e->ip >> 16 & 255, e->ip >> 8 & 255, e->ip & 255);
}

static void open_worker(struct cluster *c, unsigned rank, const struct swml_flow *flow,
                        struct silken_config config, const struct sk_faults *faults) {
    char mac[2][18], ip[2][16], why[256] = "";
    struct sk_transport *ends[2];

    must_be_zero(sk_transport_ring_open(ends, RING), "ring");
    c->loop.port[rank] = ends[1];
    config.transport = ends[0];
    if (faults) {
        must_be_zero(sk_transport_faulty_open(&config.transport, ends[0], faults), "faults");
    }
    format_address(&flow->worker, mac[0], ip[0]);
    format_address(&flow->fabric, mac[1], ip[1]);
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

    memset(c, 0, sizeof *c);
    c->workers = c->loop.ports = config->workers;
    c->sut = model_switch_new();
    c->loop.sut = &c->sut;
    must_be_zero(c->sut.reset(c->sut.state, &job), "switch");
    for (unsigned i = 0; i < config->workers; i++) {
        open_worker(c, i, &job.flow[i], *config, faults);
    }
    must_be_zero(pthread_create(&c->thread, NULL, run_loop, &c->loop), "thread");
}

void cluster_stop(struct cluster *c) {
    switch_loop_stop(&c->loop);
    pthread_join(c->thread, NULL);
    for (unsigned i = 0; i < c->workers; i++) {
        silken_close(c->comm[i]);
        sk_transport_close(c->loop.port[i]);
    }
    c->sut.free(c->sut.state);
}

struct call {
    void (*work)(void *context, unsigned rank);
    void *context;
    unsigned rank;
    pthread_t thread;
};

static void *run_call(void *argument) {
    struct call *call = argument;

    call->work(call->context, call->rank);
    return NULL;
}

void cluster_run(struct cluster *c, void (*work)(void *context, unsigned rank), void *context) {
    struct call calls[SUT_MAX_WORKERS];

    for (unsigned i = 0; i < c->workers; i++) {
        calls[i] = (struct call){.work = work, .context = context, .rank = i};
        must_be_zero(pthread_create(&calls[i].thread, NULL, run_call, &calls[i]), "thread");
    }
    for (unsigned i = 0; i < c->workers; i++) {
        pthread_join(calls[i].thread, NULL);
    }
}
