/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator joins a SwitchML worker, a transport and the clock. At any time at most one
 * thread, the driver, runs the worker and the transport: the communicator's own thread, or one of
 * those that wait for a request. What the driver shares with the others is under the lock: the list
 * of requests it has not taken yet, the state of those it has, and a copy of the counters.
 */
#include "hosts/allreduce.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/clock.h"
#include "hosts/switchml/worker.h"
#include "hosts/transport.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* The driver looks for new requests at least this often, in ns. */
#define LONGEST_WAIT MS

#define EXPLANATION 4096 /* bytes of a stall's explanation */

_Static_assert(SILKEN_IGNORED_KINDS == SWML_REASON_COUNT, "public counters cover all reasons");

struct silken_request {
    struct silken_comm *comm;
    struct swml_tensor tensor;
    struct silken_request *next;
    bool ended;
    int result; /* once it has ended */
};

/* A first-in-first-out list. */
struct requests {
    struct silken_request *first, *last;
};

struct silken_comm {
    struct silken_config config;

    /* The driver's. */
    struct swml_worker *worker;
    struct sk_transport *transport;
    uint32_t unsent, unsent_from; /* frames in `room` that the transport has not taken */
    struct sk_frame frames[SK_BURST];
    uint8_t room[SK_BURST][SWML_MAX_FRAME];
    uint64_t busy_since; /* while the worker is busy */
    uint64_t busy_ns;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a request has come or ended, the driver has left, or we close */
    struct requests fresh;  /* not yet given to the worker */
    struct requests active; /* given to the worker and not ended */
    bool driven;            /* there is a driver */
    bool closing;
    int fault; /* why no more requests are taken, or 0 */
    struct silken_stats stats;

    bool has_thread;
    pthread_t thread;
};

/* ---- lists ----------------------------------------------------------------------------------- */

static void put(struct requests *list, struct silken_request *r) {
    r->next = NULL;
    *(list->first ? &list->last->next : &list->first) = r;
    list->last = r;
}

static struct silken_request *take(struct requests *list) {
    struct silken_request *r = list->first;

    if (r) {
        list->first = r->next;
    }
    return r;
}

static void take_out(struct requests *list, struct silken_request *r) {
    struct requests rest = {NULL, NULL};
    struct silken_request *other;

    while ((other = take(list))) {
        if (other != r) {
            put(&rest, other);
        }
    }
    *list = rest;
}

/* ---- configuration --------------------------------------------------------------------------- */

void silken_config_init(struct silken_config *config) {
    *config = (struct silken_config){
        .pool_size = 128,
        .k = 256,
        .worker_port = 0xbee0,
        .switch_port = 0xbee0,
        .cpu = -1,
        .rto_min_us = 5000,
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
                           struct swml_endpoint *e) {
    e->port = port;
    return parse_mac(mac, e->mac) && parse_ip(ip, &e->ip);
}

static uint64_t limit_of(uint32_t ms) {
    return ms ? ms * MS : SWML_NEVER;
}

static int make_worker(struct silken_comm *c, char *why, size_t why_cap) {
    const struct silken_config *f = &c->config;
    struct swml_config config = {
        .flow = {.job = f->job, .k = f->k},
        .rank = f->rank,
        .workers = f->workers,
        .pool_size = f->pool_size,
        .rto_initial = f->rto_initial_us * US,
        .rto_min = f->rto_min_us * US,
        .rto_max = f->rto_max_us * US,
        .stall_warning = limit_of(f->stall_warning_ms),
        .hard_limit = limit_of(f->hard_limit_ms),
    };
    const char *fault = "out of memory";
    int rc;

    if (!parse_endpoint(f->worker_mac, f->worker_ip, f->worker_port, &config.flow.worker) ||
        !parse_endpoint(f->switch_mac, f->switch_ip, f->switch_port, &config.flow.fabric)) {
        snprintf(why, why_cap,
                 "addresses of worker and switch must be like 02:00:00:00:01:00 and "
                 "10.0.0.1");
        return SILKEN_ERR_INVALID;
    }
    rc = swml_worker_new(&c->worker, &config, &fault);
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
    }
    return rc;
}

static int make_transport(struct silken_comm *c, char *why, size_t why_cap) {
    if (c->config.transport) {
        c->transport = c->config.transport;
        return 0;
    }
    if (!c->config.device) {
        snprintf(why, why_cap, "neither a device nor a transport is given");
        return SILKEN_ERR_INVALID;
    }
    return sk_transport_open(&c->transport, c->config.device, c->config.cpu, why, why_cap);
}

/* ---- one step of the driver; without the lock unless it says so ------------------------------ */

/* With the lock: ends a request. */
static void end_request(struct silken_comm *c, struct silken_request *r, int result) {
    take_out(&c->active, r);
    r->result = result;
    r->ended = true;
    pthread_cond_broadcast(&c->changed);
}

/* With the lock: the job is over; everything ends. */
static void fail_all(struct silken_comm *c, int fault) {
    struct silken_request *r;

    c->fault = fault;
    while ((r = take(&c->fresh))) {
        put(&c->active, r);
    }
    while (c->active.first) {
        end_request(c, c->active.first, fault);
    }
}

/* With the lock: gives new requests to the worker. */
static void take_fresh(struct silken_comm *c, uint64_t now) {
    struct silken_request *r;

    while ((r = take(&c->fresh))) {
        int rc = swml_worker_submit(c->worker, &r->tensor, now);
        put(&c->active, r);
        if (rc != 0) { /* the other workers have it and go on: this job cannot */
            fail_all(c, rc);
            return;
        }
    }
}

static size_t receive(struct silken_comm *c, uint64_t now) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(c->transport, frames, SK_BURST);

    for (size_t i = 0; i < n; i++) {
        swml_worker_read(c->worker, frames[i].data, frames[i].len, now);
    }
    return n;
}

static void write_burst(struct silken_comm *c, uint64_t now) {
    c->unsent = c->unsent_from = 0;
    while (c->unsent < SK_BURST) {
        uint8_t *room = c->room[c->unsent];
        size_t len = swml_worker_write(c->worker, room, SWML_MAX_FRAME, now);
        if (len == 0) {
            break;
        }
        c->frames[c->unsent++] = (struct sk_frame){room, (uint32_t)len};
    }
}

/* Sends until the worker has nothing more or the transport takes no more. */
static size_t send_all(struct silken_comm *c, uint64_t now) {
    size_t total = 0;

    for (;;) {
        size_t sent;
        if (c->unsent_from == c->unsent) {
            write_burst(c, now);
        }
        if (c->unsent == 0) {
            return total;
        }
        sent =
            sk_transport_send(c->transport, c->frames + c->unsent_from, c->unsent - c->unsent_from);
        c->unsent_from += (uint32_t)sent;
        total += sent;
        if (c->unsent_from < c->unsent) {
            return total;
        }
    }
}

static void say(struct silken_comm *c, const char *text) {
    if (c->config.log) {
        c->config.log(c->config.log_context, text);
    } else {
        fputs(text, stderr);
    }
}

/* The worker knows the protocol's side of it, and we whether its packets leave at all. */
static void log_stall(struct silken_comm *c, uint64_t now) {
    char text[EXPLANATION];
    size_t length;

    swml_worker_explain(c->worker, now, text, sizeof text);
    length = strlen(text);
    if (c->unsent_from < c->unsent) {
        snprintf(
            text + length, sizeof text - length,
            "  The transport (%s) takes no more frames, %u wait: the link is down, or the switch "
            "does not read.\n",
            c->transport->ops->name, c->unsent - c->unsent_from);
    }
    say(c, text);
}

static void count_busy_time(struct silken_comm *c, uint64_t now) {
    if (c->busy_since) {
        c->busy_ns += now - c->busy_since;
    }
    c->busy_since = swml_worker_busy(c->worker) ? now : 0;
}

/* With the lock. */
static void publish_stats(struct silken_comm *c) {
    struct swml_stats w = swml_worker_stats(c->worker);
    const struct sk_transport_stats *t = &c->transport->stats;

    c->stats = (struct silken_stats){
        .tensors = w.tensors_done,
        .elements = w.elements_done,
        .busy_ns = c->busy_ns,
        .packets_sent = w.packets_sent,
        .retransmissions = w.retransmissions,
        .answers = w.answers,
        .rtt_ns = w.rtt,
        .rto_ns = w.rto,
        .tx_bytes = t->tx_bytes,
        .rx_bytes = t->rx_bytes,
        .tx_full = t->tx_full,
        .rx_dropped = t->rx_dropped,
    };
    memcpy(c->stats.ignored, w.ignored, sizeof c->stats.ignored);
}

/* With the lock: what the others get to see of this step. */
static void publish(struct silken_comm *c, unsigned events) {
    void *request;

    while (swml_worker_done(c->worker, &request)) {
        end_request(c, request, 0);
    }
    if ((events & SWML_FAILED) && !c->fault) {
        fail_all(c, SILKEN_ERR_STALLED);
    }
    publish_stats(c);
}

/* Everything that can be done now. Returns whether anything moved. */
static bool step(struct silken_comm *c) {
    uint64_t now = sk_clock_now();
    unsigned events;
    size_t moved;

    pthread_mutex_lock(&c->lock);
    take_fresh(c, now);
    pthread_mutex_unlock(&c->lock);
    moved = receive(c, now);
    events = swml_worker_expire(c->worker, now);
    moved += send_all(c, now);
    if (events) {
        log_stall(c, now);
    }
    count_busy_time(c, now);
    pthread_mutex_lock(&c->lock);
    publish(c, events);
    pthread_mutex_unlock(&c->lock);
    return moved > 0;
}

static void rest(struct silken_comm *c) {
    uint64_t deadline = swml_worker_deadline(c->worker), now = sk_clock_now();
    uint64_t span = deadline > now ? deadline - now : 0;

    sk_transport_wait(c->transport, span < LONGEST_WAIT ? span : LONGEST_WAIT);
}

/* ---- drivers --------------------------------------------------------------------------------- */

/* Called and left with the lock by a thread that has found no driver: drives until the request
 * ends. */
static void drive_until_ended(struct silken_comm *c, const struct silken_request *r) {
    c->driven = true;
    while (!r->ended) {
        pthread_mutex_unlock(&c->lock);
        if (!step(c)) {
            rest(c);
        }
        pthread_mutex_lock(&c->lock);
    }
    c->driven = false;
    pthread_cond_broadcast(&c->changed);
}

/* The communicator's own thread. */
static void *drive_always(void *argument) {
    struct silken_comm *c = argument;

    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        if (!c->fresh.first && !c->active.first) {
            pthread_cond_wait(&c->changed, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        if (!step(c)) {
            rest(c);
        }
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void free_list(struct requests *list) {
    struct silken_request *r;

    while ((r = take(list))) {
        free(r);
    }
}

static void free_comm(struct silken_comm *c) {
    if (!c->config.transport) {
        sk_transport_close(c->transport);
    }
    swml_worker_free(c->worker);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static int start_thread(struct silken_comm *c, char *why, size_t why_cap) {
    if (!c->config.progress_thread) {
        return 0;
    }
    c->driven = true;
    if (pthread_create(&c->thread, NULL, drive_always, c) != 0) {
        snprintf(why, why_cap, "the progress thread does not start");
        return SILKEN_ERR_NOMEM;
    }
    c->has_thread = true;
    return 0;
}

int silken_open(struct silken_comm **comm, const struct silken_config *config, char *why,
                size_t why_cap) {
    struct silken_comm *c = calloc(1, sizeof *c);
    int rc;

    if (!c) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    c->config = *config;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    rc = make_worker(c, why, why_cap);
    if (rc == 0) {
        rc = make_transport(c, why, why_cap);
    }
    if (rc == 0) {
        rc = start_thread(c, why, why_cap);
    }
    if (rc != 0) {
        free_comm(c);
        return rc;
    }
    *comm = c;
    return 0;
}

void silken_close(struct silken_comm *comm) {
    if (!comm) {
        return;
    }
    if (comm->has_thread) {
        pthread_mutex_lock(&comm->lock);
        comm->closing = true;
        pthread_cond_broadcast(&comm->changed);
        pthread_mutex_unlock(&comm->lock);
        pthread_join(comm->thread, NULL);
    }
    free_list(&comm->fresh);
    free_list(&comm->active);
    comm->config.transport = NULL; /* ours since it was opened */
    free_comm(comm);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int submit(struct silken_comm *c, const struct swml_tensor *tensor,
                  struct silken_request **request) {
    struct silken_request *r;
    int rc;

    if (tensor->count > SIZE_MAX / 8 || (tensor->count > 0 && (!tensor->in || !tensor->out))) {
        return SILKEN_ERR_INVALID;
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        return SILKEN_ERR_NOMEM;
    }
    r->comm = c;
    r->tensor = *tensor;
    r->tensor.cookie = r;
    pthread_mutex_lock(&c->lock);
    rc = c->fault ? SILKEN_ERR_CLOSED : 0;
    if (rc == 0) {
        put(&c->fresh, r);
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
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
    int result;

    pthread_mutex_lock(&c->lock);
    while (!request->ended) {
        if (c->driven) {
            pthread_cond_wait(&c->changed, &c->lock);
        } else {
            drive_until_ended(c, request);
        }
    }
    pthread_mutex_unlock(&c->lock);
    result = request->result;
    free(request);
    return result;
}

int silken_test(struct silken_request *request) {
    struct silken_comm *c = request->comm;
    int result = SILKEN_ERR_AGAIN;
    bool ended;

    pthread_mutex_lock(&c->lock);
    if (!request->ended && !c->driven) {
        c->driven = true;
        pthread_mutex_unlock(&c->lock);
        step(c);
        pthread_mutex_lock(&c->lock);
        c->driven = false;
        pthread_cond_broadcast(&c->changed);
    }
    ended = request->ended;
    pthread_mutex_unlock(&c->lock);
    if (ended) {
        result = request->result;
        free(request);
    }
    return result;
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

void silken_stats(struct silken_comm *comm, struct silken_stats *stats) {
    pthread_mutex_lock(&comm->lock);
    *stats = comm->stats;
    pthread_mutex_unlock(&comm->lock);
}

const char *silken_ignored_name(unsigned kind) {
    bool used = kind > SWML_ACCEPTED && kind < SWML_REASON_COUNT;

    return used ? swml_reason_name((enum swml_reason)kind) : NULL;
}
