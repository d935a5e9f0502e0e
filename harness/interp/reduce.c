// SPDX-License-Identifier: Apache-2.0
//
// reduce: makes a finding small enough for a person: takes lines out of the scenario and the
// program, again and again, as long as the verdict is the same.
//
// The generator's text has a statement or a brace per line: what can go is a line, a block with the
// line that opens it, or only a block's two braces' lines.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/interp/differential.h"

struct lines {
    char **v; // with their newlines
    bool *gone;
    size_t n;
};
struct reduction {
    const char *dir;
    const struct differential_options *opt;
    enum verdict verdict;
    time_t end;
    struct lines program, scenario;
    FILE *null;
};

static struct lines read_lines(const char *dir, const char *name) {
    struct lines l = {0};
    char path[512], *text = NULL;
    size_t cap = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    while (f && getline(&text, &cap, f) >= 0) {
        l.v = realloc(l.v, (l.n + 1) * sizeof *l.v);
        if (!l.v)
            abort();
        l.v[l.n++] = strdup(text);
    }
    free(text);
    if (f)
        fclose(f);
    l.gone = calloc(l.n + 1, sizeof *l.gone);
    return l;
}

static void write_lines(const struct lines *l, FILE *f) {
    for (size_t i = 0; i < l->n; i++)
        if (!l->gone[i])
            fputs(l->v[i], f);
}

static void save(const char *dir, const char *name, const struct lines *l) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    write_lines(l, f);
    fclose(f);
}

static void free_lines(struct lines *l) {
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i]);
    free(l->v);
    free(l->gone);
}

static bool still(struct reduction *r) {
    char path[512];
    struct differential_case c = {.scenario_path = path};
    snprintf(path, sizeof path, "%s/trial.txt", r->dir);
    save(r->dir, "trial.txt", &r->scenario);
    FILE *f = open_memstream(&c.program, &c.length);
    write_lines(&r->program, f);
    fclose(f);
    enum verdict v = differential_run(&c, r->opt, r->null);
    free(c.program);
    unlink(path);
    return v == r->verdict;
}

// Takes lines [from, to) out, unless the finding goes with them.
static bool without(struct reduction *r, struct lines *l, size_t from, size_t to) {
    bool any = false;
    bool *before = malloc(l->n + 1);
    if (!before || time(NULL) > r->end) {
        free(before);
        return false;
    }
    memcpy(before, l->gone, l->n);
    for (size_t i = from; i < to && i < l->n; i++) {
        any |= !l->gone[i];
        l->gone[i] = true;
    }
    bool ok = any && still(r);
    if (!ok)
        memcpy(l->gone, before, l->n);
    free(before);
    return ok;
}

static bool reduce_scenario(struct reduction *r) {
    bool some = false;
    for (size_t step = r->scenario.n / 2; step > 0; step /= 2)
        for (size_t i = 0; i < r->scenario.n; i += step)
            some |= without(r, &r->scenario, i, i + step);
    return some;
}

static int depth_of(const char *line) {
    int d = 0;
    for (; *line; line++)
        d += (*line == '{') - (*line == '}');
    return d;
}

// The line behind the block that line i opens; i + 1 when it opens none.
static size_t block_end(const struct lines *l, size_t i) {
    int depth = 0;
    for (size_t k = i; k < l->n; k++) {
        if (!l->gone[k])
            depth += depth_of(l->v[k]);
        if (depth <= 0)
            return k + 1;
    }
    return i + 1;
}

static bool unwrap(struct reduction *r, size_t i, size_t end) {
    struct lines *l = &r->program;
    if (end < i + 2 || l->gone[i] || time(NULL) > r->end)
        return false;
    l->gone[i] = l->gone[end - 1] = true;
    if (still(r))
        return true;
    l->gone[i] = l->gone[end - 1] = false;
    return false;
}

static bool reduce_program(struct reduction *r) {
    bool some = false;
    for (size_t i = r->program.n; i-- > 0;) {
        if (r->program.gone[i])
            continue;
        size_t end = block_end(&r->program, i);
        if (without(r, &r->program, i, end))
            some = true;
        else
            some |= unwrap(r, i, end);
    }
    return some;
}

void differential_reduce(const char *dir, enum verdict verdict,
                         const struct differential_options *opt) {
    struct reduction r = {.dir = dir,
                          .opt = opt,
                          .verdict = verdict,
                          .end = time(NULL) + opt->reduce_seconds,
                          .program = read_lines(dir, "program.p4"),
                          .scenario = read_lines(dir, "scenario.txt"),
                          .null = fopen("/dev/null", "w")};
    if (r.null && still(&r)) {
        for (bool some = true; some && time(NULL) <= r.end;) {
            some = reduce_scenario(&r);
            some |= reduce_program(&r);
        }
        save(dir, "reduced.p4", &r.program);
        save(dir, "reduced.txt", &r.scenario);
    }
    if (r.null)
        fclose(r.null);
    free_lines(&r.program);
    free_lines(&r.scenario);
}
