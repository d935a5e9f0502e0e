// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "sim/result.h"
#include "sim/runs.h"
#include "sim/sim.h"
#include "stages/state.h"

static const char usage[] =
    "usage: silken sim [OPTION]... SCENARIO.json\n\n"
    "Runs a network of switches, links and hosts in virtual time. The same scenario and seed give "
    "the\n"
    "same run, bit for bit. Hosts are those of SwitchML, ATP, Libra, DLCP and TCP, or a shared "
    "object\n"
    "of one's own, and switches run the programs that these need.\n"
    "docs/simulation.md describes scenarios and checks.\n\n"
    "  --seed N         seed of all random choices (the scenario's seed, or 1)\n"
    "  --seeds A..B     run each of these seeds once\n"
    "  --jobs N         number of processes (1)\n"
    "  --json FILE      write the results to this file ('-' is standard output): an object, or an "
    "array\n"
    "                   with --seeds\n"
    "  --plot FILE.png  draw throughput over time (gnuplot); the scenario needs sample_us\n"
    "  --trace          print every event as it happens\n\n"
    "The exit status is 1 if an invariant was violated; its seed, time and last events are "
    "printed.\n";

enum { SEED = 256, SEEDS, JOBS, JSON, PLOT, TRACE };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},          {"seed", required_argument, NULL, SEED},
    {"seeds", required_argument, NULL, SEEDS}, {"jobs", required_argument, NULL, JOBS},
    {"json", required_argument, NULL, JSON},   {"plot", required_argument, NULL, PLOT},
    {"trace", no_argument, NULL, TRACE},       {NULL, 0, NULL, 0},
};

struct asked {
    const char *path, *json, *plot;
    uint64_t first, last;
    bool has_seed, many, trace;
    unsigned jobs;
};

// ---- options ----

static bool cmd_sim_read_number(const char *text, char **end, uint64_t *out) {
    errno = 0;
    *out = strtoull(text, end, 10);
    return *end != text && *text >= '0' && *text <= '9' && errno == 0 && *out <= INT64_MAX;
}

static bool read_seeds(const char *text, struct asked *a) {
    char *end;
    if (!cmd_sim_read_number(text, &end, &a->first) || strncmp(end, "..", 2) != 0 ||
        !cmd_sim_read_number(end + 2, &end, &a->last) || *end || a->last < a->first)
        return false;
    a->many = a->has_seed = true;
    return true;
}

static bool read_option(int c, struct asked *a) {
    char *end;
    uint64_t n;
    switch (c) {
    case SEED:
        a->has_seed = cmd_sim_read_number(optarg, &end, &a->first) && *end == 0;
        a->last = a->first;
        return a->has_seed;
    case SEEDS:
        return read_seeds(optarg, a);
    case JOBS:
        if (!cmd_sim_read_number(optarg, &end, &n) || *end || n < 1 || n > 256)
            return false;
        a->jobs = (unsigned)n;
        return true;
    case JSON:
        a->json = optarg;
        return true;
    case PLOT:
        a->plot = optarg;
        return true;
    default:
        a->trace = true;
        return true;
    }
}

// ---- output ----

static double cmd_sim_number(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}

static void print_alarms(const json_t *node, FILE *out) {
    size_t i;
    json_t *alarm, *more = json_object_get(node, "more_alarms");
    json_array_foreach(json_object_get(node, "alarms"), i, alarm) {
        const char *name;
        json_t *value;
        fprintf(out, "switch %s: alarm:", json_string_value(json_object_get(node, "name")));
        json_object_foreach(alarm, name, value) {
            char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
            if (text)
                fprintf(out, " %s %s", name, text);
            free(text);
        }
        fputc('\n', out);
    }
    if (more)
        fprintf(out, "switch %s: %.0f more alarms\n",
                json_string_value(json_object_get(node, "name")), json_number_value(more));
}

static void print_summary(const json_t *result, FILE *out) {
    size_t i;
    json_t *job;
    json_array_foreach(json_object_get(result, "switches"), i, job) {
        print_alarms(job, out);
    }
    json_array_foreach(json_object_get(result, "jobs"), i, job) {
        fprintf(out, "%-12s %-10s %2zu workers  %9.3f ms  %8.3f Gbps a worker  %6.0f sent again\n",
                json_string_value(json_object_get(job, "name")),
                json_string_value(json_object_get(job, "outcome")),
                json_array_size(json_object_get(job, "workers")),
                cmd_sim_number(job, "done_us") / 1000, cmd_sim_number(job, "gbps"),
                cmd_sim_number(job, "retransmissions"));
    }
    json_array_foreach(json_object_get(result, "background"), i, job) {
        fprintf(out, "%-12s %34.3f Gbps\n", json_string_value(json_object_get(job, "name")),
                cmd_sim_number(job, "gbps"));
    }
    fprintf(out, "%.3f ms of virtual time, %.0f events\n",
            cmd_sim_number(result, "virtual_us") / 1000, cmd_sim_number(result, "events"));
}

// Outputs are looked at before anything runs: they can be made, and take the place of nothing that
// is read nor of each other.
static bool cmd_sim_same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
                                 x.st_ino == y.st_ino && S_ISREG(x.st_mode));
}

static bool can_be_written(const struct asked *a, const char *path) {
    if (path && strcmp(path, "-") != 0 && cmd_sim_same_file(path, a->path)) {
        fprintf(stderr, "silken sim: %s is the scenario; it would be overwritten\n", path);
        return false;
    }
    return cli_can_write("sim", path);
}

static bool is_picture(const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!path || (dot && strcmp(dot, ".png") == 0))
        return true;
    fprintf(stderr, "silken sim: --plot writes a picture; '%s' must end in .png\n", path);
    return false;
}

static bool outputs_are_good(const struct asked *a) {
    if (a->json && a->plot && cmd_sim_same_file(a->json, a->plot)) {
        fprintf(stderr, "silken sim: --json and --plot are the same file\n");
        return false;
    }
    return can_be_written(a, a->json) && can_be_written(a, a->plot) && is_picture(a->plot);
}

// ---- running ----

static int run_single(const struct asked *a, const struct scenario *sc,
                      struct sk_program *const *programs) {
    struct sk_error err;
    char *told = NULL;
    const bool to_stdout = a->json && strcmp(a->json, "-") == 0;
    json_t *result =
        run_one(sc, a->path, programs, a->first, a->trace ? stderr : NULL, &told, &err);
    if (!result) {
        fprintf(stderr, "silken sim: %s: %s\n", a->path, err.text);
        return EXIT_UNUSABLE;
    }
    int status = told ? EXIT_FAILED : EXIT_GOOD;
    print_summary(result, to_stdout ? stderr : stdout);
    if (told)
        fprintf(stderr, "%s", told);
    if (a->json && !cli_write_json("sim", result, a->json))
        status = EXIT_UNUSABLE;
    if (a->plot && plot_result(result, a->plot, &err) < 0) {
        fprintf(stderr, "silken sim: %s\n", err.text);
        status = EXIT_UNUSABLE;
    }
    free(told);
    json_decref(result);
    return status;
}

static int run_many(const struct asked *a, const struct scenario *sc,
                    struct sk_program *const *programs) {
    struct runs r = {.scenario = sc,
                     .path = a->path,
                     .programs = programs,
                     .first = a->first,
                     .last = a->last,
                     .processes = a->jobs,
                     .messages = stderr,
                     .results = a->json ? json_array() : NULL};
    struct sk_error err;
    const uint64_t began = sk_clock_now();
    const bool to_stdout = a->json && strcmp(a->json, "-") == 0;
    if (run_all(&r, &err) < 0) {
        fprintf(stderr, "silken sim: %s\n", err.text);
        json_decref(r.results);
        return EXIT_UNUSABLE;
    }
    fprintf(to_stdout ? stderr : stdout,
            "%s: %" PRIu64 " seeds: %" PRIu64 " with all sums, %" PRIu64
            " failed as allowed, %" PRIu64 " violated; %.1f s of virtual time, %" PRIu64
            " events, in %.0f s\n",
            sc->name, r.sums + r.failed + r.violated, r.sums, r.failed, r.violated,
            r.virtual_us / 1e6, r.events, (double)(sk_clock_now() - began) * 1e-9);
    int status = r.violated ? EXIT_FAILED : EXIT_GOOD;
    if (a->json && !cli_write_json("sim", r.results, a->json))
        status = EXIT_UNUSABLE;
    json_decref(r.results);
    return status;
}

static int run_scenario(struct asked *a, const struct scenario *sc) {
    struct sk_program **programs = calloc(sc->n_programs + 1, sizeof(struct sk_program *));
    int status = programs ? EXIT_GOOD : EXIT_UNUSABLE;
    for (size_t i = 0; programs && i < sc->n_programs && status == EXIT_GOOD; i++) {
        const struct compile_options opt = {.path = sc->programs[i],
                                            .colour = cli_in_colour(STDERR_FILENO)};
        programs[i] = cli_load_program(&opt);
        if (!programs[i])
            status = EXIT_UNUSABLE;
    }
    if (!a->has_seed)
        a->first = a->last = sc->seed;
    struct sk_error err;
    if (status == EXIT_GOOD && sim_try(sc, programs, a->first, &err) < 0) {
        fprintf(stderr, "silken sim: %s: %s\n", a->path, err.text);
        status = EXIT_UNUSABLE;
    }
    if (status == EXIT_GOOD)
        status = a->many ? run_many(a, sc, programs) : run_single(a, sc, programs);
    for (size_t i = 0; programs && i < sc->n_programs; i++)
        sk_program_free(programs[i]);
    free(programs);
    return status;
}

int cmd_sim(int argc, char **argv) {
    struct asked a = {.jobs = 1};
    struct sk_error err;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("sim", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if ((c == SEED || c == SEEDS) && a.has_seed)
            return cli_misused("sim", "--seed or --seeds can be given once");
        if (!read_option(c, &a))
            return cli_misused("sim", "'%s' is not an argument of %s", optarg,
                               c == SEED    ? "--seed, a whole number below 2^63"
                               : c == SEEDS ? "--seeds, A..B with numbers below 2^63"
                                            : "--jobs, 1 to 256 processes");
    }
    if (argc - optind != 1)
        return cli_misused("sim", "one scenario file is needed");
    if (a.many && (a.trace || a.plot))
        return cli_misused("sim", "--trace and --plot are for one seed");
    a.path = argv[optind];
    // Registers are made and freed with every seed: what nobody touches shall cost nothing.
    sk_state_lazily(SK_STATE_SMALL_PAGES);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    struct scenario *sc = sim_scenario_read(a.path, &err);
    if (!sc) {
        fprintf(stderr, "silken sim: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    int status = EXIT_UNUSABLE;
    if (a.plot && !(sc->sample_us > 0))
        fprintf(stderr, "silken sim: there is nothing to plot: %s has no sample_us\n", a.path);
    else if (outputs_are_good(&a))
        status = run_scenario(&a, sc);
    sim_scenario_free(sc);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "silken sim: cannot write to the standard output: %s\n", strerror(errno));
        status = EXIT_UNUSABLE;
    }
    return status;
}
