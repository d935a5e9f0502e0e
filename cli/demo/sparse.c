// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/shared.h"
#include "cli/demo/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/demo/report.h"
#include "cli/demo/rng.h"
#include "cli/demo/supervise.h"
#include "hosts/libra/libra.h"

#define SWITCH_SECONDS 120
#define STUCK_SECONDS  20
#define SAMPLE_RATE    0.08f
#define PORTION        0.5  // of all updates, that the hot parameters have
#define LOSS_TOLERANCE 0.02 // of one process's loss
#define OPPOSITE       4e-4 // bounds of the adder

struct sparse {
    struct sparse_job job;
    struct report report;
    struct supervisor supervisor;
    struct child *rack_switch[DEMO_MAX_RACKS], *server[DEMO_MAX_SERVERS], *worker[DEMO_MAX_WORKERS];
    struct sparse_child {
        const struct sparse_job *job;
        unsigned number;
    } child[DEMO_MAX_SERVERS + DEMO_MAX_WORKERS];
    size_t hot;
    double hot_share; // of the sample's updates
    uint64_t began;
};

__attribute__((format(printf, 2, 3))) static int sparse_fail(struct sparse *s, const char *format,
                                                             ...) {
    va_list args;
    va_start(args, format);
    int status = report_fail(&s->report, format, args);
    va_end(args);
    return status;
}

static int sparse_tick(struct sparse *s) {
    return demo_wait(&s->report, &s->supervisor, s->began, s->job.o->limit);
}

// ---- who is hot ----

static int sparse_count(struct sparse *s, struct libra_heat *heat) {
    const struct sparse_job *job = &s->job;
    struct rng r = rng_stream(job->o->seed, 1);
    struct sparse_sample *samples = malloc(job->batch * sizeof *samples);
    uint64_t *keys = malloc(job->batch * SPARSE_FEATURES * sizeof *keys);
    bool good = samples && keys;
    for (unsigned w = 0; good && w < job->o->workers; w++)
        for (unsigned step = 0; step < job->steps; step++) {
            if (rng_unit(&r) >= SAMPLE_RATE && (w || step)) // one batch at least
                continue;
            sparse_batch(job, w, step, samples, job->batch);
            size_t n = sparse_keys(samples, job->batch, keys);
            for (size_t i = 0; i < n; i++)
                libra_heat_add(heat, keys[i], 1);
        }
    free(samples);
    free(keys);
    return good ? 0 : sparse_fail(s, "out of memory");
}

// Of the hot parameters those that the switch of a rack has, in their order.
static int sparse_write_layout(struct sparse *s, unsigned rack, const struct libra_ranked *ranked) {
    struct libra_layout layout;
    struct sk_error err;
    uint64_t *keys = malloc(s->hot * sizeof *keys);
    size_t n = 0;
    if (!keys)
        return sparse_fail(s, "out of memory");
    for (size_t i = 0; i < s->hot; i++)
        if (sparse_rack_of_key(&s->job, ranked[i].key) == rack)
            keys[n++] = ranked[i].key;
    int rc = libra_layout_make(&layout, SPARSE_JOB, SPARSE_EPOCH, LIBRA_PLACES, keys, n, &err);
    free(keys);
    if (rc)
        return sparse_fail(s, "%s", err.text);
    FILE *out = fopen(s->job.layout[rack], "w");
    bool written = out && libra_layout_write(&layout, out);
    if (out && fclose(out))
        written = false;
    libra_layout_clear(&layout);
    return written ? 0 : sparse_fail(s, "cannot write %s", s->job.layout[rack]);
}

static int sparse_profile(struct sparse *s) {
    const struct libra_choice choice = {.portion = PORTION, .memory = 0.05};
    struct libra_heat heat = {0};
    int status = sparse_count(s, &heat);
    struct libra_ranked *ranked = status ? NULL : libra_heat_rank(&heat);
    if (!status && !ranked)
        status = sparse_fail(s, "out of memory");
    if (!status) {
        uint64_t hot = 0;
        s->hot = libra_heat_hot(ranked, heat.map.n, &choice);
        for (size_t i = 0; i < s->hot; i++)
            hot += ranked[i].count;
        s->hot_share = (double)hot / (double)heat.total;
        for (unsigned rack = 0; !status && rack < s->job.o->racks; rack++)
            status = sparse_write_layout(s, rack, ranked);
    }
    free(ranked);
    libra_heat_clear(&heat);
    if (!status)
        report_done(&s->report, "hot parameters", "%zu of %u, with %.0f %% of a sample's updates",
                    s->hot, SPARSE_KEYS, 100 * s->hot_share);
    return status;
}

// ---- one process ----

// The same steps: those of all workers at the same weights, then the next.
static int sparse_reference(struct sparse *s) {
    const struct sparse_job *job = &s->job;
    const size_t most = (size_t)job->batch * SPARSE_FEATURES;
    struct sparse_sample *samples = malloc(job->batch * sizeof *samples);
    uint64_t *keys = malloc(most * sizeof *keys);
    float *weights = malloc(2 * most * sizeof *weights), *all = job->board->reference;
    double *sum = calloc(SPARSE_KEYS, sizeof *sum);
    bool good = samples && keys && weights && sum;
    for (unsigned step = 0; good && step < job->steps; step++) {
        for (unsigned w = 0; w < job->o->workers; w++) {
            sparse_batch(job, w, step, samples, job->batch);
            size_t n = sparse_keys(samples, job->batch, keys);
            for (size_t i = 0; i < n; i++)
                weights[i] = all[keys[i]];
            sparse_step(job, samples, job->batch, keys, n, weights, weights + most);
            for (size_t i = 0; i < n; i++)
                sum[keys[i]] += (double)weights[most + i];
        }
        for (size_t key = 0; key < SPARSE_KEYS; key++)
            all[key] = (float)sum[key];
    }
    free(samples);
    free(keys);
    free(weights);
    free(sum);
    return good ? 0 : sparse_fail(s, "out of memory");
}

// ---- the processes ----

static bool sparse_switch_is_ready(const struct sparse *s, unsigned rack) {
    struct stat st;
    for (unsigned i = 0; i < s->job.o->workers + s->job.o->servers; i++)
        if (sparse_rack(&s->job, i) == rack && stat(sparse_address(&s->job, i).socket, &st))
            return false;
    for (unsigned r = 0; r < rack; r++) {
        char path[PATH_MAX];
        sparse_uplink(&s->job, rack, r, path, sizeof path);
        if (stat(path, &st))
            return false;
    }
    return true;
}

static int sparse_start_switch(struct sparse *s, unsigned rack) {
    char config[PATH_MAX], name[32] = "switch", error[512];
    char *argv[] = {"silken", "run", "-c", config, "--memory", "512", NULL};
    const uint64_t began = sk_clock_now();
    int status = 0;
    if (s->job.o->racks > 1)
        snprintf(name, sizeof name, "switch-%u", rack);
    snprintf(config, sizeof config, "%s/%s.json", s->supervisor.logs, name);
    if (sparse_write_config(&s->job, rack, config, error, sizeof error))
        return sparse_fail(s, "%s", error);
    struct child *c = s->rack_switch[rack] =
        supervise_self(&s->supervisor, name, argv, error, sizeof error);
    if (!c)
        return sparse_fail(s, "%s", error);
    while (!status && !sparse_switch_is_ready(s, rack)) {
        report_line(&s->report, sk_clock_now(), "compiling the P4 program, starting the switch");
        status = sparse_tick(s);
        if (!status && !c->running)
            status = demo_child_failed(&s->report, c);
        if (!status && demo_seconds_since(began) > SWITCH_SECONDS)
            status = sparse_fail(s, "the switch is not ready after %d seconds", SWITCH_SECONDS);
    }
    if (!status)
        report_done(&s->report, "program", "%s, ready after %.1f s", s->job.program,
                    demo_seconds_since(began));
    return status;
}

static int sparse_run_server(void *argument) {
    const struct sparse_child *c = argument;
    return sparse_serve(c->job, c->number);
}

static int sparse_run_worker(void *argument) {
    const struct sparse_child *c = argument;
    return sparse_work(c->job, c->number);
}

static int sparse_start(struct sparse *s, bool servers, unsigned n, struct child **children) {
    char name[32], error[256];
    for (unsigned i = 0; i < n; i++) {
        struct sparse_child *c = &s->child[servers ? i : DEMO_MAX_SERVERS + i];
        *c = (struct sparse_child){&s->job, i};
        snprintf(name, sizeof name, "%s-%u", servers ? "server" : "worker", i);
        children[i] =
            supervise_call(&s->supervisor, name, servers ? sparse_run_server : sparse_run_worker, c,
                           error, sizeof error);
        if (!children[i])
            return sparse_fail(s, "%s", error);
    }
    return 0;
}

static int sparse_start_servers(struct sparse *s) {
    int status = sparse_start(s, true, s->job.o->servers, s->server);
    for (unsigned i = 0; i < s->job.o->servers; i++)
        while (!status && !s->job.board->ready[i])
            status = sparse_tick(s);
    return status;
}

static bool sparse_any_runs(struct child *const *children, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (children[i]->running)
            return true;
    return false;
}

static uint64_t sparse_steps_done(const struct sparse *s) {
    uint64_t steps = 0;
    for (unsigned i = 0; i < s->job.o->workers; i++)
        steps += s->job.board->status[i].steps;
    return steps;
}

static int sparse_train(struct sparse *s) {
    const uint64_t began = sk_clock_now();
    uint64_t moved = began, steps = 0;
    int status = sparse_start(s, false, s->job.o->workers, s->worker);
    while (!status && sparse_any_runs(s->worker, s->job.o->workers)) {
        status = sparse_tick(s);
        if (sparse_steps_done(s) != steps)
            moved = sk_clock_now();
        steps = sparse_steps_done(s);
        report_line(&s->report, sk_clock_now(), "%llu of %llu steps", (unsigned long long)steps,
                    (unsigned long long)s->job.steps * s->job.o->workers);
        if (!status && demo_seconds_since(moved) > STUCK_SECONDS)
            status = sparse_fail(s, "no progress for %d seconds", STUCK_SECONDS);
    }
    s->job.board->release = true;
    while (!status && sparse_any_runs(s->server, s->job.o->servers))
        status = sparse_tick(s);
    if (!status)
        report_done(&s->report, "training", "%u steps by %u workers, %u servers, %.1f s",
                    s->job.steps, s->job.o->workers, s->job.o->servers, demo_seconds_since(began));
    return status;
}

// ---- the verdict ----

struct sparse_verdict {
    uint64_t sums, wrong;
    double worst[2]; // error of a sum over the magnitudes of its terms: of cold and hot ones
};

static void sparse_check_key(const struct sparse *s, const struct libra_layout *layouts,
                             uint32_t key, struct sparse_verdict *v) {
    const struct sparse_board *b = s->job.board;
    const bool hot = libra_layout_rank(&layouts[sparse_rack_of_key(&s->job, key)], key) >= 0;
    double exact = 0, magnitudes = 0, got = (double)b->trained[key];
    uint64_t terms = 0;
    for (unsigned w = 0; w < s->job.o->workers; w++) {
        exact += b->pushed[w][key].sum;
        magnitudes += b->pushed[w][key].magnitudes;
        terms += b->pushed[w][key].terms;
    }
    // each addition's larger operand is at most the sum of all magnitudes
    double bound = hot ? OPPOSITE * (double)terms * magnitudes : 1e-7 * magnitudes;
    double error = fabs(got - exact);
    v->sums++;
    v->wrong += !(error <= bound + 1e-30);
    if (magnitudes > 0 && error / magnitudes > v->worst[hot])
        v->worst[hot] = error / magnitudes;
}

static int sparse_check(struct sparse *s, struct sparse_verdict *v) {
    struct libra_layout layouts[DEMO_MAX_RACKS];
    struct sk_error err;
    int status = 0;
    unsigned n = 0;
    *v = (struct sparse_verdict){0};
    for (; !status && n < s->job.o->racks; n += !status)
        if (libra_layout_read(&layouts[n], s->job.layout[n], &err))
            status = sparse_fail(s, "%s", err.text);
    for (uint32_t key = 0; !status && key < SPARSE_KEYS; key++)
        sparse_check_key(s, layouts, key, v);
    while (n > 0)
        libra_layout_clear(&layouts[--n]);
    return status;
}

static void sparse_report_traffic(struct sparse *s) {
    struct silken_kv_stats all = {0};
    char a[27], b[27];
    for (unsigned w = 0; w < s->job.o->workers; w++) {
        const struct silken_kv_stats *one = &s->job.board->status[w].stats;
        all.hot += one->hot;
        all.cold += one->cold;
        all.sent += one->sent;
        all.repeated += one->repeated;
        all.left += one->left;
    }
    report_result(&s->report, "pairs", "%s at the switch, %s at the servers",
                  report_grouped(all.hot, a), report_grouped(all.cold, b));
    report_result(&s->report, "packets sent by workers", "%s", report_grouped(all.sent, a));
    report_result(&s->report, "retransmissions", "%s", report_grouped(all.repeated, a));
}

static int sparse_report(struct sparse *s, const struct sparse_verdict *v) {
    static const float untrained[SPARSE_KEYS];
    const struct sparse_board *b = s->job.board;
    const double trained = sparse_loss(&s->job, b->trained),
                 reference = sparse_loss(&s->job, b->reference);
    char sums[27];
    bool good = v->wrong == 0;
    report_result(&s->report, "loss of the trained model", "%.4f", trained);
    report_result(&s->report, "loss of one process", "%.4f", reference);
    report_result(&s->report, "loss before training", "%.4f", sparse_loss(&s->job, untrained));
    sparse_report_traffic(s);
    report_result(&s->report, "sums checked",
                  "%s; largest error, of the magnitudes of a sum's terms: %.2g at the switch, "
                  "%.2g at a server",
                  report_grouped(v->sums, sums), v->worst[1], v->worst[0]);
    if (!good)
        report_result(&s->report, "NOT VERIFIED", "%llu sums were wrong",
                      (unsigned long long)v->wrong);
    if (!(fabs(trained - reference) <= LOSS_TOLERANCE * reference)) {
        report_result(&s->report, "NOT VERIFIED", "the two losses differ by more than %.0f %%",
                      100 * LOSS_TOLERANCE);
        good = false;
    }
    if (good)
        puts("verified");
    fflush(stdout);
    return good && !ferror(stdout) ? 0 : EXIT_FAILED;
}

// ---- the whole ----

static int sparse_run(struct sparse *s, struct sparse_verdict *v) {
    if (s->job.text.n)
        report_done(&s->report, "text", "%zu words, %zu of them distinct", s->job.text.n,
                    s->job.text.distinct);
    int status = sparse_profile(s);
    for (unsigned rack = s->job.o->racks; !status && rack-- > 0;) // one connects to those after it
        status = sparse_start_switch(s, rack);
    status = status ? status : sparse_start_servers(s);
    status = status ? status : sparse_train(s);
    status = status ? status : sparse_reference(s);
    return status ? status : sparse_check(s, v);
}

int sparse_demo(const struct demo_options *o, const char *program) {
    struct sparse s = {.job = {.o = o,
                               .steps = o->steps ? o->steps : 200,
                               .batch = o->batch / o->workers,
                               .program = program},
                       .began = sk_clock_now()};
    struct sparse_verdict v = {0};
    const size_t size = sizeof *s.job.board + o->workers * sizeof *s.job.board->pushed;
    char error[256];
    report_begin(&s.report, o->quiet);
    s.job.board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.job.board == MAP_FAILED)
        return sparse_fail(&s, "out of memory");
    int status = 0;
    if (o->text && sparse_text_read(&s.job.text, o->text, error, sizeof error)) {
        status = sparse_fail(&s, "%s", error);
    } else if (supervise_begin(&s.supervisor, o->keep, error, sizeof error)) {
        status = sparse_fail(&s, "%s", error);
    } else {
        s.job.folder = s.supervisor.folder;
        for (unsigned rack = 0; rack < o->racks; rack++)
            snprintf(s.job.layout[rack], sizeof s.job.layout[rack],
                     rack ? "%s/layout-%u" : "%s/layout", s.supervisor.logs, rack);
        status = sparse_run(&s, &v);
        supervise_end(&s.supervisor);
    }
    status = status ? status : sparse_report(&s, &v);
    sparse_text_clear(&s.job.text);
    munmap(s.job.board, size);
    return status;
}
