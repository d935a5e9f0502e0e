// SPDX-License-Identifier: Apache-2.0
//
// A thread for each flow. What others may want of it is under the flow's lock: the counters, a copy
// of which is made after each step in which something moved, and another shape.
#include "silken/server.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/communicator/drive.h"
#include "hosts/communicator/protocol_atp.h"
#include "hosts/communicator/server_engine.h"

_Static_assert(SILKEN_IGNORED_KINDS >= ATP_REASON_COUNT, "public counters cover all reasons");

struct flow {
    struct silken_server *of;

    // The thread's.
    struct sk_drive drive;
    uint64_t warned; // when it was said last that sessions do not start, and how long then
    uint64_t warn_after;

    // Under the lock.
    pthread_mutex_t lock;
    struct atp_shape *shape; // to be told to the state machine, or NULL
    struct silken_server_stats stats;
    struct silken_first first;
    bool closing;

    bool has_lock, has_thread;
    pthread_t thread;
    cpu_set_t processors;
};

struct silken_server {
    struct sk_coordinator *sessions; // NULL: it has none
    void (*log)(void *log_context, const char *text);
    void *log_context;
    uint32_t workers, server_rack;
    uint32_t lanes;
    struct flow flow[];
};

static struct sk_server_engine *server_engine_of(struct sk_engine *e) {
    return (struct sk_server_engine *)e;
}

// ---- the thread ------------------------------------------------------------------------------

// With the lock.
static void server_publish(struct flow *f) {
    const struct atp_server_stats s = atp_server_stats(server_engine_of(f->drive.engine)->server);
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
    f->first.number = atp_server_first(server_engine_of(f->drive.engine)->server);
    f->first.complete = f->first.number - server_engine_of(f->drive.engine)->renumbered;
}

// With the lock. The shape has been checked by whoever has put it there.
static void server_take_shape(struct flow *f, uint64_t now) {
    if (f->shape) {
        sk_server_engine_reshape(server_engine_of(f->drive.engine), f->shape, now);
        server_publish(f);
        free(f->shape);
        f->shape = NULL;
    }
}

#define WARN_FIRST UINT64_C(2000000000)

static void server_say(const struct silken_server *s, const char *text) {
    if (s->log)
        s->log(s->log_context, text);
    else
        fputs(text, stderr);
}

// That others have not joined yet is as it should be; that nobody answers is not.
static void warn_of_silence(struct flow *f, uint64_t now) {
    const struct sk_join *join = &server_engine_of(f->drive.engine)->join;
    const struct session_member *m = &join->member;
    char text[1024];
    struct sk_text t = SK_TEXT(text, sizeof text);
    bool silent = join->on && (m->state == SESSION_BEGINNING || m->state == SESSION_LOST ||
                               (m->state == SESSION_JOINING && !m->answered));

    if (!silent || !f->warned) {
        f->warned = now;
        f->warn_after = WARN_FIRST;
    } else if (now - f->warned >= f->warn_after && sk_join_explain(join, now, &t)) {
        f->warn_after *= 2;
        server_say(f->of, text);
    }
}

static void *server_answer(void *argument) {
    struct flow *f = argument;
    bool moved = true;

    pthread_setaffinity_np(pthread_self(), sizeof f->processors, &f->processors);
    pthread_mutex_lock(&f->lock);
    while (!f->closing) {
        uint64_t now = sk_clock_now();
        unsigned events;

        server_take_shape(f, now);
        if (moved)
            server_publish(f);
        pthread_mutex_unlock(&f->lock);
        moved = sk_drive_step(&f->drive, now, &events);
        warn_of_silence(f, now);
        if (!moved)
            sk_drive_rest(&f->drive);
        pthread_mutex_lock(&f->lock);
    }
    server_publish(f);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int server_start(struct flow *f, const cpu_set_t *anywhere, int cpu) {
    f->processors = *anywhere;
    if (cpu >= 0) {
        CPU_ZERO(&f->processors);
        CPU_SET((size_t)cpu, &f->processors);
    }
    f->has_thread = pthread_create(&f->thread, NULL, server_answer, f) == 0;
    return f->has_thread ? 0 : SILKEN_ERR_NOMEM;
}

static void server_stop(struct flow *f) {
    if (f->has_thread) {
        pthread_mutex_lock(&f->lock);
        f->closing = true;
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
        f->has_thread = false;
    }
}

// ---- opening and closing ---------------------------------------------------------------------

void silken_server_config_init(struct silken_server_config *config) {
    *config = (struct silken_server_config){
        .servers = 1,
        .indices = 65536,
        .window_max = 1024,
        .restart_every_ms = 10,
    };
}

static int server_check(const struct silken_server_config *f, char *why, size_t why_cap) {
    if (f->lanes == 0 || f->lanes > SILKEN_MAX_LANES || !f->lane) {
        snprintf(why, why_cap, "there can be 1 to %d lanes, and each must be described",
                 SILKEN_MAX_LANES);
        return SILKEN_ERR_INVALID;
    }
    if (f->servers == 0 || f->servers > SILKEN_MAX_FLOWS ||
        f->servers * f->lanes > SILKEN_MAX_FLOWS || f->number >= f->servers) {
        snprintf(why, why_cap,
                 "a job has at least one server, including this one, and lanes times servers must "
                 "be at most %d",
                 SILKEN_MAX_FLOWS);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

static int server_make_sessions(struct silken_server *server,
                                const struct silken_server_config *f) {
    if (!f->no_session)
        server->sessions = sk_server_sessions(f, sk_clock_now(), &sk_random_of_kernel);
    return f->no_session || server->sessions ? 0 : SILKEN_ERR_NOMEM;
}

static int server_make_transport(struct flow *flow, const struct silken_server_lane *lane,
                                 char *why, size_t why_cap) {
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
    struct sk_server_engine *e;
    cpu_set_t anywhere;
    int rc = 0;

    // before DPDK binds this thread
    CPU_ZERO(&anywhere);
    pthread_getaffinity_np(pthread_self(), sizeof anywhere, &anywhere);
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++) {
        s->flow[i].of = s;
        pthread_mutex_init(&s->flow[i].lock, NULL);
        s->flow[i].has_lock = true;
        rc = sk_server_engine_new(&e, f, shape, i, s->sessions, &sk_random_of_kernel, why, why_cap);
        s->flow[i].drive.engine = rc == 0 ? &e->base : NULL;
    }
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++)
        rc = server_make_transport(&s->flow[i], &f->lane[i], why, why_cap);
    for (uint32_t i = 0; i < s->lanes && rc == 0; i++) {
        rc = server_start(&s->flow[i], &anywhere, f->lane[i].cpu);
        if (rc != 0)
            snprintf(why, why_cap, "a thread cannot be started");
    }
    return rc;
}

// On an error, transports that were open before stay the caller's.
static void server_hand_back_transports(struct silken_server *s,
                                        const struct silken_server_config *f) {
    for (uint32_t i = 0; i < s->lanes; i++) {
        server_stop(&s->flow[i]);
        if (f->lane[i].transport)
            s->flow[i].drive.transport = NULL;
    }
}

int silken_server_open(struct silken_server **server, const struct silken_server_config *config,
                       char *why, size_t why_cap) {
    const char *fault = "";
    struct silken_server *s;
    struct atp_shape shape;
    int rc = server_check(config, why, why_cap);

    if (rc != 0)
        return rc;
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
    s->log = config->log;
    s->log_context = config->log_context;
    rc = server_make_sessions(s, config);
    rc = rc ? rc : open_flows(s, config, &shape, why, why_cap);
    if (rc != 0) {
        server_hand_back_transports(s, config);
        silken_server_close(s);
        return rc;
    }
    *server = s;
    return 0;
}

void silken_server_close(struct silken_server *s) {
    for (uint32_t i = 0; s && i < s->lanes; i++) {
        struct flow *f = &s->flow[i];
        server_stop(f);
        sk_drive_leave(&f->drive);
        sk_drive_free(&f->drive);
        free(f->shape);
        if (f->has_lock)
            pthread_mutex_destroy(&f->lock);
    }
    if (s)
        sk_coordinator_free(s->sessions);
    free(s);
}

// ---- while it answers ------------------------------------------------------------------------

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
        free(s->flow[i].shape); // of a shape that was over before it was taken
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

static void server_add(struct silken_server_stats *sum, const struct silken_server_stats *s) {
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
    for (int i = 0; i < SILKEN_IGNORED_KINDS; i++)
        sum->ignored[i] += s->ignored[i];
    sum->tx_bytes += s->tx_bytes;
    sum->rx_bytes += s->rx_bytes;
    sum->tx_full += s->tx_full;
    sum->rx_dropped += s->rx_dropped;
}

void silken_server_stats(struct silken_server *s, struct silken_server_stats *stats) {
    *stats = (struct silken_server_stats){0};
    for (uint32_t i = 0; i < s->lanes; i++) {
        pthread_mutex_lock(&s->flow[i].lock);
        server_add(stats, &s->flow[i].stats);
        pthread_mutex_unlock(&s->flow[i].lock);
    }
}
