// SPDX-License-Identifier: Apache-2.0
//
// lane: what a worker of either protocol does on its host: one of its flows, as an app of the host
// (job.h).
#include <stdlib.h>

#include "sim/job.h"

static bool sim_lane_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct sim_lane *lane = (const struct sim_lane *)a;
    return lane->swml ? switchml_lane_wants(lane, frame, length)
                      : atp_lane_wants(lane, frame, length);
}

static bool sim_lane_done(struct sim_lane *lane, void **part) {
    return lane->swml ? swml_worker_done(lane->swml, part) : atp_worker_done(lane->atp, part);
}

static void sim_lane_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length,
                             uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    void *part;
    if (lane->swml)
        swml_worker_read(lane->swml, frame, length, now);
    else
        atp_worker_read(lane->atp, frame, length, now);
    while (sim_lane_done(lane, &part))
        job_part_done(lane, part);
}

static size_t sim_lane_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    if (lane->failed)
        return 0;
    return lane->swml ? swml_worker_write(lane->swml, buf, cap, now)
                      : atp_worker_write(lane->atp, buf, cap, now);
}

static uint64_t sim_lane_deadline(struct sim_app *a) {
    struct sim_lane *lane = (struct sim_lane *)a;
    if (lane->failed)
        return SIM_NEVER;
    return lane->swml ? swml_worker_deadline(lane->swml) : atp_worker_deadline(lane->atp);
}

static void sim_lane_expire(struct sim_app *a, uint64_t now) {
    struct sim_lane *lane = (struct sim_lane *)a;
    const bool failed = lane->swml ? swml_worker_expire(lane->swml, now) & SWML_FAILED
                                   : atp_worker_expire(lane->atp, now) & ATP_FAILED;
    if (!failed)
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
    atp_worker_free(lane->atp);
    free(lane);
}

struct sim_lane *lane_new(struct sim_worker *w, uint32_t flow) {
    static const struct sim_app_ops ops = {sim_lane_wants,    sim_lane_deliver, sim_lane_next,
                                           sim_lane_deadline, sim_lane_expire,  lane_free};
    struct sim_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        abort();
    lane->app.ops = &ops;
    lane->worker = w;
    lane->flow = flow;
    return lane;
}

uint64_t lane_bytes(const struct sim_lane *lane) {
    if (lane->swml)
        return swml_worker_stats(lane->swml).answers * lane->worker->job->as->k *
               (lane->worker->job->as->f16 ? 2 : 4);
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
        const struct swml_tensor t = {.type = floats ? SWML_F32 : SWML_I32,
                                      .in = at,
                                      .out = at,
                                      .count = part->count,
                                      .cookie = part,
                                      .reach = (enum swml_reach)part->copy->tensor->reach,
                                      .who = part->copy->tensor->who};
        return swml_worker_submit(lane->swml, &t, now);
    }
    const struct atp_tensor t = {floats ? ATP_F32 : ATP_I32, at, at, part->count, part};
    return atp_worker_submit(lane->atp, &t, now);
}
