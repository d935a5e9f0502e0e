// SPDX-License-Identifier: Apache-2.0
#include "sim/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/error.h"

#define TRACE         32768u // entries
#define MAX_PROCESSES 256u
#define ENOUGH        10u // violations

json_t *run_one(const struct scenario *sc, const char *path, struct sk_program *const *programs,
                uint64_t seed, FILE *live, char **told, struct sk_error *err) {
    struct sim *s = sim_new(sc, programs, seed, TRACE, live, err);
    size_t length;
    if (!s)
        return NULL;
    sim_run(s);
    json_t *result = sim_result(s);
    if (told) {
        *told = NULL;
        FILE *f = s->violated ? open_memstream(told, &length) : NULL;
        if (f) {
            sim_tell(s, path, f);
            fclose(f);
        }
    }
    sim_free(s);
    return result;
}

// ---- a process ----

// Each line that it writes is a JSON value: a seed that begins, or what came of it.
static void be_a_process(const struct runs *r, uint64_t seed, int out) {
    FILE *f = fdopen(out, "w");
    for (; f && seed <= r->last; seed += r->processes) {
        struct sk_error err;
        char *told = NULL;
        fprintf(f, "%" PRIu64 "\n", seed);
        fflush(f);
        json_t *result = run_one(r->scenario, r->path, r->programs, seed, NULL, &told, &err);
        if (!result)
            result = json_pack("{s:I, s:s, s:s}", "seed", (json_int_t)seed, "outcome", "violated",
                               "told", err.text);
        if (told)
            json_object_set_new(result, "told", json_string(told));
        if (!r->results) { // only what is counted
            json_object_del(result, "links");
            json_object_del(result, "switches");
            json_object_del(result, "jobs");
            json_object_del(result, "series");
        }
        if (json_dumpf(result, f, JSON_COMPACT) < 0 || fputc('\n', f) == EOF || fflush(f) == EOF)
            break;
        free(told);
        json_decref(result);
        if (r->last - seed < r->processes)
            break;
    }
    _exit(f ? 0 : 1);
}

struct process {
    pid_t id; // 0: none
    int from;
    char *text; // what it wrote since the last whole line
    size_t length, capacity;
    uint64_t seed;      // that it is at
    uint64_t next;      // that it begins with when it is not at one
    bool at_one, moved; // moved: it has said something
};

struct all {
    struct runs *r;
    struct process p[MAX_PROCESSES];
    json_t **by_seed;
    struct sk_error *err;
};

static int sim_runs_start(struct all *a, unsigned i, uint64_t seed) {
    int ends[2];
    struct process *p = &a->p[i];
    *p = (struct process){.next = seed};
    if (seed > a->r->last || seed < a->r->first)
        return 0;
    fflush(NULL);
    if (pipe(ends) < 0)
        return sk_fail(a->err, "no pipe: %s", strerror(errno));
    p->id = fork();
    if (p->id < 0) {
        p->id = 0;
        close(ends[0]);
        close(ends[1]);
        return sk_fail(a->err, "no process: %s", strerror(errno));
    }
    if (p->id == 0) {
        close(ends[0]);
        be_a_process(a->r, seed, ends[1]);
    }
    close(ends[1]);
    p->from = ends[0];
    return 0;
}

static void take_result(struct all *a, json_t *result) {
    struct runs *r = a->r;
    const char *outcome = json_string_value(json_object_get(result, "outcome"));
    const char *told = json_string_value(json_object_get(result, "told"));
    const uint64_t seed = (uint64_t)json_integer_value(json_object_get(result, "seed"));
    r->sums += outcome && strcmp(outcome, "sums") == 0;
    r->failed += outcome && strcmp(outcome, "failed") == 0;
    r->violated += outcome && strcmp(outcome, "violated") == 0;
    r->events += (uint64_t)json_integer_value(json_object_get(result, "events"));
    r->virtual_us += json_number_value(json_object_get(result, "virtual_us"));
    if (told)
        fprintf(r->messages, "%s\n", told);
    if (a->by_seed && seed >= r->first && seed <= r->last && !a->by_seed[seed - r->first]) {
        json_object_del(result, "told");
        a->by_seed[seed - r->first] = result;
    } else {
        json_decref(result);
    }
}

static void take_line(struct all *a, struct process *p, const char *line, size_t length) {
    json_t *value = json_loadb(line, length, JSON_DECODE_ANY, NULL);
    if (json_is_integer(value)) {
        p->seed = (uint64_t)json_integer_value(value);
        p->at_one = p->moved = true;
    } else if (json_is_object(value)) {
        p->at_one = false;
        p->next = p->seed + a->r->processes; // past the last one, or wrapped: none
        take_result(a, json_incref(value));
    }
    json_decref(value);
}

// False at the end of what the process writes.
static bool sim_runs_take_text(struct all *a, struct process *p) {
    p->text = sk_grow_bytes(p->text, p->length, 65536, &p->capacity);
    const ssize_t n = read(p->from, p->text + p->length, p->capacity - p->length);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    p->length += (size_t)n;
    char *line = p->text, *end;
    while ((end = memchr(line, '\n', p->length - (size_t)(line - p->text)))) {
        take_line(a, p, line, (size_t)(end - line));
        line = end + 1;
    }
    p->length -= (size_t)(line - p->text);
    memmove(p->text, line, p->length);
    return true;
}

// The process has ended: well, in the middle of a seed, or killed between two.
static int reap(struct all *a, unsigned i) {
    struct process *p = &a->p[i];
    int status = 0;
    while (waitpid(p->id, &status, 0) < 0 && errno == EINTR)
        ;
    close(p->from);
    free(p->text);
    p->text = NULL;
    p->id = 0;
    const uint64_t seed = p->seed;
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!p->at_one && good)
        return 0;
    if (!p->at_one && !p->moved)
        return sk_fail(a->err, "a process ended before it ran a seed (%s %d)",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (!p->at_one)
        return sim_runs_start(a, i, p->next);
    fprintf(a->r->messages, "%s: seed %" PRIu64 ": the run died (%s %d)\n", a->r->path, seed,
            WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    a->r->violated++;
    if (a->r->last - seed < a->r->processes)
        return 0;
    return sim_runs_start(a, i, seed + a->r->processes);
}

static int wait_for_some(struct all *a, unsigned n) {
    struct pollfd fds[MAX_PROCESSES];
    unsigned who[MAX_PROCESSES], running = 0;
    for (unsigned i = 0; i < n; i++)
        if (a->p[i].id) {
            fds[running] = (struct pollfd){.fd = a->p[i].from, .events = POLLIN};
            who[running++] = i;
        }
    if (!running)
        return 0;
    if (poll(fds, running, -1) < 0 && errno != EINTR)
        return sk_fail(a->err, "waiting: %s", strerror(errno));
    for (unsigned k = 0; k < running; k++)
        if (fds[k].revents && !sim_runs_take_text(a, &a->p[who[k]]) && reap(a, who[k]) < 0)
            return -1;
    return 1;
}

static void end_all(struct all *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        if (!a->p[i].id)
            continue;
        kill(a->p[i].id, SIGKILL); // our own child
        waitpid(a->p[i].id, NULL, 0);
        close(a->p[i].from);
        free(a->p[i].text);
    }
}

int run_all(struct runs *r, struct sk_error *err) {
    static struct all a;
    const uint64_t seeds = r->last - r->first + 1;
    int status = 1;
    if (r->processes < 1 || r->processes > MAX_PROCESSES)
        return sk_fail(err, "%u processes; the number must be 1 to %u", r->processes,
                       MAX_PROCESSES);
    a = (struct all){.r = r, .err = err};
    a.by_seed = r->results ? calloc(seeds, sizeof *a.by_seed) : NULL;
    if (r->results && !a.by_seed)
        return sk_fail(err, "no memory for the results of %" PRIu64 " seeds", seeds);
    for (unsigned i = 0; i < r->processes && status > 0; i++)
        if (sim_runs_start(&a, i, r->first + i) < 0)
            status = -1;
    while (status > 0 && r->violated < ENOUGH)
        status = wait_for_some(&a, r->processes);
    end_all(&a, r->processes);
    for (uint64_t i = 0; r->results && i < seeds; i++)
        if (a.by_seed[i])
            json_array_append_new(r->results, a.by_seed[i]);
    free(a.by_seed);
    if (status == 0 && r->sums + r->failed + r->violated != seeds)
        return sk_fail(err, "%" PRIu64 " of %" PRIu64 " seeds have no result",
                       seeds - (r->sums + r->failed + r->violated), seeds);
    return status < 0 ? -1 : 0;
}
