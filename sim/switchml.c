// SPDX-License-Identifier: Apache-2.0
//
// SwitchML's workers on hosts of the network, and what is common to the lanes of both protocols.
#include <string.h>

#include "control/error.h"
#include "sim/job.h"

#include <stdlib.h>

#define POOL 8192u // slots of the program

static bool wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct sim_lane *lane = (const struct sim_lane *)a;
    const struct sim_key key = sim_key_of(frame, length);
    return key.protocol == SIM_SWITCHML && key.job == lane->worker->job->number;
}

static void collect(struct sim_lane *lane) {
    void *part;
    while (swml_worker_done(lane->swml, &part))
        job_part_done(lane, part);
}

static void deliver(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    swml_worker_read(lane->swml, frame, length, now);
    collect(lane);
}

static size_t next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    return lane->failed ? 0 : swml_worker_write(lane->swml, buf, cap, now);
}

static uint64_t deadline(struct sim_app *a) {
    struct sim_lane *lane = (struct sim_lane *)a;
    return lane->failed ? SIM_NEVER : swml_worker_deadline(lane->swml);
}

static void expire(struct sim_app *a, uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    if (!(swml_worker_expire(lane->swml, now) & SWML_FAILED))
        return;
    lane->failed = true;
    job_worker_failed(lane->worker);
}

static void lane_free(struct sim_app *a) {
    struct sim_lane *lane = (struct sim_lane *)a;
    while (lane->parts) {
        struct sim_part *part = lane->parts;
        lane->parts = part->next;
        free(part);
    }
    swml_worker_free(lane->swml);
    free(lane);
}

static const struct sim_app_ops ops = {wants, deliver, next, deadline, expire, lane_free};

int switchml_prepare(struct sim_job *job, struct sk_error *err) {
    job->at = job->as->at != SCN_NONE ? job->as->at : switch_of(job->sim, job->workers[0].station);
    for (uint32_t i = 0; i + 1u < job->number; i++) {
        const struct sim_job *other = job->sim->jobs[i];
        if (other->as->protocol == SIM_SWITCHML && other->at == job->at)
            job->pool_base += other->slots;
    }
    if (job->pool_base + job->slots > POOL)
        return sk_fail(err, "job %s: its switch has %u slots, and the jobs want more",
                       job->as->name, POOL);
    return 0;
}

struct sim_lane *switchml_lane(struct sim_worker *w, struct sk_error *err) {
    struct sim_job *job = w->job;
    const struct sim_station *st = &job->sim->stations[w->station],
                             *at = &job->sim->stations[job->at];
    struct sim_lane *lane = calloc(1, sizeof *lane);
    struct swml_config c = {.flow = {.worker = {.port = 0xbee0, .ip = st->ip},
                                     .fabric = {.port = 0xbee0, .ip = at->ip},
                                     .job = job->number,
                                     .k = (uint16_t)job->as->k},
                            .rank = w->rank,
                            .workers = job->n_workers,
                            .pool_size = job->slots,
                            .rto_initial = job->rto_initial,
                            .rto_min = job->rto_min,
                            .rto_max = job->rto_max,
                            .stall_warning = SWML_NEVER,
                            .hard_limit = job->hard_limit};
    const char *why = "out of memory";
    if (!lane)
        abort();
    memcpy(c.flow.worker.mac, st->mac, 6);
    memcpy(c.flow.fabric.mac, at->mac, 6);
    lane->app.ops = &ops;
    lane->worker = w;
    if (swml_worker_new(&lane->swml, &c, &why) == 0)
        return lane;
    free(lane);
    sk_fail(err, "job %s, worker %u: %s", job->as->name, w->rank, why);
    return NULL;
}

// ---- of both protocols ----

uint64_t lane_bytes(const struct sim_lane *lane) {
    if (lane->swml)
        return swml_worker_stats(lane->swml).answers * 4 * lane->worker->job->as->k;
    return atp_worker_stats(lane->atp).acks * 4 * ATP_VALUES;
}

uint64_t lane_retransmissions(const struct sim_lane *lane) {
    return lane->swml ? swml_worker_stats(lane->swml).retransmissions
                      : atp_worker_stats(lane->atp).retransmissions;
}

int lane_submit(struct sim_lane *lane, struct sim_part *part, uint32_t *data) {
    const bool floats = lane->worker->job->as->work.floats;
    const uint64_t now = lane->worker->job->sim->events.now;
    uint32_t *at = data + part->from;
    if (lane->swml) {
        const struct swml_tensor t = {floats ? SWML_F32 : SWML_I32, at, at, part->count, part};
        return swml_worker_submit(lane->swml, &t, now);
    }
    const struct atp_tensor t = {floats ? ATP_F32 : ATP_I32, at, at, part->count, part};
    return atp_worker_submit(lane->atp, &t, now);
}
