// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/switchml/p4_switch.h"

#include <stdio.h>
#include <stdlib.h>

#include "control/tables/control.h"
#include "harness/net/program.h"
#include "hosts/core/halves.h"

#define PROGRAM           "p4/switchml/switchml.p4"
#define PROGRAM_OF_HALVES "p4/switchml/halves.p4"
#define GROUP             1
#define PIPE_SLOTS        8192 // SLOTS of the program
#define SLOTS_OF_HALVES   4096

struct p4_switch {
    struct sk_program *program;
    struct sk_switch *sw;
    bool spread, halves;
    // the caller of deliver()
    sut_emit *emit;
    void *context;
};

static uint16_t dev_port(const struct p4_switch *s, unsigned worker) {
    return (uint16_t)(s->spread ? (worker % SK_PIPES) << 7 | worker : worker);
}

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct p4_switch *s = aux;
    unsigned worker = sk_port_local(port);

    if (dev_port(s, worker) != port)
        net_die("output", "to a port without a worker");
    s->emit(s->context, worker, frame, length);
    return true;
}

static void add_worker(struct p4_switch *s, const struct sut_job *job, unsigned i) {
    const struct sk_endpoint *w = &job->flow[i].worker;
    char number[8][24], mac[24];
    const char *keys[] = {"hdr.switchml.job_number",
                          NET_NUMBER(number[0], job->flow[i].job),
                          "hdr.ipv4.src_addr",
                          NET_NUMBER(number[1], w->ip),
                          "ig_intr_md.ingress_port",
                          NET_NUMBER(number[2], dev_port(s, i)),
                          NULL};
    // indices of the hosts are absolute: the job's pool is everything up to its end
    const char *args[] = {"worker_bit",  NET_NUMBER(number[3], UINT64_C(1) << i),
                          "num_workers", NET_NUMBER(number[4], job->workers),
                          "group",       "1",
                          "rid",         NET_NUMBER(number[5], i + 1),
                          "port",        number[2],
                          "pool_base",   "0",
                          "pool_last",   NET_NUMBER(number[6], job->pool_base + job->pool_size - 1),
                          NULL};
    const char *receiver[] = {"md.rid", number[5], NULL};
    const char *address[] = {
        "mac", mac, "ip", number[1], "udp_port", NET_NUMBER(number[7], w->port), NULL};

    snprintf(mac, sizeof mac, "%02x:%02x:%02x:%02x:%02x:%02x", w->mac[0], w->mac[1], w->mac[2],
             w->mac[3], w->mac[4], w->mac[5]);
    net_entry(s->sw, "workers", keys, "admit", args);
    net_entry(s->sw, "receivers", receiver, "address", address);
}

static void add_group(struct p4_switch *s, const struct sut_job *job) {
    struct sk_pre_member member[SUT_MAX_WORKERS] = {0};

    for (unsigned i = 0; i < job->workers; i++) {
        uint16_t port = dev_port(s, i);

        if (sk_pre_node_set(s->sw, i + 1, (uint16_t)(i + 1), &port, 1) < 0)
            net_die("multicast", "node refused");
        member[i].node = i + 1;
        sk_switch_port_up(s->sw, port, true);
    }
    if (sk_pre_group_set(s->sw, GROUP, member, job->workers) < 0)
        net_die("multicast", "group refused");
}

// Multicast groups of audiences: of worker i alone, and of all but that. Each has nodes of its own.
static unsigned one_group(unsigned worker) {
    return 100 + 2 * worker;
}

static unsigned rest_group(unsigned worker) {
    return one_group(worker) + 1;
}

static void set_group(struct p4_switch *s, unsigned group, const struct sut_job *job,
                      unsigned worker, bool rest) {
    struct sk_pre_member member[SUT_MAX_WORKERS] = {0};
    unsigned n = 0;

    for (unsigned i = 0; i < job->workers; i++) {
        uint16_t port = dev_port(s, i);
        if ((i == worker) == rest)
            continue;
        member[n].node = group * 64 + i;
        if (sk_pre_node_set(s->sw, member[n++].node, (uint16_t)(i + 1), &port, 1) < 0)
            net_die("multicast", "node refused");
    }
    if (sk_pre_group_set(s->sw, group, member, n) < 0)
        net_die("multicast", "group refused");
}

static void add_audience(struct p4_switch *s, const struct sut_job *job, unsigned audience,
                         unsigned group, unsigned brief_group) {
    char number[4][24];
    const char *keys[] = {"hdr.switchml.job_number", NET_NUMBER(number[0], job->flow[0].job),
                          "audience", NET_NUMBER(number[1], audience), NULL};
    const char *args[] = {"group", NET_NUMBER(number[2], group), "brief_group",
                          NET_NUMBER(number[3], brief_group), NULL};

    net_entry(s->sw, "audiences", keys, "audience", args);
}

static void add_audiences(struct p4_switch *s, const struct sut_job *job) {
    static const unsigned pipes[] = {0, 1, 3}; // in which results begin

    for (unsigned i = 0; i < 3; i++) {
        struct sk_pre_member member[2] = {{.node = 2 * pipes[i] + 50}, {.node = 2 * pipes[i] + 51}};
        for (unsigned k = 0; k < 2; k++) {
            uint16_t port = (uint16_t)(pipes[i] << 7 | (68 + 2 * k));
            if (sk_pre_node_set(s->sw, member[k].node, 0, &port, 1) < 0)
                net_die("multicast", "node refused");
        }
        if (sk_pre_group_set(s->sw, 0xfff0 + pipes[i], member, 2) < 0)
            net_die("multicast", "group refused");
    }
    for (unsigned i = 0; i < job->workers; i++) {
        set_group(s, one_group(i), job, i, false);
        set_group(s, rest_group(i), job, i, true);
        add_audience(s, job, i, one_group(i), rest_group(i));
        add_audience(s, job, SWML_ALL_BUT + i, rest_group(i), one_group(i));
    }
    add_audience(s, job, SWML_NOBODY, 0, GROUP);
}

static int fill_table(void *sw, const char *table, const char *action, const uint32_t *values,
                      size_t n, unsigned digits) {
    struct sk_error err;

    (void)digits;
    if (sk_control_table_fill(sw, table, action, values, n, -1, &err))
        net_die(table, err.text);
    return 0;
}

static int reset(void *state, const struct sut_job *job) {
    struct p4_switch *s = state;
    if (job->pool_base + job->pool_size > (s->halves ? SLOTS_OF_HALVES : PIPE_SLOTS) ||
        job->flow[0].halves != s->halves)
        return -1;
    sk_switch_free(s->sw);
    s->sw = net_switch(s->program, tx, s);
    for (unsigned i = 0; i < job->workers; i++)
        add_worker(s, job, i);
    add_group(s, job);
    if (s->halves)
        sk_halves_fill(fill_table, s->sw);
    else
        add_audiences(s, job);
    return 0;
}

static void deliver(void *state, unsigned port, const uint8_t *frame, size_t len, uint64_t now,
                    sut_emit *emit, void *context) {
    struct p4_switch *s = state;

    s->emit = emit;
    s->context = context;
    sk_switch_rx(s->sw, dev_port(s, port), frame, (uint32_t)len, now);
    sk_switch_run(s->sw, now);
}

static void free_switch(void *state) {
    struct p4_switch *s = state;

    sk_switch_free(s->sw);
    sk_program_free(s->program);
    free(s);
}

struct switch_under_test p4_switch_of_halves(bool spread, enum net_build build) {
    struct p4_switch *s = calloc(1, sizeof *s);

    if (!s)
        net_die(PROGRAM_OF_HALVES, "no memory");
    s->spread = spread;
    s->halves = true;
    s->program = net_program_built(PROGRAM_OF_HALVES, build);
    return (struct switch_under_test){"compiled P4 of halves", s, reset, deliver, free_switch};
}

struct switch_under_test p4_switch_new(bool spread) {
    struct p4_switch *s = calloc(1, sizeof *s);

    if (!s)
        net_die(PROGRAM, "no memory");
    s->spread = spread;
    s->program = net_program(PROGRAM);
    return (struct switch_under_test){spread ? "compiled P4, workers on four pipes" : "compiled P4",
                                      s, reset, deliver, free_switch};
}
