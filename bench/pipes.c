// SPDX-License-Identifier: Apache-2.0
//
// pipes: forward64's program and frames in memory, with one and two pipes, on one and two cores;
// the packets leave from the pipe that they came to, or all from the other one.
//
// A core's thread takes a round of frames into its pipes and runs; where packets cross, all threads
// meet then, and run what came from other cores; and so on. Counted is the processor time of each
// thread between two meetings: what a core takes when each has a processor of its own, also on a
// machine where they have to share one. The throughput of two cores is the sum of theirs. An lcore
// keeps its processor's caches, so who comes to a meeting first looks out for the other for a while
// before it sleeps, and rounds in which somebody else had one of the processors, or which come
// after such a round, do not count.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "pipeline/switch/core.h"

#define BURST         32u
#define MAX_CORES     2u
#define PORT_OF(pipe) ((uint16_t)((pipe) << 7))
#define ROUNDS        24u // of a trial, at most 32
#define TRIES         50  // of a trial without a round that counts

// Of two threads.
struct meeting {
    _Atomic(unsigned) there, over; // who has come; how many meetings have been
};
#define LOOKS 20000u // some 100 us

struct setting {
    const char *field; // of the result
    unsigned pipes, cores;
    bool crossing;

    struct sk_switch *sw;
    const uint8_t *frames;
    struct meeting meeting;
    // of the last trial: the time of each round, and a bit for each in which nobody else had the
    // processor
    double ns[MAX_CORES][ROUNDS];
    uint32_t undisturbed[MAX_CORES];
    double *packets_per_us; // of each trial
};

// Of a setting's core: the thread of all but the first.
struct core {
    struct setting *s;
    unsigned core;
    int cpu;
    pthread_t thread;
    bool stop;
};

static void meet(struct meeting *m) {
    const unsigned over = atomic_load(&m->over);
    if (atomic_fetch_add(&m->there, 1) == 1) {
        atomic_store(&m->there, 0);
        atomic_store(&m->over, over + 1);
        return;
    }
    for (unsigned looks = 0; atomic_load(&m->over) == over; looks++)
        if (looks < LOOKS)
            __builtin_ia32_pause();
        else
            usleep(20);
}

static void take_round(struct setting *s, struct sk_core *core, unsigned number) {
    // a core's pipes: those whose number leaves the core's when divided by the number of cores
    const unsigned pipes = s->pipes / s->cores;
    for (unsigned i = 0; i < LOOP_FRAMES; i += BURST) {
        const unsigned pipe = number + i / BURST % pipes * s->cores;
        const uint64_t now = sk_core_now(core) + 1;
        for (unsigned j = 0; j < BURST; j++)
            sk_core_rx(core, PORT_OF(pipe), s->frames + (size_t)(i + j) * LOOP_BYTES, LOOP_BYTES,
                       now);
        sk_core_run(core, now);
    }
}

static long switches(void) {
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nivcsw + u.ru_nvcsw;
}

static void run_core(struct setting *s, unsigned number) {
    struct sk_core *core = sk_switch_core(s->sw, number);
    s->undisturbed[number] = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        const long before = switches();
        double from = bench_cpu_ns();
        take_round(s, core, number);
        double ns = bench_cpu_ns() - from;
        if (s->cores > 1 && s->crossing) {
            meet(&s->meeting);
            from = bench_cpu_ns();
            while (sk_core_run(core, sk_core_now(core)) > 0)
                ;
            ns += bench_cpu_ns() - from;
            meet(&s->meeting);
        }
        s->ns[number][r] = ns;
        s->undisturbed[number] |= (uint32_t)(switches() == before) << r;
    }
}

static void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// A trial is between two meetings, which the first core's thread begins.
static void *other_core(void *aux) {
    struct core *c = aux;
    pin_to(c->cpu);
    for (;;) {
        meet(&c->s->meeting);
        if (c->stop)
            return NULL;
        run_core(c->s, c->core);
        meet(&c->s->meeting);
    }
}

// Packets in a microsecond, of the rounds that count. 0 when no round counts.
static double throughput(const struct setting *s) {
    uint32_t count = s->undisturbed[0];
    double sum = 0;
    if (s->cores > 1)
        count &= s->undisturbed[1];
    count &= count << 1; // none counts after one that does not, nor the first
    for (unsigned c = 0; count && c < s->cores; c++) {
        double ns = 0;
        for (unsigned r = 0; r < ROUNDS; r++)
            ns += count >> r & 1 ? s->ns[c][r] : 0;
        sum += 1e3 * LOOP_FRAMES * __builtin_popcount(count) / ns;
    }
    return sum;
}

static void give_up(const char *why) __attribute__((noreturn));
static void give_up(const char *why) {
    fprintf(stderr, "bench: pipes: %s\n", why);
    exit(1);
}

static double trial(struct setting *s) {
    double packets_per_us = 0;
    for (unsigned i = 0; i < TRIES && packets_per_us == 0; i++) {
        if (s->cores > 1)
            meet(&s->meeting);
        run_core(s, 0);
        if (s->cores > 1)
            meet(&s->meeting);
        packets_per_us = throughput(s);
    }
    if (packets_per_us == 0)
        give_up("somebody else had the processors in all trials");
    return packets_per_us;
}

static void open_setting(struct setting *s, const struct sk_program *program,
                         const uint8_t *frames) {
    char error[256];
    struct sk_switch_options options = {.tx = sk_tx_nowhere, .n_cores = s->cores};
    for (unsigned p = 0; p < SK_PIPES; p++)
        options.core_of[p] = (uint8_t)(p % s->cores);
    s->frames = frames;
    s->sw = sk_switch_new(program, &options, error, sizeof error);
    if (!s->sw)
        give_up(error);
    for (unsigned p = 0; p < s->pipes; p++) {
        sk_switch_port_up(s->sw, PORT_OF(p), true);
        loop_add_entries(s->sw, (int)p, PORT_OF(s->crossing ? s->pipes - 1 - p : p));
    }
}

// Nothing was lost, or the figures are of something else.
static void close_setting(struct setting *s) {
    struct sk_switch_stats stats;
    sk_switch_stop(s->sw, sk_switch_now(s->sw));
    sk_switch_stats(s->sw, &stats);
    if (stats.tx_packets != stats.rx_packets)
        give_up("packets were lost");
    sk_switch_free(s->sw);
}

// The last processor is the first core's, the first one that this process may use the other's.
// False: there is only one.
static bool start_other(struct core *c, int first_cpu) {
    c->cpu = bench_other_cpu(first_cpu);
    if (c->cpu < 0)
        return false;
    if (pthread_create(&c->thread, NULL, other_core, c))
        give_up("no thread");
    return true;
}

static void stop_other(struct core *c) {
    c->stop = true;
    meet(&c->s->meeting);
    pthread_join(c->thread, NULL);
}

void measure_pipes(const struct bench_options *opt, json_t *result) {
    struct setting settings[] = {
        {.field = "mpps_1_pipe_1_core", .pipes = 1, .cores = 1},
        {.field = "mpps_2_pipes_1_core", .pipes = 2, .cores = 1},
        {.field = "mpps_2_pipes_1_core_crossing", .pipes = 2, .cores = 1, .crossing = true},
        {.field = "mpps_2_pipes_2_cores", .pipes = 2, .cores = 2},
        {.field = "mpps_2_pipes_2_cores_crossing", .pipes = 2, .cores = 2, .crossing = true},
    };
    enum { N = sizeof settings / sizeof settings[0] };
    static const char *const scaling[N] = {NULL, "scaling_1_core", "scaling_1_core_crossing",
                                           "scaling_2_cores", "scaling_2_cores_crossing"};
    const size_t most = (size_t)(opt->seconds * 1e3) + BENCH_MIN_TRIALS;
    struct core others[N];
    const int cpu = bench_pin();
    struct sk_program *program = loop_program();
    uint8_t *frames = malloc((size_t)LOOP_FRAMES * LOOP_BYTES);
    if (!frames)
        abort();
    for (unsigned i = 0; i < LOOP_FRAMES; i++)
        loop_frame(i, frames + (size_t)i * LOOP_BYTES);
    bool alone = false;
    for (unsigned i = 0; i < N; i++) {
        struct setting *s = &settings[i];
        others[i] = (struct core){.s = s, .core = 1};
        s->packets_per_us = calloc(most, sizeof *s->packets_per_us);
        if (!s->packets_per_us)
            abort();
        alone |= s->cores > 1 && !start_other(&others[i], cpu);
        open_setting(s, program, frames);
    }
    const double end = bench_wall_ns() + opt->seconds * 1e9;
    size_t n = 0;
    for (; n < most && (n < BENCH_MIN_TRIALS || bench_wall_ns() < end); n++)
        for (unsigned i = 0; i < N; i++)
            if (settings[i].cores == 1 || !alone)
                settings[i].packets_per_us[n] = trial(&settings[i]);
    for (unsigned i = 0; i < N; i++) {
        struct setting *s = &settings[i];
        if (s->cores > 1 && alone) {
            bench_error(result, s->field, "there is one processor only");
        } else {
            bench_put(result, s->field, bench_stat(s->packets_per_us, n));
            if (scaling[i])
                bench_put(result, scaling[i],
                          bench_ratio(s->packets_per_us, settings[0].packets_per_us, n));
        }
    }
    for (unsigned i = 0; i < N; i++) {
        if (settings[i].cores > 1 && !alone)
            stop_other(&others[i]);
        close_setting(&settings[i]);
        free(settings[i].packets_per_us);
    }
    bench_note(result,
               "forward64's program and frames in memory; crossing: packets leave from the other "
               "pipe; scaling: packets per second over those of one pipe on one core; two cores: "
               "the sum, each by its processor time");
    sk_program_free(program);
    free(frames);
}
