// SPDX-License-Identifier: Apache-2.0
//
// differential: see differential.h.
#include "harness/interp/differential.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/interp/generate.h"
#include "harness/interp/scenario.h"

#define MOST_SECONDS 300u // of one program, on a busy machine

const char *const verdict_names[] = {"same",        "different", "refused",
                                     "unsupported", "broken",    "crashed"};

// --------------------------------------------------------------------------------------------
// In the process of its own.

static bool keep_scenario(const char *dir, const struct scenario *sc) {
    char path[512];
    snprintf(path, sizeof path, "%s/scenario.txt", dir);
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    scenario_write(f, sc);
    return fclose(f) == 0;
}

// 'dir': where the scenario that is run is written first, or null.
static enum verdict run_scenarios(const struct differential_case *c, const struct subject *s,
                                  const struct differential_options *opt, const char *dir,
                                  FILE *log) {
    struct random rnd = {c->scenario_seed};
    for (unsigned i = 0; i < (c->scenario_path ? 1 : opt->scenarios); i++) {
        struct arena *a = arena_new();
        struct scenario sc;
        if (c->scenario_path) {
            FILE *f = fopen(c->scenario_path, "r");
            if (!f || !scenario_read(&sc, a, f))
                return VERDICT_BROKEN;
            fclose(f);
        } else {
            scenario_make(&sc, a, s->ir, &rnd, opt->packets);
        }
        if (dir)
            keep_scenario(dir, &sc);
        bool same = scenario_run(&sc, s, log);
        arena_free(a);
        if (!same)
            return VERDICT_DIFFERENT;
    }
    return VERDICT_SAME;
}

static enum verdict run_here(const struct differential_case *c,
                             const struct differential_options *opt, const char *dir, FILE *log) {
    static const struct build_kind *const kinds[] = {&build_quick, &build_full, &build_traps,
                                                     &build_checked};
    static const enum verdict of_result[] = {
        [SUBJECT_REFUSED] = VERDICT_REFUSED,
        [SUBJECT_UNSUPPORTED] = VERDICT_UNSUPPORTED,
        [SUBJECT_BROKEN] = VERDICT_BROKEN,
    };
    struct subject s;
    static const struct build_kind *lanes[6] = {&build_full,    &build_scalar, &build_plain,
                                                &build_checked, &build_traps,  &build_v3};
    enum subject_result result =
        opt->lanes  ? subject_make(&s, c->program, c->length, lanes,
                                  !opt->full                           ? 2
                                   : __builtin_cpu_supports("avx2") > 0 ? 6
                                                                        : 5,
                                   opt->folder, log)
        : opt->full ? subject_make(&s, c->program, c->length, kinds, 4, opt->folder, log)
                    : subject_make(&s, c->program, c->length, opt->checked ? kinds + 3 : kinds, 1,
                                   opt->folder, log);
    enum verdict v = result == SUBJECT_OK ? run_scenarios(c, &s, opt, dir, log) : of_result[result];
    subject_free(&s);
    return v;
}

// --------------------------------------------------------------------------------------------

static void copy_file(const char *path, FILE *to) {
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "r");
    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        fwrite(part, 1, n, to);
    if (f)
        fclose(f);
}

static enum verdict run_apart(const struct differential_case *c,
                              const struct differential_options *opt, const char *dir, FILE *log) {
    char path[512];
    int status = 0;
    snprintf(path, sizeof path, "%s/log-%d", opt->folder, (int)getpid());
    if (!subject_prepare(opt->folder))
        return VERDICT_BROKEN;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(MOST_SECONDS);
        FILE *f = freopen(path, "w", stderr);
        enum verdict v = f ? run_here(c, opt, dir, f) : VERDICT_BROKEN;
        fflush(NULL);
        _exit((int)v);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    copy_file(path, log);
    unlink(path);
    if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > VERDICT_CRASHED) {
        fprintf(log, "the process ended with status 0x%x\n", (unsigned)status);
        return VERDICT_CRASHED;
    }
    return (enum verdict)WEXITSTATUS(status);
}

enum verdict differential_run(const struct differential_case *c,
                              const struct differential_options *opt, FILE *log) {
    return run_apart(c, opt, NULL, log);
}

static bool is_finding(enum verdict v) {
    return v == VERDICT_DIFFERENT || v == VERDICT_BROKEN || v == VERDICT_CRASHED;
}

static void write_file(const char *dir, const char *name, const char *text, size_t length) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fwrite(text, 1, length, f);
    fclose(f);
}

enum verdict differential_seed(uint64_t seed, const struct differential_options *opt, FILE *log) {
    char dir[400];
    struct differential_case c = {.scenario_seed = seed};
    c.program = (opt->lanes ? generate_lanes_program : generate_program)(seed, &c.length);
    snprintf(dir, sizeof dir, "%s/seed-%llu", opt->keep ? opt->keep : opt->folder,
             (unsigned long long)seed);
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    mkdir(dir, 0700);
    enum verdict v = run_apart(&c, opt, dir, f);
    fclose(f);
    if (v != VERDICT_SAME)
        fprintf(log, "seed %llu: %s\n%s", (unsigned long long)seed, verdict_names[v], text);
    if (is_finding(v) && opt->keep) {
        write_file(dir, "program.p4", c.program, c.length);
        write_file(dir, "report.txt", text, length);
        fprintf(log, "kept in %s\n", dir);
        if (opt->reduce_seconds)
            differential_reduce(dir, v, opt);
    } else {
        char path[512];
        snprintf(path, sizeof path, "%s/scenario.txt", dir);
        unlink(path);
        rmdir(dir);
    }
    free(text);
    free(c.program);
    return v;
}

static char *read_file(const char *dir, const char *name, size_t *length) {
    char path[512], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = open_memstream(&text, length);
    copy_file(path, f);
    fclose(f);
    return text;
}

enum verdict differential_replay(const char *dir, const struct differential_options *opt,
                                 FILE *log) {
    char path[512];
    struct differential_case c = {.scenario_path = path};
    snprintf(path, sizeof path, "%s/scenario.txt", dir);
    c.program = read_file(dir, "program.p4", &c.length);
    enum verdict v = run_apart(&c, opt, NULL, log);
    free(c.program);
    return v;
}
