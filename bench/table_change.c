// SPDX-License-Identifier: Apache-2.0
//
// How long single changes of an exact table with many entries take.
//
//   build/bench/table_change [ENTRIES [ROUNDS]]   1,000,000 and 5 by default
//
// One line for inserts (from none on), changes and deletions: the median of all, the 99.99th
// percentile and the longest, in microseconds. Memory of what readers may have seen is given back
// after each 64 changes, which are lines of their own. All rounds do the same, and the time of a
// change is its shortest of all rounds: what the machine does besides is at other changes each
// time, what the table does is not. Processor time of this thread, and wall time beside it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stages/table.h"

struct times {
    double *cpu, *wall;
    size_t n;
};

static double micros(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *what, struct times *t) {
    double *const of[] = {t->cpu, t->wall};
    printf("%-8s", what);
    for (unsigned i = 0; i < 2; i++) {
        qsort(of[i], t->n, sizeof(double), ascending);
        printf("  %s %7.2f %8.2f %9.2f", i ? "wall" : "cpu", of[i][t->n / 2],
               of[i][t->n - 1 - t->n / 10000], of[i][t->n - 1]);
    }
    printf("  us\n");
}

static void change(struct sk_table *t, unsigned how, uint64_t key) {
    const int error = how == 0   ? sk_table_add(t, &key, NULL, 0, 0, &key)
                      : how == 1 ? sk_table_modify(t, &key, NULL, 0, 0, &(uint64_t){~key & 0xffff})
                                 : sk_table_delete(t, &key, NULL, 0);
    if (error) {
        fprintf(stderr, "%s\n", sk_table_strerror(error));
        exit(1);
    }
}

static void least(double *least, double now) {
    *least = *least == 0 || now < *least ? now : *least;
}

static void measure(struct times *t, double cpu, double wall) {
    least(&t->wall[t->n], micros(CLOCK_MONOTONIC) - wall);
    least(&t->cpu[t->n++], micros(CLOCK_THREAD_CPUTIME_ID) - cpu);
}

static void run(struct sk_table *t, unsigned how, uint64_t entries, struct times *each,
                struct times *quiet) {
    each->n = quiet->n = 0;
    for (uint64_t i = 0; i < entries; i++) {
        const uint64_t mac = i * UINT64_C(0x9e3779b97f4a7c15) >> 16;
        const double wall = micros(CLOCK_MONOTONIC), cpu = micros(CLOCK_THREAD_CPUTIME_ID);
        change(t, how, mac);
        measure(each, cpu, wall);
        if (i % 64)
            continue;
        const double then = micros(CLOCK_MONOTONIC), spent = micros(CLOCK_THREAD_CPUTIME_ID);
        sk_table_quiesce(t);
        measure(quiet, spent, then);
    }
}

static struct times times_new(uint64_t n) {
    struct times t = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), 0};
    for (uint64_t i = 0; t.cpu && t.wall && i < n; i++) // their memory is there
        t.cpu[i] = t.wall[i] = 0;
    return t;
}

int main(int argc, char **argv) {
    static const struct sk_field_desc key[] = {{.name = "mac", .width = 48, .match = SK_EXACT}};
    static const struct sk_field_desc data[] = {{.name = "data", .width = 64}};
    static const struct sk_action_desc act = {
        .name = "a", .params = data, .n_params = 1, .data_words = 1};
    static const struct sk_action_desc *const actions[] = {&act};
    const uint64_t entries = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    const struct sk_table_desc d = {.name = "t",
                                    .keys = key,
                                    .n_keys = 1,
                                    .key_words = 1,
                                    .actions = actions,
                                    .n_actions = 1,
                                    .default_data = (const uint64_t[]){0},
                                    .size = entries};
    const unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    struct times each[3], quiet[3];
    for (unsigned how = 0; how < 3; how++) {
        each[how] = times_new(entries + 1);
        quiet[how] = times_new(entries + 1);
    }
    for (unsigned round = 0; round < rounds; round++) {
        struct sk_table *t = sk_table_new(&d);
        if (!t)
            return 1;
        for (unsigned how = 0; how < 3; how++)
            run(t, how, entries, &each[how], &quiet[how]);
        sk_table_free(t);
    }
    printf("%" PRIu64 " entries, %u rounds: median, 99.99 %%, longest\n", entries, rounds);
    for (unsigned how = 0; how < 3; how++) {
        print(how == 0 ? "insert" : how == 1 ? "change" : "delete", &each[how]);
        print("quiesce", &quiet[how]);
    }
    return 0;
}
