// SPDX-License-Identifier: Apache-2.0
//
// SwitchML's workers on hosts of the network.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/job.h"

#define POOL        8192u // slots of the program
#define HALVES_POOL 4096u // of the one that adds 16-bit floats

bool switchml_lane_wants(const struct sim_lane *lane, const uint8_t *frame, uint32_t length) {
    const struct sim_key key = sim_key_of(frame, length);
    return key.protocol == SIM_SWITCHML && key.job == lane->worker->job->number;
}

int switchml_prepare(struct sim_job *job, struct sk_error *err) {
    job->at = job->as->at != SCN_NONE ? job->as->at : switch_of(job->sim, job->workers[0].station);
    if (job->as->levels && !(job->levels = levels_of(job, err)))
        return -1;
    for (uint32_t i = 0; i + 1u < job->number; i++) {
        const struct sim_job *other = job->sim->jobs[i];
        if (other->as->protocol == SIM_SWITCHML &&
            (other->at == job->at || other->levels || job->levels))
            job->pool_base += other->slots;
    }
    const uint32_t pool = job->as->f16 ? HALVES_POOL : POOL;
    if (job->pool_base + job->slots > pool)
        return sk_fail(err, "job %s: its switch has %u slots, but the jobs need more",
                       job->as->name, pool);
    return 0;
}

struct sim_lane *switchml_lane(struct sim_worker *w, struct sk_error *err) {
    struct sim_job *job = w->job;
    const struct sim_station
        *st = &job->sim->stations[w->station],
        *at = &job->sim->stations[job->levels ? switch_of(job->sim, w->station) : job->at];
    struct sim_lane *lane = lane_new(w, 0);
    struct swml_config c = {.flow = {.worker = {.port = 0xbee0, .ip = st->ip},
                                     .fabric = {.port = 0xbee0, .ip = at->ip},
                                     .job = job->number,
                                     .k = (uint16_t)job->as->k,
                                     .halves = job->as->f16},
                            .rank = w->rank,
                            .workers = job->n_workers,
                            .pool_size = job->slots,
                            .rto_initial = job->rto_initial,
                            .rto_min = job->rto_min,
                            .rto_max = job->rto_max,
                            .stall_warning = SWML_NEVER,
                            .hard_limit = job->hard_limit};
    const char *why = "out of memory";
    memcpy(c.flow.worker.mac, st->mac, 6);
    memcpy(c.flow.fabric.mac, at->mac, 6);
    if (swml_worker_new(&lane->swml, &c, &why) == 0)
        return lane;
    free(lane);
    sk_fail(err, "job %s, worker %u: %s", job->as->name, w->rank, why);
    return NULL;
}
