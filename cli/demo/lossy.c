// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/shared.h"
#include "cli/demo/lossy.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/demo/report.h"
#include "cli/demo/supervise.h"
#include "pipeline/switch/switch.h"

#define SWITCH_SECONDS 120
#define STUCK_SECONDS  60
#define TOLERANCE      100 // of the images: a point of the accuracy is one of so many

struct lossy {
    struct lossy_job job;
    struct dataset train, test;
    struct report report;
    struct supervisor supervisor;
    struct spaces spaces;
    struct child *rack_switch[LOSSY_SWITCHES], *station[DEMO_MAX_WORKERS + 1], *reference;
    struct lossy_child {
        const struct lossy_job *job;
        unsigned number;
    } child[DEMO_MAX_WORKERS + 2];
    uint64_t began;
};

__attribute__((format(printf, 2, 3))) static int lossy_fail(struct lossy *s, const char *format,
                                                            ...) {
    va_list args;
    va_start(args, format);
    int status = report_fail(&s->report, format, args);
    va_end(args);
    return status;
}

static int lossy_tick(struct lossy *s) {
    return demo_wait(&s->report, &s->supervisor, s->began, s->job.o->limit);
}

// ---- one process ----

// The same steps without a network: the sums of all shards.
static int lossy_run_reference(void *argument) {
    const struct lossy_job *job = ((const struct lossy_child *)argument)->job;
    const size_t n = job->network.parameters;
    struct lossy_room *room = lossy_room_new(&job->network);
    float *gradient = calloc(3 * n, sizeof *gradient), *weights = lossy_reference(job);
    uint32_t *order = calloc(job->set->count, sizeof *order);
    unsigned epoch = UINT_MAX;
    if (!room || !gradient || !order)
        return lossy_proc_fail("reference", SILKEN_ERR_NOMEM);
    float *sum = gradient + n, *velocity = sum + n;
    lossy_init(&job->network, weights, job->o->seed);
    for (unsigned step = 0; step < job->steps; step++) {
        memset(sum, 0, n * sizeof *sum);
        for (unsigned w = 0; w < job->o->workers; w++) {
            struct model_score score;
            size_t images;
            const uint32_t *index = lossy_shard(job, w, step, order, &epoch, &images);
            lossy_gradient(&job->network, room, weights, job->set, index, images,
                           1.0f / (float)job->o->batch, gradient, &score);
            for (size_t i = 0; i < n; i++)
                sum[i] += gradient[i];
        }
        lossy_update(weights, velocity, sum, n, lossy_rate(step, job->steps));
    }
    lossy_room_free(room);
    free(gradient);
    free(order);
    return 0;
}

// ---- the processes ----

static int lossy_start_switch(struct lossy *s, unsigned number) {
    char config[PATH_MAX], error[512], name[32];
    char *argv[] = {"silken", "run", "-c", config, "--memory", "512", NULL};
    const bool spine = number >= s->job.o->racks;
    snprintf(name, sizeof name, "%s-%u", spine ? "spine" : "leaf",
             spine ? number - s->job.o->racks : number);
    snprintf(config, sizeof config, "%s/%s.json", s->supervisor.logs, name);
    if (lossy_write_config(&s->job, number, config, error, sizeof error))
        return lossy_fail(s, "%s", error);
    spaces_enter(&s->spaces, number);
    s->rack_switch[number] = supervise_self(&s->supervisor, name, argv, error, sizeof error);
    spaces_leave(&s->spaces);
    return s->rack_switch[number] ? 0 : lossy_fail(s, "%s", error);
}

static bool lossy_is_ready(const struct lossy *s, unsigned number) {
    char line[64];
    return s->job.o->veth ? supervise_find(s->rack_switch[number], "ready", line, sizeof line)
                          : lossy_switch_is_ready(&s->job, number);
}

static int lossy_await_switch(struct lossy *s, unsigned number) {
    const uint64_t began = sk_clock_now();
    int status = 0;
    while (!status && !lossy_is_ready(s, number)) {
        report_line(&s->report, sk_clock_now(), "compiling the P4 program, starting the switch");
        status = lossy_tick(s);
        if (!status && !s->rack_switch[number]->running)
            status = demo_child_failed(&s->report, s->rack_switch[number]);
        if (!status && demo_seconds_since(began) > SWITCH_SECONDS)
            status = lossy_fail(s, "the switch is not ready after %d seconds", SWITCH_SECONDS);
    }
    return status;
}

// The spines first: they make the sockets of the links between.
static int lossy_start_switches(struct lossy *s) {
    const uint64_t began = sk_clock_now();
    int status = 0;
    for (unsigned i = lossy_switches(&s->job); i-- > 0 && !status;) {
        status = lossy_start_switch(s, i);
        status = status ? status : lossy_await_switch(s, i);
    }
    if (!status)
        report_done(&s->report, "program", "%s on %u switch%s, ready after %.1f s", s->job.program,
                    lossy_switches(&s->job), lossy_switches(&s->job) == 1 ? "" : "es",
                    demo_seconds_since(began));
    return status;
}

static int lossy_run_station(void *argument) {
    const struct lossy_child *c = argument;
    if (c->number == c->job->o->workers)
        return lossy_serve(c->job);
    return c->job->o->ring ? lossy_work_in_ring(c->job, c->number) : lossy_work(c->job, c->number);
}

static int lossy_start_stations(struct lossy *s) {
    char name[32], error[256];
    int status = 0;
    for (unsigned i = lossy_stations(&s->job); i-- > 0 && !status;) { // the server first
        const bool server = i == s->job.o->workers;
        s->child[i] = (struct lossy_child){&s->job, i};
        snprintf(name, sizeof name, server ? "server" : "worker-%u", i);
        spaces_enter(&s->spaces, lossy_switches(&s->job) + i);
        s->station[i] = supervise_call(&s->supervisor, name, lossy_run_station, &s->child[i], error,
                                       sizeof error);
        spaces_leave(&s->spaces);
        if (!s->station[i])
            return lossy_fail(s, "%s", error);
        while (!status && !s->job.board->ready[i])
            status = lossy_tick(s);
    }
    s->job.board->start = true;
    return status;
}

static unsigned lossy_steps_done(const struct lossy *s) {
    unsigned steps = UINT_MAX;
    for (unsigned w = 0; w < s->job.o->workers; w++) {
        const unsigned its = s->job.board->status[w].steps;
        steps = its < steps ? its : steps;
    }
    return steps;
}

// The server, too: what it has not heard from a worker, nobody would say again.
static bool lossy_all_over(const struct lossy *s) {
    bool over = true;
    for (unsigned w = 0; w < lossy_stations(&s->job); w++)
        over &= s->job.board->over[w];
    return over;
}

static bool lossy_any_runs(const struct lossy *s) {
    bool runs = s->reference->running;
    for (unsigned i = 0; i < lossy_stations(&s->job); i++)
        runs |= s->station[i]->running;
    return runs;
}

static int lossy_train(struct lossy *s) {
    const uint64_t began = sk_clock_now();
    uint64_t moved = began;
    unsigned steps = 0;
    int status = lossy_start_stations(s);
    while (!status && !lossy_all_over(s)) {
        status = lossy_tick(s);
        if (lossy_steps_done(s) != steps)
            moved = sk_clock_now();
        steps = lossy_steps_done(s);
        report_line(&s->report, sk_clock_now(), "step %u/%u  loss %.3f", steps, s->job.steps,
                    s->job.board->status[0].loss);
        if (!status && demo_seconds_since(moved) > STUCK_SECONDS)
            status = lossy_fail(s, "no progress for %d seconds", STUCK_SECONDS);
    }
    if (!status)
        report_done(&s->report, "training", "%u steps by %u workers%s, %.1f s", s->job.steps,
                    s->job.o->workers, s->job.o->ring ? " in a ring" : " and a server",
                    demo_seconds_since(began));
    s->job.board->release = true;
    while (!status && lossy_any_runs(s)) {
        report_line(&s->report, sk_clock_now(), "the same steps in one process");
        status = lossy_tick(s);
    }
    return status;
}

// ---- the verdict ----

struct lossy_verdict {
    uint64_t tensors, below_bound, elements, missing, wrong;
    uint64_t sent, repeated, needless, came, lost, marked, segments;
};

static struct lossy_verdict lossy_sum(const struct lossy *s) {
    struct lossy_verdict v = {0};
    for (unsigned i = 0; i < lossy_stations(&s->job); i++) {
        const struct lossy_status *one = &s->job.board->status[i];
        v.tensors += one->tensors;
        v.below_bound += one->below_bound;
        v.elements += one->elements;
        v.missing += one->missing;
        v.wrong += one->wrong;
        v.sent += one->stats.packets_sent;
        v.repeated += one->stats.repeated;
        v.needless += one->stats.needless;
        v.came += one->stats.packets_came;
        v.lost += one->stats.packets_lost;
        v.marked += one->stats.marked;
        v.segments += one->stats.segments;
    }
    return v;
}

// Without memory: of no images.
static struct model_score lossy_accuracy(struct lossy *s, const float *weights) {
    struct lossy_room *room = lossy_room_new(&s->job.network);
    struct model_score score = {0};
    if (room)
        score = lossy_evaluate(&s->job.network, room, weights, &s->test);
    lossy_room_free(room);
    return score;
}

// Counted, since a point exactly is no more than a point.
static bool lossy_is_near(const struct model_score *a, const struct model_score *b) {
    const size_t more = a->correct > b->correct ? a->correct - b->correct : b->correct - a->correct;
    return a->images > 0 && a->images == b->images && more * TOLERANCE <= a->images;
}

static double lossy_share(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void lossy_report_traffic(struct lossy *s, const struct lossy_verdict *v) {
    char a[27], b[27], c[27];
    report_result(&s->report, "data packets sent", "%s, of them %s again, %s without need",
                  report_grouped(v->sent, a), report_grouped(v->repeated, b),
                  report_grouped(v->needless, c));
    report_result(&s->report, "important", "%.0f %% of packets",
                  lossy_share(v->marked, v->segments));
    report_result(&s->report, "loss rate seen", "%.2f %% of packets",
                  lossy_share(v->lost, v->came + v->lost));
    report_result(&s->report, s->job.o->ring ? "incomplete sums" : "elements that did not come",
                  "%.2f %% of %s", lossy_share(v->missing, v->elements),
                  report_grouped(v->elements, a));
    report_result(&s->report, "tensors", "%s, of them %s with less than their bound",
                  report_grouped(v->tensors, a), report_grouped(v->below_bound, b));
}

static int lossy_report(struct lossy *s) {
    const struct lossy_verdict v = lossy_sum(s);
    const struct model_score trained = lossy_accuracy(s, lossy_weights(&s->job));
    const struct model_score reference = lossy_accuracy(s, lossy_reference(&s->job));
    bool good = v.wrong == 0 && v.below_bound == 0 && v.tensors > 0;
    char wrong[27];
    report_result(&s->report, "network", "%s, %zu parameters", s->job.network.text,
                  s->job.network.parameters);
    report_result(&s->report, "accuracy", "%.2f %%", lossy_share(trained.correct, trained.images));
    report_result(&s->report, "accuracy of one process", "%.2f %%",
                  lossy_share(reference.correct, reference.images));
    lossy_report_traffic(s, &v);
    if (v.wrong)
        report_result(&s->report, "NOT VERIFIED", "%s elements were not as they were sent",
                      report_grouped(v.wrong, wrong));
    if (v.below_bound)
        report_result(&s->report, "NOT VERIFIED", "a bound was not kept");
    if (!lossy_is_near(&trained, &reference)) {
        report_result(&s->report, "NOT VERIFIED", "the accuracies differ by more than a point");
        good = false;
    }
    if (good)
        puts("verified");
    fflush(stdout);
    return good && !ferror(stdout) ? 0 : EXIT_FAILED;
}

// ---- the whole ----

static int lossy_load(struct lossy *s) {
    const struct demo_options *o = s->job.o;
    char error[512];
    if (dataset_load_train(&s->train, o->data, o->images, error, sizeof error) ||
        dataset_load_test(&s->test, o->data, 0, error, sizeof error))
        return lossy_fail(s, "%s", error);
    if (s->train.count < o->batch)
        return lossy_fail(s, "a batch of %u is more than the %zu training images", o->batch,
                          s->train.count);
    s->job.steps = o->steps ? o->steps : o->epochs * (unsigned)(s->train.count / o->batch);
    s->job.set = &s->train;
    return 0;
}

static int lossy_run(struct lossy *s) {
    char error[256];
    s->child[DEMO_MAX_WORKERS + 1] = (struct lossy_child){&s->job, 0};
    if (s->job.o->veth && lossy_make_spaces(&s->job, &s->spaces, error, sizeof error))
        return lossy_fail(s, "%s", error);
    int status = lossy_start_switches(s);
    if (status)
        return status;
    s->reference = supervise_call(&s->supervisor, "reference", lossy_run_reference,
                                  &s->child[DEMO_MAX_WORKERS + 1], error, sizeof error);
    if (!s->reference)
        return lossy_fail(s, "%s", error);
    return lossy_train(s);
}

static int lossy_board_run(struct lossy *s) {
    const struct demo_options *o = s->job.o;
    const size_t values = (2 + 2 * (size_t)o->workers) * s->job.network.parameters;
    const size_t size = sizeof *s->job.board + values * sizeof(float);
    char error[256];
    int status;
    s->job.board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->job.board == MAP_FAILED)
        return lossy_fail(s, "out of memory");
    lossy_init(&s->job.network, lossy_weights(&s->job), o->seed);
    if (supervise_begin(&s->supervisor, o->keep, error, sizeof error)) {
        status = lossy_fail(s, "%s", error);
    } else {
        s->job.folder = s->supervisor.folder;
        status = lossy_run(s);
        supervise_end(&s->supervisor);
        spaces_close(&s->spaces);
    }
    status = status ? status : lossy_report(s);
    munmap(s->job.board, size);
    return status;
}

int lossy_demo(const struct demo_options *o, const char *program) {
    struct lossy s = {.job = {.o = o, .program = program}, .began = sk_clock_now()};
    s.job.network = lossy_network(o->convolutional);
    report_begin(&s.report, o->quiet);
    int status = lossy_load(&s);
    status = status ? status : lossy_board_run(&s);
    dataset_free(&s.train);
    dataset_free(&s.test);
    return status;
}
