// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/worker_proc.h"

#include "base/clock.h"
#include "cli/demo/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRADIENT_BYTES (MODEL_PARAMS * sizeof(float))

// Weight of the latest step in the running means that are shown.
#define SMOOTHING 0.03

// ---- status -------------------------------------------------------------------------------------

static void show_score(struct board_status *s, unsigned step, const struct model_score *score) {
    double images = (double)score->images;
    // Early means are means of what there is.
    double weight = fmax(SMOOTHING, 1.0 / (step + 1));

    s->loss = s->loss + weight * (score->loss / images - s->loss);
    s->accuracy = s->accuracy + weight * ((double)score->correct / images - s->accuracy);
}

static void show_counts(struct board_status *s, const struct reducer *r, uint64_t took) {
    struct reduce_counts c;

    r->counts(r->self, &c);
    s->sent = c.sent;
    s->answers = c.answers;
    s->retransmissions = c.retransmissions;
    s->losses = c.losses;
    s->timeouts = c.timeouts;
    s->reduce_ns += took;
}

// ---- checking -----------------------------------------------------------------------------------

static int unpublished(const struct worker_job *job, unsigned step, char *error, size_t size) {
    for (unsigned w = 0; w < job->board->workers; w++) {
        if (job->board->status[w].published <= step) {
            snprintf(error, size,
                     "step %u: the switch returned a sum before worker %u had sent its part", step,
                     w);
            return -1;
        }
    }
    return 0;
}

static void worker_proc_explain(const struct verify_tally *t, unsigned step, size_t block,
                                char *error, size_t size) {
    snprintf(error, size,
             "step %u: element %zu (packet %zu) of the sum is %.9g, the exact sum is %.9g; they "
             "differ by %.3g, more than %.3g; %llu elements of this sum are wrong",
             step, t->first.element, t->first.element / block, t->first.got, t->first.expected,
             fabs(t->first.got - t->first.expected), t->first.bound, (unsigned long long)t->failed);
}

static int check_sum(const struct worker_job *job, unsigned step, const struct reducer *r,
                     const float *sum, char *error, size_t size) {
    unsigned workers = job->board->workers;
    struct verify_tally *tally = &job->board->status[job->rank].tally;
    const float *inputs[DEMO_MAX_WORKERS];

    if (unpublished(job, step, error, size)) {
        return -1;
    }
    for (unsigned w = 0; w < workers; w++) {
        inputs[w] = board_gradient(job->board, w, step);
    }
    if (r->scale > 0 ? !verify_scaled_sums(sum, inputs, workers, MODEL_PARAMS, r->scale, tally)
        : r->halves  ? !verify_half_sums(sum, inputs, workers, MODEL_PARAMS, r->block, tally)
                     : !verify_sums(sum, inputs, workers, MODEL_PARAMS, r->block, tally)) {
        worker_proc_explain(tally, step, r->block, error, size);
        return -1;
    }
    return 0;
}

// ---- a worker -----------------------------------------------------------------------------------

static int worker_step(const struct worker_job *job, const struct reducer *r, struct trainer *t,
                       float *tensor, unsigned step, char *error, size_t size) {
    struct board_status *status = &job->board->status[job->rank];
    float *mine = board_gradient(job->board, job->rank, step);
    struct model_score score;
    uint64_t begin;

    train_gradient(t, step, job->rank, mine, &score);
    memcpy(tensor, mine, GRADIENT_BYTES);
    status->published = step + 1;
    begin = sk_clock_now();
    if (r->sum(r->self, tensor, MODEL_PARAMS, error, size)) {
        return -1;
    }
    show_counts(status, r, sk_clock_now() - begin);
    if (check_sum(job, step, r, tensor, error, size)) {
        return -1;
    }
    train_apply(t, step, tensor);
    show_score(status, step, &score);
    status->finished = step + 1;
    return 0;
}

int worker_train(const struct worker_job *job, const struct reducer *r, char *error,
                 size_t error_size) {
    struct trainer *t = trainer_new(&job->plan, job->set);
    float *tensor = malloc(GRADIENT_BYTES);
    int failed = 0;

    if (!t || !tensor) {
        snprintf(error, error_size, "out of memory");
        failed = -1;
    }
    for (unsigned step = 0; !failed && step < job->plan.steps; step++) {
        failed = worker_step(job, r, t, tensor, step, error, error_size);
    }
    if (!failed) {
        memcpy(board_weights(job->board, job->rank), t->weights, GRADIENT_BYTES);
    }
    free(tensor);
    trainer_free(t);
    return failed;
}

// ---- the reference ------------------------------------------------------------------------------

struct scratch {
    float shard[MODEL_PARAMS], sum[MODEL_PARAMS];
    double exact[MODEL_PARAMS];
};

static void reference_step(const struct worker_job *job, struct trainer *t, struct scratch *x,
                           unsigned step) {
    struct board_status *status = &job->board->status[job->board->workers];
    struct model_score whole = {0}, score;

    memset(x->exact, 0, sizeof x->exact);
    for (unsigned shard = 0; shard < job->plan.shards; shard++) {
        train_gradient(t, step, shard, x->shard, &score);
        whole.loss += score.loss;
        whole.correct += score.correct;
        whole.images += score.images;
        for (size_t i = 0; i < MODEL_PARAMS; i++) {
            x->exact[i] += (double)x->shard[i];
        }
    }
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        x->sum[i] = (float)x->exact[i];
    }
    train_apply(t, step, x->sum);
    show_score(status, step, &whole);
    status->finished = step + 1;
}

int reference_train(const struct worker_job *job, char *error, size_t error_size) {
    struct trainer *t = trainer_new(&job->plan, job->set);
    struct scratch *x = malloc(sizeof *x);
    bool good = t && x;

    if (!good) {
        snprintf(error, error_size, "out of memory");
    }
    for (unsigned step = 0; good && step < job->plan.steps; step++) {
        reference_step(job, t, x, step);
    }
    if (good) {
        memcpy(board_weights(job->board, job->board->workers), t->weights, GRADIENT_BYTES);
    }
    free(x);
    trainer_free(t);
    return good ? 0 : -1;
}
