// SPDX-License-Identifier: Apache-2.0
//
// DLCP for communicators: an engine is one worker, which may be a server, too (hosts/dlcp/group.h).
#include "hosts/communicator/protocol_dlcp.h"

#include <stdio.h>
#include <stdlib.h>

#include "hosts/communicator/join.h"
#include "hosts/communicator/protocol.h"

struct protocol_dlcp_engine {
    struct sk_engine base;
    struct dlcp_group *group;
    struct sk_watch watch; // of calls that do not end
    struct silken_dlcp_job_stats published;
};

static struct protocol_dlcp_engine *protocol_dlcp_of(const struct sk_engine *e) {
    return (struct protocol_dlcp_engine *)e;
}

// ---- the engine ------------------------------------------------------------------------------

static size_t protocol_dlcp_write(struct sk_engine *e, uint8_t *buf, size_t cap, uint64_t now) {
    return dlcp_group_write(protocol_dlcp_of(e)->group, buf, cap, now);
}

static uint32_t protocol_dlcp_queued(const struct sk_engine *e) {
    return dlcp_group_queued(protocol_dlcp_of(e)->group);
}

static void protocol_dlcp_read(struct sk_engine *e, const uint8_t *frame, size_t len,
                               uint64_t now) {
    struct protocol_dlcp_engine *d = protocol_dlcp_of(e);
    if (dlcp_group_read(d->group, frame, len, now) == DLCP_ACCEPTED)
        sk_watch_start(&d->watch, now);
}

static uint64_t protocol_dlcp_deadline(struct sk_engine *e) {
    return dlcp_group_deadline(protocol_dlcp_of(e)->group);
}

static unsigned protocol_dlcp_expire(struct sk_engine *e, uint64_t now) {
    struct protocol_dlcp_engine *d = protocol_dlcp_of(e);
    if (dlcp_group_failed(d->group))
        return SK_ENGINE_FAILED;
    return dlcp_group_busy(d->group) && sk_watch_warns(&d->watch, now) ? SK_ENGINE_STALLED : 0;
}

static void protocol_dlcp_free(struct sk_engine *e) {
    dlcp_group_free(protocol_dlcp_of(e)->group);
    free(e);
}

// Nobody has to know: who still waits for something is served before.
static void protocol_dlcp_leave(struct sk_engine *e) {
    (void)e;
}

static bool protocol_dlcp_lingers(const struct sk_engine *e) {
    const struct dlcp_group *group = protocol_dlcp_of(e)->group;
    return !dlcp_group_failed(group) && dlcp_group_queued(group);
}

static int protocol_dlcp_submit(struct sk_engine *e, const struct sk_tensor *t, uint64_t now) {
    struct protocol_dlcp_engine *d = protocol_dlcp_of(e);
    if (!dlcp_group_busy(d->group))
        sk_watch_start(&d->watch, now);
    return dlcp_group_submit(d->group, t->in, t->out, t->count, t->cookie, now);
}

static bool protocol_dlcp_done(struct sk_engine *e, void **cookie) {
    return dlcp_group_done(protocol_dlcp_of(e)->group, cookie);
}

static bool protocol_dlcp_busy(const struct sk_engine *e) {
    return dlcp_group_busy(protocol_dlcp_of(e)->group);
}

static bool protocol_dlcp_joining(const struct sk_engine *e) {
    (void)e;
    return false;
}

static uint64_t protocol_dlcp_session(const struct sk_engine *e) {
    (void)e;
    return 0;
}

static void protocol_dlcp_explain(const struct sk_engine *e, uint64_t now, char *buf, size_t cap) {
    const struct protocol_dlcp_engine *d = protocol_dlcp_of(e);
    const struct dlcp_station_stats s = dlcp_group_stats(d->group).station;
    (void)now;
    snprintf(buf, cap,
             "DLCP has heard nothing from the others for a while: %llu data packets sent, %llu "
             "came, %llu of those sent to us are lost.\n",
             (unsigned long long)s.sent.data, (unsigned long long)s.came,
             (unsigned long long)(s.expected > s.came ? s.expected - s.came : 0));
}

static unsigned protocol_dlcp_kind(unsigned reason) {
    return reason < SILKEN_IGNORED_KINDS - 1 ? reason : SILKEN_IGNORED_KINDS - 1;
}

static void protocol_dlcp_stats(const struct sk_engine *e, struct silken_stats *s) {
    struct protocol_dlcp_engine *d = protocol_dlcp_of(e);
    const struct dlcp_group_stats g = dlcp_group_stats(d->group);
    s->tensors = g.tensors;
    s->elements = g.elements;
    s->packets_sent = g.station.sent.data + g.station.sent.signals + g.station.received.signals;
    s->retransmissions = g.station.sent.repeated;
    s->answers = g.station.received.data;
    for (unsigned i = 1; i < DLCP_REASON_COUNT; i++)
        s->ignored[protocol_dlcp_kind(i)] += g.station.refused[i];
    sk_dlcp_stats(&d->published.station, &g.station);
    d->published.missing_push = g.missing_push;
    d->published.missing_pull = g.missing_pull;
}

void sk_dlcp_engine_stats(const struct sk_engine *e, struct silken_dlcp_job_stats *stats) {
    *stats = protocol_dlcp_of(e)->published;
}

static const struct sk_engine_ops protocol_dlcp_ops = {
    .write = protocol_dlcp_write,
    .queued = protocol_dlcp_queued,
    .read = protocol_dlcp_read,
    .deadline = protocol_dlcp_deadline,
    .expire = protocol_dlcp_expire,
    .free = protocol_dlcp_free,
    .leave = protocol_dlcp_leave,
    .lingers = protocol_dlcp_lingers,
    .submit = protocol_dlcp_submit,
    .done = protocol_dlcp_done,
    .busy = protocol_dlcp_busy,
    .joining = protocol_dlcp_joining,
    .session = protocol_dlcp_session,
    .explain = protocol_dlcp_explain,
    .stats = protocol_dlcp_stats,
};

// ---- the protocol ----------------------------------------------------------------------------

static int protocol_dlcp_refuse(char *why, size_t why_cap, const char *text) {
    snprintf(why, why_cap, "%s", text);
    return SILKEN_ERR_INVALID;
}

static int protocol_dlcp_check(const struct silken_config *f, uint32_t lanes, char *why,
                               size_t why_cap) {
    if (lanes != 1)
        return protocol_dlcp_refuse(why, why_cap, "a worker of DLCP has one lane");
    if (f->workers < 1 || f->workers > DLCP_WORKERS_MOST || f->rank >= f->workers)
        return protocol_dlcp_refuse(why, why_cap,
                                    "a job of DLCP has 1 to 256 workers, and the rank is one of "
                                    "theirs");
    if (!f->dlcp.worker)
        return protocol_dlcp_refuse(why, why_cap,
                                    "dlcp.worker, all workers' addresses, is missing");
    if (!(f->dlcp.bound >= 0 && f->dlcp.bound < 1 && f->dlcp.pull_bound >= 0 &&
          f->dlcp.pull_bound < 1))
        return protocol_dlcp_refuse(why, why_cap, "a bound is a share from 0 to below 1");
    return 0;
}

static struct dlcp_group_config
protocol_dlcp_config(const struct silken_config *f, const struct sk_endpoint *end, uint64_t nonce) {
    const struct silken_dlcp_job *d = &f->dlcp;
    return (struct dlcp_group_config){
        .station = {.self = end[f->rank],
                    .first_port = d->first_port,
                    .ports = d->ports,
                    .link = (uint64_t)d->link_mbps * 1000000,
                    .period = d->period_us * SK_US,
                    .burst = d->burst_us * SK_US,
                    .rto_initial = f->rto_initial_us * SK_US,
                    .rto_min = f->rto_min_us * SK_US,
                    .rto_max = f->rto_max_us * SK_US,
                    .hard_limit = sk_limit(f->hard_limit_ms),
                    .nonce = (uint32_t)nonce},
        .rank = f->rank,
        .workers = f->workers,
        .servers = d->ring      ? 0
                   : d->servers ? d->servers
                                : f->workers,
        .end = end,
        .job = f->job,
        .bound = (uint32_t)(d->bound * DLCP_ALL + 0.5),
        .pull_bound = (uint32_t)(d->pull_bound * DLCP_ALL + 0.5),
        .tensors = d->tensors ? d->tensors : 1,
        .backwards = d->backwards,
        .cut = d->cut_bytes,
        .threshold = d->paper_threshold ? DLCP_MEDIAN_OF_VALUES : DLCP_MEDIAN_OF_MEANS,
    };
}

static int protocol_dlcp_make(struct sk_engine **made, const struct silken_config *f,
                              uint32_t lanes, uint32_t i, const struct silken_lane *lane,
                              uint64_t nonce, char *why, size_t why_cap) {
    struct sk_endpoint *end = calloc(f->workers, sizeof *end);
    struct protocol_dlcp_engine *e = calloc(1, sizeof *e);
    const char *fault = "out of memory";
    int rc = end && e ? 0 : SILKEN_ERR_NOMEM;
    (void)lanes, (void)i;
    for (uint32_t w = 0; w < f->workers && rc == 0; w++) {
        const struct silken_address *a = &f->dlcp.worker[w];
        const struct silken_address own = {lane->worker_mac, lane->worker_ip};
        if (!sk_endpoint_parse(&end[w], a->mac, a->ip, DLCP_PORT) ||
            (w == f->rank && own.ip && !sk_endpoint_parse(&end[w], own.mac, own.ip, DLCP_PORT))) {
            fault = "workers' addresses must be like 02:00:00:00:01:00 and 10.0.0.1";
            rc = SILKEN_ERR_INVALID;
        }
    }
    if (rc == 0) {
        const struct dlcp_group_config c = protocol_dlcp_config(f, end, nonce);
        rc = dlcp_group_new(&e->group, &c, &fault);
    }
    free(end);
    if (rc) {
        snprintf(why, why_cap, "%s", fault ? fault : "out of memory");
        free(e);
        return rc;
    }
    e->base.ops = &protocol_dlcp_ops;
    e->watch = (struct sk_watch){.warning = sk_limit(f->stall_warning_ms), .limit = SK_TIME_NEVER};
    *made = &e->base;
    return 0;
}

static const char *protocol_dlcp_ignored_name(unsigned kind) {
    if (kind == DLCP_ACCEPTED || kind >= SILKEN_IGNORED_KINDS)
        return NULL;
    return kind == SILKEN_IGNORED_KINDS - 1 ? "other" : dlcp_reason_name((enum dlcp_reason)kind);
}

const struct sk_protocol sk_protocol_dlcp = {
    .check = protocol_dlcp_check,
    .make = protocol_dlcp_make,
    .ignored_name = protocol_dlcp_ignored_name,
};
