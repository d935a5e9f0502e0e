// SPDX-License-Identifier: Apache-2.0
//
// silken compare: the options, and a system's runs.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compare/compare.h"
#include "sim/runs.h"
#include "sim/sim.h"
#include "stages/state.h"

static const char usage[] =
    "usage: silken compare [OPTION]... SETTING.json\n\n"
    "Simulates one training on one network with every system that adds up gradients: SwitchML, "
    "ATP,\n"
    "Libra, DLCP, and hosts alone over TCP, and prints what an iteration takes and what it moves.\n"
    "docs/comparison.md describes settings and columns.\n\n"
    "  --jobs N         number of processes (1)\n"
    "  --json FILE      write the results to this file ('-' is standard output)\n"
    "  --plot FILE.png  draw the times (gnuplot)\n"
    "  --bench FILE     what `make bench` wrote: processor time of hosts is computed from it\n"
    "  --accuracy FILE  accuracies that training had (docs/comparison.md)\n"
    "  --scenarios DIR  write each system's scenario to DIR/SYSTEM.json, and run nothing\n\n"
    "The exit status is 1 if a run did not end with all its sums.\n";

enum { JOBS = 256, JSON, PLOT, BENCH, ACCURACY, SCENARIOS };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"jobs", required_argument, NULL, JOBS},
    {"json", required_argument, NULL, JSON},
    {"plot", required_argument, NULL, PLOT},
    {"bench", required_argument, NULL, BENCH},
    {"accuracy", required_argument, NULL, ACCURACY},
    {"scenarios", required_argument, NULL, SCENARIOS},
    {NULL, 0, NULL, 0},
};

struct compared {
    const char *path, *json, *plot, *scenarios;
    json_t *bench, *accuracy;
    unsigned jobs;
};

// ---- what came of a run ----

// Of Libra's jobs what is told are the times without computing.
static double mean_of_iterations(const struct compare_setting *s, const json_t *result) {
    size_t i, k, m, n = 0;
    json_t *job, *worker, *us;
    double sum = 0;
    json_array_foreach(json_object_get(result, "jobs"), i, job) {
        json_array_foreach(json_object_get(job, "workers"), k, worker) {
            const json_t *batches = json_object_get(worker, "batch_us");
            const double computing = batches ? s->sparse.compute_us : 0;
            json_array_foreach(batches ? batches : json_object_get(worker, "iteration_us"), m, us) {
                sum += json_number_value(us) + computing;
                n++;
            }
        }
    }
    return n ? sum / (double)n : 0;
}

static double compared_number(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}

// Adds a seed's means to 'r'. Links are called "h0>s0"; only hosts are called h.
static void add_links(const struct compare_setting *s, const json_t *result,
                      struct compare_row *r) {
    const double each = 1.0 / ((double)s->seeds * (double)s->iterations);
    const double worker = each / ((double)s->racks * s->hosts);
    size_t i;
    json_t *link;
    double busiest = 0;
    json_array_foreach(json_object_get(result, "links"), i, link) {
        const char *name = json_string_value(json_object_get(link, "name"));
        const char *to = name ? strchr(name, '>') : NULL;
        const double bytes = compared_number(link, "bytes");
        if (!to)
            continue;
        busiest = bytes > busiest ? bytes : busiest;
        json_object_set_new(
            r->links, name,
            json_real(json_number_value(json_object_get(r->links, name)) + bytes * each));
        const bool from_host = name[0] == 'h', to_host = to[1] == 'h';
        const char *const number = from_host ? name + 1 : to + 2;
        if ((from_host || to_host) && !compare_is_worker(s, (uint32_t)strtoul(number, NULL, 10)))
            continue;
        if (from_host) {
            r->up += bytes * worker;
            r->packets += compared_number(link, "packets") * worker;
        } else if (to_host) {
            r->down += bytes * worker;
        } else {
            r->trunks += bytes * each;
        }
    }
    r->busiest += busiest * each;
}

// Of a worker of one of Libra's jobs, an iteration.
static double compared_pairs(const json_t *job) {
    double pairs = 0, batches = 0;
    size_t i;
    json_t *worker;
    json_array_foreach(json_object_get(job, "workers"), i, worker) {
        pairs += compared_number(worker, "pairs");
        batches += compared_number(worker, "batches");
    }
    return batches > 0 ? pairs / batches : 0;
}

static void add_jobs(const struct compare_setting *s, const json_t *result, struct compare_row *r) {
    size_t i;
    json_t *job;
    double elements = 0, lost = 0;
    json_array_foreach(json_object_get(result, "jobs"), i, job) {
        const json_t *dlcp = json_object_get(job, "dlcp");
        r->again +=
            compared_number(job, "retransmissions") / ((double)s->seeds * (double)s->iterations);
        elements += compared_number(dlcp, "elements");
        lost += compared_number(dlcp, "elements_lost");
        r->pairs += compared_pairs(job) / (double)s->seeds;
    }
    r->lost += elements > 0 ? lost / elements / (double)s->seeds : 0;
}

static int compared_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// ---- a system's runs ----

static int run_seeds(const struct compare_setting *s, const struct compared *c,
                     const struct scenario *sc, struct sk_program *const *programs,
                     struct compare_row *row) {
    struct runs r = {.scenario = sc,
                     .path = c->path,
                     .programs = programs,
                     .first = 1,
                     .last = s->seeds,
                     .processes = c->jobs,
                     .messages = stderr,
                     .results = json_array()};
    struct sk_error err;
    size_t i;
    json_t *result;
    if (sim_try(sc, programs, 1, &err) < 0 || run_all(&r, &err) < 0) {
        fprintf(stderr, "silken compare: %s: %s: %s\n", c->path, sc->name, err.text);
        json_decref(r.results);
        return EXIT_UNUSABLE;
    }
    double *us = calloc(s->seeds, sizeof *us);
    if (!us)
        abort();
    row->links = json_object();
    json_array_foreach(r.results, i, result) {
        us[i] = mean_of_iterations(s, result);
        add_links(s, result, row);
        add_jobs(s, result, row);
    }
    json_decref(r.results);
    qsort(us, s->seeds, sizeof *us, compared_order);
    row->least_us = us[0];
    row->greatest_us = us[s->seeds - 1];
    row->iteration_us = (us[(s->seeds - 1) / 2] + us[s->seeds / 2]) / 2;
    free(us);
    if (r.sums == s->seeds)
        return EXIT_GOOD;
    fprintf(stderr, "silken compare: %s: %s: %llu of %llu runs did not end with all their sums\n",
            c->path, sc->name, (unsigned long long)(s->seeds - r.sums),
            (unsigned long long)s->seeds);
    return EXIT_FAILED;
}

static int run_system(struct compare_setting *s, const struct compared *c, const json_t *scenario,
                      struct compare_row *row) {
    struct sk_error err;
    char *text = json_dumps(scenario, JSON_INDENT(1));
    struct scenario *sc = text ? sim_scenario_parse(c->path, text, strlen(text), &err) : NULL;
    if (!sc) {
        fprintf(stderr, "silken compare: %s: its scenario, as --scenarios writes it: %s\n",
                json_string_value(json_object_get(scenario, "name")), err.text);
        free(text);
        return EXIT_UNUSABLE;
    }
    struct sk_program **programs = calloc(sc->n_programs + 1, sizeof(struct sk_program *));
    int status = programs ? EXIT_GOOD : EXIT_UNUSABLE;
    for (size_t i = 0; programs && i < sc->n_programs && status == EXIT_GOOD; i++) {
        const struct compile_options opt = {.path = sc->programs[i],
                                            .colour = cli_in_colour(STDERR_FILENO)};
        programs[i] = cli_load_program(&opt);
        status = programs[i] ? EXIT_GOOD : EXIT_UNUSABLE;
    }
    s->computing_us =
        s->sparse.parameters ? s->sparse.compute_us : sc->jobs[0].work.compute_ns / 1000;
    if (status == EXIT_GOOD)
        status = run_seeds(s, c, sc, programs, row);
    for (size_t i = 0; programs && i < sc->n_programs; i++)
        sk_program_free(programs[i]);
    free(programs);
    sim_scenario_free(sc);
    free(text);
    return status;
}

static int write_scenario(const struct compared *c, const json_t *scenario) {
    char path[4096];
    const char *name = json_string_value(json_object_get(scenario, "name"));
    if (snprintf(path, sizeof path, "%s/%s.json", c->scenarios, name) >= (int)sizeof path) {
        fprintf(stderr, "silken compare: the name of the folder is too long\n");
        return EXIT_UNUSABLE;
    }
    return cli_write_json("compare", scenario, path) ? EXIT_GOOD : EXIT_UNUSABLE;
}

static int compare_all(struct compare_setting *s, const struct compared *c,
                       struct compare_row rows[COMPARE_SYSTEMS]) {
    int worst = EXIT_GOOD;
    for (size_t i = 0; i < COMPARE_SYSTEMS && worst != EXIT_UNUSABLE; i++) {
        const enum compare_system system = (enum compare_system)i;
        json_t *scenario = s->wanted[i] ? compare_scenario(s, system, &rows[i].refused) : NULL;
        if (!scenario)
            continue;
        const int status =
            c->scenarios ? write_scenario(c, scenario) : run_system(s, c, scenario, &rows[i]);
        worst = status > worst ? status : worst;
        rows[i].memory = compare_memory(s, system);
        rows[i].host_us = compare_host_us(system, &rows[i], c->bench);
        rows[i].accuracy = compare_accuracy(c->accuracy, system, rows[i].lost);
        json_decref(scenario);
    }
    return worst;
}

static int compare_tell(const struct compare_setting *s, const struct compared *c,
                        const struct compare_row *rows) {
    struct sk_error err;
    int status = EXIT_GOOD;
    compare_print(s, rows, c->json && strcmp(c->json, "-") == 0 ? stderr : stdout);
    if (c->json) {
        json_t *o = compare_json(s, rows);
        status = cli_write_json("compare", o, c->json) ? EXIT_GOOD : EXIT_UNUSABLE;
        json_decref(o);
    }
    if (c->plot && compare_plot(s, rows, c->plot, &err) < 0) {
        fprintf(stderr, "silken compare: %s\n", err.text);
        status = EXIT_UNUSABLE;
    }
    return status;
}

// ---- options ----

static int compare_take(struct compared *c, int option) {
    uint64_t n;
    json_error_t error;
    struct sk_error err;
    switch (option) {
    case JOBS:
        if (!cli_decimal(optarg, 1, 256, &n))
            return cli_misused("compare", "'%s' is not an argument of --jobs, 1 to 256 processes",
                               optarg);
        c->jobs = (unsigned)n;
        return 0;
    case JSON:
        c->json = optarg;
        return 0;
    case PLOT:
        c->plot = optarg;
        return 0;
    case SCENARIOS:
        c->scenarios = optarg;
        return 0;
    case ACCURACY:
        json_decref(c->accuracy);
        c->accuracy = compare_accuracy_read(optarg, &err);
        return c->accuracy ? 0 : cli_misused("compare", "%s", err.text);
    default:
        json_decref(c->bench);
        c->bench = json_load_file(optarg, 0, &error);
        if (json_is_object(c->bench))
            return 0;
        return cli_misused("compare", "%s is not what `make bench` writes: %s", optarg,
                           c->bench ? "it is not an object" : error.text);
    }
}

static int compare_setting_run(const struct compared *c) {
    struct sk_error err;
    struct compare_row rows[COMPARE_SYSTEMS] = {0};
    struct compare_setting *s = compare_setting_read(c->path, &err);
    if (!s) {
        fprintf(stderr, "silken compare: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    int status = cli_can_write("compare", c->json) && cli_can_write("compare", c->plot)
                     ? compare_all(s, c, rows)
                     : EXIT_UNUSABLE;
    if (status != EXIT_UNUSABLE && !c->scenarios) {
        const int told = compare_tell(s, c, rows);
        status = told > status ? told : status;
    }
    for (size_t i = 0; i < COMPARE_SYSTEMS; i++)
        json_decref(rows[i].links);
    compare_setting_free(s);
    return status;
}

int cmd_compare(int argc, char **argv) {
    struct compared c = {.jobs = 1};
    int status = 0;
    opterr = 0;
    for (int o; !status && (o = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (o == '?' || o == ':') {
            status = cli_bad_option("compare", o, argv);
        } else if (o == 'h') {
            fputs(usage, stdout);
            json_decref(c.bench);
            return EXIT_GOOD;
        } else {
            status = compare_take(&c, o);
        }
    }
    if (!status && argc - optind != 1)
        status = cli_misused("compare", "one setting's file is needed");
    if (!status) {
        c.path = argv[optind];
        // as `silken sim`: registers are made and freed with every seed
        sk_state_lazily(SK_STATE_SMALL_PAGES);
        mallopt(M_MMAP_THRESHOLD, 256 * 1024);
        status = compare_setting_run(&c);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            fprintf(stderr, "silken compare: cannot write to the standard output: %s\n",
                    strerror(errno));
            status = EXIT_UNUSABLE;
        }
    }
    json_decref(c.bench);
    json_decref(c.accuracy);
    return status;
}
