// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/lossy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNTOUCHED     UINT32_C(0x7fc0dead) // bits of a NaN that no training makes
#define TURN_MS       20
#define LINGER_MS     300 // until the others know
#define HARD_LIMIT_MS 60000

// ---- the board ----

float *lossy_weights(const struct lossy_job *job) {
    return job->board->values;
}

float *lossy_reference(const struct lossy_job *job) {
    return job->board->values + job->network.parameters;
}

float *lossy_board_gradient(const struct lossy_job *job, unsigned worker, unsigned step) {
    return job->board->values + (2 + 2 * (size_t)worker + step % 2) * job->network.parameters;
}

// ---- stations ----

static struct silken_dlcp *lossy_open(const struct lossy_job *job, unsigned station) {
    const struct lossy_address a = lossy_address(job, station);
    struct silken_dlcp_config c;
    struct silken_dlcp *d;
    char why[512];
    silken_dlcp_config_init(&c);
    c.self = (struct silken_address){a.mac, a.ip};
    c.device = a.device;
    c.link_mbps = LOSSY_LINK_MBPS;
    c.ports = job->o->spines ? 8 : 1;
    c.hard_limit_ms = HARD_LIMIT_MS;
    if (silken_dlcp_open(&d, &c, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return NULL;
    }
    return d;
}

static struct silken_dlcp_tensor lossy_tensor(const struct lossy_job *job, unsigned layer,
                                              unsigned step, bool pull, float *values) {
    return (struct silken_dlcp_tensor){.values = values,
                                       .count = job->network.layer[layer].count,
                                       .job = LOSSY_JOB,
                                       .tensor = (uint16_t)layer,
                                       .iteration = step,
                                       .pull = pull,
                                       .layer = layer,
                                       .layers = job->network.layers,
                                       .bound = pull ? job->o->bound / 10 : job->o->bound};
}

static void lossy_blank(float *values, size_t n) {
    const uint32_t bits = UNTOUCHED;
    for (size_t i = 0; i < n; i++)
        memcpy(&values[i], &bits, sizeof bits);
}

// What came against what was sent; what did not come is as it was blanked.
static void lossy_check(struct lossy_status *status, struct silken_dlcp_flow *f, const float *came,
                        const float *sent, double bound) {
    const size_t n = silken_dlcp_tensor_of(f)->count;
    size_t first, count, at = 0, there = 0;
    const uint32_t blank = UNTOUCHED;
    while (at < n) {
        if (!silken_dlcp_missing(f, &first, &count)) {
            first = n;
            count = 0;
        }
        for (; at < first; at++, there++)
            status->wrong += memcmp(&came[at], &sent[at], sizeof *came) != 0;
        for (; at < first + count; at++)
            status->wrong += memcmp(&came[at], &blank, sizeof blank) != 0;
    }
    status->tensors++;
    status->below_bound += (double)(n - there) > bound * (double)n;
    status->wrong += there != silken_dlcp_elements(f);
    status->elements += n;
    status->missing += n - there;
}

static void lossy_show(struct lossy_status *status, const struct silken_dlcp *d) {
    silken_dlcp_stats(d, &status->stats);
}

static void lossy_say_failed(const struct silken_dlcp_flow *f) {
    const struct silken_dlcp_tensor *t = silken_dlcp_tensor_of(f);
    if (silken_dlcp_is_sent(f))
        fprintf(stderr, "the weights of layer %u, step %u, did not reach a worker\n", t->tensor,
                t->iteration);
    else
        fprintf(stderr, "of the gradients of layer %u, step %u, %zu of %zu came from a worker\n",
                t->tensor, t->iteration, silken_dlcp_elements(f), t->count);
}

int lossy_proc_fail(const char *what, int rc) {
    fprintf(stderr, "%s: %s\n", what, silken_strerror(rc));
    return 1;
}

// ---- the server ----

struct lossy_server {
    const struct lossy_job *job;
    struct silken_dlcp *d;
    struct lossy_status *status;
    float *velocity, *sum; // owned
    float *came;           // owned: by worker
    struct silken_dlcp_flow *push[LOSSY_LAYERS][DEMO_MAX_WORKERS];
    unsigned left[LOSSY_LAYERS]; // pushes that have not come
    unsigned step[LOSSY_LAYERS];
    unsigned pulls; // that are being sent
};

static float *lossy_server_came(const struct lossy_server *s, unsigned worker, unsigned layer) {
    return s->came + worker * s->job->network.parameters + s->job->network.layer[layer].first;
}

static struct silken_address lossy_silken_address(const struct lossy_address *a) {
    return (struct silken_address){a->mac, a->ip};
}

static int lossy_server_expect(struct lossy_server *s, unsigned layer) {
    int rc = 0;
    s->left[layer] = s->job->o->workers;
    for (unsigned w = 0; w < s->job->o->workers && rc == 0; w++) {
        const struct lossy_address a = lossy_address(s->job, w);
        const struct silken_address from = lossy_silken_address(&a);
        const struct silken_dlcp_tensor t =
            lossy_tensor(s->job, layer, s->step[layer], false, lossy_server_came(s, w, layer));
        lossy_blank(t.values, t.count);
        rc = silken_dlcp_recv(s->d, &from, &t, s->job->o->bound, &s->push[layer][w]);
    }
    return rc;
}

static bool lossy_came(const float *value) {
    const uint32_t blank = UNTOUCHED;
    return memcmp(value, &blank, sizeof blank) != 0;
}

// The mean of what came of each parameter, times the number of workers; none: no update.
static void lossy_server_update(struct lossy_server *s, unsigned layer) {
    const struct lossy_layer *l = &s->job->network.layer[layer];
    const unsigned workers = s->job->o->workers;
    const float rate = lossy_rate(s->step[layer], s->job->steps);
    float *weights = lossy_weights(s->job) + l->first, *velocity = s->velocity + l->first;
    for (size_t first = 0; first < l->count; first += SILKEN_DLCP_SEGMENT) {
        const size_t n =
            l->count - first < SILKEN_DLCP_SEGMENT ? l->count - first : SILKEN_DLCP_SEGMENT;
        unsigned came = 0;
        memset(s->sum, 0, n * sizeof *s->sum);
        for (unsigned w = 0; w < workers; w++) {
            const float *g = lossy_server_came(s, w, layer) + first;
            if (!lossy_came(g))
                continue;
            came++;
            for (size_t i = 0; i < n; i++)
                s->sum[i] += g[i];
        }
        for (size_t i = 0; i < n && came > 0; i++)
            s->sum[i] *= (float)workers / (float)came;
        if (came > 0)
            lossy_update(weights + first, velocity + first, s->sum, n, rate);
    }
}

static int lossy_server_send(struct lossy_server *s, unsigned layer) {
    const struct lossy_layer *l = &s->job->network.layer[layer];
    int rc = 0;
    for (unsigned w = 0; w < s->job->o->workers && rc == 0; w++) {
        const struct lossy_address a = lossy_address(s->job, w);
        const struct silken_address to = lossy_silken_address(&a);
        const struct silken_dlcp_tensor t =
            lossy_tensor(s->job, layer, s->step[layer], true, lossy_weights(s->job) + l->first);
        struct silken_dlcp_flow *f;
        rc = silken_dlcp_send(s->d, &to, &t, NULL, NULL, &f);
        s->pulls += rc == 0;
    }
    return rc;
}

// All workers' gradients of a layer are here.
static int lossy_server_step(struct lossy_server *s, unsigned layer) {
    const struct lossy_job *job = s->job;
    for (unsigned w = 0; w < job->o->workers; w++) {
        lossy_check(s->status, s->push[layer][w], lossy_server_came(s, w, layer),
                    lossy_board_gradient(job, w, s->step[layer]) + job->network.layer[layer].first,
                    job->o->bound);
        silken_dlcp_end(s->push[layer][w]);
        s->push[layer][w] = NULL;
    }
    lossy_server_update(s, layer);
    int rc = lossy_server_send(s, layer);
    s->step[layer]++;
    if (layer == 0)
        s->status->steps = s->step[layer];
    lossy_show(s->status, s->d);
    return rc || s->step[layer] == job->steps ? rc : lossy_server_expect(s, layer);
}

static int lossy_server_ended(struct lossy_server *s, struct silken_dlcp_flow *f) {
    const unsigned layer = silken_dlcp_tensor_of(f)->tensor;
    int rc = silken_dlcp_result(f);
    if (rc)
        lossy_say_failed(f);
    if (silken_dlcp_is_sent(f)) {
        silken_dlcp_end(f);
        s->pulls--;
        return rc;
    }
    if (rc == 0 && --s->left[layer] == 0)
        rc = lossy_server_step(s, layer);
    return rc;
}

static bool lossy_server_is_done(const struct lossy_server *s) {
    for (unsigned l = 0; l < s->job->network.layers; l++)
        if (s->step[l] < s->job->steps)
            return false;
    return s->pulls == 0;
}

static int lossy_server_run(struct lossy_server *s) {
    int rc = 0;
    s->job->board->ready[s->job->o->workers] = true;
    while (!s->job->board->start) // on a busy machine workers may take longer than the hard limit
        silken_dlcp_run(s->d, TURN_MS);
    for (unsigned l = 0; l < s->job->network.layers && rc == 0; l++)
        rc = lossy_server_expect(s, l);
    while (rc == 0 && !lossy_server_is_done(s)) {
        struct silken_dlcp_flow *f = silken_dlcp_next(s->d, TURN_MS);
        rc = f ? lossy_server_ended(s, f) : 0;
    }
    s->job->board->over[s->job->o->workers] = true;
    while (rc == 0 && !s->job->board->release)
        silken_dlcp_run(s->d, TURN_MS);
    lossy_show(s->status, s->d);
    return rc;
}

int lossy_serve(const struct lossy_job *job) {
    const size_t n = job->network.parameters;
    struct lossy_server s = {.job = job, .status = &job->board->status[job->o->workers]};
    s.velocity = calloc(n, sizeof(float));
    s.sum = calloc(SILKEN_DLCP_SEGMENT, sizeof(float));
    s.came = calloc(n * job->o->workers, sizeof(float));
    s.d = lossy_open(job, job->o->workers);
    int status = 1; // lossy_open() has said why
    if (s.d) {
        const int rc = s.velocity && s.sum && s.came ? lossy_server_run(&s) : SILKEN_ERR_NOMEM;
        status = rc ? lossy_proc_fail("server", rc) : 0;
        silken_dlcp_close(s.d);
    }
    free(s.velocity);
    free(s.sum);
    free(s.came);
    return status;
}

// ---- a worker ----

int lossy_trainee_begin(struct lossy_trainee *t, const struct lossy_job *job, unsigned number) {
    const size_t n = job->network.parameters;
    *t = (struct lossy_trainee){.job = job, .number = number, .epoch = UINT_MAX};
    t->weights = calloc(n, sizeof(float));
    t->gradient = calloc(n, sizeof(float));
    t->came = calloc(n, sizeof(float));
    t->order = calloc(job->set->count, sizeof *t->order);
    t->room = lossy_room_new(&job->network);
    if (!t->weights || !t->gradient || !t->came || !t->order || !t->room)
        return SILKEN_ERR_NOMEM;
    lossy_init(&job->network, t->weights, job->o->seed);
    return 0;
}

void lossy_trainee_step(struct lossy_trainee *t, unsigned step) {
    const struct lossy_job *job = t->job;
    struct model_score score;
    size_t images;
    const uint32_t *index = lossy_shard(job, t->number, step, t->order, &t->epoch, &images);
    lossy_gradient(&job->network, t->room, t->weights, job->set, index, images,
                   1.0f / (float)job->o->batch, t->gradient, &score);
    memcpy(lossy_board_gradient(job, t->number, step), t->gradient,
           job->network.parameters * sizeof *t->gradient);
    job->board->status[t->number].loss = score.loss / (double)images;
}

void lossy_trainee_end(struct lossy_trainee *t) {
    free(t->weights);
    free(t->gradient);
    free(t->came);
    free(t->order);
    lossy_room_free(t->room);
}

// Weights came back; the own gradient is the step where they did not.
static void lossy_worker_take(struct lossy_trainee *t, struct silken_dlcp_flow *f, unsigned step) {
    const struct lossy_job *job = t->job;
    const struct lossy_layer *l = &job->network.layer[silken_dlcp_tensor_of(f)->tensor];
    float *weights = t->weights + l->first, *came = t->came + l->first;
    const float rate = lossy_rate(step, job->steps) * (float)job->o->workers;
    lossy_check(&job->board->status[t->number], f, came, lossy_weights(job) + l->first,
                job->o->bound / 10);
    for (size_t first = 0; first < l->count; first += SILKEN_DLCP_SEGMENT) {
        const size_t n =
            l->count - first < SILKEN_DLCP_SEGMENT ? l->count - first : SILKEN_DLCP_SEGMENT;
        if (lossy_came(came + first))
            memcpy(weights + first, came + first, n * sizeof *weights);
        else
            for (size_t i = first; i < first + n; i++)
                weights[i] -= rate * t->gradient[l->first + i];
    }
}

// Pushes all layers from the last one on, as a backward pass makes them, and waits for the weights.
static int lossy_worker_exchange(struct lossy_trainee *t, struct silken_dlcp *d, unsigned step) {
    const struct lossy_job *job = t->job;
    const unsigned layers = job->network.layers;
    const struct lossy_address a = lossy_address(job, job->o->workers);
    const struct silken_address server = lossy_silken_address(&a);
    struct silken_dlcp_flow *push[LOSSY_LAYERS], *pull[LOSSY_LAYERS];
    int rc = 0;
    lossy_blank(t->came, job->network.parameters);
    for (unsigned l = layers; l-- > 0 && rc == 0;) {
        const size_t first = job->network.layer[l].first;
        const struct silken_dlcp_tensor g = lossy_tensor(job, l, step, false, t->gradient + first);
        const struct silken_dlcp_tensor w = lossy_tensor(job, l, step, true, t->came + first);
        rc = silken_dlcp_recv(d, &server, &w, job->o->bound / 10, &pull[l]);
        rc = rc ? rc : silken_dlcp_send(d, &server, &g, NULL, NULL, &push[l]);
    }
    for (unsigned l = 0; l < layers && rc == 0; l++) {
        rc = silken_dlcp_wait(push[l]);
        rc = rc ? rc : silken_dlcp_wait(pull[l]);
        if (rc == 0)
            lossy_worker_take(t, pull[l], step);
        silken_dlcp_end(push[l]);
        silken_dlcp_end(pull[l]);
    }
    return rc;
}

static int lossy_worker_train(struct lossy_trainee *t, struct silken_dlcp *d) {
    const struct timespec pause = {.tv_nsec = 2000000};
    struct lossy_board *board = t->job->board;
    int rc = 0;
    board->ready[t->number] = true;
    while (!board->start)
        nanosleep(&pause, NULL);
    for (unsigned step = 0; step < t->job->steps && rc == 0; step++) {
        lossy_trainee_step(t, step);
        rc = lossy_worker_exchange(t, d, step);
        board->status[t->number].steps = step + 1;
        lossy_show(&board->status[t->number], d);
    }
    board->over[t->number] = true;
    while (rc == 0 && !board->release) // what the server has not heard yet
        silken_dlcp_run(d, TURN_MS);
    return rc;
}

int lossy_work(const struct lossy_job *job, unsigned number) {
    struct lossy_trainee t;
    struct silken_dlcp *d = lossy_open(job, number);
    if (!d)
        return 1;
    int rc = lossy_trainee_begin(&t, job, number);
    rc = rc ? rc : lossy_worker_train(&t, d);
    lossy_trainee_end(&t);
    silken_dlcp_close(d);
    return rc ? lossy_proc_fail("worker", rc) : 0;
}
