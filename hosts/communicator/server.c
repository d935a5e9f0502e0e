/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread for each flow. What others may want of it is under the flow's lock: the counters, a copy
 * of which is made after each step in which something moved, and another shape.
 */
#include "silken/server.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/endpoint.h"
#include "hosts/atp/server.h"
#include "base/clock.h"
#include "hosts/communicator/drive.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_atp.h"

_Static_assert(SILKEN_IGNORED_KINDS >= ATP_REASON_COUNT, "public counters cover all reasons");

struct engine {
    struct sk_engine base;
    struct atp_server *server;
};

struct flow {
    /* The thread's. */
    struct sk_drive drive;
    uint64_t renumbered; /* how much higher numbers are than fragments, after changes of shape */

    /* Under the lock. */
    pthread_mutex_t lock;
    struct atp_shape *shape; /* to be told to the state machine, or NULL */
    struct silken_server_stats stats;
    struct silken_first first;
    bool closing;

    bool has_lock, has_thread;
    pthread_t thread;
    cpu_set_t processors;
};

struct silken_server {
    uint32_t workers, server_rack;
    uint32_t lanes;
    struct flow flow[];
};

/* ---- the engine ------------------------------------------------------------------------------ */

static struct atp_server *server_of(const struct sk_engine *e) {
    return ((const struct engine *)e)->server;
}

static size_t engine_write(struct sk_engine *e, uint8_t *buf, size_t cap, uint64_t now) {
    return atp_server_write(server_of(e), buf, cap, now);
}

static uint32_t engine_queued(const struct sk_engine *e) {
    return atp_server_queued(server_of(e));
}

static void engine_read(struct sk_engine *e, const uint8_t *frame, size_t len, uint64_t now) {
    atp_server_read(server_of(e), frame, len, now);
}

static uint64_t engine_deadline(struct sk_engine *e) {
    return atp_server_deadline(server_of(e));
}

static unsigned engine_expire(struct sk_engine *e, uint64_t now) {
    atp_server_expire(server_of(e), now);
    return 0;
}

static void engine_free(struct sk_engine *e) {
    atp_server_free(server_of(e));
    free(e);
}

static const struct sk_engine_ops engine_ops = {
    .write = engine_write,
    .queued = engine_queued,
    .read = engine_read,
    .deadline = engine_deadline,
    .expire = engine_expire,
    .free = engine_free,
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* With the lock. */
static void publish(struct flow *f) {
    const struct atp_server_stats s = atp_server_stats(server_of(f->drive.engine));
    const struct sk_transport_stats *t = &f->drive.transport->stats;

    f->stats = (struct silken_server_stats){
        .gradients = s.gradients,
        .from_one = s.values_from[0],
        .from_some = s.values_from[1],
        .from_all = s.values_from[2],
        .completed = s.completed,
        .parameters_sent = s.parameters_sent,
        .repeated = s.repeated,
        .overflows = s.overflows,
        .rehashed = s.rehashed,
        .marks = s.marks,
        .tx_bytes = t->tx_bytes,
        .rx_bytes = t->rx_bytes,
        .tx_full = t->tx_full,
        .rx_dropped = t->rx_dropped,
    };
    memcpy(f->stats.ignored, s.ignored, sizeof s.ignored);
    f->first.number = atp_server_first(server_of(f->drive.engine));
    f->first.complete = f->first.number - f->renumbered;
}

/* With the lock. The shape has been checked by whoever has put it there. */
static void take_shape(struct flow *f, uint64_t now) {
    struct atp_server *s = server_of(f->drive.engine);

    if (f->shape) {
        uint64_t before = atp_server_first(s);
        atp_server_reshape(s, f->shape, now, NULL);
        f->renumbered += atp_server_first(s) - before;
        publish(f);
        free(f->shape);
        f->shape = NULL;
    }
}

static void *answer(void *argument) {
    struct flow *f = argument;
    bool moved = true;

    pthread_setaffinity_np(pthread_self(), sizeof f->processors, &f->processors);
    pthread_mutex_lock(&f->lock);
    while (!f->closing) {
        uint64_t now = sk_clock_now();
        unsigned events;

        take_shape(f, now);
        if (moved) {
            publish(f);
        }
        pthread_mutex_unlock(&f->lock);
        moved = sk_drive_step(&f->drive, now, &events);
        if (!moved) {
            sk_drive_rest(&f->drive);
        }
        pthread_mutex_lock(&f->lock);
    }
    publish(f);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int start(struct flow *f, const cpu_set_t *anywhere, int cpu) {
    f->processors = *anywhere;
    if (cpu >= 0) {
        CPU_ZERO(&f->processors);
        CPU_SET((size_t)cpu, &f->processors);
    }
    f->has_thread = pthread_create(&f->thread, NULL, answer, f) == 0;
    return f->has_thread ? 0 : SILKEN_ERR_NOMEM;
}

static void stop(struct flow *f) {
    if (f->has_thread) {
        pthread_mutex_lock(&f->lock);
        f->closing = true;
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
        f->has_thread = false;
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

void silken_server_config_init(struct silken_server_config *config) {
    *config = (struct silken_server_config){
        .servers = 1,
        .indices = 65536,
        .window_max = 1024,
        .restart_every_ms = 10,
    };
}

static int check(const struct silken_server_config *f, char *why, size_t why_cap) {
    if (f->lanes == 0 || f->lanes > SILKEN_MAX_LANES || !f->lane) {
        snprintf(why, why_cap, "there can be 1 to %d lanes, and each is described",
                 SILKEN_MAX_LANES);
        return SILKEN_ERR_INVALID;
    }
    if (f->servers == 0 || f->servers > SILKEN_MAX_FLOWS ||
        f->servers * f->lanes > SILKEN_MAX_FLOWS || f->number >= f->servers) {
        snprintf(why, why_cap,
                 "a job has at least one server, of which this is one, and lanes times servers are "
                 "%d at most",
                 SILKEN_MAX_FLOWS);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

static int make_engine(struct flow *flow, const struct silken_server_config *f,
                       const struct atp_shape *shape, uint32_t i, char *why, size_t why_cap) {
    const struct silken_server_lane *lane = &f->lane[i];
    const char *fault = "out of memory";
    struct atp_server_config config;
    struct engine *e;
    int rc;

    atp_server_config_init(&config);
    config.flow.job = f->job;
    config.flow.flow = (uint8_t)(i * f->servers + f->number);
    config.flow.flow_bits = sk_atp_flow_bits(f->lanes * f->servers);
    config.shape = *shape;
    config.type = (enum atp_type)f->type;
    config.first_index = f->first_index;
    config.indices = f->indices;
    config.rehash = !f->fixed_indices;
    config.dynamic_scale = f->dynamic_scale;
    config.window_max = f->window_max;
    config.restart_every = f->restart_every_ms * SK_MS;
    if (!sk_endpoint_parse(&config.flow.server, lane->address.mac, lane->address.ip,
                           ATP_UDP_PORT) ||
        !sk_endpoint_parse(&config.flow.group, lane->group.mac, lane->group.ip, ATP_UDP_PORT)) {
        snprintf(why, why_cap,
                 "addresses of server and group must be like 02:00:00:00:01:00 and 10.0.0.1");
        return SILKEN_ERR_INVALID;
    }
    e = calloc(1, sizeof *e);
    rc = e ? atp_server_new(&e->server, &config, &fault) : SILKEN_ERR_NOMEM;
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        free(e);
        return rc;
    }
    e->base.ops = &engine_ops;
    flow->drive.engine = &e->base;
    return 0;
}

static int make_transport(struct flow *flow, const struct silken_server_lane *lane, char *why,
                          size_t why_cap) {
    if (lane->transport) {
        flow->drive.transport = lane->transport;
        return 0;
    }
    if (!lane->device) {
        snprintf(why, why_cap, "neither a device nor a transport is given");
        return SILKEN_ERR_INVALID;
    }
    return sk_transport_open(&flow->drive.transport, lane->device, lane->cpu, why, why_cap);
}

static int open_flows(struct silken_server *s, const struct silken_server_config *f,
                      const struct atp_shape *shape, char *why, size_t why_cap) {
    cpu_set_t anywhere;
    int rc = 0;

    /* before DPDK binds this thread */
    CPU_ZERO(&anywhere);
    pthread_getaffinity_np(pthread_self(), sizeof anywhere, &anywhere);
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++) {
        pthread_mutex_init(&s->flow[i].lock, NULL);
        s->flow[i].has_lock = true;
        rc = make_engine(&s->flow[i], f, shape, i, why, why_cap);
    }
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++) {
        rc = make_transport(&s->flow[i], &f->lane[i], why, why_cap);
    }
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++) {
        rc = start(&s->flow[i], &anywhere, f->lane[i].cpu);
        if (rc != 0) {
            snprintf(why, why_cap, "a thread does not start");
        }
    }
    return rc;
}

/* On an error, transports that were open before stay the caller's. */
static void hand_back_transports(struct silken_server *s, const struct silken_server_config *f) {
    for (uint32_t i = 0; i < s->lanes; i++) {
        stop(&s->flow[i]);
        if (f->lane[i].transport) {
            s->flow[i].drive.transport = NULL;
        }
    }
}

int silken_server_open(struct silken_server **server, const struct silken_server_config *config,
                       char *why, size_t why_cap) {
    const char *fault = "";
    struct silken_server *s;
    struct atp_shape shape;
    int rc = check(config, why, why_cap);

    if (rc != 0) {
        return rc;
    }
    rc = sk_atp_places(config->rack, config->workers, config->server_rack, &shape, NULL, &fault);
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        return rc;
    }
    s = calloc(1, sizeof *s + config->lanes * sizeof s->flow[0]);
    if (!s) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    s->workers = config->workers;
    s->server_rack = config->server_rack;
    s->lanes = config->lanes;
    rc = open_flows(s, config, &shape, why, why_cap);
    if (rc != 0) {
        hand_back_transports(s, config);
        silken_server_close(s);
        return rc;
    }
    *server = s;
    return 0;
}

void silken_server_close(struct silken_server *s) {
    for (uint32_t i = 0; s && i < s->lanes; i++) {
        struct flow *f = &s->flow[i];
        stop(f);
        sk_drive_free(&f->drive);
        free(f->shape);
        if (f->has_lock) {
            pthread_mutex_destroy(&f->lock);
        }
    }
    free(s);
}

/* ---- while it answers ------------------------------------------------------------------------ */

int silken_server_reshape(struct silken_server *s, const uint32_t *rack, char *why,
                          size_t why_cap) {
    struct atp_shape shape;
    const char *fault = "";
    int rc = sk_atp_places(rack, s->workers, s->server_rack, &shape, NULL, &fault);

    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        return rc;
    }
    for (uint32_t i = 0; i < s->lanes; i++) {
        struct atp_shape *copy = malloc(sizeof *copy);
        if (!copy) {
            snprintf(why, why_cap, "out of memory");
            return SILKEN_ERR_NOMEM;
        }
        *copy = shape;
        pthread_mutex_lock(&s->flow[i].lock);
        free(s->flow[i].shape); /* of a shape that was over before it was taken */
        s->flow[i].shape = copy;
        pthread_mutex_unlock(&s->flow[i].lock);
    }
    return 0;
}

bool silken_server_first(struct silken_server *s, uint32_t lane, struct silken_first *first) {
    struct flow *f = &s->flow[lane];
    bool known;

    pthread_mutex_lock(&f->lock);
    *first = f->first;
    known = !f->shape;
    pthread_mutex_unlock(&f->lock);
    return known;
}

static void add(struct silken_server_stats *sum, const struct silken_server_stats *s) {
    sum->gradients += s->gradients;
    sum->from_one += s->from_one;
    sum->from_some += s->from_some;
    sum->from_all += s->from_all;
    sum->completed += s->completed;
    sum->parameters_sent += s->parameters_sent;
    sum->repeated += s->repeated;
    sum->overflows += s->overflows;
    sum->rehashed += s->rehashed;
    sum->marks += s->marks;
    for (int i = 0; i < SILKEN_IGNORED_KINDS; i++) {
        sum->ignored[i] += s->ignored[i];
    }
    sum->tx_bytes += s->tx_bytes;
    sum->rx_bytes += s->rx_bytes;
    sum->tx_full += s->tx_full;
    sum->rx_dropped += s->rx_dropped;
}

void silken_server_stats(struct silken_server *s, struct silken_server_stats *stats) {
    *stats = (struct silken_server_stats){0};
    for (uint32_t i = 0; i < s->lanes; i++) {
        pthread_mutex_lock(&s->flow[i].lock);
        add(stats, &s->flow[i].stats);
        pthread_mutex_unlock(&s->flow[i].lock);
    }
}
