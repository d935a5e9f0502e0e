// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/server_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_atp.h"
#include "hosts/core/rto.h"

static struct atp_server *server_of(const struct sk_engine *e) {
    return ((const struct sk_server_engine *)e)->server;
}

static struct sk_server_engine *server_engine_engine_of(struct sk_engine *e) {
    return (struct sk_server_engine *)e;
}

// ---- sessions ----

static void put_answer(struct sk_server_engine *e, const struct sk_endpoint *to,
                       const struct session_message *m) {
    if (e->n_answers < SK_SERVER_ANSWERS) { // else it is asked for again
        e->answers[(e->first_answer + e->n_answers++) % SK_SERVER_ANSWERS] =
            (struct sk_server_answer){*to, *m};
    }
}

static size_t write_answer(struct sk_server_engine *e, uint8_t *buf, size_t cap) {
    const struct sk_server_answer *a = &e->answers[e->first_answer];

    if (e->n_answers == 0 || cap < SK_JOIN_FRAME)
        return 0;
    e->first_answer = (e->first_answer + 1) % SK_SERVER_ANSWERS;
    e->n_answers--;
    return sk_join_frame(buf, &e->self, &a->to, &a->message);
}

static bool is_from_member(const struct session_message *m) {
    return m->kind == SESSION_JOIN || m->kind == SESSION_READY || m->kind == SESSION_LEAVE;
}

// Whether the frame was about sessions.
static bool server_engine_read_message(struct sk_server_engine *e, const uint8_t *frame, size_t len,
                                       uint64_t now) {
    struct session_message m, answers[GATHER_MAX_ANSWERS];
    struct sk_endpoint from;
    unsigned n;

    if (!sk_join_message(frame, len, &e->self, &from, &m))
        return false;
    if (is_from_member(&m)) {
        n = sk_coordinator_is_first(e->sessions)
                ? sk_coordinator_hear(e->sessions, &m, now, answers)
                : 0;
        for (unsigned i = 0; i < n; i++)
            put_answer(e, &from, &answers[i]);
    } else {
        sk_join_read(&e->join, frame, len, now);
    }
    return true;
}

// The first server is its own coordinator.
static void talk_to_oneself(struct sk_server_engine *e, const struct session_message *said,
                            uint64_t now) {
    struct session_message answers[GATHER_MAX_ANSWERS];
    unsigned n = sk_coordinator_hear(e->sessions, said, now, answers);

    for (unsigned i = 0; i < n; i++)
        session_member_hear(&e->join.member, &answers[i], now);
}

// The server's next message. It says that it is ready only when all its lanes are.
static size_t write_join(struct sk_server_engine *e, uint8_t *buf, size_t cap, uint64_t now) {
    struct session_member *member = &e->join.member;
    struct session_message m;
    bool to_switch;

    if (!e->join.on || cap < SK_JOIN_FRAME ||
        (member->state == SESSION_IS_READY && !sk_coordinator_all_in(e->sessions, member->id)) ||
        !session_member_write(member, &m, &to_switch, now))
        return 0;
    if (to_switch)
        return sk_join_frame(buf, &e->self, &e->join.fabric, &m);
    if (!sk_coordinator_is_first(e->sessions))
        return sk_join_frame(buf, &e->self, &e->join.coordinator, &m);
    talk_to_oneself(e, &m, now);
    return 0;
}

// Goes on to another session with the other lanes.
static void server_engine_follow(struct sk_server_engine *e) {
    const struct session_member *member = &e->join.member;
    uint16_t session;

    if (e->join.on && member->id)
        sk_coordinator_enter(e->sessions, member->session, member->id);
    if (sk_coordinator_next(e->sessions, &e->session, &session)) {
        atp_server_enter(e->server, session);
        e->renumbered = 0;
    }
}

// Nobody restarts a server that was refused. A server is refused while another process has its
// place, but that process may be gone: a late message can make it look alive. So the server asks
// again, as a new member.
static void join_again(struct sk_server_engine *e, uint64_t now) {
    struct session_member *member = &e->join.member;
    const struct session_message self = member->self;

    if (!e->join.on || member->state != SESSION_LOST) {
        e->again_at = 0;
    } else if (e->again_at == 0) {
        e->again_at = now + SK_SERVER_AGAIN_NS;
    } else if (now >= e->again_at) {
        session_member_init(member, &self, member->has_switch, sk_randomness_next(&e->random));
        e->again_at = 0;
    }
}

// ---- operations ----

static size_t server_engine_write(struct sk_engine *base, uint8_t *buf, size_t cap, uint64_t now) {
    struct sk_server_engine *e = server_engine_engine_of(base);
    size_t len = e->sessions ? write_answer(e, buf, cap) : 0;

    len = len || !e->sessions ? len : write_join(e, buf, cap, now);
    return len ? len : atp_server_write(e->server, buf, cap, now);
}

static uint32_t server_engine_queued(const struct sk_engine *base) {
    const struct sk_server_engine *e = (const struct sk_server_engine *)base;

    return e->n_answers + sk_join_queued(&e->join) + atp_server_queued(e->server);
}

static void server_engine_read(struct sk_engine *base, const uint8_t *frame, size_t len,
                               uint64_t now) {
    struct sk_server_engine *e = server_engine_engine_of(base);
    if (!e->sessions || !server_engine_read_message(e, frame, len, now))
        atp_server_read(e->server, frame, len, now);
}

static uint64_t server_engine_deadline(struct sk_engine *base) {
    struct sk_server_engine *e = server_engine_engine_of(base);
    uint64_t first = sk_time_earlier(sk_join_deadline(&e->join), atp_server_deadline(e->server));

    return e->again_at ? sk_time_earlier(first, e->again_at) : first;
}

static unsigned server_engine_expire(struct sk_engine *base, uint64_t now) {
    struct sk_server_engine *e = server_engine_engine_of(base);
    if (e->sessions) {
        sk_join_expire(&e->join, now);
        join_again(e, now);
        server_engine_follow(e);
    }
    atp_server_expire(e->server, now);
    return 0;
}

static void server_engine_leave(struct sk_engine *base) {
    session_member_leave(&server_engine_engine_of(base)->join.member);
}

static void server_engine_free(struct sk_engine *e) {
    atp_server_free(server_of(e));
    free(e);
}

static const struct sk_engine_ops engine_ops = {
    .write = server_engine_write,
    .queued = server_engine_queued,
    .read = server_engine_read,
    .deadline = server_engine_deadline,
    .expire = server_engine_expire,
    .free = server_engine_free,
    .leave = server_engine_leave,
};

void sk_server_engine_reshape(struct sk_server_engine *e, const struct atp_shape *shape,
                              uint64_t now) {
    uint64_t before = atp_server_first(e->server);

    atp_server_reshape(e->server, shape, now, NULL);
    e->renumbered += atp_server_first(e->server) - before;
}

// ---- making it -------------------------------------------------------------------------------

// The session that no job has: nothing is accepted before one has started.
#define NO_SESSION 1

// Lane 0 is the server's membership.
static int server_engine_join(struct sk_server_engine *e, const struct silken_server_config *f,
                              const struct sk_randomness *random, char *why, size_t why_cap) {
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
        snprintf(why, why_cap,
                 "the address of the server's switch is needed, like 02:00:00:00:00:fe and "
                 "10.0.0.254: it starts the job's sessions");
        return SILKEN_ERR_INVALID;
    }
    sk_join_init(&e->join, &self, sk_randomness_next(random), &e->self, &first,
                 f->no_switch ? NULL : &fabric, SK_TIME_NEVER, SK_TIME_NEVER);
    return 0;
}

static void server_engine_configure(struct atp_server_config *config,
                                    const struct silken_server_config *f,
                                    const struct atp_shape *shape, uint32_t i) {
    atp_server_config_init(config);
    config->flow.job = f->job;
    config->flow.flow = (uint8_t)(i * f->servers + f->number);
    config->flow.flow_bits = sk_atp_flow_bits(f->lanes * f->servers);
    config->flow.session = f->no_session ? 0 : NO_SESSION;
    config->shape = *shape;
    config->type = (enum atp_type)f->type;
    config->first_index = f->first_index;
    config->indices = f->indices;
    config->rehash = !f->fixed_indices;
    config->dynamic_scale = f->dynamic_scale;
    config->window_max = f->window_max;
    config->restart_every = f->restart_every_ms * SK_MS;
}

int sk_server_engine_new(struct sk_server_engine **made, const struct silken_server_config *f,
                         const struct atp_shape *shape, uint32_t i, struct sk_coordinator *sessions,
                         const struct sk_randomness *random, char *why, size_t why_cap) {
    const struct silken_server_lane *lane = &f->lane[i];
    const char *fault = "out of memory";
    struct atp_server_config config;
    struct sk_server_engine *e;
    int rc;

    server_engine_configure(&config, f, shape, i);
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
    e->sessions = sessions;
    e->random = *random;
    e->self = config.flow.server;
    rc = f->no_session || i > 0 ? 0 : server_engine_join(e, f, random, why, why_cap);
    if (rc != 0) {
        server_engine_free(&e->base);
        return rc;
    }
    *made = e;
    return 0;
}

struct sk_coordinator *sk_server_sessions(const struct silken_server_config *f, uint64_t now,
                                          const struct sk_randomness *random) {
    const struct gather_config gather = {
        .protocol = SESSION_ATP,
        .job = f->job,
        .workers = f->workers,
        .lanes = f->lanes,
        .servers = f->servers,
        .prepares = true,
        .not_before = now + SESSION_QUIET_NS,
        .secret = {sk_randomness_next(random), sk_randomness_next(random)},
    };

    return sk_coordinator_new(f->number == 0 ? &gather : NULL, f->lanes, random);
}
