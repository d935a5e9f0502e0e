// SPDX-License-Identifier: Apache-2.0
//
// SwitchML for communicators: an engine is one worker, with a part of the pool's slots.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/join.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/station.h"
#include "hosts/core/rto.h"
#include "hosts/switchml/worker.h"

_Static_assert(SILKEN_IGNORED_KINDS >= SWML_REASON_COUNT, "public counters cover all reasons");
_Static_assert(SK_ENGINE_STALLED == SWML_STALLED && SK_ENGINE_FAILED == SWML_FAILED &&
                   SK_ENGINE_NEVER == SWML_NEVER && (int)SILKEN_F32 == (int)SWML_F32 &&
                   (int)SILKEN_I32 == (int)SWML_I32 && (int)SILKEN_F16 == (int)SWML_F16 &&
                   (int)SK_ALL == (int)SWML_ALL && (int)SK_TO_ONE == (int)SWML_TO_ONE &&
                   (int)SK_FROM_ONE == (int)SWML_FROM_ONE && (int)SK_NONE == (int)SWML_NONE,
               "one meaning");

struct engine {
    struct sk_engine base;
    struct sk_join join;
    struct swml_worker *worker;
    bool single;    // the only lane
    bool audiences; // without sessions: the switch has the job's
};

static struct engine *protocol_switchml_engine_of(struct sk_engine *e) {
    return (struct engine *)e;
}

static const struct sk_join *join_of(const struct sk_engine *e) {
    return &((const struct engine *)e)->join;
}

static struct swml_worker *protocol_switchml_worker_of(const struct sk_engine *e) {
    return ((const struct engine *)e)->worker;
}

// ---- the engine ------------------------------------------------------------------------------

static size_t protocol_switchml_engine_write(struct sk_engine *e, uint8_t *buf, size_t cap,
                                             uint64_t now) {
    struct sk_join *join = &protocol_switchml_engine_of(e)->join;
    size_t len = sk_join_write(join, buf, cap, now);

    return len || !sk_join_is_on(join, now)
               ? len
               : swml_worker_write(protocol_switchml_worker_of(e), buf, cap, now);
}

static uint32_t protocol_switchml_engine_queued(const struct sk_engine *e) {
    const struct sk_join *join = join_of(e);

    return sk_join_queued(join) + (sk_join_is_on(join, join->now)
                                       ? swml_worker_queued(protocol_switchml_worker_of(e))
                                       : 0);
}

static void protocol_switchml_engine_read(struct sk_engine *e, const uint8_t *frame, size_t len,
                                          uint64_t now) {
    struct sk_join *join = &protocol_switchml_engine_of(e)->join;

    if (sk_join_read(join, frame, len, now))
        swml_worker_enter(protocol_switchml_worker_of(e), (uint8_t)join->member.session, now);
    else if (sk_join_is_on(join, now) &&
             swml_worker_read(protocol_switchml_worker_of(e), frame, len, now) == SWML_ACCEPTED)
        sk_join_heard(join, now);
}

static bool protocol_switchml_engine_joining(const struct sk_engine *e) {
    return sk_join_is_joining(join_of(e));
}

static uint64_t protocol_switchml_engine_deadline(struct sk_engine *e) {
    uint64_t deadline = sk_join_deadline(join_of(e));

    return protocol_switchml_engine_joining(e)
               ? deadline
               : sk_time_earlier(deadline, swml_worker_deadline(protocol_switchml_worker_of(e)));
}

static unsigned protocol_switchml_engine_expire(struct sk_engine *e, uint64_t now) {
    struct sk_join *join = &protocol_switchml_engine_of(e)->join;
    unsigned events = sk_join_expire(join, now);

    e->fault = join->fault;
    return events || sk_join_is_joining(join)
               ? events
               : swml_worker_expire(protocol_switchml_worker_of(e), now);
}

static uint64_t protocol_switchml_engine_session(const struct sk_engine *e) {
    const struct sk_join *join = join_of(e);

    return join->on && !sk_join_is_joining(join) ? join->member.id : 0;
}

// Audiences are of all workers' only lanes.
static bool protocol_switchml_engine_audiences(const struct sk_engine *e) {
    const struct engine *own = (const struct engine *)e;
    const struct sk_join *join = join_of(e);

    return own->single && (join->on ? join->member.audiences : own->audiences);
}

static void protocol_switchml_engine_leave(struct sk_engine *e) {
    session_member_leave(&protocol_switchml_engine_of(e)->join.member);
}

static void protocol_switchml_engine_free(struct sk_engine *e) {
    swml_worker_free(protocol_switchml_worker_of(e));
    free(e);
}

static int protocol_switchml_engine_submit(struct sk_engine *e, const struct sk_tensor *t,
                                           uint64_t now) {
    const struct swml_tensor tensor = {.type = (enum swml_type)t->type,
                                       .in = t->in,
                                       .out = t->out,
                                       .count = t->count,
                                       .cookie = t->cookie,
                                       .reach = (enum swml_reach)t->reach,
                                       .who = t->who};

    return swml_worker_submit(protocol_switchml_worker_of(e), &tensor, now);
}

static bool protocol_switchml_engine_done(struct sk_engine *e, void **cookie) {
    return swml_worker_done(protocol_switchml_worker_of(e), cookie);
}

static bool protocol_switchml_engine_busy(const struct sk_engine *e) {
    return swml_worker_busy(protocol_switchml_worker_of(e));
}

static void protocol_switchml_engine_explain(const struct sk_engine *e, uint64_t now, char *buf,
                                             size_t cap) {
    struct sk_text t = SK_TEXT(buf, cap);

    if (!sk_join_explain(join_of(e), now, &t)) {
        swml_worker_explain(protocol_switchml_worker_of(e), now, buf, cap);
        t.length = strlen(buf);
        sk_join_remark(join_of(e), &t);
    }
}

static void protocol_switchml_engine_stats(const struct sk_engine *e, struct silken_stats *s) {
    const struct swml_stats w = swml_worker_stats(protocol_switchml_worker_of(e));

    s->tensors = w.tensors_done;
    s->elements = w.elements_done;
    s->packets_sent = w.packets_sent;
    s->retransmissions = w.retransmissions;
    s->answers = w.answers;
    s->rtt_ns = w.rtt;
    s->rto_ns = w.rto;
    memcpy(s->ignored, w.ignored, sizeof w.ignored);
}

static const struct sk_engine_ops engine_ops = {
    .write = protocol_switchml_engine_write,
    .queued = protocol_switchml_engine_queued,
    .read = protocol_switchml_engine_read,
    .deadline = protocol_switchml_engine_deadline,
    .expire = protocol_switchml_engine_expire,
    .free = protocol_switchml_engine_free,
    .leave = protocol_switchml_engine_leave,
    .submit = protocol_switchml_engine_submit,
    .done = protocol_switchml_engine_done,
    .busy = protocol_switchml_engine_busy,
    .joining = protocol_switchml_engine_joining,
    .session = protocol_switchml_engine_session,
    .audiences = protocol_switchml_engine_audiences,
    .explain = protocol_switchml_engine_explain,
    .stats = protocol_switchml_engine_stats,
};

// ---- the protocol ----------------------------------------------------------------------------

static int protocol_switchml_check(const struct silken_config *f, uint32_t lanes, char *why,
                                   size_t why_cap) {
    if (f->pool_size < lanes) {
        snprintf(why, why_cap, "a pool of %u slots is not enough for %u lanes", f->pool_size,
                 lanes);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

// Lane 'i' is a member of the job's sessions, which the switch coordinates.
static void protocol_switchml_join(struct engine *e, const struct swml_config *config,
                                   const struct silken_config *f, uint32_t lanes, uint32_t i,
                                   uint64_t nonce) {
    const struct session_message self = {
        .protocol = SESSION_SWITCHML,
        .role = SESSION_WORKER,
        .rank = (uint16_t)f->rank,
        .workers = (uint16_t)f->workers,
        .lane = (uint8_t)i,
        .lanes = (uint8_t)lanes,
        .slots = (uint16_t)f->pool_size,
        .elements = f->k,
        .job = f->job,
    };

    sk_join_init(&e->join, &self, nonce, &config->flow.worker, &config->flow.fabric, NULL,
                 config->stall_warning, config->hard_limit);
}

static int protocol_switchml_make(struct sk_engine **made, const struct silken_config *f,
                                  uint32_t lanes, uint32_t i, const struct silken_lane *lane,
                                  uint64_t nonce, char *why, size_t why_cap) {
    uint32_t first = (uint32_t)sk_cut(f->pool_size, lanes, i);
    struct swml_config config = {
        .flow = {.job = f->job, .k = f->k, .halves = f->f16},
        .rank = f->rank,
        .workers = f->workers,
        .pool_base = first,
        .pool_size = (uint32_t)sk_cut(f->pool_size, lanes, i + 1) - first,
        .rto_initial = f->rto_initial_us * SK_US,
        .rto_min = f->rto_min_us * SK_US,
        .rto_max = f->rto_max_us * SK_US,
        .stall_warning = sk_limit(f->stall_warning_ms),
        .hard_limit = sk_limit(f->hard_limit_ms),
    };
    const char *fault = "out of memory";
    struct sk_station station;
    struct engine *e;
    int rc = sk_station_resolve(&station, f, i, lane, why, why_cap);

    if (rc != 0)
        return rc;
    config.flow.worker = station.worker;
    config.flow.fabric = station.fabric;
    e = calloc(1, sizeof *e);
    rc = e ? swml_worker_new(&e->worker, &config, &fault) : SILKEN_ERR_NOMEM;
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        free(e);
        return rc;
    }
    e->base.ops = &engine_ops;
    e->single = lanes == 1;
    e->audiences = f->audiences;
    if (!f->no_session)
        protocol_switchml_join(e, &config, f, lanes, i, nonce);
    *made = &e->base;
    return 0;
}

static const char *protocol_switchml_ignored_name(unsigned kind) {
    bool used = kind > SWML_ACCEPTED && kind < SWML_REASON_COUNT;

    return used ? swml_reason_name((enum swml_reason)kind) : NULL;
}

const struct sk_protocol sk_protocol_switchml = {
    .check = protocol_switchml_check,
    .make = protocol_switchml_make,
    .ignored_name = protocol_switchml_ignored_name,
};
