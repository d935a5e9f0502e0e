/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator is some lanes (lane.h) and a way to cut a tensor into shares for them. The cut
 * follows from the tensor's length and the number of lanes alone, so that it is the same on all
 * workers: whole blocks, each lane's in one piece.
 */
#include "hosts/allreduce.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/lane.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct silken_comm {
    struct silken_config config;
    uint32_t lanes;
    pthread_mutex_t submitting;      /* shares of requests have the same order in all lanes */
    struct silken_request *requests; /* not waited for; under the same lock */
    pthread_mutex_t saying;          /* one message at a time */
    struct sk_lane lane[];
};

struct silken_request {
    struct silken_comm *comm;
    struct silken_request *next, **at; /* in the communicator's list, and what points here */
    struct sk_share share[];           /* by lane */
};

/* ---- configuration --------------------------------------------------------------------------- */

void silken_config_init(struct silken_config *config) {
    *config = (struct silken_config){
        .pool_size = 128,
        .k = 256,
        .worker_port = 0xbee0,
        .switch_port = 0xbee0,
        .cpu = -1,
        .rto_min_us = 20000,
        .rto_max_us = 500000,
        .rto_initial_us = 50000,
        .stall_warning_ms = 2000,
        .hard_limit_ms = 30000,
    };
}

static bool parse_mac(const char *text, uint8_t mac[6]) {
    unsigned part[6];
    char rest;

    if (!text || sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &part[0], &part[1], &part[2], &part[3],
                        &part[4], &part[5], &rest) != 6) {
        return false;
    }
    for (int i = 0; i < 6; i++) {
        mac[i] = (uint8_t)part[i];
    }
    return true;
}

static bool parse_ip(const char *text, uint32_t *ip) {
    unsigned part[4];
    char rest;

    if (!text ||
        sscanf(text, "%3u.%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &part[3], &rest) != 4) {
        return false;
    }
    *ip = 0;
    for (int i = 0; i < 4; i++) {
        if (part[i] > 255) {
            return false;
        }
        *ip = *ip << 8 | part[i];
    }
    return true;
}

static bool parse_endpoint(const char *mac, const char *ip, uint16_t port,
                           struct sk_endpoint *e) {
    e->port = port;
    return parse_mac(mac, e->mac) && parse_ip(ip, &e->ip);
}

static uint64_t limit_of(uint32_t ms) {
    return ms ? ms * MS : SWML_NEVER;
}

static void say(void *context, const char *text) {
    struct silken_comm *c = context;

    pthread_mutex_lock(&c->saying);
    if (c->config.log) {
        c->config.log(c->config.log_context, text);
    } else {
        fputs(text, stderr);
    }
    pthread_mutex_unlock(&c->saying);
}

/* What lane |i| is told: the configuration's list, or without one its own members. */
static struct silken_lane lane_config(const struct silken_config *f, uint32_t i) {
    if (f->lane) {
        return f->lane[i];
    }
    return (struct silken_lane){
        .worker_mac = f->worker_mac,
        .worker_ip = f->worker_ip,
        .worker_port = f->worker_port,
        .device = f->device,
        .cpu = f->cpu,
        .transport = f->transport,
    };
}

/* The first of the |whole| things that lane |i| gets; lane i + 1's first is behind its last. */
static uint64_t cut(const struct silken_comm *c, uint64_t whole, uint32_t i) {
    return whole / c->lanes * i + whole % c->lanes * i / c->lanes;
}

static int make_worker(struct silken_comm *c, uint32_t i, char *why, size_t why_cap) {
    const struct silken_config *f = &c->config;
    const struct silken_lane l = lane_config(f, i);
    uint32_t first = (uint32_t)cut(c, f->pool_size, i);
    struct swml_config config = {
        .flow = {.job = f->job, .k = f->k},
        .rank = f->rank,
        .workers = f->workers,
        .pool_base = first,
        .pool_size = (uint32_t)cut(c, f->pool_size, i + 1) - first,
        .rto_initial = f->rto_initial_us * US,
        .rto_min = f->rto_min_us * US,
        .rto_max = f->rto_max_us * US,
        .stall_warning = limit_of(f->stall_warning_ms),
        .hard_limit = limit_of(f->hard_limit_ms),
    };
    const char *fault;
    int rc;

    if (!parse_endpoint(l.worker_mac, l.worker_ip, l.worker_port, &config.flow.worker) ||
        !parse_endpoint(f->switch_mac, f->switch_ip, f->switch_port, &config.flow.fabric)) {
        snprintf(why, why_cap,
                 "addresses of worker and switch must be like 02:00:00:00:01:00 and "
                 "10.0.0.1");
        return SILKEN_ERR_INVALID;
    }
    rc = sk_lane_init(&c->lane[i], &config, say, c, &fault);
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
    }
    return rc;
}

static int make_transport(struct silken_comm *c, uint32_t i, char *why, size_t why_cap) {
    const struct silken_lane l = lane_config(&c->config, i);

    if (l.transport) {
        c->lane[i].transport = l.transport;
        return 0;
    }
    if (!l.device) {
        snprintf(why, why_cap, "neither a device nor a transport is given");
        return SILKEN_ERR_INVALID;
    }
    return sk_transport_open(&c->lane[i].transport, l.device, l.cpu, why, why_cap);
}

static int check_lanes(const struct silken_config *f, char *why, size_t why_cap) {
    if (f->lanes > SILKEN_MAX_LANES || (f->lanes > 1 && !f->lane)) {
        snprintf(why, why_cap, "there can be 1 to %d lanes, and from 2 on each is described",
                 SILKEN_MAX_LANES);
        return SILKEN_ERR_INVALID;
    }
    if (f->pool_size < f->lanes) {
        snprintf(why, why_cap, "a pool of %u slots is not enough for %u lanes", f->pool_size,
                 f->lanes);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void free_comm(struct silken_comm *c) {
    for (uint32_t i = 0; i < c->lanes; i++) {
        sk_lane_free(&c->lane[i]);
    }
    while (c->requests) {
        struct silken_request *r = c->requests;
        c->requests = r->next;
        free(r);
    }
    pthread_mutex_destroy(&c->submitting);
    pthread_mutex_destroy(&c->saying);
    free(c);
}

/* Lane 0 is driven by those who wait, unless they want it otherwise. */
static int start_threads(struct silken_comm *c, const cpu_set_t *anywhere, char *why,
                         size_t why_cap) {
    for (uint32_t i = c->config.progress_thread ? 0 : 1; i < c->lanes; i++) {
        int cpu = lane_config(&c->config, i).cpu;
        cpu_set_t processors = *anywhere;
        if (cpu >= 0) {
            CPU_ZERO(&processors);
            CPU_SET((size_t)cpu, &processors);
        }
        if (sk_lane_start(&c->lane[i], &processors) != 0) {
            snprintf(why, why_cap, "a thread does not start");
            return SILKEN_ERR_NOMEM;
        }
    }
    return 0;
}

static int open_lanes(struct silken_comm *c, char *why, size_t why_cap) {
    cpu_set_t anywhere;
    int rc = 0;

    /* before DPDK binds this thread */
    CPU_ZERO(&anywhere);
    pthread_getaffinity_np(pthread_self(), sizeof anywhere, &anywhere);
    for (uint32_t i = 0; i < c->lanes && rc == 0; i++) {
        rc = make_worker(c, i, why, why_cap);
    }
    for (uint32_t i = 0; i < c->lanes && rc == 0; i++) {
        rc = make_transport(c, i, why, why_cap);
    }
    return rc ? rc : start_threads(c, &anywhere, why, why_cap);
}

/* On an error, transports that were open before stay the caller's. */
static void hand_back_transports(struct silken_comm *c) {
    for (uint32_t i = 0; i < c->lanes; i++) {
        sk_lane_stop(&c->lane[i]);
        if (lane_config(&c->config, i).transport) {
            c->lane[i].transport = NULL;
        }
    }
}

int silken_open(struct silken_comm **comm, const struct silken_config *config, char *why,
                size_t why_cap) {
    uint32_t lanes = config->lanes ? config->lanes : 1;
    int rc = check_lanes(config, why, why_cap);
    struct silken_comm *c;

    if (rc != 0) {
        return rc;
    }
    c = calloc(1, sizeof *c + lanes * sizeof c->lane[0]);
    if (!c) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    c->config = *config;
    c->lanes = lanes;
    pthread_mutex_init(&c->submitting, NULL);
    pthread_mutex_init(&c->saying, NULL);
    rc = open_lanes(c, why, why_cap);
    if (rc != 0) {
        hand_back_transports(c);
        free_comm(c);
        return rc;
    }
    c->config.lane = NULL; /* not ours to keep */
    *comm = c;
    return 0;
}

void silken_close(struct silken_comm *comm) {
    if (comm) {
        free_comm(comm);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The part of |whole| that lane |i| reduces. */
static struct swml_tensor share_of(const struct silken_comm *c, const struct swml_tensor *whole,
                                   uint32_t i) {
    size_t k = c->config.k, blocks = whole->count / k + (whole->count % k != 0);
    size_t first = cut(c, blocks, i) * k, end = cut(c, blocks, i + 1) * k;
    struct swml_tensor share = *whole;

    end = end < whole->count ? end : whole->count;
    share.count = end - first;
    if (share.count > 0) { /* elements of both types have four bytes */
        share.in = (const char *)whole->in + 4 * first;
        share.out = (char *)whole->out + 4 * first;
    }
    return share;
}

/* With the lock. */
static void put_in(struct silken_comm *c, struct silken_request *r) {
    r->next = c->requests;
    r->at = &c->requests;
    if (r->next) {
        r->next->at = &r->next;
    }
    c->requests = r;
}

/* With the lock. */
static void take_out(struct silken_request *r) {
    *r->at = r->next;
    if (r->next) {
        r->next->at = r->at;
    }
}

static int fault_of(struct silken_comm *c) {
    for (uint32_t i = 0; i < c->lanes; i++) {
        if (sk_lane_fault(&c->lane[i])) {
            return SILKEN_ERR_CLOSED;
        }
    }
    return 0;
}

static int submit(struct silken_comm *c, const struct swml_tensor *tensor,
                  struct silken_request **request) {
    struct silken_request *r;
    int rc;

    if (tensor->count > SIZE_MAX / 8 || (tensor->count > 0 && (!tensor->in || !tensor->out))) {
        return SILKEN_ERR_INVALID;
    }
    r = calloc(1, sizeof *r + c->lanes * sizeof r->share[0]);
    if (!r) {
        return SILKEN_ERR_NOMEM;
    }
    r->comm = c;
    pthread_mutex_lock(&c->submitting);
    rc = fault_of(c);
    for (uint32_t i = 0; i < c->lanes && rc == 0; i++) {
        r->share[i].tensor = share_of(c, tensor, i);
        r->share[i].tensor.cookie = &r->share[i];
        sk_lane_submit(&c->lane[i], &r->share[i]);
    }
    if (rc == 0) {
        put_in(c, r);
    }
    pthread_mutex_unlock(&c->submitting);
    if (rc != 0) {
        free(r);
        return rc;
    }
    *request = r;
    return 0;
}

int silken_submit_f32(struct silken_comm *comm, const float *in, float *out, size_t count,
                      struct silken_request **request) {
    struct swml_tensor tensor = {.type = SWML_F32, .in = in, .out = out, .count = count};

    return submit(comm, &tensor, request);
}

int silken_submit_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count,
                      struct silken_request **request) {
    struct swml_tensor tensor = {.type = SWML_I32, .in = in, .out = out, .count = count};

    return submit(comm, &tensor, request);
}

int silken_wait(struct silken_request *request) {
    struct silken_comm *c = request->comm;
    int result = 0;

    for (uint32_t i = 0; i < c->lanes; i++) {
        int rc = sk_lane_wait(&c->lane[i], &request->share[i]);
        result = result ? result : rc;
    }
    pthread_mutex_lock(&c->submitting);
    take_out(request);
    pthread_mutex_unlock(&c->submitting);
    free(request);
    return result;
}

int silken_test(struct silken_request *request) {
    struct silken_comm *c = request->comm;
    bool ended = true;

    for (uint32_t i = 0; i < c->lanes; i++) {
        ended &= sk_lane_test(&c->lane[i], &request->share[i]);
    }
    return ended ? silken_wait(request) : SILKEN_ERR_AGAIN;
}

int silken_allreduce_f32(struct silken_comm *comm, const float *in, float *out, size_t count) {
    struct silken_request *request;
    int rc = silken_submit_f32(comm, in, out, count, &request);

    return rc ? rc : silken_wait(request);
}

int silken_allreduce_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count) {
    struct silken_request *request;
    int rc = silken_submit_i32(comm, in, out, count, &request);

    return rc ? rc : silken_wait(request);
}

/* ---- counters -------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void add_stats(struct silken_stats *s, const struct silken_stats *lane) {
    s->tensors = lane->tensors < s->tensors ? lane->tensors : s->tensors;
    s->elements += lane->elements;
    s->busy_ns = larger(s->busy_ns, lane->busy_ns);
    s->packets_sent += lane->packets_sent;
    s->retransmissions += lane->retransmissions;
    s->answers += lane->answers;
    for (int i = 0; i < SILKEN_IGNORED_KINDS; i++) {
        s->ignored[i] += lane->ignored[i];
    }
    s->rtt_ns = larger(s->rtt_ns, lane->rtt_ns);
    s->rto_ns = larger(s->rto_ns, lane->rto_ns);
    s->tx_bytes += lane->tx_bytes;
    s->rx_bytes += lane->rx_bytes;
    s->tx_full += lane->tx_full;
    s->rx_dropped += lane->rx_dropped;
}

void silken_stats(struct silken_comm *comm, struct silken_stats *stats) {
    *stats = (struct silken_stats){.tensors = UINT64_MAX};
    for (uint32_t i = 0; i < comm->lanes; i++) {
        struct silken_stats lane = sk_lane_stats(&comm->lane[i]);
        add_stats(stats, &lane);
    }
}

const char *silken_ignored_name(unsigned kind) {
    bool used = kind > SWML_ACCEPTED && kind < SWML_REASON_COUNT;

    return used ? swml_reason_name((enum swml_reason)kind) : NULL;
}
