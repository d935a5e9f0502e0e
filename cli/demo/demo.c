// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo.h"

#include "cli/cli.h"
#include "cli/demo/fabric.h"
#include "cli/demo/options.h"
#include "cli/demo/report.h"
#include "cli/demo/result.h"
#include "cli/demo/supervise.h"
#include "compiler/compile.h"
#include "pipeline/switch.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND         UINT64_C(1000000000)
#define STUCK_SECONDS  20 // longer than a worker waits before it gives up by itself and says why
#define SWITCH_SECONDS 30 // for a switch to come up

// Packet buffers of the switch.
#define SWITCH_MIB 192
#define PORT_MIB   36

#define EXIT_INTERRUPTED 130 // as shells have it: 128 + SIGINT

struct worker_argument {
    struct demo *demo;
    unsigned rank;
};

struct demo {
    struct demo_options o;
    struct report report;
    struct supervisor supervisor;
    struct dataset train, test;
    struct train_plan plan;
    struct board *board;
    struct fabric fabric;
    struct child *compiler, *reference, *the_switch, *worker[DEMO_MAX_WORKERS];
    struct worker_argument argument[DEMO_MAX_WORKERS];
    uint64_t began, phase_began; // ns
    struct {                     // when anything moved last, and what it had come to
        uint64_t ns, steps;
    } progress;
};

static uint64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static double seconds_since(uint64_t ns) {
    return (double)(now_ns() - ns) / (double)SECOND;
}

// ---- failing ------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static int fail(struct demo *d, const char *format, ...) {
    va_list args;

    report_break(&d->report);
    fputs("silken demo: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

static int fail_child(struct demo *d, const struct child *c) {
    char how[96];

    supervise_how(c, how, sizeof how);
    fail(d, "%s %s; its last words:", c->name, how);
    supervise_tail(c, 20, "    ", stderr);
    return EXIT_FAILED;
}

static int fail_stuck(struct demo *d) {
    unsigned last = 0;

    for (unsigned w = 1; w < d->o.workers; w++) {
        last = d->board->status[w].published < d->board->status[last].published ? w : last;
    }
    fail(d, "no progress for %d seconds; worker-%u is the last one, it has finished %u of %u steps",
         STUCK_SECONDS, last, (unsigned)d->board->status[last].finished, d->plan.steps);
    supervise_tail(d->worker[last], 20, "    ", stderr);
    return EXIT_FAILED;
}

// ---- waiting ------------------------------------------------------------------------------------

// One tick of waiting: 0, or the exit status with which the demo ends.
static int tick(struct demo *d) {
    const struct timespec pause = {.tv_nsec = 20000000};
    const struct child *bad;

    nanosleep(&pause, NULL);
    if (supervise_interrupted()) {
        report_break(&d->report);
        return EXIT_INTERRUPTED;
    }
    bad = supervise_reap(&d->supervisor);
    if (bad) {
        return fail_child(d, bad);
    }
    if (seconds_since(d->began) > d->o.limit) {
        return fail(d, "not finished after %u seconds (see --limit)", d->o.limit);
    }
    return 0;
}

static int cannot_start(struct demo *d, const char *error) {
    return fail(d, "%s", error);
}

// ---- the reference and the compiler, side by side -----------------------------------------------

static struct worker_job job_of(struct demo *d, unsigned rank) {
    return (struct worker_job){.plan = d->plan, .set = &d->train, .board = d->board, .rank = rank};
}

static int run_reference(void *argument) {
    struct worker_job job = job_of(argument, 0);
    char error[256];

    if (reference_train(&job, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    return 0;
}

static int run_compiler(void *argument) {
    const struct demo *d = argument;
    struct compile_options opt = {.path = d->o.program};
    char *object = compile_p4(&opt, stderr);

    free(object);
    return object ? 0 : 1;
}

static void show_preparation(struct demo *d) {
    if (!d->compiler->running && !d->reference->running) {
        return;
    }
    const char *compiling = d->compiler->running ? "compiling the P4 program" : "";
    char training[64] = "";

    if (d->reference->running) {
        snprintf(training, sizeof training, "%sreference: step %u of %u",
                 d->compiler->running ? ", " : "",
                 (unsigned)d->board->status[d->o.workers].finished, d->plan.steps);
    }
    report_line(&d->report, now_ns(), "%s%s (%.0f s)", compiling, training,
                seconds_since(d->phase_began));
}

static int prepare(struct demo *d) {
    bool compiled = false, trained = false;
    char error[256];
    int status;

    d->phase_began = now_ns();
    d->compiler = supervise_call(&d->supervisor, "compiler", run_compiler, d, error, sizeof error);
    d->reference = d->compiler ? supervise_call(&d->supervisor, "reference", run_reference, d,
                                                error, sizeof error)
                               : NULL;
    if (!d->reference) {
        return cannot_start(d, error);
    }
    while (!compiled || !trained) {
        status = tick(d);
        if (status) {
            return status;
        }
        if (!compiled && !d->compiler->running) {
            compiled = true;
            report_done(&d->report, "program", "%s, compiled in %.1f s", d->o.program,
                        seconds_since(d->phase_began));
        }
        if (!trained && !d->reference->running) {
            trained = true;
            report_done(&d->report, "reference", "%u steps in one process, %.1f s", d->plan.steps,
                        seconds_since(d->phase_began));
        }
        show_preparation(d);
    }
    return 0;
}

// ---- the switch ---------------------------------------------------------------------------------

static int start_switch(struct demo *d) {
    char error[512], config[PATH_MAX], memory[16];
    char *argv[] = {"silken", "run", "-c", config, "--memory", memory, NULL, NULL, NULL};
    int status = 0;

    d->phase_began = now_ns();
    snprintf(memory, sizeof memory, "%u", SWITCH_MIB + d->o.workers * d->o.lanes * PORT_MIB);
    snprintf(config, sizeof config, "%s/switch.json", d->supervisor.logs);
    if (fabric_write_config(&d->fabric, config, error, sizeof error)) {
        return cannot_start(d, error);
    }
    if (d->o.record) {
        argv[6] = "--record";
        argv[7] = (char *)d->o.record;
    }
    d->the_switch = supervise_self(&d->supervisor, "switch", argv, error, sizeof error);
    if (!d->the_switch) {
        return cannot_start(d, error);
    }
    while (!status && !fabric_ready(&d->fabric)) {
        report_line(&d->report, now_ns(), "starting the switch");
        status = tick(d);
        if (!status && seconds_since(d->phase_began) > SWITCH_SECONDS) {
            status = fail(
                d, "the switch is not ready after %d seconds; its last words:", SWITCH_SECONDS);
            supervise_tail(d->the_switch, 20, "    ", stderr);
        }
        if (!status && !d->the_switch->running) {
            status = fail_child(d, d->the_switch);
        }
    }
    return status;
}

// ---- the workers --------------------------------------------------------------------------------

static void wait_for_start(struct board *b, unsigned rank) {
    const struct timespec pause = {.tv_nsec = 2000000};

    b->status[rank].ready = true;
    while (!b->start) { // ends at the latest with the parent
        nanosleep(&pause, NULL);
    }
}

// A worker's link must not go while the switch may be sending into it: the driver of the other end
// can crash then. So the switch is stopped first.
static void wait_for_release(struct board *b, unsigned rank, int failed) {
    const struct timespec pause = {.tv_nsec = 2000000};

    b->status[rank].failed = failed != 0;
    b->status[rank].over = true;
    while (!b->release) {
        nanosleep(&pause, NULL);
    }
}

static int run_worker(void *argument) {
    const struct worker_argument *a = argument;
    struct worker_job job = job_of(a->demo, a->rank);
    struct reducer r;
    char error[2048];
    int failed = fabric_open(&a->demo->fabric, a->rank, &r, error, sizeof error);

    if (!failed) {
        wait_for_start(job.board, a->rank);
        failed = worker_train(&job, &r, error, sizeof error);
    }
    if (failed) {
        fprintf(stderr, "%s\n", error);
    }
    wait_for_release(job.board, a->rank, failed);
    if (!failed) {
        fabric_close(&r);
    }
    return failed ? 1 : 0;
}

static int start_workers(struct demo *d) {
    char error[256], name[32];
    int status = 0;

    for (unsigned w = 0; w < d->o.workers; w++) {
        snprintf(name, sizeof name, "worker-%u", w);
        d->argument[w] = (struct worker_argument){d, w};
        d->worker[w] =
            supervise_call(&d->supervisor, name, run_worker, &d->argument[w], error, sizeof error);
        if (!d->worker[w]) {
            return cannot_start(d, error);
        }
    }
    for (unsigned w = 0; !status && w < d->o.workers; w++) {
        while (!status && !d->board->status[w].ready) {
            status = tick(d);
        }
    }
    return status;
}

static void show_training(struct demo *d, const struct job_totals *t) {
    double s = seconds_since(d->phase_began);

    report_line(&d->report, now_ns(),
                "step %u/%u  loss %.3f  accuracy %.1f%%  %.2f M packets  %.1f k/s  %llu resent",
                t->steps, d->plan.steps, t->loss, 100 * t->accuracy, (double)t->sent / 1e6,
                s > 0 ? (double)t->sent / s / 1e3 : 0, (unsigned long long)t->retransmissions);
}

static bool stuck(struct demo *d, const struct job_totals *t) {
    if (t->published != d->progress.steps) {
        d->progress.steps = t->published;
        d->progress.ns = now_ns();
    }
    return seconds_since(d->progress.ns) > STUCK_SECONDS;
}

static bool workers_running(const struct demo *d) {
    for (unsigned w = 0; w < d->o.workers; w++) {
        if (d->worker[w]->running) {
            return true;
        }
    }
    return false;
}

// All have trained, or one has failed.
static bool workers_over(const struct demo *d) {
    unsigned over = 0;

    for (unsigned w = 0; w < d->o.workers; w++) {
        const struct board_status *status = &d->board->status[w];
        if (status->over && status->failed) {
            return true;
        }
        over += status->over;
    }
    return over == d->o.workers;
}

static int train(struct demo *d) {
    int status = start_workers(d);
    struct job_totals t;

    d->phase_began = d->progress.ns = now_ns();
    d->board->start = true;
    while (!status && !workers_over(d)) {
        status = tick(d);
        if (status) {
            break;
        }
        t = job_totals(d->board);
        show_training(d, &t);
        if (stuck(d, &t)) {
            status = fail_stuck(d);
        } else if (!d->the_switch->running) {
            status = fail_child(d, d->the_switch);
        }
    }
    if (!status) {
        supervise_stop(d->the_switch); // which then says where its packets went
        d->board->release = true;
        while (!status && workers_running(d)) {
            status = tick(d);
        }
    }
    if (!status) {
        report_done(&d->report, "training", "%u steps by %u worker%s, %.1f s", d->plan.steps,
                    d->o.workers, d->o.workers == 1 ? "" : "s", seconds_since(d->phase_began));
    }
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------

static int load(struct demo *d) {
    char error[512], images[27], test_images[27];
    unsigned per_epoch;

    if (dataset_load_train(&d->train, d->o.data, d->o.images, error, sizeof error) ||
        dataset_load_test(&d->test, d->o.data, 0, error, sizeof error)) {
        return fail(d, "%s", error);
    }
    per_epoch = train_steps_per_epoch(&d->train, d->o.batch);
    if (per_epoch == 0) {
        return fail(d, "a batch of %u is more than the %zu training images", d->o.batch,
                    d->train.count);
    }
    d->plan = (struct train_plan){
        .shards = d->o.workers,
        .batch = d->o.batch,
        .steps = d->o.steps ? d->o.steps : d->o.epochs * per_epoch,
        .seed = d->o.seed,
    };
    report_done(&d->report, "data set", "%s, %s training images, %s test images", d->o.data,
                report_grouped(d->train.count, images), report_grouped(d->test.count, test_images));
    return 0;
}

static int set_up(struct demo *d) {
    char error[256];

    d->board = board_new(d->o.workers);
    if (!d->board) {
        return fail(d, "out of memory");
    }
    if (supervise_begin(&d->supervisor, d->o.keep, error, sizeof error)) {
        return fail(d, "%s", error);
    }
    d->fabric = (struct fabric){
        .workers = d->o.workers,
        .lanes = d->o.lanes,
        .elements = d->o.elements,
        .loss = d->o.loss,
        .seed = d->o.seed,
        .program = d->o.program,
        .folder = d->supervisor.folder,
    };
    return 0;
}

// Shows that packets were lost on purpose, in the switch's own words.
static void report_loss(struct demo *d) {
    char line[160], lost[27];
    unsigned long long n;

    if (supervise_find(d->the_switch, sk_drop_text(SK_DROP_FAULT), line, sizeof line) &&
        sscanf(line + strlen(sk_drop_text(SK_DROP_FAULT)), "%llu", &n) == 1) {
        report_done(&d->report, "packets lost on purpose", "%s", report_grouped(n, lost));
    }
}

static int run_all(struct demo *d) {
    int status = prepare(d);

    status = status ? status : start_switch(d);
    status = status ? status : train(d);
    if (!status && d->o.loss > 0) {
        report_loss(d);
    }
    return status;
}

static int demo(struct demo *d) {
    int status = load(d);

    status = status ? status : set_up(d);
    if (!status) {
        status = run_all(d);
        supervise_end(&d->supervisor);
    }
    if (!status) {
        status = result_print(&d->report, d->board, &d->plan, &d->test) ? 0 : EXIT_FAILED;
    }
    board_free(d->board);
    dataset_free(&d->train);
    dataset_free(&d->test);
    return status;
}

int cmd_demo(int argc, char **argv) {
    struct demo *d = calloc(1, sizeof *d);
    char error[256];
    int status = EXIT_FAILED;

    if (!d) {
        fprintf(stderr, "silken demo: out of memory\n");
        return EXIT_FAILED;
    }
    if (demo_options_parse(&d->o, argc, argv, error, sizeof error)) {
        fprintf(stderr, "silken demo: %s\n", error);
        status = EXIT_UNUSABLE;
    } else if (d->o.help) {
        fputs(demo_usage, stdout);
        status = 0;
    } else {
        d->began = now_ns();
        report_begin(&d->report, d->o.quiet);
        status = demo(d);
    }
    free(d);
    return status;
}
