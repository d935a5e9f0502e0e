// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVER_TURN_MS 50

// A station's configuration; 'addresses' are the servers', which outlive it.
struct proc_station {
    struct silken_kv_config config;
    struct sparse_address self, server[DEMO_MAX_SERVERS];
    struct silken_address servers[DEMO_MAX_SERVERS];
    struct silken_kv_switch others[DEMO_MAX_RACKS];
};

static void proc_configure(struct proc_station *s, const struct sparse_job *job, unsigned station,
                           unsigned number) {
    const struct demo_options *o = job->o;
    const unsigned rack = sparse_rack(job, station);
    silken_kv_config_init(&s->config);
    s->self = sparse_address(job, station);
    for (unsigned i = 0; i < o->servers; i++) {
        s->server[i] = sparse_address(job, o->workers + i);
        s->servers[i] = (struct silken_address){s->server[i].mac, s->server[i].ip};
    }
    s->config.job = SPARSE_JOB;
    s->config.workers = o->workers;
    s->config.worker = number;
    s->config.keys = SPARSE_KEYS;
    s->config.layout = job->layout[rack];
    s->config.switch_cpu = 1;
    s->config.device = s->self.device;
    s->config.self = (struct silken_address){s->self.mac, s->self.ip};
    s->config.switch_address = sparse_switch[rack];
    for (unsigned r = 0; station < o->workers && r < o->racks; r++)
        if (r != rack)
            s->others[s->config.more_switches++] =
                (struct silken_kv_switch){sparse_switch[r], job->layout[r]};
    s->config.more_switch = s->others;
    s->config.servers = o->servers;
    s->config.server = s->servers;
}

static int proc_fail(const char *what, int rc) {
    fprintf(stderr, "%s: %s\n", what, silken_strerror(rc));
    return 1;
}

int sparse_serve(const struct sparse_job *job, unsigned number) {
    struct proc_station s;
    struct silken_kv_server *server;
    char why[512];
    int rc = 0;

    proc_configure(&s, job, job->o->workers + number, number);
    if (silken_kv_server_open(&server, &s.config, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    job->board->ready[number] = true;
    while (rc == 0 && !job->board->release)
        rc = silken_kv_server_run(server, SERVER_TURN_MS);
    silken_kv_server_close(server);
    return rc ? proc_fail("server", rc) : 0;
}

// ---- a worker ----

struct proc_worker {
    const struct sparse_job *job;
    unsigned number;
    struct silken_kv *kv;
    struct sparse_sample *samples;
    uint64_t *keys;
    float *weights, *steps;
};

static void proc_note(const struct proc_worker *w, size_t n) {
    struct sparse_pushed *pushed = w->job->board->pushed[w->number];
    for (size_t i = 0; i < n; i++) {
        struct sparse_pushed *p = &pushed[w->keys[i]];
        p->sum += (double)w->steps[i];
        p->magnitudes += fabs((double)w->steps[i]);
        p->terms++;
    }
}

// Pull, compute, push.
static int proc_step(struct proc_worker *w, unsigned step) {
    const struct sparse_job *job = w->job;
    uint64_t request;
    sparse_batch(job, w->number, step, w->samples, job->batch);
    size_t n = sparse_keys(w->samples, job->batch, w->keys);
    int rc = silken_kv_pull_f32(w->kv, w->keys, w->weights, NULL, n, &request);
    rc = rc ? rc : silken_kv_wait(w->kv, request);
    if (rc == 0 && job->o->sync) // nobody pushes while somebody still pulls
        rc = silken_kv_barrier(w->kv);
    if (rc)
        return rc;
    sparse_step(job, w->samples, job->batch, w->keys, n, w->weights, w->steps);
    proc_note(w, n);
    rc = silken_kv_push_f32(w->kv, w->keys, w->steps, NULL, n, &request);
    rc = rc ? rc : silken_kv_wait(w->kv, request);
    return rc == 0 && job->o->sync ? silken_kv_barrier(w->kv) : rc;
}

// The first worker pulls all parameters.
static int proc_end(struct proc_worker *w) {
    static uint64_t all[SPARSE_KEYS];
    uint64_t request;
    int rc = silken_kv_barrier(w->kv);
    for (uint64_t key = 0; key < SPARSE_KEYS; key++)
        all[key] = key;
    if (rc == 0 && w->number == 0)
        rc = silken_kv_pull_f32(w->kv, all, w->job->board->trained, NULL, SPARSE_KEYS, &request);
    if (rc == 0 && w->number == 0)
        rc = silken_kv_wait(w->kv, request);
    silken_kv_stats(w->kv, &w->job->board->status[w->number].stats);
    return rc;
}

static int proc_train(struct proc_worker *w) {
    int rc = 0;
    for (unsigned step = 0; rc == 0 && step < w->job->steps; step++) {
        rc = proc_step(w, step);
        w->job->board->status[w->number].steps = step + 1;
    }
    return rc ? rc : proc_end(w);
}

int sparse_work(const struct sparse_job *job, unsigned number) {
    struct proc_worker w = {.job = job, .number = number};
    struct proc_station s;
    char why[512];
    size_t most = (size_t)job->batch * SPARSE_FEATURES;

    proc_configure(&s, job, number, number);
    if (silken_kv_open(&w.kv, &s.config, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    w.samples = malloc(job->batch * sizeof *w.samples);
    w.keys = malloc(most * sizeof *w.keys);
    w.weights = malloc(most * sizeof *w.weights);
    w.steps = malloc(most * sizeof *w.steps);
    int rc = w.samples && w.keys && w.weights && w.steps ? proc_train(&w) : SILKEN_ERR_NOMEM;
    silken_kv_close(w.kv);
    free(w.samples);
    free(w.keys);
    free(w.weights);
    free(w.steps);
    return rc ? proc_fail("worker", rc) : 0;
}
