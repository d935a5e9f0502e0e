// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define WIRE_EXTRA 24u // preamble 8, check sequence 4, gap 12

// ---- statistics ----

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Between two values: by their distance.
static double sorted_quantile(const double *v, size_t n, double of) {
    double at = of * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

double bench_quantile(double *values, size_t n, double of) {
    qsort(values, n, sizeof *values, by_value);
    return sorted_quantile(values, n, of);
}

static struct bench_stat stat_of(double *owned, size_t n) {
    qsort(owned, n, sizeof *owned, by_value);
    struct bench_stat s = {sorted_quantile(owned, n, 0.5),
                           sorted_quantile(owned, n, 0.75) - sorted_quantile(owned, n, 0.25)};
    free(owned);
    return s;
}

static double *room(size_t n) {
    double *v = calloc(n, sizeof *v);
    if (!v || n == 0)
        abort();
    return v;
}

struct bench_stat bench_stat(const double *values, size_t n) {
    double *v = room(n);
    memcpy(v, values, n * sizeof *v);
    return stat_of(v, n);
}

struct bench_stat bench_ratio(const double *a, const double *b, size_t n) {
    double *v = room(n);
    for (size_t i = 0; i < n; i++)
        v[i] = a[i] / b[i];
    return stat_of(v, n);
}

// ---- time ----

static double clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double bench_cpu_ns(void) {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

double bench_tsc_per_ns(void) {
    static double rate;
    if (rate == 0) {
        double from = bench_wall_ns();
        uint64_t tsc = bench_tsc();
        while (bench_wall_ns() - from < 50e6)
            ;
        uint64_t end = bench_tsc();
        rate = (double)(end - tsc) / (bench_wall_ns() - from);
    }
    return rate;
}

// ---- trials ----

#define BENCH_TRIES 50 // of a trial that is disturbed

long bench_switches(void) {
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nivcsw + u.ru_nvcsw;
}

#define ROUNDS 8u // of a round that is disturbed so many do not count
double bench_rounds(uint64_t (*round)(void *aux), void *aux, uint64_t times) {
    uint64_t ticks = 0, counted = 0;
    long before = bench_switches();
    for (uint64_t done = 0; done < times;) {
        const uint64_t n = times - done < ROUNDS ? times - done : ROUNDS;
        uint64_t all = 0;
        for (uint64_t i = 0; i < n; i++)
            all += round(aux);
        const long after = bench_switches();
        if (after == before) {
            ticks += all;
            counted += n;
        }
        before = after;
        done += n;
    }
    return counted ? (double)ticks / bench_tsc_per_ns() / (double)counted : 0;
}

static double run_timed_side(const struct bench_side *s) {
    for (int i = 0; i < BENCH_TRIES; i++) {
        s->work(s->aux, s->times);
        const double ns = s->took(s->aux);
        if (ns > 0)
            return ns;
    }
    fprintf(stderr, "bench: '%s' was disturbed in each of %d trials\n", s->name, BENCH_TRIES);
    exit(1);
}

static double run_side(const struct bench_side *s) {
    if (s->took)
        return run_timed_side(s);
    double from = bench_cpu_ns();
    uint64_t units = s->work(s->aux, s->times);
    double ns = bench_cpu_ns() - from;
    if (units == 0) {
        fprintf(stderr, "bench: '%s' did no work\n", s->name);
        abort();
    }
    return ns / (double)units;
}

// Doubles what a trial does until it is long enough to tell, then scales.
static void fit(struct bench_side *s, double trial_ns) {
    double took = 0;
    for (s->times = 1;; s->times *= 2) {
        double from = bench_cpu_ns();
        s->work(s->aux, s->times);
        took = bench_cpu_ns() - from;
        if (took >= trial_ns / 4)
            break;
    }
    double times = (double)s->times * trial_ns / took;
    s->times = times < 1 ? 1 : (uint64_t)times;
}

size_t bench_trials(struct bench_side *sides, size_t n_sides, double seconds, double trial_ns) {
    const double end = bench_wall_ns() + seconds * 1e9;
    size_t room_for = (size_t)(seconds * 1e9 / trial_ns) + BENCH_MIN_TRIALS, n = 0;
    for (size_t s = 0; s < n_sides; s++) {
        sides[s].ns = room(room_for);
        fit(&sides[s], trial_ns);
    }
    for (; n < room_for && (n < BENCH_MIN_TRIALS || bench_wall_ns() < end); n++)
        for (size_t i = 0; i < n_sides; i++) {
            // who comes first changes from trial to trial
            struct bench_side *s = &sides[(i + n) % n_sides];
            s->work(s->aux, 1 + s->times / 8); // brings its data back into the caches
            s->ns[n] = run_side(s);
        }
    return n;
}

void bench_sides_free(struct bench_side *sides, size_t n_sides) {
    for (size_t s = 0; s < n_sides; s++)
        free(sides[s].ns);
}

// ---- results ----

// The object under 'name', made when it is not there.
static json_t *section(json_t *result, const char *name) {
    json_t *o = json_object_get(result, name);
    if (!o) {
        json_object_set_new(result, name, json_object());
        o = json_object_get(result, name);
    }
    return o;
}

void bench_put(json_t *result, const char *field, struct bench_stat s) {
    json_object_set_new(result, field, json_real(s.median));
    json_object_set_new(section(result, "spread"), field, json_real(s.spread));
}

static json_t *sentence(const char *format, va_list ap) {
    json_t *s = json_vsprintf(format, ap);
    if (!s)
        abort();
    return s;
}

void bench_note(json_t *result, const char *format, ...) {
    json_t *list = json_object_get(result, "how");
    if (!list) {
        json_object_set_new(result, "how", json_array());
        list = json_object_get(result, "how");
    }
    va_list ap;
    va_start(ap, format);
    json_array_append_new(list, sentence(format, ap));
    va_end(ap);
}

void bench_error(json_t *result, const char *field, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    json_object_set_new(section(result, "errors"), field, sentence(format, ap));
    va_end(ap);
}

void bench_put_packets(json_t *result, const double *ns, size_t n, unsigned frame_bytes) {
    double *v = room(n);
    bench_put(result, "ns_per_packet", bench_stat(ns, n));
    for (size_t i = 0; i < n; i++)
        v[i] = 1e3 / ns[i];
    bench_put(result, "mpps", bench_stat(v, n));
    for (size_t i = 0; i < n; i++)
        v[i] = 8.0 * (frame_bytes + WIRE_EXTRA) / ns[i];
    bench_put(result, "gbps", bench_stat(v, n));
    free(v);
}

// ---- the machine ----

static cpu_set_t allowed;

int bench_pin(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set))
        return 0;
    if (CPU_COUNT(&allowed) == 0)
        allowed = set;
    int cpu = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        cpu = CPU_ISSET(i, &set) ? i : cpu;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    return cpu;
}

void bench_unpin(void) {
    if (CPU_COUNT(&allowed) > 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}

int bench_other_cpu(int cpu) {
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (i != cpu && CPU_ISSET(i, &allowed))
            return i;
    return -1;
}
