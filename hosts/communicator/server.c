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
#include "base/clock.h"
#include "hosts/communicator/coordinator.h"
#include "hosts/communicator/drive.h"
#include "hosts/communicator/join.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_atp.h"
#include "hosts/core/rto.h"

_Static_assert(SILKEN_IGNORED_KINDS >= ATP_REASON_COUNT, "public counters cover all reasons");

/* Answers to members that wait to be sent. */
#define ANSWERS 64

struct answer {
    struct sk_endpoint to;
    struct session_message message;
};

struct engine {
    struct sk_engine base;
    struct atp_server *server;

    /* Of a job with sessions. */
    struct sk_coordinator *sessions; /* NULL: it has none */
    struct sk_endpoint self;
    struct sk_join join; /* of lane 0, as the server's membership */
    uint64_t session;    /* its id */
    uint64_t renumbered; /* how much higher numbers are than fragments, after changes of shape */
    struct answer answers[ANSWERS];
    unsigned first_answer, n_answers;
};

struct flow {
    struct silken_server *of;

    /* The thread's. */
    struct sk_drive drive;
    uint64_t warned; /* when it was said last that sessions do not start, and how long then */
    uint64_t warn_after;

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
    struct sk_coordinator *sessions; /* NULL: it has none */
    void (*log)(void *log_context, const char *text);
    void *log_context;
    uint32_t workers, server_rack;
    uint32_t lanes;
    struct flow flow[];
};

/* ---- the engine ------------------------------------------------------------------------------ */

static struct atp_server *server_of(const struct sk_engine *e) {
    return ((const struct engine *)e)->server;
}

static struct engine *engine_of(struct sk_engine *e) {
    return (struct engine *)e;
}

/* ---- sessions ---- */

static void put_answer(struct engine *e, const struct sk_endpoint *to,
                       const struct session_message *m) {
    if (e->n_answers < ANSWERS) { /* else it is asked for again */
        e->answers[(e->first_answer + e->n_answers++) % ANSWERS] = (struct answer){*to, *m};
    }
}

static size_t write_answer(struct engine *e, uint8_t *buf, size_t cap) {
    const struct answer *a = &e->answers[e->first_answer];

    if (e->n_answers == 0 || cap < SK_JOIN_FRAME) {
        return 0;
    }
    e->first_answer = (e->first_answer + 1) % ANSWERS;
    e->n_answers--;
    return sk_join_frame(buf, &e->self, &a->to, &a->message);
}

static bool is_from_member(const struct session_message *m) {
    return m->kind == SESSION_JOIN || m->kind == SESSION_READY || m->kind == SESSION_LEAVE;
}

/* Whether the frame was about sessions. */
static bool read_message(struct engine *e, const uint8_t *frame, size_t len, uint64_t now) {
    struct session_message m, answers[GATHER_MAX_ANSWERS];
    struct sk_endpoint from;
    unsigned n;

    if (!sk_join_message(frame, len, &e->self, &from, &m)) {
        return false;
    }
    if (is_from_member(&m)) {
        n = sk_coordinator_is_first(e->sessions)
                ? sk_coordinator_hear(e->sessions, &m, now, answers)
                : 0;
        for (unsigned i = 0; i < n; i++) {
            put_answer(e, &from, &answers[i]);
        }
    } else {
        sk_join_read(&e->join, frame, len, now);
    }
    return true;
}

/* The first server is its own coordinator. */
static void talk_to_oneself(struct engine *e, const struct session_message *said, uint64_t now) {
    struct session_message answers[GATHER_MAX_ANSWERS];
    unsigned n = sk_coordinator_hear(e->sessions, said, now, answers);

    for (unsigned i = 0; i < n; i++) {
        session_member_hear(&e->join.member, &answers[i], now);
    }
}

/* The server's next message. It says that it is ready only when all its lanes are. */
static size_t write_join(struct engine *e, uint8_t *buf, size_t cap, uint64_t now) {
    struct session_member *member = &e->join.member;
    struct session_message m;
    bool to_switch;

    if (!e->join.on || cap < SK_JOIN_FRAME ||
        (member->state == SESSION_IS_READY && !sk_coordinator_all_in(e->sessions, member->id)) ||
        !session_member_write(member, &m, &to_switch, now)) {
        return 0;
    }
    if (to_switch) {
        return sk_join_frame(buf, &e->self, &e->join.fabric, &m);
    }
    if (!sk_coordinator_is_first(e->sessions)) {
        return sk_join_frame(buf, &e->self, &e->join.coordinator, &m);
    }
    talk_to_oneself(e, &m, now);
    return 0;
}

/* Goes on to another session with the other lanes. */
static void follow(struct engine *e) {
    const struct session_member *member = &e->join.member;
    uint16_t session;

    if (e->join.on && member->id) {
        sk_coordinator_enter(e->sessions, member->session, member->id);
    }
    if (sk_coordinator_next(e->sessions, &e->session, &session)) {
        atp_server_enter(e->server, session);
        e->renumbered = 0;
    }
}

/* ---- operations ---- */

static size_t engine_write(struct sk_engine *base, uint8_t *buf, size_t cap, uint64_t now) {
    struct engine *e = engine_of(base);
    size_t len = e->sessions ? write_answer(e, buf, cap) : 0;

    len = len || !e->sessions ? len : write_join(e, buf, cap, now);
    return len ? len : atp_server_write(e->server, buf, cap, now);
}

static uint32_t engine_queued(const struct sk_engine *base) {
    const struct engine *e = (const struct engine *)base;

    return e->n_answers + sk_join_queued(&e->join) + atp_server_queued(e->server);
}

static void engine_read(struct sk_engine *base, const uint8_t *frame, size_t len, uint64_t now) {
    struct engine *e = engine_of(base);

    if (!e->sessions || !read_message(e, frame, len, now)) {
        atp_server_read(e->server, frame, len, now);
    }
}

static uint64_t engine_deadline(struct sk_engine *base) {
    struct engine *e = engine_of(base);

    return sk_time_earlier(sk_join_deadline(&e->join), atp_server_deadline(e->server));
}

static unsigned engine_expire(struct sk_engine *base, uint64_t now) {
    struct engine *e = engine_of(base);

    if (e->sessions) {
        sk_join_expire(&e->join, now);
        follow(e);
    }
    atp_server_expire(e->server, now);
    return 0;
}

static void engine_leave(struct sk_engine *base) {
    session_member_leave(&engine_of(base)->join.member);
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
    .leave = engine_leave,
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
    f->first.complete = f->first.number - engine_of(f->drive.engine)->renumbered;
}

/* With the lock. The shape has been checked by whoever has put it there. */
static void take_shape(struct flow *f, uint64_t now) {
    struct atp_server *s = server_of(f->drive.engine);

    if (f->shape) {
        uint64_t before = atp_server_first(s);
        atp_server_reshape(s, f->shape, now, NULL);
        engine_of(f->drive.engine)->renumbered += atp_server_first(s) - before;
        publish(f);
        free(f->shape);
        f->shape = NULL;
    }
}

#define WARN_FIRST UINT64_C(2000000000)

static void say(const struct silken_server *s, const char *text) {
    if (s->log) {
        s->log(s->log_context, text);
    } else {
        fputs(text, stderr);
    }
}

/* That others have not joined yet is as it should be; that nobody answers is not. */
static void warn_of_silence(struct flow *f, uint64_t now) {
    const struct sk_join *join = &engine_of(f->drive.engine)->join;
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
        say(f->of, text);
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
        warn_of_silence(f, now);
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

/* The session that no job has: nothing is accepted before one has started. */
#define NO_SESSION 1

/* Lane 0 is the server's membership. */
static int join(struct engine *e, const struct silken_server_config *f, char *why, size_t why_cap) {
    const struct session_message self = {
        .protocol = SESSION_ATP,
        .role = SESSION_SERVER,
        .rank = (uint16_t)f->number,
        .workers = (uint16_t)f->workers,
        .lanes = (uint8_t)f->lanes,
        .servers = (uint8_t)f->servers,
        .job = f->job,
    };
    struct sk_endpoint first = e->self, fabric;

    if (f->number > 0 && !sk_endpoint_parse(&first, f->first.mac, f->first.ip, SESSION_PORT)) {
        snprintf(why, why_cap,
                 "the address of the job's first server is needed, like "
                 "02:00:00:00:01:00 and 10.0.0.1");
        return SILKEN_ERR_INVALID;
    }
    if (!f->no_switch && !sk_endpoint_parse(&fabric, f->switch_mac, f->switch_ip, SESSION_PORT)) {
        snprintf(
            why, why_cap,
            "the address of the server's switch is needed, like 02:00:00:00:00:fe and 10.0.0.254: "
            "it begins the job's sessions");
        return SILKEN_ERR_INVALID;
    }
    sk_join_init(&e->join, &self, sk_random(), &e->self, &first, f->no_switch ? NULL : &fabric,
                 SK_TIME_NEVER, SK_TIME_NEVER);
    return 0;
}

static int make_engine(struct silken_server *server, const struct silken_server_config *f,
                       const struct atp_shape *shape, uint32_t i, char *why, size_t why_cap) {
    struct flow *flow = &server->flow[i];
    const struct silken_server_lane *lane = &f->lane[i];
    const char *fault = "out of memory";
    struct atp_server_config config;
    struct engine *e;
    int rc;

    atp_server_config_init(&config);
    config.flow.job = f->job;
    config.flow.flow = (uint8_t)(i * f->servers + f->number);
    config.flow.flow_bits = sk_atp_flow_bits(f->lanes * f->servers);
    config.flow.session = f->no_session ? 0 : NO_SESSION;
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
    e->sessions = server->sessions;
    e->self = config.flow.server;
    flow->drive.engine = &e->base;
    return f->no_session || i > 0 ? 0 : join(e, f, why, why_cap);
}

static int make_sessions(struct silken_server *server, const struct silken_server_config *f) {
    const struct gather_config gather = {
        .protocol = SESSION_ATP,
        .job = f->job,
        .workers = f->workers,
        .lanes = f->lanes,
        .servers = f->servers,
        .prepares = true,
        .not_before = sk_clock_now() + SESSION_QUIET_NS,
        .secret = {sk_random(), sk_random()},
    };

    if (!f->no_session) {
        server->sessions = sk_coordinator_new(f->number == 0 ? &gather : NULL, f->lanes);
    }
    return f->no_session || server->sessions ? 0 : SILKEN_ERR_NOMEM;
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
        s->flow[i].of = s;
        pthread_mutex_init(&s->flow[i].lock, NULL);
        s->flow[i].has_lock = true;
        rc = make_engine(s, f, shape, i, why, why_cap);
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
    s->log = config->log;
    s->log_context = config->log_context;
    rc = make_sessions(s, config);
    rc = rc ? rc : open_flows(s, config, &shape, why, why_cap);
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
        sk_drive_leave(&f->drive);
        sk_drive_free(&f->drive);
        free(f->shape);
        if (f->has_lock) {
            pthread_mutex_destroy(&f->lock);
        }
    }
    if (s) {
        sk_coordinator_free(s->sessions);
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
