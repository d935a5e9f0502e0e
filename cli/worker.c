// SPDX-License-Identifier: Apache-2.0
//
// silken worker: one worker of a job, with made-up tensors: shows that switches and their links
// work, and how fast they are. The library is hosts/include/silken/allreduce.h.
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/worker.h"
#include "base/error.h"
#include "base/clock.h"
#include "hosts/core/wire_type.h"

// ---- tensors whose sums are known ---------------------------------------------------------------

// Element i of worker 'rank': 17 bits, so that as a float, times a power of two, neither it nor the
// sum of 255 of them is rounded anywhere; nor is one of 4096 in SwitchML's fixed point.
static int32_t cmd_worker_value_of(const struct work *w, uint32_t rank, uint64_t i,
                                   uint64_t round) {
    uint32_t x = (uint32_t)i * 2654435761u + rank * 40503u + (uint32_t)round * 97u +
                 (uint32_t)w->seed * 2246822519u;

    return (int32_t)(x >> 15) - 65536;
}

#define SCALE 0x1p-16f

static void cmd_worker_fill(struct work *w, uint64_t round) {
    float *f = w->tensor;
    int32_t *n = w->tensor;
    uint16_t *h = w->tensor;

    for (uint64_t i = 0; i < w->elements; i++) {
        int32_t v = cmd_worker_value_of(w, w->config.rank, i, round);
        if (w->integers) {
            n[i] = v;
        } else if (w->halves) {
            h[i] = sk_f16_nearest((float)v * SCALE);
        } else {
            f[i] = (float)v * SCALE;
        }
    }
}

// How far a sum may be off, whose parts have magnitudes of 'parts' in all: SwitchML has these
// numbers exactly; ATP rounds each to a multiple of 10^-8, and the sum to a float. A half has 11
// digits, from 2^-24 on: sums are rounded to halves, and for a switch that adds them (--f16) so is
// each part, which has more.
static double cmd_worker_tolerance(const struct work *w, double sum, double parts) {
    const double least = 0x1p-25 / (double)SCALE;

    if (w->halves || w->config.f16) {
        return (fabs(sum) + parts) * 0x1p-11 * (1 + 0x1p-10) + (w->config.workers + 1) * least;
    }
    if (w->integers) {
        return 0;
    }
    if (w->config.protocol == SILKEN_SWITCHML) {
        return w->config.workers > 255 ? fabs(sum) * 0x1p-24 : 0;
    }
    return w->config.workers * 0.5000001e-8 / (double)SCALE + fabs(sum) * 0x1p-24;
}

// What was complete before a new worker has begun is as it was before the sum, and another worker's
// to check.
static bool complete_before(const struct work *w, uint64_t i, uint64_t round, double got) {
    return w->firsts && got == cmd_worker_value_of(w, w->config.rank, i, round);
}

static int cmd_worker_check(const struct work *w, uint64_t round) {
    const float *f = w->tensor;
    const int32_t *n = w->tensor;
    const uint16_t *h = w->tensor;

    for (uint64_t i = 0; i < w->elements; i++) {
        double sum = 0, parts = 0,
               got = w->integers ? n[i]
                     : w->halves ? (double)sk_f16_value(h[i]) / SCALE
                                 : (double)f[i] / SCALE;
        for (uint32_t rank = 0; rank < w->config.workers; rank++) {
            const int32_t part = cmd_worker_value_of(w, rank, i, round);
            sum += part;
            parts += fabs((double)part);
        }
        if (!(fabs(got - sum) <= cmd_worker_tolerance(w, sum, parts)) &&
            !complete_before(w, i, round, got)) {
            fprintf(stderr, "silken worker: round %llu, element %llu is %.9g, not %.9g\n",
                    (unsigned long long)round, (unsigned long long)i, got, sum);
            return EXIT_FAILED;
        }
    }
    return EXIT_GOOD;
}

// ---- working ------------------------------------------------------------------------------------

static int reduce(const struct work *w, void *values, uint64_t n) {
    int rc = silken_allreduce(w->comm, values, values, n,
                              w->integers ? SILKEN_I32
                              : w->halves ? SILKEN_F16
                                          : SILKEN_F32,
                              SILKEN_SUM);

    if (rc) {
        fprintf(stderr, "silken worker: the all-reduce failed: %s\n", silken_strerror(rc));
    }
    return rc ? EXIT_FAILED : EXIT_GOOD;
}

// Processor time of all threads so far.
static double cpu_seconds(void) {
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// The time is taken from when all workers are there, which the sum of one element tells.
static int cmd_worker_one_round(struct work *w, uint64_t round) {
    int32_t one = 0;
    uint64_t began, ns;
    double cpu;

    cmd_worker_fill(w, round);
    if (reduce(w, &one, 1)) {
        return EXIT_FAILED;
    }
    cpu = cpu_seconds();
    began = sk_clock_now();
    if (reduce(w, w->tensor, w->elements)) {
        return EXIT_FAILED;
    }
    ns = sk_clock_now() - began;
    printf("round %llu: %.6f s, %.2f Gbit/s of tensor, %.6f s of processors\n",
           (unsigned long long)round, (double)ns / 1e9,
           (double)w->elements * (w->halves ? 16 : 32) / (double)(ns ? ns : 1),
           cpu_seconds() - cpu);
    return cmd_worker_check(w, round);
}

// Every element of every round was looked at, or there is a line that says which was wrong.
static void print_verified(const struct work *w, uint64_t rounds) {
    const bool rounded = w->halves || w->config.f16;
    const bool exact = !rounded && (w->integers || w->config.protocol == SILKEN_SWITCHML);

    printf("verified: %llu rounds of %llu elements, each the sum of %u workers' values%s%s\n",
           (unsigned long long)rounds, (unsigned long long)w->elements, w->config.workers,
           exact     ? ", exactly"
           : rounded ? ", up to the rounding of 16-bit floats"
                     : ", up to the protocol's rounding to 1e-8 and that of a float",
           w->firsts ? "; sums that were complete before this worker started are left out" : "");
}

static void cmd_worker_print_end(const struct work *w, bool good) {
    struct silken_stats s;
    uint64_t sent, received;

    silken_stats(w->comm, &s);
    printf("%llu packets, %llu of them again, %llu answers, round trip %.0f us\n",
           (unsigned long long)s.packets_sent, (unsigned long long)s.retransmissions,
           (unsigned long long)s.answers, (double)s.rtt_ns / 1e3);
    silken_segments(w->comm, &sent, &received);
    if (sent > 0 || received > 0) {
        printf("as UDP segments: %llu frames sent, %llu received\n", (unsigned long long)sent,
               (unsigned long long)received);
    }
    if (w->config.protocol == SILKEN_ATP) {
        printf("%llu losses noticed, %llu timeouts, %llu packets as floats, %llu marks, %llu "
               "aggregators rehashed\n",
               (unsigned long long)s.losses, (unsigned long long)s.timeouts,
               (unsigned long long)s.overflows, (unsigned long long)s.marks,
               (unsigned long long)s.rehashed);
    }
    if (good) {
        print_verified(w, w->rounds);
    }
}

// ---- the job file of ATP ------------------------------------------------------------------------

static int cmd_worker_unusable(const char *sentence) {
    fprintf(stderr, "silken worker: %s\n", sentence);
    return EXIT_UNUSABLE;
}

static int cmd_worker_take_job(struct work *w) {
    struct sk_error err = {{0}};
    struct job_file *j = &w->job;
    uint64_t flows;
    char why[160];

    if (job_file_read(j, w->path, &err)) {
        return cmd_worker_unusable(err.text);
    }
    if (w->config.rank >= j->workers || w->config.lanes != j->lanes) {
        snprintf(why, sizeof why, "%s has %u workers with %u devices each; this is rank %u with %u",
                 w->path, j->workers, j->lanes, w->config.rank, w->config.lanes);
        return cmd_worker_unusable(why);
    }
    flows = UINT64_MAX >> (64 - j->lanes * j->servers);
    if (w->firsts && w->firsts != flows) {
        return cmd_worker_unusable("--first is needed exactly once for each of the job's flows");
    }
    w->config.atp.first = w->firsts ? w->first : NULL;
    w->integers = j->type == SILKEN_I32;
    job_file_worker(j, w->config.rank, &w->config, w->lane);
    return 0;
}

// What cannot be is said, and changes nothing.
static void cmd_worker_reshape(const struct work *w) {
    struct sk_error err = {{0}};
    char why[256] = "";
    struct job_file j;

    if (job_file_read(&j, w->path, &err)) {
        cmd_worker_unusable(err.text);
        return;
    }
    if (j.workers != w->config.workers) {
        cmd_worker_unusable("a running job keeps its number of workers");
    } else if (silken_reshape(w->comm, j.rack, why, sizeof why)) {
        cmd_worker_unusable(why);
    } else {
        puts("moved");
    }
    job_file_free(&j);
}

// A thread that waits for SIGHUP, which all others have blocked.
struct listener {
    const struct work *work;
    pthread_t thread;
    _Atomic bool over;
};

static void hangups(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGHUP);
}

static void *listen_for_hangups(void *argument) {
    struct listener *l = argument;
    sigset_t set;
    int signal;

    hangups(&set);
    while (sigwait(&set, &signal) == 0 && !l->over) {
        cmd_worker_reshape(l->work);
    }
    return NULL;
}

static int all_rounds(struct work *w) {
    struct listener l = {.work = w};
    bool listens = w->config.protocol == SILKEN_ATP &&
                   pthread_create(&l.thread, NULL, listen_for_hangups, &l) == 0;
    int status = EXIT_GOOD;

    for (uint64_t round = 0; round < w->rounds && !status; round++) {
        status = cmd_worker_one_round(w, round);
    }
    if (listens) {
        l.over = true;
        pthread_kill(l.thread, SIGHUP);
        pthread_join(l.thread, NULL);
    }
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------

static int cmd_worker_run(struct work *w) {
    char why[512];
    sigset_t set;
    int status;

    if (w->config.protocol == SILKEN_ATP) {
        hangups(&set);
        pthread_sigmask(SIG_BLOCK, &set, NULL); // also for the threads to come
    }
    w->tensor = calloc(w->elements ? w->elements : 1, 4);
    if (!w->tensor) {
        fprintf(stderr, "silken worker: not enough memory for the tensor\n");
        return EXIT_UNUSABLE;
    }
    if (silken_open(&w->comm, &w->config, why, sizeof why)) {
        fprintf(stderr, "silken worker: %s\n", why);
        silken_lease_close(w->config.lease);
        free(w->tensor);
        return EXIT_UNUSABLE;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    status = all_rounds(w);
    cmd_worker_print_end(w, status == EXIT_GOOD);
    silken_close(w->comm);
    free(w->tensor);
    return status;
}

// The job service says who and where this worker is.
static int cmd_worker_take_place(struct work *w) {
    struct silken_service *s = &w->service;
    char why[800];

    s->rank = w->config.rank;
    s->workers = w->config.workers;
    s->ip = w->lane[0].worker_ip;
    s->mac = w->lane[0].worker_mac;
    if (silken_config_from_service(&w->config, s, why, sizeof why)) {
        return cmd_worker_unusable(why);
    }
    w->lane[0].worker_ip = w->config.worker_ip;
    w->lane[0].worker_mac = w->config.worker_mac;
    w->lane[0].worker_port = w->config.worker_port;
    printf("admitted: job %u, slots %u, as %s\n", w->config.job, w->config.pool_size,
           w->config.worker_ip);
    return 0;
}

// Devices of frames become those of RoCEv2.
static int cmd_worker_use_roce(struct work *w) {
    for (uint32_t i = 0; i < w->config.lanes; i++) {
        struct silken_lane *lane = &w->lane[i];
        const bool roce = strncmp(lane->device, "roce:", 5) == 0;
        if (snprintf(w->roce[i], sizeof w->roce[i], "%s%s", roce ? "" : "roce:", lane->device) >=
            (int)sizeof w->roce[i]) {
            return cmd_worker_unusable("a device's string is too long");
        }
        lane->device = w->roce[i];
    }
    return 0;
}

// Several lanes have the one device that was given, and its addresses.
static void share_device(struct work *w) {
    struct silken_config *c = &w->config;

    c->device = w->lane[0].device;
    c->worker_mac = w->lane[0].worker_mac;
    c->worker_ip = w->lane[0].worker_ip;
    c->cpu = w->lane[0].cpu;
    c->lanes = w->shared;
    c->lane = NULL;
}

int cmd_worker(int argc, char **argv) {
    static struct work w = {.elements = 25000000, .rounds = 5};
    int status;

    silken_config_init(&w.config);
    w.config.job = 1;
    w.config.switch_mac = "02:00:00:00:00:fe";
    w.config.switch_ip = "10.0.0.254";
    w.config.lane = w.lane;
    status = work_take_options(&w, argc, argv);
    if (status < 0) {
        fputs(work_usage, stdout);
        return EXIT_GOOD;
    }
    for (uint32_t i = 0; i < w.config.lanes; i++) {
        w.lane[i].worker_port = w.config.worker_port;
    }
    if (status == 0 && w.config.protocol == SILKEN_ATP) {
        status = cmd_worker_take_job(&w);
    }
    if (status == 0 && w.rdma) {
        status = cmd_worker_use_roce(&w);
    }
    if (status == 0 && w.service.controller) {
        status = cmd_worker_take_place(&w);
    }
    if (w.shared > 1) {
        share_device(&w);
    }
    status = status ? status : cmd_worker_run(&w);
    job_file_free(&w.job);
    return status;
}
