// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/demo/demo_impl.h"
#include "cli/demo/lossy.h"
#include "cli/demo/result.h"
#include "cli/demo/sparse.h"
#include "compiler/base/share.h"
#include "compiler/compile.h"
#include "pipeline/switch/switch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STUCK_SECONDS 20 // longer than a worker waits before it gives up by itself and says why

// ---- failing ------------------------------------------------------------------------------------

int demo_fail(struct demo *d, const char *format, ...) {
    va_list args;

    va_start(args, format);
    int status = report_fail(&d->report, format, args);
    va_end(args);
    return status;
}

int demo_fail_child(struct demo *d, const struct child *c) {
    return demo_child_failed(&d->report, c);
}

static int fail_stuck(struct demo *d, const struct demo_job *job) {
    const struct board *b = job->board;
    unsigned last = 0;

    for (unsigned w = 1; w < d->o.workers; w++) {
        last = b->status[w].published < b->status[last].published ? w : last;
    }
    demo_fail(d, "no progress for %d seconds; %s is the last one, it has finished %u of %u steps",
              STUCK_SECONDS, job->worker[last]->name, (unsigned)b->status[last].finished,
              d->plan.steps);
    supervise_tail(job->worker[last], 20, "    ", stderr);
    return EXIT_FAILED;
}

// ---- waiting ------------------------------------------------------------------------------------

int demo_tick(struct demo *d) {
    return demo_wait(&d->report, &d->supervisor, d->began, d->o.limit);
}

int demo_cannot_start(struct demo *d, const char *error) {
    return demo_fail(d, "%s", error);
}

// ---- the reference and the compiler, side by side -----------------------------------------------

static struct worker_job work_of(struct demo *d, const struct demo_job *job, unsigned rank) {
    return (struct worker_job){
        .plan = d->plan, .set = &d->train, .board = job->board, .rank = rank};
}

static int run_reference(void *argument) {
    struct demo *d = argument;
    struct worker_job job = work_of(d, &d->job[0], 0);
    char error[256];

    if (reference_train(&job, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    return 0;
}

static int run_compiler(void *argument) {
    const struct demo *d = argument;
    struct compile_options opt = {.path = d->program};
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
                 (unsigned)d->job[0].board->status[d->o.workers].finished, d->plan.steps);
    }
    report_line(&d->report, sk_clock_now(), "%s%s (%.0f s)", compiling, training,
                demo_seconds_since(d->phase_began));
}

static int demo_prepare(struct demo *d) {
    bool compiled = false, trained = false;
    char error[256];
    int status;

    d->phase_began = sk_clock_now();
    d->compiler = supervise_call(&d->supervisor, "compiler", run_compiler, d, error, sizeof error);
    d->reference = d->compiler ? supervise_call(&d->supervisor, "reference", run_reference, d,
                                                error, sizeof error)
                               : NULL;
    if (!d->reference) {
        return demo_cannot_start(d, error);
    }
    while (!compiled || !trained) {
        status = demo_tick(d);
        if (status) {
            return status;
        }
        if (!compiled && !d->compiler->running) {
            compiled = true;
            report_done(&d->report, "program", "%s, compiled in %.1f s", d->program,
                        demo_seconds_since(d->phase_began));
        }
        if (!trained && !d->reference->running) {
            trained = true;
            report_done(&d->report, "reference", "%u steps in one process, %.1f s", d->plan.steps,
                        demo_seconds_since(d->phase_began));
        }
        show_preparation(d);
    }
    return 0;
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
    const struct station_argument *a = argument;
    struct worker_job job = work_of(a->demo, a->job, a->number);
    struct reducer r;
    char error[2048];
    int failed = fabric_open(&a->job->fabric, a->number, &r, error, sizeof error);

    if (!failed) {
        wait_for_start(job.board, a->number);
        failed = worker_train(&job, &r, error, sizeof error);
    }
    if (failed) {
        fprintf(stderr, "%s\n", error);
    }
    wait_for_release(job.board, a->number, failed);
    if (!failed) {
        fabric_close(&r);
    }
    return failed ? 1 : 0;
}

static int start_workers(struct demo *d, struct demo_job *job) {
    char error[256], name[32];
    int status = 0;

    for (unsigned w = 0; w < d->o.workers; w++) {
        snprintf(name, sizeof name, "%sworker-%u", job->prefix, w);
        job->argument[w] = (struct station_argument){d, job, w};
        spaces_enter(&d->spaces, demo_space(d, job, w));
        job->worker[w] = supervise_call(&d->supervisor, name, run_worker, &job->argument[w], error,
                                        sizeof error);
        spaces_leave(&d->spaces);
        if (!job->worker[w]) {
            return demo_cannot_start(d, error);
        }
    }
    for (unsigned w = 0; !status && w < d->o.workers; w++) {
        while (!status && !job->board->status[w].ready) {
            status = demo_tick(d);
        }
    }
    return status;
}

static void show_atp(const struct demo_job *job, char *out, size_t size) {
    struct server_totals t = server_totals(job->board);

    snprintf(out, size, "  %llu rehashed  %llu marks  %llu overflows",
             (unsigned long long)t.rehashed, (unsigned long long)t.marks,
             (unsigned long long)t.overflows);
}

static void show_one(struct demo *d, const struct demo_job *job) {
    const struct job_totals t = job_totals(job->board);
    double s = demo_seconds_since(d->phase_began);
    char atp[96] = "";

    if (job->fabric.protocol == SILKEN_ATP) {
        show_atp(job, atp, sizeof atp);
    }
    report_line(&d->report, sk_clock_now(),
                "step %u/%u  loss %.3f  accuracy %.1f%%  %.2f M packets  %.1f k/s  %llu resent%s",
                t.steps, d->plan.steps, t.loss, 100 * t.accuracy, (double)t.sent / 1e6,
                s > 0 ? (double)t.sent / s / 1e3 : 0, (unsigned long long)t.retransmissions, atp);
}

static void show_training(struct demo *d) {
    const struct job_totals a = job_totals(d->job[0].board);

    if (d->jobs == 1) {
        show_one(d, &d->job[0]);
    } else {
        const struct job_totals b = job_totals(d->job[1].board);
        report_line(
            &d->report, sk_clock_now(),
            "%s: step %u/%u, %.2f M packets, %llu resent; %s: step %u, %.2f M packets, %llu "
            "resent",
            d->job[0].title, a.steps, d->plan.steps, (double)a.sent / 1e6,
            (unsigned long long)a.retransmissions, d->job[1].title, b.steps, (double)b.sent / 1e6,
            (unsigned long long)b.retransmissions);
    }
}

static bool stuck(const struct demo *d, struct demo_job *job) {
    const struct job_totals t = job_totals(job->board);

    if (t.published != job->progress.steps || t.steps == d->plan.steps) {
        job->progress.steps = t.published;
        job->progress.ns = sk_clock_now();
    }
    return demo_seconds_since(job->progress.ns) > STUCK_SECONDS;
}

static bool stations_running(const struct demo *d) {
    bool running = false;

    for (unsigned i = 0; i < d->jobs; i++) {
        for (unsigned w = 0; w < d->o.workers; w++) {
            running |= d->job[i].worker[w]->running;
        }
        for (unsigned s = 0; s < d->job[i].fabric.servers; s++) {
            running |= d->job[i].server[s]->running;
        }
    }
    return running;
}

// All have trained, or one has failed.
static bool workers_over(const struct demo *d) {
    unsigned over = 0;

    for (unsigned i = 0; i < d->jobs; i++) {
        for (unsigned w = 0; w < d->o.workers; w++) {
            const struct board_status *status = &d->job[i].board->status[w];
            if (status->over && status->failed) {
                return true;
            }
            over += status->over;
        }
    }
    return over == d->jobs * d->o.workers;
}

static int start_training(struct demo *d) {
    int status = 0;

    for (unsigned i = 0; i < d->jobs && !status; i++) {
        status = start_workers(d, &d->job[i]);
    }
    d->phase_began = sk_clock_now();
    for (unsigned i = 0; i < d->jobs; i++) {
        d->job[i].progress.ns = d->phase_began;
        d->job[i].board->start = true;
    }
    return status;
}

// One tick of training. Returns a status.
static int watch(struct demo *d) {
    int status = demo_tick(d);

    if (status) {
        return status;
    }
    show_training(d);
    for (unsigned i = 0; i < d->jobs; i++) {
        if (stuck(d, &d->job[i])) {
            return fail_stuck(d, &d->job[i]);
        }
    }
    return demo_ended_switch(d) ? demo_fail_child(d, demo_ended_switch(d)) : 0;
}

static int end_training(struct demo *d) {
    int status = 0;

    for (unsigned rack = 0; rack < d->o.racks; rack++) {
        supervise_stop(d->rack_switch[rack]); // which then says where its packets went
    }
    for (unsigned i = 0; i < d->jobs; i++) {
        d->job[i].board->release = true;
    }
    while (!status && stations_running(d)) {
        status = demo_tick(d);
    }
    return status;
}

static int train(struct demo *d) {
    int status = start_training(d);

    while (!status && !workers_over(d)) {
        status = watch(d);
    }
    status = status ? status : end_training(d);
    if (!status) {
        report_done(&d->report, "training", "%u steps by %u worker%s%s, %.1f s", d->plan.steps,
                    d->o.workers, d->o.workers == 1 ? "" : "s", d->jobs > 1 ? " of each job" : "",
                    demo_seconds_since(d->phase_began));
    }
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------

static int demo_load(struct demo *d) {
    char error[512], images[27], test_images[27];
    unsigned per_epoch;

    if (dataset_load_train(&d->train, d->o.data, d->o.images, error, sizeof error) ||
        dataset_load_test(&d->test, d->o.data, 0, error, sizeof error)) {
        return demo_fail(d, "%s", error);
    }
    per_epoch = train_steps_per_epoch(&d->train, d->o.batch);
    if (per_epoch == 0) {
        return demo_fail(d, "a batch of %u is more than the %zu training images", d->o.batch,
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

static int add_job(struct demo *d, enum silken_protocol protocol) {
    struct demo_job *job = &d->job[d->jobs++];
    bool atp = protocol == SILKEN_ATP;

    job->board = board_new(d->o.workers);
    if (!job->board) {
        return demo_fail(d, "out of memory");
    }
    job->prefix = "";
    if (d->o.both) {
        job->title = atp ? "ATP" : "SwitchML";
        job->prefix = atp ? "atp-" : "switchml-";
    }
    job->fabric = (struct fabric){
        .protocol = protocol,
        .shared = d->o.both,
        .first_port = d->o.both && atp ? FABRIC_SECOND_PIPE : 1,
        .workers = d->o.workers,
        .servers = atp ? d->o.servers : 0,
        .racks = d->o.racks,
        .levels = d->o.levels,
        .lanes = d->o.lanes,
        .elements = d->o.elements,
        .f16 = d->o.f16,
        .rdma = d->o.rdma,
        .veth = d->o.veth,
        .loss = d->o.loss,
        .seed = d->o.seed,
        .program = d->program,
        .folder = d->supervisor.folder,
    };
    return 0;
}

static int demo_set_up(struct demo *d) {
    int status = add_job(d, d->o.protocol);
    char error[256];

    if (!status && d->o.both) {
        status = add_job(d, SILKEN_ATP);
    }
    if (!status && supervise_begin(&d->supervisor, d->o.keep, error, sizeof error)) {
        status = demo_fail(d, "%s", error);
    }
    return status;
}

// Shows that packets were lost on purpose, in the switches' own words.
static void report_loss(struct demo *d) {
    char line[160], lost[27];
    unsigned long long n, all = 0;

    for (unsigned rack = 0; rack < d->o.racks; rack++) {
        if (supervise_find(d->rack_switch[rack], sk_drop_text(SK_DROP_FAULT), line, sizeof line) &&
            sscanf(line + strlen(sk_drop_text(SK_DROP_FAULT)), "%llu", &n) == 1) {
            all += n;
        }
    }
    report_done(&d->report, "packets dropped deliberately", "%s", report_grouped(all, lost));
}

static int demo_run_all(struct demo *d) {
    int status = demo_prepare(d);

    status = status ? status : demo_make_spaces(d);
    status = status ? status : demo_start_switches(d);
    status = status ? status : demo_start_servers(d);
    status = status ? status : train(d);
    if (!status && d->o.loss > 0) {
        report_loss(d);
    }
    return status;
}

static int print_results(struct demo *d) {
    const float *reference = board_weights(d->job[0].board, d->o.workers);
    bool good = true;

    for (unsigned i = 0; i < d->jobs; i++) {
        const struct demo_job *job = &d->job[i];
        if (job->title) {
            report_result(&d->report, "job", "%s", job->title);
        }
        good &= result_print(&d->report, job->board, reference, &d->plan, &d->test,
                             job->fabric.protocol == SILKEN_ATP);
    }
    if (good) {
        puts("verified");
    }
    fflush(stdout);
    return good && !ferror(stdout) ? 0 : EXIT_FAILED;
}

static int demo(struct demo *d) {
    int status = demo_load(d);

    status = status ? status : demo_set_up(d);
    if (!status) {
        status = demo_run_all(d);
        supervise_end(&d->supervisor);
    }
    status = status ? status : print_results(d);
    for (unsigned i = 0; i < d->jobs; i++) {
        board_free(d->job[i].board);
    }
    dataset_free(&d->train);
    dataset_free(&d->test);
    spaces_close(&d->spaces);
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
        d->began = sk_clock_now();
        d->program =
            d->o.own_program ? silken_share_path(d->o.program) : sk_copy_text(d->o.program);
        report_begin(&d->report, d->o.quiet);
        status = d->o.libra  ? sparse_demo(&d->o, d->program)
                 : d->o.dlcp ? lossy_demo(&d->o, d->program)
                             : demo(d);
    }
    free(d->program);
    free(d);
    return status;
}
