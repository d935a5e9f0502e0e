// SPDX-License-Identifier: Apache-2.0
//
// SwitchML by RoCEv2 for communicators: an engine is one worker (hosts/roce/worker.h), with a part
// of the pool's slots, and the tensors that wait for it. It has no sessions: the job's slots are
// clear, and the queue pairs' numbers known, before it begins.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_roce.h"
#include "hosts/communicator/station.h"
#include "hosts/core/rto.h"
#include "hosts/core/text.h"
#include "hosts/roce/worker.h"
#include "hosts/transport/transport.h"

_Static_assert(SILKEN_IGNORED_KINDS >= ROCE_REASON_COUNT, "public counters cover all reasons");
_Static_assert(ROCE_MAX_FRAME <= SK_MAX_FRAME, "a transport takes it");

#define QUEUE_PAIRS 64u // of a replication id (p4/switchml/README.md)

struct roce_job {
    struct sk_tensor tensor;
    struct roce_job *next;
};

struct roce_engine {
    struct sk_engine base;
    struct roce_worker *worker;
    struct roce_job *jobs, **last; // the first is the worker's
    struct roce_job *done, **done_last;
    struct sk_watch watch; // warnings only: the worker has the limit
    uint64_t progress;     // messages answered when it was last started
    uint64_t elements;
    uint32_t rank, workers;
};

static struct roce_engine *roce_engine_of(struct sk_engine *e) {
    return (struct roce_engine *)e;
}

static const struct roce_engine *roce_engine_const(const struct sk_engine *e) {
    return (const struct roce_engine *)e;
}

// ---- tensors ---------------------------------------------------------------------------------

// Moves tensors that are complete to those that are done, and gives the worker the next one.
static void roce_engine_go_on(struct roce_engine *e, uint64_t now) {
    while (e->jobs && !roce_worker_busy(e->worker)) {
        struct roce_job *job = e->jobs;
        e->jobs = job->next;
        if (!e->jobs)
            e->last = &e->jobs;
        job->next = NULL;
        *e->done_last = job;
        e->done_last = &job->next;
        e->elements += job->tensor.count;
        if (e->jobs) {
            const struct sk_tensor *t = &e->jobs->tensor;
            const struct roce_tensor next = {t->type, t->in, t->out, t->count};
            roce_worker_submit(e->worker, &next, now);
        }
    }
}

static int roce_engine_submit(struct sk_engine *base, const struct sk_tensor *t, uint64_t now) {
    struct roce_engine *e = roce_engine_of(base);
    const struct roce_tensor tensor = {t->type, t->in, t->out, t->count};
    struct roce_job *job;
    int rc = 0;

    if (t->reach != SK_ALL || (t->type != SILKEN_F32 && t->type != SILKEN_I32) ||
        t->count > SIZE_MAX / 8 || (t->count > 0 && (!t->in || !t->out)))
        return SILKEN_ERR_INVALID;
    job = calloc(1, sizeof *job);
    if (!job)
        return SILKEN_ERR_NOMEM;
    job->tensor = *t;
    if (!e->jobs) {
        rc = roce_worker_submit(e->worker, &tensor, now);
        sk_watch_start(&e->watch, now);
    }
    if (rc != 0) {
        free(job);
        return rc;
    }
    *e->last = job;
    e->last = &job->next;
    roce_engine_go_on(e, now); // one of no elements is complete
    return 0;
}

static bool roce_engine_done(struct sk_engine *base, void **cookie) {
    struct roce_engine *e = roce_engine_of(base);
    struct roce_job *job = e->done;

    if (!job)
        return false;
    e->done = job->next;
    if (!e->done)
        e->done_last = &e->done;
    *cookie = job->tensor.cookie;
    free(job);
    return true;
}

static bool roce_engine_busy(const struct sk_engine *base) {
    return roce_engine_const(base)->jobs != NULL;
}

// ---- frames and time -------------------------------------------------------------------------

static size_t roce_engine_write(struct sk_engine *base, uint8_t *buf, size_t cap, uint64_t now) {
    return cap < ROCE_MAX_FRAME ? 0 : roce_worker_write(roce_engine_of(base)->worker, buf, now);
}

static uint32_t roce_engine_queued(const struct sk_engine *base) {
    return roce_worker_queued(roce_engine_const(base)->worker);
}

static void roce_engine_read(struct sk_engine *base, const uint8_t *frame, size_t len,
                             uint64_t now) {
    struct roce_engine *e = roce_engine_of(base);

    if (roce_worker_read(e->worker, frame, len, now) != ROCE_ACCEPTED)
        return;
    const uint64_t done = roce_worker_stats(e->worker).messages_done;
    if (done != e->progress) {
        e->progress = done;
        sk_watch_start(&e->watch, now);
        roce_engine_go_on(e, now);
    }
}

static uint64_t roce_engine_deadline(struct sk_engine *base) {
    struct roce_engine *e = roce_engine_of(base);

    if (!e->jobs)
        return SK_ENGINE_NEVER;
    return sk_time_earlier(roce_worker_deadline(e->worker), sk_watch_deadline(&e->watch));
}

static unsigned roce_engine_expire(struct sk_engine *base, uint64_t now) {
    struct roce_engine *e = roce_engine_of(base);
    unsigned events = 0;

    if (e->jobs && sk_watch_warns(&e->watch, now))
        events |= SK_ENGINE_STALLED;
    if (!roce_worker_expire(e->worker, now))
        events |= SK_ENGINE_FAILED;
    return events;
}

static void roce_engine_leave(struct sk_engine *base) {
    (void)base;
}

static bool roce_engine_joining(const struct sk_engine *base) {
    (void)base;
    return false;
}

static uint64_t roce_engine_session(const struct sk_engine *base) {
    (void)base;
    return 0;
}

static void roce_engine_free_jobs(struct roce_job *job) {
    while (job) {
        struct roce_job *next = job->next;
        free(job);
        job = next;
    }
}

static void roce_engine_free(struct sk_engine *base) {
    struct roce_engine *e = roce_engine_of(base);

    roce_engine_free_jobs(e->jobs);
    roce_engine_free_jobs(e->done);
    roce_worker_free(e->worker);
    free(e);
}

// ---- what is said of it ----------------------------------------------------------------------

static void roce_engine_explain(const struct sk_engine *base, uint64_t now, char *buf, size_t cap) {
    const struct roce_engine *e = roce_engine_const(base);
    const struct roce_stats s = roce_worker_stats(e->worker);
    struct sk_text t = SK_TEXT(buf, cap);
    uint64_t ignored = 0;

    for (int i = ROCE_ACCEPTED + 1; i < ROCE_REASON_COUNT; i++)
        ignored += s.heard[i];
    sk_say(&t, "worker %u of %u, by RoCEv2: no message answered for %.1f ms\n", e->rank, e->workers,
           (double)(now - e->watch.since) / 1e6);
    sk_say(&t,
           "  sent %llu packets of %llu messages, %llu of them again; %llu messages answered, %llu "
           "packets of answers, %llu frames ignored\n",
           (unsigned long long)s.packets_sent, (unsigned long long)s.messages_sent,
           (unsigned long long)s.retransmissions, (unsigned long long)s.messages_done,
           (unsigned long long)s.heard[ROCE_ACCEPTED], (unsigned long long)ignored);
    for (int i = ROCE_ACCEPTED + 1; i < ROCE_REASON_COUNT; i++)
        if (s.heard[i] > 0)
            sk_say(&t, "  %llu: %s\n", (unsigned long long)s.heard[i],
                   roce_reason_text((enum roce_reason)i));
    if (s.messages_done == 0 && ignored == 0)
        sk_say(&t, "  nothing came: the switch does not know this worker's queue pairs, or not all "
                   "workers are there\n");
}

static void roce_engine_stats(const struct sk_engine *base, struct silken_stats *out) {
    const struct roce_engine *e = roce_engine_const(base);
    const struct roce_stats s = roce_worker_stats(e->worker);

    out->tensors = s.tensors_done;
    out->elements = e->elements;
    out->packets_sent = s.packets_sent;
    out->retransmissions = s.packets_again;
    out->answers = s.heard[ROCE_ACCEPTED];
    out->rtt_ns = s.rtt;
    out->rto_ns = s.rto;
    memcpy(out->ignored, s.heard, sizeof s.heard);
    out->ignored[ROCE_ACCEPTED] = 0;
}

static const struct sk_engine_ops roce_engine_ops = {
    .write = roce_engine_write,
    .queued = roce_engine_queued,
    .read = roce_engine_read,
    .deadline = roce_engine_deadline,
    .expire = roce_engine_expire,
    .free = roce_engine_free,
    .leave = roce_engine_leave,
    .submit = roce_engine_submit,
    .done = roce_engine_done,
    .busy = roce_engine_busy,
    .joining = roce_engine_joining,
    .session = roce_engine_session,
    .explain = roce_engine_explain,
    .stats = roce_engine_stats,
};

// ---- the protocol ----------------------------------------------------------------------------

static int protocol_roce_check(const struct silken_config *f, uint32_t lanes, char *why,
                               size_t why_cap) {
    const struct silken_rdma *r = &f->rdma;
    const uint32_t parts = lanes * r->pairs;

    if (r->pairs < 1 || r->pairs > ROCE_MAX_PAIRS) {
        snprintf(why, why_cap, "by RoCEv2 a worker has 1 to %d queue pairs, not %u", ROCE_MAX_PAIRS,
                 r->pairs);
        return SILKEN_ERR_INVALID;
    }
    if (f->pool_size % parts != 0 || f->pool_size / parts < 1 ||
        f->pool_size / parts > ROCE_MAX_SLOTS) {
        snprintf(why, why_cap,
                 "by RoCEv2 each queue pair has as many slots as a message has packets, 1 to %d: "
                 "%u slots are not for %u queue pairs",
                 ROCE_MAX_SLOTS, f->pool_size, parts);
        return SILKEN_ERR_INVALID;
    }
    if (r->queue_pair % QUEUE_PAIRS != 0 || r->queue_pair > 0xffffff) {
        snprintf(why, why_cap,
                 "the switch's first queue pair of a worker is a multiple of %u below 2^24, not %u",
                 QUEUE_PAIRS, r->queue_pair);
        return SILKEN_ERR_INVALID;
    }
    if (f->f16) {
        snprintf(why, why_cap, "16-bit floats in the switch (f16) do not go by RoCEv2");
        return SILKEN_ERR_UNSUPPORTED;
    }
    return 0;
}

static int protocol_roce_make(struct sk_engine **made, const struct silken_config *f,
                              uint32_t lanes, uint32_t i, const struct silken_lane *lane,
                              uint64_t nonce, char *why, size_t why_cap) {
    const struct silken_rdma *r = &f->rdma;
    const uint32_t slots = f->pool_size / lanes;
    struct roce_config config = {
        .pairs = r->pairs,
        .slots = slots / r->pairs,
        .base = i * slots,
        .workers = f->workers,
        .k = f->k,
        .qpn = r->own + i * QUEUE_PAIRS,
        .fabric_qpn = r->queue_pair + i * QUEUE_PAIRS,
        .psn = r->psn,
        .fabric_psn = r->switch_psn,
        .rkey = r->rkey,
        .rto_first = f->rto_initial_us * SK_US,
        .rto_min = f->rto_min_us * SK_US,
        .rto_max = f->rto_max_us * SK_US,
        .limit = sk_limit(f->hard_limit_ms),
    };
    const char *fault = "out of memory";
    struct sk_station station;
    struct roce_engine *e;
    int rc = sk_station_resolve(&station, f, i, lane, why, why_cap);

    (void)nonce;
    if (rc != 0)
        return rc;
    config.worker = station.worker;
    config.fabric = station.fabric;
    e = calloc(1, sizeof *e);
    rc = e ? roce_worker_new(&e->worker, &config, &fault) : SILKEN_ERR_NOMEM;
    if (rc != 0) {
        snprintf(why, why_cap, "%s", fault);
        free(e);
        return rc;
    }
    e->base.ops = &roce_engine_ops;
    e->last = &e->jobs;
    e->done_last = &e->done;
    e->watch = (struct sk_watch){.warning = sk_limit(f->stall_warning_ms), .limit = SK_TIME_NEVER};
    e->rank = f->rank;
    e->workers = f->workers;
    *made = &e->base;
    return 0;
}

static const char *protocol_roce_ignored_name(unsigned kind) {
    const bool used = kind > ROCE_ACCEPTED && kind < ROCE_REASON_COUNT;

    return used ? roce_reason_name((enum roce_reason)kind) : NULL;
}

const struct sk_protocol sk_protocol_roce = {
    .check = protocol_roce_check,
    .make = protocol_roce_make,
    .ignored_name = protocol_roce_ignored_name,
};
