// SPDX-License-Identifier: Apache-2.0
//
// compile: from the text of p4/switchml to its code in memory: with an empty cache, and with one
// that has it. The C compiler is a process of its own, so this is time on the wall; the processor
// time of all processes is beside it.
#include "compiler/compile.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "pipeline/program.h"

#define MAX_TRIALS 64

struct trials {
    double wall[MAX_TRIALS], cpu[MAX_TRIALS];
    size_t n;
};

static double seconds_of(const struct rusage *u) {
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static double cpu_seconds(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(&self) + seconds_of(&children);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void compile_and_load(const char *cache, struct trials *t) {
    char error[512];
    const struct compile_options opt = {.path = SILKEN_PROGRAM_DIR "/switchml/switchml.p4",
                                        .cache_dir = cache};
    double wall = bench_wall_ns(), cpu = cpu_seconds();
    char *object = compile_p4(&opt, stderr);
    struct sk_program *program = object ? sk_program_load(object, error, sizeof error) : NULL;
    if (!program) {
        fprintf(stderr, "bench: switchml does not load\n");
        exit(1);
    }
    t->wall[t->n] = (bench_wall_ns() - wall) / 1e9;
    t->cpu[t->n++] = cpu_seconds() - cpu;
    sk_program_free(program);
    free(object);
}

void measure_compile(const struct bench_options *opt, json_t *result) {
    char cache[4096];
    struct trials cold = {.n = 0}, cached = {.n = 0};
    snprintf(cache, sizeof cache, "%s/compile-cache", opt->folder);
    const double from = bench_wall_ns();
    while (cold.n < MAX_TRIALS && (cold.n < 3 || bench_wall_ns() - from < opt->seconds * 1e9)) {
        nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS); // nothing there: fails, and that is well
        mkdir(cache, 0700);
        compile_and_load(cache, &cold);
        compile_and_load(cache, &cached);
    }
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    bench_put(result, "cold_seconds", bench_stat(cold.wall, cold.n));
    bench_put(result, "cached_seconds", bench_stat(cached.wall, cached.n));
    bench_put(result, "cold_cpu_seconds", bench_stat(cold.cpu, cold.n));
    bench_put(result, "cached_cpu_seconds", bench_stat(cached.cpu, cached.n));
    bench_note(result,
               "p4/switchml, from its text to loaded code, %zu times; preprocessor and C "
               "compiler included",
               cold.n);
}
