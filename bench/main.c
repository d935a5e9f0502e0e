// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks' program; run.sh drives it.
//
//   benchmark measure KEY SECONDS FOLDER   one key; its result into FOLDER/KEY.json
//   benchmark collect FOLDER FILE KEY...   results of the keys into one file, and a table of them
//                                          on standard output; a key without a result is an error
//                                          in it
//   benchmark profile KEY SECONDS          Silken's side alone, for a profiler (bench/profile.sh)
//   benchmark keys                         the keys, one a line
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "bench/bench.h"

struct benchmark {
    const char *key;
    void (*run)(const struct bench_options *opt, json_t *result);
};
static const struct benchmark benchmarks[] = {
#define ROW(key) {#key, measure_##key},
    BENCH_KEYS(ROW)
#undef ROW
};
#define N_BENCHMARKS (sizeof benchmarks / sizeof benchmarks[0])

static int cannot_write(const char *path) {
    fprintf(stderr, "bench: cannot write %s\n", path);
    return 1;
}

static int measure(const char *self, const char *key, const char *seconds, const char *folder) {
    const struct bench_options opt = {.seconds = atof(seconds), .folder = folder, .self = self};
    char path[4096];
    json_t *result = json_object();
    snprintf(path, sizeof path, "%s/%s.json", folder, key);
    remove(path);
    bench_pin();
    for (size_t i = 0; i < N_BENCHMARKS; i++)
        if (strcmp(benchmarks[i].key, key) == 0) {
            benchmarks[i].run(&opt, result);
            int failed = json_dump_file(result, path, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
            json_decref(result);
            return failed ? cannot_write(path) : 0;
        }
    fprintf(stderr, "bench: there is no key '%s'\n", key);
    return 2;
}

// ---- the table ----

// What is to be reached; the table says where it is not yet.
static const struct goal {
    const char *key, *field;
    double value;
    bool at_most;
} goals[] = {
    {"forward64", "ratio_testpmd", 0.6, false},
    {"forward64", "ratio_swx", 1.5, false},
    {"switchml256", "gbps", 100, false},
    {"switchml256", "ratio_ideal", 5, true},
    {"switchml64", "mpps", 15, false},
    {"f16", "ratio_elements", 1.5, false},
    {"roce", "ratio_udp", 1.2, true},
    {"scalar", "ratio_scalar", 4, false},
    {"atp", "gbps", 40, false},
    {"dlcp", "mpps", 20, false},
    {"dlcp", "ratio_by_flow", 1.2, true},
    {"libra", "gbps", 5, false},
    {"libra", "ratio_ideal", 3, true},
    {"libra_integer", "gbps", 30, false},
    {"libra_worker", "million_pairs", 80, false},
    {"libra_server", "million_pairs", 40, false},
    {"worker", "gbps", 40, false},
    {"replay", "mpps", 2, false},
    {"allreduce", "ratio_gloo", 1, false},
    {"allreduce", "ratio_openmpi", 1, false},
};

static void print_goal(const char *key, const char *field, double value) {
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        const struct goal *g = &goals[i];
        if (strcmp(g->key, key) == 0 && strcmp(g->field, field) == 0)
            printf("  %s %g%s", g->at_most ? "at most" : "at least", g->value,
                   (g->at_most ? value <= g->value : value >= g->value) ? "" : ", not reached");
    }
    putchar('\n');
}

static void print_number(const char *key, const char *field, double value, double spread) {
    char text[64], range[64] = "-";
    snprintf(text, sizeof text, "%.4g", value);
    if (spread > 0)
        snprintf(range, sizeof range, "%.2g", spread);
    printf("%-12s %-30s %12s %10s", key, field, text, range);
    print_goal(key, field, value);
}

static void print_key(const char *key, json_t *result) {
    const char *field;
    json_t *value;
    json_t *spread = json_object_get(result, "spread");
    json_object_foreach(result, field, value) {
        if (json_is_number(value))
            print_number(key, field, json_number_value(value),
                         json_number_value(json_object_get(spread, field)));
    }
    json_object_foreach(json_object_get(result, "errors"), field, value) {
        printf("%-12s %-30s %12s %10s %s\n", key, field, "error", "", json_string_value(value));
    }
}

static json_t *failed(const char *folder, const char *key) {
    json_t *result = json_object();
    bench_error(result, "all", "it did not end well; see %s/%s.log", folder, key);
    return result;
}

// What and where, so that figures are not compared with those of another machine.
static json_t *about(void) {
    struct utsname u;
    char when[32] = "", model[256] = "?", line[512];
    time_t now = time(NULL);
    const char *commit = getenv("BENCH_COMMIT");
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %255[^\n]", model) == 1)
            break;
    if (f)
        fclose(f);
    uname(&u);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "date", when, "commit",
                     commit && *commit ? commit : "?", "version", SILKEN_VERSION, "processor",
                     model, "kernel", u.release);
}

static int collect(const char *folder, const char *file, char **keys) {
    json_t *all = json_object();
    printf("%-12s %-30s %12s %10s  %s\n", "key", "field", "median", "spread", "to reach");
    json_object_set_new(all, "about", about());
    for (; *keys; keys++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.json", folder, *keys);
        json_t *result = json_load_file(path, 0, NULL);
        if (!result)
            result = failed(folder, *keys);
        print_key(*keys, result);
        json_object_set_new(all, *keys, result);
    }
    int bad = json_dump_file(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
    json_decref(all);
    return bad ? cannot_write(file) : 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 5 && strcmp(argv[1], "measure") == 0)
        return measure(argv[0], argv[2], argv[3], argv[4]);
    if (argc >= 5 && strcmp(argv[1], "collect") == 0)
        return collect(argv[2], argv[3], argv + 4);
    if (argc == 4 && strcmp(argv[1], "profile") == 0) {
        bench_pin();
        if (bench_profile(argv[2], atof(argv[3])))
            return 0;
        fprintf(stderr,
                "bench: '%s' cannot be profiled; forward64, switchml64, switchml256, atp, libra "
                "and libra_integer can\n",
                argv[2]);
        return 2;
    }
    if (argc == 2 && strcmp(argv[1], "keys") == 0) {
        for (size_t i = 0; i < N_BENCHMARKS; i++)
            puts(benchmarks[i].key);
        return 0;
    }
    fprintf(stderr,
            "usage: benchmark measure KEY SECONDS FOLDER | collect FOLDER FILE KEY... | keys\n");
    return 2;
}
