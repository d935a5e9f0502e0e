// SPDX-License-Identifier: Apache-2.0
//
// bench: what the benchmarks share: trials, statistics, results.
//
// A benchmark measures one key of build/bench.json. It compares sides (Silken, a peer, a bare
// loop), each a piece of work that can be repeated; their trials alternate on one processor, so
// that whatever else the machine does meets all of them alike. The time of a trial is the processor
// time of the thread that works: equal to the time on the wall where nobody else runs, and still
// true where somebody does. A figure is the median of its trials, its spread the interquartile
// range; a ratio is formed trial by trial before the median is taken.
//
// A result is a JSON object: the fields that docs/performance.md names, "spread" with the range of
// each, "errors" with one sentence for each field that could not be measured, "how" with what was
// done in words. Nothing is put there that was not measured in this run.
//
// Not thread-safe. A failure to allocate ends the process.
#ifndef SILKEN_BENCH_BENCH_H
#define SILKEN_BENCH_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- statistics ----
struct bench_stat {
    double median, spread; // spread: third quartile less the first
};
struct bench_stat bench_stat(const double *values, size_t n);
// Of a[i] / b[i].
struct bench_stat bench_ratio(const double *a, const double *b, size_t n);
// The value below which the share 'of' (0 to 1) lies; sorts the values.
double bench_quantile(double *values, size_t n, double of);

// ---- time, in ns ----
double bench_cpu_ns(void);  // of this thread on its processor
double bench_wall_ns(void); // monotonic
double bench_tsc_per_ns(void);
static inline uint64_t bench_tsc(void) {
    return __builtin_ia32_rdtsc();
}

// ---- trials ----
struct bench_side {
    const char *name;
    // Does the work 'times' times and returns how many units (packets, bytes) that were in all.
    uint64_t (*work)(void *aux, uint64_t times);
    void *aux;
    // Null, or what of the last work() was the work, in ns per unit on the wall; 0: somebody else
    // had the processor meanwhile, or may have had. Of work that has to be made ready again and
    // again, where the processor's time is too slow to ask for.
    double (*took)(void *aux);
    uint64_t times; // filled in: how often the work is done in one trial
    double *ns;     // filled in: per unit, one for each trial; bench_sides_free() frees
};
#define BENCH_TRIAL_NS   4e6 // of work that is short
#define BENCH_MIN_TRIALS 5u
// Trials for about 'seconds' on the wall, but at least BENCH_MIN_TRIALS; returns how many.
// 'trial_ns': about how long one trial of one side takes. Each side runs before the first trial, to
// warm up and to find out how often it fits.
size_t bench_trials(struct bench_side *sides, size_t n_sides, double seconds, double trial_ns);
// Context switches of this thread so far.
long bench_switches(void);
// Runs rounds that say how many ticks of bench_tsc they took; ns of one, of those during which, or
// near which, nobody else had the processor. 0: there were none.
double bench_rounds(uint64_t (*round)(void *aux), void *aux, uint64_t times);
void bench_sides_free(struct bench_side *sides, size_t n_sides);

// ---- results ----
void bench_put(json_t *result, const char *field, struct bench_stat s);
void bench_note(json_t *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_error(json_t *result, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// ns_per_packet, mpps and gbps of frames of so many bytes; on a wire each has 24 more (preamble,
// check sequence, gap).
void bench_put_packets(json_t *result, const double *ns, size_t n, unsigned frame_bytes);

// ---- the machine ----
// The processor all sides run on: the last that this process may use. Pins the calling thread to
// it.
int bench_pin(void);
void bench_unpin(void);       // back to where it could run before
int bench_other_cpu(int cpu); // another one that this process may use; -1: there is none

// ---- the benchmarks: each fills in the result of its key ----
struct bench_options {
    double seconds;     // how long it should take, about
    const char *folder; // to put files into
    const char *self;   // the path of this program
};
#define BENCH_KEYS(X)                                                                              \
    X(forward64)                                                                                   \
    X(switchml256)                                                                                 \
    X(switchml64)                                                                                  \
    X(f16)                                                                                         \
    X(roce)                                                                                        \
    X(scalar)                                                                                      \
    X(atp)                                                                                         \
    X(dlcp)                                                                                        \
    X(latency)                                                                                     \
    X(worker)                                                                                      \
    X(udp_worker)                                                                                  \
    X(atp_worker)                                                                                  \
    X(atp_server)                                                                                  \
    X(dlcp_worker)                                                                                 \
    X(dlcp_server)                                                                                 \
    X(libra)                                                                                       \
    X(libra_integer)                                                                               \
    X(libra_worker)                                                                                \
    X(libra_server)                                                                                \
    X(allreduce)                                                                                   \
    X(allreduce_1k)                                                                                \
    X(record)                                                                                      \
    X(traced)                                                                                      \
    X(filter)                                                                                      \
    X(pipes)                                                                                       \
    X(controllers)                                                                                 \
    X(compile)                                                                                     \
    X(replay)
// Silken's side alone, for a profiler: the work of the key again and again for so many seconds, but
// at least twice. Prints what a packet took. False: there is no such thing for this key.
bool bench_profile(const char *key, double seconds);

#define BENCH_DECLARE(key) void measure_##key(const struct bench_options *opt, json_t *result);
BENCH_KEYS(BENCH_DECLARE)
#undef BENCH_DECLARE

#endif
