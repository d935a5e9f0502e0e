// SPDX-License-Identifier: Apache-2.0
//
// A worker of a ring. Its sums are checked by what a ring can make of the gradients on the board:
// a part of the tensor begins at the worker of its number and goes round; where something was
// missing, the sum began anew, so it is that of the last workers of the way, times the number of
// workers over theirs. Where the sum did not come back, it is a worker's own, times that number.
#include "cli/demo/lossy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURN_NS UINT32_C(2000000)

static int ring_open(const struct lossy_job *job, unsigned number, struct silken_comm **comm) {
    struct lossy_address address[DEMO_MAX_WORKERS] = {0};
    struct silken_address worker[DEMO_MAX_WORKERS];
    struct silken_config c;
    char why[512];
    silken_config_init(&c);
    for (unsigned w = 0; w < job->o->workers; w++) {
        address[w] = lossy_address(job, w);
        worker[w] = (struct silken_address){address[w].mac, address[w].ip};
    }
    c.protocol = SILKEN_DLCP;
    c.rank = number;
    c.workers = job->o->workers;
    c.job = LOSSY_JOB;
    c.device = address[number].device;
    c.rto_min_us = 2000;
    c.rto_initial_us = 20000;
    c.hard_limit_ms = 60000;
    c.dlcp.worker = worker;
    c.dlcp.ring = true;
    c.dlcp.bound = job->o->bound;
    c.dlcp.pull_bound = job->o->bound / 10;
    c.dlcp.tensors = job->network.layers;
    c.dlcp.backwards = true;
    c.dlcp.link_mbps = LOSSY_LINK_MBPS;
    c.dlcp.ports = job->o->spines ? 8 : 1;
    if (silken_open(comm, &c, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    return 0;
}

// The part of a tensor that element i is in: as hosts/dlcp/group.h cuts it.
static unsigned ring_part(size_t count, unsigned n, size_t i) {
    unsigned part = 0;
    while (part + 1 < n && i >= count / n * (part + 1) + count % n * (part + 1) / n)
        part++;
    return part;
}

// Whether 'sum' is one that the ring can have made, and whether it is that of all.
static bool ring_is_possible(const float *const *gradient, unsigned n, unsigned part, size_t i,
                             float sum, bool *all) {
    *all = false;
    for (unsigned m = n; m >= 1; m--) {
        float chain = gradient[(part + n - m) % n][i];
        for (unsigned k = n - m + 1; k < n; k++)
            chain = gradient[(part + k) % n][i] + chain;
        if (m < n)
            chain *= (float)n / (float)m;
        if (memcmp(&chain, &sum, sizeof sum) == 0) {
            *all = m == n;
            return true;
        }
    }
    for (unsigned w = 0; w < n; w++) {
        const float own = gradient[w][i] * (float)n;
        if (memcmp(&own, &sum, sizeof sum) == 0)
            return true;
    }
    return false;
}

static void ring_check(struct lossy_trainee *t, unsigned layer, unsigned step) {
    const struct lossy_job *job = t->job;
    const struct lossy_layer *l = &job->network.layer[layer];
    struct lossy_status *status = &job->board->status[t->number];
    const float *gradient[DEMO_MAX_WORKERS];
    uint64_t partial = 0;
    for (unsigned w = 0; w < job->o->workers; w++)
        gradient[w] = lossy_board_gradient(job, w, step) + l->first;
    for (size_t i = 0; i < l->count; i++) {
        bool all;
        status->wrong +=
            !ring_is_possible(gradient, job->o->workers, ring_part(l->count, job->o->workers, i), i,
                              t->came[l->first + i], &all);
        partial += !all;
    }
    // each of the steps of the first way may lack its share, and each of the second
    const double share = 1.1 * job->o->bound * (job->o->workers - 1);
    status->tensors++;
    status->below_bound += (double)partial > share * (double)l->count;
    status->elements += l->count;
    status->missing += partial;
}

static int ring_exchange(struct lossy_trainee *t, struct silken_comm *comm, unsigned step) {
    const struct lossy_network *n = &t->job->network;
    struct silken_request *request[LOSSY_LAYERS] = {NULL};
    int rc = 0;
    for (unsigned l = n->layers; l-- > 0 && rc == 0;)
        rc = silken_submit_f32(comm, t->gradient + n->layer[l].first, t->came + n->layer[l].first,
                               n->layer[l].count, &request[l]);
    for (unsigned l = 0; l < n->layers; l++) {
        const int ended = request[l] ? silken_wait(request[l]) : rc;
        rc = rc ? rc : ended;
        if (rc == 0)
            ring_check(t, l, step);
    }
    return rc;
}

static int ring_train(struct lossy_trainee *t, struct silken_comm *comm) {
    const struct timespec pause = {.tv_nsec = TURN_NS};
    const struct lossy_job *job = t->job;
    struct lossy_board *board = job->board;
    struct silken_dlcp_job_stats stats;
    float *velocity = calloc(job->network.parameters, sizeof *velocity);
    int rc = velocity ? 0 : SILKEN_ERR_NOMEM;
    board->ready[t->number] = true;
    while (!board->start)
        nanosleep(&pause, NULL);
    for (unsigned step = 0; step < job->steps && rc == 0; step++) {
        lossy_trainee_step(t, step);
        rc = ring_exchange(t, comm, step);
        if (rc == 0)
            lossy_update(t->weights, velocity, t->came, job->network.parameters,
                         lossy_rate(step, job->steps));
        board->status[t->number].steps = step + 1;
        silken_dlcp_job_stats(comm, &stats);
        board->status[t->number].stats = stats.station;
    }
    free(velocity);
    board->over[t->number] = true;
    if (rc == 0 && t->number == 0)
        memcpy(lossy_weights(job), t->weights, job->network.parameters * sizeof *t->weights);
    while (rc == 0 && !board->release)
        nanosleep(&pause, NULL);
    return rc;
}

int lossy_work_in_ring(const struct lossy_job *job, unsigned number) {
    struct lossy_trainee t;
    struct silken_comm *comm;
    if (ring_open(job, number, &comm))
        return 1;
    int rc = lossy_trainee_begin(&t, job, number);
    rc = rc ? rc : ring_train(&t, comm);
    silken_close(comm);
    lossy_trainee_end(&t);
    return rc ? lossy_proc_fail("worker", rc) : 0;
}
