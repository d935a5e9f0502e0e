// SPDX-License-Identifier: Apache-2.0
#include "harness/sim/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "compiler/compile.h"
#include "base/file.h"
#include "sim/runs.h"
#include "sim/sim.h"

#define PROGRAMS 16

static struct {
    char *path;
    struct sk_program *program;
} programs[PROGRAMS];

static struct sk_program *program_of(const char *path) {
    char error[256];
    int i = 0;
    while (i < PROGRAMS && programs[i].path && strcmp(programs[i].path, path) != 0)
        i++;
    assert_true(i < PROGRAMS);
    if (programs[i].path)
        return programs[i].program;
    const struct compile_options opt = {.path = path};
    char *object = compile_p4(&opt, stderr);
    assert_non_null(object);
    programs[i].program = sk_program_load(object, error, sizeof error);
    assert_non_null(programs[i].program);
    programs[i].path = strdup(path);
    free(object);
    return programs[i].program;
}

static json_t *run(struct scenario *sc, const char *name, uint64_t seed, char **told) {
    struct sk_program *used[PROGRAMS];
    struct sk_error err;
    for (size_t i = 0; i < sc->n_programs; i++)
        used[i] = program_of(sc->programs[i]);
    json_t *result = run_one(sc, name, used, seed, NULL, told, &err);
    if (!result)
        fail_msg("%s", err.text);
    sim_scenario_free(sc);
    return result;
}

json_t *network_run(const char *text, uint64_t seed, char **told) {
    struct sk_error err;
    struct scenario *sc = sim_scenario_parse("test.json", text, strlen(text), &err);
    if (!sc)
        fail_msg("%s", err.text);
    return run(sc, "test.json", seed, told);
}

json_t *network_run_file(const char *path, uint64_t seed, char **told) {
    struct sk_error err;
    struct scenario *sc = sim_scenario_read(path, &err);
    if (!sc)
        fail_msg("%s", err.text);
    return run(sc, path, seed, told);
}

json_t *network_run_with(const char *text, uint64_t seed, void (*begin)(struct sim *s),
                         char **told) {
    struct sk_program *used[PROGRAMS];
    struct sk_error err;
    size_t length;
    struct scenario *sc = sim_scenario_parse("test.json", text, strlen(text), &err);
    for (size_t i = 0; sc && i < sc->n_programs; i++)
        used[i] = program_of(sc->programs[i]);
    struct sim *s = sc ? sim_new(sc, used, seed, 1024, NULL, &err) : NULL;
    if (!s)
        fail_msg("%s", err.text);
    begin(s);
    sim_run(s);
    json_t *result = sim_result(s);
    *told = NULL;
    FILE *f = s->violated ? open_memstream(told, &length) : NULL;
    if (f) {
        sim_tell(s, "test.json", f);
        fclose(f);
    }
    sim_free(s);
    sim_scenario_free(sc);
    return result;
}

char *network_refused(const char *text) {
    struct sk_program *used[PROGRAMS];
    struct sk_error err;
    struct scenario *sc = sim_scenario_parse("test.json", text, strlen(text), &err);
    if (!sc)
        return strdup(err.text);
    for (size_t i = 0; i < sc->n_programs; i++)
        used[i] = program_of(sc->programs[i]);
    if (sim_try(sc, used, 1, &err) == 0)
        fail_msg("it is not refused: %s", text);
    sim_scenario_free(sc);
    return strdup(err.text);
}

// ---- mutants ----

static char *read_text(const char *path) {
    struct sk_error err;
    size_t length;
    char *text = sk_read_file(path, &length, &err);
    if (!text)
        fail_msg("%s", err.text);
    return text;
}

static void write_text(const char *path, const char *text, size_t n) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

const char *network_mutant(const char *name, const char *file, const char *from, const char *to) {
    static char path[256];
    static int number;
    const char *build = getenv("BUILD");
    char folder[160], command[512], place[256];
    snprintf(folder, sizeof folder, "%s/test-sim-%s-%d", build ? build : "build", name, ++number);
    snprintf(command, sizeof command, "rm -rf '%s' && cp -r 'p4/%s' '%s'", folder, name, folder);
    assert_int_equal(system(command), 0);
    snprintf(place, sizeof place, "%s/%s", folder, file);
    char *text = read_text(place), *at = strstr(text, from);
    assert_non_null(at);
    char *mutant = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(mutant);
    const size_t before = (size_t)(at - text);
    memcpy(mutant, text, before);
    strcpy(mutant + before, to);
    strcat(mutant, at + strlen(from));
    write_text(place, mutant, strlen(mutant));
    free(mutant);
    free(text);
    snprintf(path, sizeof path, "%s/%s.p4", folder, name);
    return path;
}

// ---- results ----

const json_t *network_get(const json_t *result, const char *path) {
    const json_t *at = result;
    char word[64];
    for (const char *p = path; *p;) {
        const size_t n = strcspn(p, ".");
        assert_true(n < sizeof word);
        memcpy(word, p, n);
        word[n] = 0;
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
        if (!at)
            fail_msg("the result has no %s (at %s)", path, word);
        p += n + (p[n] == '.');
    }
    return at;
}

const char *network_text(const json_t *result, const char *path) {
    return json_string_value(network_get(result, path));
}

double network_number(const json_t *result, const char *path) {
    return json_number_value(network_get(result, path));
}
