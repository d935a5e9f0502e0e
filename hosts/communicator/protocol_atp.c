// SPDX-License-Identifier: Apache-2.0
//
// ATP for communicators: the engine of a lane is a worker's flows to all parameter servers. A
// tensor is cut into as many parts of whole packets; it is done when all parts are.
//
// For a worker that takes a failed one's place, those fragments of each flow that were complete
// before are counted down from the job's beginning, and left out.
#include "hosts/communicator/protocol_atp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/endpoint.h"
#include "hosts/atp/worker.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/join.h"
#include "hosts/communicator/protocol.h"

_Static_assert(SILKEN_IGNORED_KINDS >= ATP_REASON_COUNT, "public counters cover all reasons");
_Static_assert(SK_ENGINE_STALLED == ATP_STALLED && SK_ENGINE_FAILED == ATP_FAILED &&
                   SK_ENGINE_NEVER == ATP_NEVER && (int)SILKEN_F32 == (int)ATP_F32 &&
                   (int)SILKEN_I32 == (int)ATP_I32,
               "one meaning");

// A tensor whose parts are with the flows.
struct joint {
    struct joint *next;
    void *cookie;
    size_t elements;
    uint32_t left; // parts that are not done
};

struct flow {
    struct atp_worker *worker;
    uint64_t complete; // fragments to come that were complete before this worker began
};

struct engine {
    struct sk_engine base;
    struct sk_join join;
    struct joint *open; // with parts left
    struct joint *ended, **ended_last;
    uint64_t tensors, elements;
    uint32_t flows;
    uint32_t turn; // the flow that writes next
    uint8_t first_flow, flow_bits;
    struct flow flow[];
};

static struct engine *protocol_atp_engine_of(struct sk_engine *e) {
    return (struct engine *)e;
}

// ---- places ----------------------------------------------------------------------------------

uint8_t sk_atp_flow_bits(uint32_t flows) {
    uint8_t bits = 0;

    while (UINT32_C(1) << bits < flows)
        bits++;
    return bits;
}

int sk_atp_places(const uint32_t *rack, uint32_t workers, uint32_t server_rack,
                  struct atp_shape *shape, struct atp_place *places, const char **why) {
    static const uint32_t one_rack[ATP_MAX_WORKERS];

    if (workers > ATP_MAX_WORKERS) {
        *why = "there can be 1024 workers";
        return SILKEN_ERR_INVALID;
    }
    return atp_places(rack ? rack : one_rack, workers, server_rack, shape, places, why);
}

// This worker's places below each of the servers.
static int protocol_atp_places(void **made, const struct silken_config *f, char *why,
                               size_t why_cap) {
    const struct silken_atp *atp = &f->atp;
    struct atp_place *mine = calloc(atp->servers, sizeof *mine);
    struct atp_place *all = calloc(f->workers ? f->workers : 1, sizeof *all);
    const char *fault = "out of memory";
    int rc = mine && all ? 0 : SILKEN_ERR_NOMEM;

    for (uint32_t s = 0; s < atp->servers && rc == 0; s++) {
        struct atp_shape shape;
        rc = sk_atp_places(atp->rack, f->workers, atp->server_rack ? atp->server_rack[s] : 0,
                           &shape, all, &fault);
        if (rc == 0)
            mine[s] = all[f->rank];
    }
    free(all);
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        free(mine);
        return rc;
    }
    *made = mine;
    return 0;
}

// ---- tensors ---------------------------------------------------------------------------------

static void end_joint(struct engine *e, struct joint *j) {
    struct joint **at = &e->open;

    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    j->next = NULL;
    *e->ended_last = j;
    e->ended_last = &j->next;
}

// The part of the tensor that goes to flow 'i', without what was complete before this worker
// began.
static struct atp_tensor protocol_atp_part_of(struct engine *e, const struct sk_tensor *t,
                                              uint32_t i, struct joint *j) {
    struct flow *f = &e->flow[i];
    uint64_t fragments = t->count / ATP_VALUES + (t->count % ATP_VALUES != 0);
    uint64_t from = sk_cut(fragments, e->flows, i), to = sk_cut(fragments, e->flows, i + 1);
    uint64_t end = to * ATP_VALUES < t->count ? to * ATP_VALUES : t->count;
    uint64_t left_out = f->complete < to - from ? f->complete : to - from;

    f->complete -= left_out;
    from += left_out;
    if (from * ATP_VALUES >= end)
        return (struct atp_tensor){.count = 0};
    return (struct atp_tensor){
        .type = (enum atp_type)t->type,
        .in = (const char *)t->in + 4 * from * ATP_VALUES,
        .out = (char *)t->out + 4 * from * ATP_VALUES,
        .count = end - from * ATP_VALUES,
        .cookie = j,
    };
}

static int protocol_atp_engine_submit(struct sk_engine *base, const struct sk_tensor *t,
                                      uint64_t now) {
    struct engine *e = protocol_atp_engine_of(base);
    struct joint *j = calloc(1, sizeof *j);

    if (!j)
        return SILKEN_ERR_NOMEM;
    *j = (struct joint){.next = e->open, .cookie = t->cookie, .elements = t->count};
    e->open = j;
    for (uint32_t i = 0; i < e->flows; i++) {
        struct atp_tensor part = protocol_atp_part_of(e, t, i, j);
        int rc = part.count > 0 ? atp_worker_submit(e->flow[i].worker, &part, now) : 0;
        if (rc != 0)
            return rc; // the lane ends with it
        j->left += part.count > 0;
    }
    if (j->left == 0)
        end_joint(e, j);
    return 0;
}

static bool protocol_atp_engine_done(struct sk_engine *base, void **cookie) {
    struct engine *e = protocol_atp_engine_of(base);
    struct joint *j;
    void *part;

    for (uint32_t i = 0; i < e->flows; i++) {
        while (atp_worker_done(e->flow[i].worker, &part)) {
            j = part;
            if (--j->left == 0)
                end_joint(e, j);
        }
    }
    j = e->ended;
    if (!j)
        return false;
    e->ended = j->next;
    e->ended_last = e->ended ? e->ended_last : &e->ended;
    e->tensors++;
    e->elements += j->elements;
    *cookie = j->cookie;
    free(j);
    return true;
}

// ---- the engine ------------------------------------------------------------------------------

// Flows take turns, so that none waits for the others' windows.
static size_t protocol_atp_engine_write(struct sk_engine *base, uint8_t *buf, size_t cap,
                                        uint64_t now) {
    struct engine *e = protocol_atp_engine_of(base);
    size_t len = sk_join_write(&e->join, buf, cap, now);

    if (len || !sk_join_is_on(&e->join, now))
        return len;
    for (uint32_t i = 0; i < e->flows && len == 0; i++) {
        len = atp_worker_write(e->flow[e->turn].worker, buf, cap, now);
        e->turn = (e->turn + 1) % e->flows;
    }
    return len;
}

static uint32_t protocol_atp_engine_queued(const struct sk_engine *base) {
    const struct engine *e = (const struct engine *)base;
    uint32_t n = sk_join_queued(&e->join);

    for (uint32_t i = 0; i < e->flows && sk_join_is_on(&e->join, e->join.now); i++)
        n += atp_worker_queued(e->flow[i].worker);
    return n;
}

// The flow is in the upper bits of the sequence number, after the job's byte. What is none of ours
// is given to the first, which says and counts why.
static uint32_t flow_of(const struct engine *e, const uint8_t *frame, size_t len) {
    uint32_t flow;

    if (e->flows == 1 || len < ATP_HEADER_BYTES)
        return 0;
    flow = (uint32_t)frame[ATP_HEADER_BYTES - 3] >> (8 - e->flow_bits);
    return flow >= e->first_flow && flow - e->first_flow < e->flows ? flow - e->first_flow : 0;
}

static void engine_enter(struct engine *e, uint64_t now) {
    for (uint32_t i = 0; i < e->flows; i++)
        atp_worker_enter(e->flow[i].worker, e->join.member.session, now);
}

static void protocol_atp_engine_read(struct sk_engine *base, const uint8_t *frame, size_t len,
                                     uint64_t now) {
    struct engine *e = protocol_atp_engine_of(base);

    if (sk_join_read(&e->join, frame, len, now))
        engine_enter(e, now);
    else if (sk_join_is_on(&e->join, now) && atp_worker_read(e->flow[flow_of(e, frame, len)].worker,
                                                             frame, len, now) == ATP_ACCEPTED)
        sk_join_heard(&e->join, now);
}

static uint64_t protocol_atp_engine_deadline(struct sk_engine *base) {
    struct engine *e = protocol_atp_engine_of(base);
    uint64_t first = sk_join_deadline(&e->join);

    for (uint32_t i = 0; i < e->flows && !sk_join_is_joining(&e->join); i++) {
        uint64_t deadline = atp_worker_deadline(e->flow[i].worker);
        first = deadline < first ? deadline : first;
    }
    return first;
}

static unsigned protocol_atp_engine_expire(struct sk_engine *base, uint64_t now) {
    struct engine *e = protocol_atp_engine_of(base);
    unsigned events = sk_join_expire(&e->join, now);

    base->fault = e->join.fault;
    for (uint32_t i = 0; i < e->flows && !base->fault && !sk_join_is_joining(&e->join); i++)
        events |= atp_worker_expire(e->flow[i].worker, now);
    return events;
}

static bool protocol_atp_engine_joining(const struct sk_engine *base) {
    return sk_join_is_joining(&((const struct engine *)base)->join);
}

static uint64_t protocol_atp_engine_session(const struct sk_engine *base) {
    const struct sk_join *join = &((const struct engine *)base)->join;

    return join->on && !sk_join_is_joining(join) ? join->member.id : 0;
}

static void protocol_atp_engine_leave(struct sk_engine *base) {
    session_member_leave(&protocol_atp_engine_of(base)->join.member);
}

static bool protocol_atp_engine_busy(const struct sk_engine *base) {
    const struct engine *e = (const struct engine *)base;

    for (uint32_t i = 0; i < e->flows; i++)
        if (atp_worker_busy(e->flow[i].worker))
            return true;
    return false;
}

static void protocol_atp_engine_explain(const struct sk_engine *base, uint64_t now, char *buf,
                                        size_t cap) {
    const struct engine *e = (const struct engine *)base;
    struct sk_text t = SK_TEXT(buf, cap);
    size_t used = 0;

    if (sk_join_explain(&e->join, now, &t))
        return;
    for (uint32_t i = 0; i < e->flows && used + 1 < cap; i++) {
        if (e->flows == 1 || atp_worker_busy(e->flow[i].worker)) {
            atp_worker_explain(e->flow[i].worker, now, buf + used, cap - used);
            used += strlen(buf + used);
        }
    }
    t.length = used;
    sk_join_remark(&e->join, &t);
}

static uint64_t protocol_atp_larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void protocol_atp_engine_stats(const struct sk_engine *base, struct silken_stats *s) {
    const struct engine *e = (const struct engine *)base;

    s->tensors = e->tensors;
    s->elements = e->elements;
    for (uint32_t i = 0; i < e->flows; i++) {
        const struct atp_worker_stats w = atp_worker_stats(e->flow[i].worker);
        s->packets_sent += w.packets_sent;
        s->retransmissions += w.retransmissions;
        s->answers += w.acks;
        s->losses += w.losses;
        s->timeouts += w.timeouts;
        s->overflows += w.floats;
        s->marks += w.marks;
        s->rehashed += w.rehashed;
        s->rtt_ns = protocol_atp_larger(s->rtt_ns, w.rtt);
        s->rto_ns = protocol_atp_larger(s->rto_ns, w.rto);
        for (int kind = 0; kind < ATP_REASON_COUNT; kind++)
            s->ignored[kind] += w.ignored[kind];
    }
}

static void engine_move(struct sk_engine *base, const void *moved) {
    struct engine *e = protocol_atp_engine_of(base);
    const struct atp_place *place = moved;

    for (uint32_t i = 0; i < e->flows; i++)
        atp_worker_move(e->flow[i].worker, &place[i]);
}

static void free_joints(struct joint *j) {
    while (j) {
        struct joint *next = j->next;
        free(j);
        j = next;
    }
}

static void protocol_atp_engine_free(struct sk_engine *base) {
    struct engine *e = protocol_atp_engine_of(base);

    for (uint32_t i = 0; i < e->flows; i++)
        atp_worker_free(e->flow[i].worker);
    free_joints(e->open);
    free_joints(e->ended);
    free(e);
}

static const struct sk_engine_ops engine_ops = {
    .write = protocol_atp_engine_write,
    .queued = protocol_atp_engine_queued,
    .read = protocol_atp_engine_read,
    .deadline = protocol_atp_engine_deadline,
    .expire = protocol_atp_engine_expire,
    .free = protocol_atp_engine_free,
    .leave = protocol_atp_engine_leave,
    .submit = protocol_atp_engine_submit,
    .done = protocol_atp_engine_done,
    .busy = protocol_atp_engine_busy,
    .joining = protocol_atp_engine_joining,
    .session = protocol_atp_engine_session,
    .explain = protocol_atp_engine_explain,
    .stats = protocol_atp_engine_stats,
    .move = engine_move,
};

// ---- the protocol ----------------------------------------------------------------------------

static int protocol_atp_check(const struct silken_config *f, uint32_t lanes, char *why,
                              size_t why_cap) {
    const struct silken_atp *atp = &f->atp;

    if (atp->servers == 0 || atp->servers > SILKEN_MAX_FLOWS ||
        lanes * atp->servers > SILKEN_MAX_FLOWS) {
        snprintf(why, why_cap,
                 "a job has at least one server, and lanes times servers must be at most %d",
                 SILKEN_MAX_FLOWS);
        return SILKEN_ERR_INVALID;
    }
    if (!atp->server || !atp->group) {
        snprintf(why, why_cap, "the addresses of servers and groups are needed");
        return SILKEN_ERR_INVALID;
    }
    if (f->rank >= f->workers) {
        snprintf(why, why_cap, "worker %u does not exist; the job has %u", f->rank, f->workers);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

static struct atp_worker_config worker_config(const struct silken_config *f, uint32_t lanes,
                                              uint32_t flow) {
    struct atp_worker_config config;

    atp_worker_config_init(&config);
    config.flow.job = f->job;
    config.flow.flow = (uint8_t)flow;
    config.flow.flow_bits = sk_atp_flow_bits(lanes * f->atp.servers);
    config.rank = f->rank;
    config.first_index = f->atp.first_index;
    config.indices = f->atp.indices;
    config.window = f->atp.window;
    config.window_max = f->atp.window_max;
    config.rto_initial = f->rto_initial_us * SK_US;
    config.rto_min = f->rto_min_us * SK_US;
    config.rto_max = f->rto_max_us * SK_US;
    config.stall_warning = sk_limit(f->stall_warning_ms);
    config.hard_limit = sk_limit(f->hard_limit_ms);
    config.first_fragment = f->atp.first ? f->atp.first[flow].number : 0;
    return config;
}

// The flows of lane 'i', into 'e', which has room for them.
static int make_flows(struct engine *e, const struct silken_config *f, uint32_t lanes, uint32_t i,
                      const struct silken_lane *lane, const struct atp_place *place, char *why,
                      size_t why_cap) {
    for (; e->flows < f->atp.servers; e->flows++) {
        uint32_t number = i * f->atp.servers + e->flows;
        const struct silken_address *server = &f->atp.server[number], *group = &f->atp.group[i];
        struct atp_worker_config config = worker_config(f, lanes, number);
        struct flow *flow = &e->flow[e->flows];
        const char *fault = "out of memory";
        int rc;

        config.place = place[e->flows];
        flow->complete = f->atp.first ? f->atp.first[number].complete : 0;
        if (!sk_endpoint_parse(&config.flow.worker, lane->worker_mac, lane->worker_ip,
                               ATP_UDP_PORT) ||
            !sk_endpoint_parse(&config.flow.server, server->mac, server->ip, ATP_UDP_PORT) ||
            !sk_endpoint_parse(&config.flow.group, group->mac, group->ip, ATP_UDP_PORT)) {
            snprintf(why, why_cap,
                     "addresses of worker, servers and groups must be like 02:00:00:00:01:00 and "
                     "10.0.0.1");
            return SILKEN_ERR_INVALID;
        }
        rc = atp_worker_new(&flow->worker, &config, &fault);
        if (rc != 0) {
            snprintf(why, why_cap, "%s", fault);
            return rc;
        }
    }
    return 0;
}

// Lane 'i' is a member of the job's sessions, which its first server coordinates.
static int protocol_atp_join(struct engine *e, const struct silken_config *f, uint32_t lanes,
                             uint32_t i, const struct silken_lane *lane, uint64_t nonce, char *why,
                             size_t why_cap) {
    const struct session_message self = {
        .protocol = SESSION_ATP,
        .role = SESSION_WORKER,
        .rank = (uint16_t)f->rank,
        .workers = (uint16_t)f->workers,
        .lane = (uint8_t)i,
        .lanes = (uint8_t)lanes,
        .servers = (uint8_t)f->atp.servers,
        .job = f->job,
        .flags = f->atp.first ? SESSION_REPLACES : 0,
    };
    const struct silken_address *first = &f->atp.server[i * f->atp.servers];
    struct sk_endpoint worker, server, fabric;

    sk_endpoint_parse(&worker, lane->worker_mac, lane->worker_ip,
                      SESSION_PORT); // make_flows() did
    sk_endpoint_parse(&server, first->mac, first->ip, SESSION_PORT);
    if (!f->atp.no_switch &&
        !sk_endpoint_parse(&fabric, f->switch_mac, f->switch_ip, SESSION_PORT)) {
        snprintf(why, why_cap,
                 "the address of the worker's switch is needed, like 02:00:00:00:00:fe and "
                 "10.0.0.254: it starts the job's sessions");
        return SILKEN_ERR_INVALID;
    }
    sk_join_init(&e->join, &self, nonce, &worker, &server, f->atp.no_switch ? NULL : &fabric,
                 sk_limit(f->stall_warning_ms), sk_limit(f->hard_limit_ms));
    return 0;
}

static int protocol_atp_make(struct sk_engine **made, const struct silken_config *f, uint32_t lanes,
                             uint32_t i, const struct silken_lane *lane, uint64_t nonce, char *why,
                             size_t why_cap) {
    struct engine *e = calloc(1, sizeof *e + f->atp.servers * sizeof e->flow[0]);
    void *place = NULL;
    int rc;

    if (!e) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    e->base.ops = &engine_ops;
    e->ended_last = &e->ended;
    e->first_flow = (uint8_t)(i * f->atp.servers);
    e->flow_bits = sk_atp_flow_bits(lanes * f->atp.servers);
    rc = protocol_atp_places(&place, f, why, why_cap);
    rc = rc ? rc : make_flows(e, f, lanes, i, lane, place, why, why_cap);
    rc = rc || f->no_session ? rc : protocol_atp_join(e, f, lanes, i, lane, nonce, why, why_cap);
    free(place);
    if (rc != 0) {
        protocol_atp_engine_free(&e->base);
        return rc;
    }
    *made = &e->base;
    return 0;
}

static const char *protocol_atp_ignored_name(unsigned kind) {
    bool used = kind > ATP_ACCEPTED && kind < ATP_REASON_COUNT;

    return used ? atp_reason_name((enum atp_reason)kind) : NULL;
}

const struct sk_protocol sk_protocol_atp = {
    .whole = true,
    .check = protocol_atp_check,
    .make = protocol_atp_make,
    .places = protocol_atp_places,
    .ignored_name = protocol_atp_ignored_name,
};
