// SPDX-License-Identifier: Apache-2.0
//
// silken libra control: the controller of two switches with p4/libra (Libra 3.6, figure 11). It
// asks the first for its statistics again and again, keeps copies of its jobs, and moves them to
// the second when the first is about to fail, or is dead.
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/libra_control.h"
#include "control/socket/socket.h"

#define MS      UINT64_C(1000000)
#define SECONDS 2u          // that a switch may take for an answer
#define SETTLE  (2000 * MS) // until nothing is half added
#define COPIES  50u         // answers in a request

static const char usage[] =
    "usage: silken libra control [--move] FILE\n\n"
    "The controller of two switches with p4/libra and \"libra\" in their configurations, which "
    "have\n"
    "the same address: one that works, and a standby without jobs. FILE has\n\n"
    "  \"switch\", \"standby\"   their control sockets\n"
    "  \"jobs\"                as in the section \"libra\"; they are added to the switch if they "
    "are not\n"
    "                        there; \"lossless\": true ends one instead of losing what was pushed\n"
    "  \"heartbeat_ms\"        between two questions (100)\n"
    "  \"misses\"              so many without an answer: it is dead (3)\n"
    "  \"checkpoint_ms\"       between two copies of the jobs (1000); 0: none\n"
    "  \"delay_ms\", \"lost\", \"memory_mib\"   more than these: it is about to fail: the time for "
    "an\n"
    "                        answer (500), frames that found no room at the CPU port since the "
    "last\n"
    "                        one (1000), memory (0: no limit)\n\n"
    "When the switch is about to fail its jobs are moved, and nothing is lost; when it is dead "
    "they go\n"
    "on from their last copies. Then the controller ends: 0, or 1 if something was lost or "
    "ended.\n\n"
    "  --move   move the jobs at once\n";

struct control_job {
    const char *name;
    json_t *request; // of job.add; owned
    bool lossless;
    json_t *copy; // owned; null: none
    uint64_t copied_at;
};

struct control {
    struct sk_json doc;
    struct sk_error err;
    json_t *root;
    const char *path[2];
    struct sk_client *client[2]; // the switch, the standby; null: it has to be opened
    uint64_t heartbeat, checkpoint, delay, lost, memory;
    unsigned misses, missed;
    struct control_job *jobs;
    size_t n;
    json_int_t lost_before;
    bool moves;
};

__attribute__((format(printf, 1, 2))) static void control_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

// ---- the file ----

static uint64_t control_number(const struct sk_at *root, const char *key, uint64_t least,
                               uint64_t most, uint64_t otherwise) {
    const struct sk_at at = sk_at_member(root, key);
    return at.value ? sk_at_between(&at, true, least, most) : otherwise;
}

static void control_read_jobs(struct control *c, const struct sk_at *root) {
    const struct sk_at list = sk_at_member(root, "jobs");
    const size_t n = sk_at_length(&list);
    c->jobs = calloc(n + 1, sizeof *c->jobs);
    if (n == 0)
        sk_at_fail(root, "\"jobs\" is missing, or names none");
    for (size_t i = 0; c->jobs && !c->doc.failed && i < n; i++) {
        const struct sk_at at = sk_at_item(&list, i), name = sk_at_member(&at, "name"),
                           lossless = sk_at_member(&at, "lossless");
        struct control_job *j = &c->jobs[c->n];
        j->name = sk_at_string(&name, true);
        if (lossless.value && !json_is_boolean(lossless.value))
            sk_at_fail(&lossless, "it must be true or false");
        if (c->doc.failed)
            return;
        c->n++;
        j->lossless = json_is_true(lossless.value);
        j->request = json_copy(at.value);
        json_object_del(j->request, "lossless");
    }
}

static bool control_read(struct control *c, const char *path) {
    static const char *const keys[] = {
        "switch",        "standby",  "heartbeat_ms", "misses",     "jobs",
        "checkpoint_ms", "delay_ms", "lost",         "memory_mib", NULL};
    json_error_t why;
    c->root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!c->root) {
        fprintf(stderr, "silken libra control: %s:%d: %s\n", path, why.line, why.text);
        return false;
    }
    c->doc = (struct sk_json){.name = path, .err = &c->err};
    const struct sk_at root = {.doc = &c->doc, .value = c->root};
    if (!json_is_object(c->root))
        sk_at_fail(&root, "the file must be a JSON object");
    else
        sk_at_keys(&root, keys);
    const struct sk_at first = sk_at_member(&root, "switch"),
                       standby = sk_at_member(&root, "standby");
    c->path[0] = sk_at_string(&first, true);
    c->path[1] = sk_at_string(&standby, true);
    c->heartbeat = control_number(&root, "heartbeat_ms", 1, 60000, 100) * MS;
    c->misses = (unsigned)control_number(&root, "misses", 1, 1000, 3);
    c->checkpoint = control_number(&root, "checkpoint_ms", 0, 3600000, 1000) * MS;
    c->delay = control_number(&root, "delay_ms", 1, 60000, 500) * MS;
    c->lost = control_number(&root, "lost", 0, UINT32_MAX, 1000);
    c->memory = control_number(&root, "memory_mib", 0, UINT32_MAX, 0);
    if (!c->doc.failed)
        control_read_jobs(c, &root);
    if (c->doc.failed)
        fprintf(stderr, "silken libra control: %s\n", c->err.text);
    return !c->doc.failed;
}

// ---- a switch ----

// Takes the request over; null: c->err says why. A call that failed for want of the switch is its
// client's last.
static json_t *control_call(struct control *c, unsigned s, json_t *request) {
    if (!c->client[s])
        c->client[s] = sk_client_open_within(c->path[s], SECONDS, &c->err);
    if (!c->client[s]) {
        json_decref(request);
        return NULL;
    }
    return sk_client_call(c->client[s], request, &c->err);
}

static void control_hang_up(struct control *c, unsigned s) {
    sk_client_close(c->client[s]);
    c->client[s] = NULL;
}

static json_t *control_named(struct control *c, unsigned s, const char *op, const char *name) {
    return control_call(c, s, json_pack("{s:s, s:s}", "op", op, "name", name));
}

static bool control_done(json_t *reply) {
    json_decref(reply);
    return reply;
}

static void control_pause(void) {
    const struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
}

// Held; until nothing is half added.
static json_t *control_save(struct control *c, const struct control_job *j) {
    const uint64_t end = sk_clock_now() + SETTLE;
    json_t *state = NULL;
    if (!control_done(control_named(c, 0, "libra.hold", j->name)))
        return NULL;
    while (!(state = control_named(c, 0, "libra.save", j->name)) && sk_clock_now() < end &&
           strstr(c->err.text, "being added"))
        control_pause();
    return state;
}

static bool control_put_copies(struct control *c, const struct control_job *j,
                               const json_t *copies) {
    for (size_t i = 0; i < json_array_size(copies); i += COPIES) {
        json_t *some = json_array();
        for (size_t k = i; k < i + COPIES && k < json_array_size(copies); k++)
            json_array_append(some, json_array_get(copies, k));
        if (!control_done(control_call(
                c, 1,
                json_pack("{s:s, s:s, s:o}", "op", "libra.put", "name", j->name, "copies", some))))
            return false;
    }
    return true;
}

// Until packets of a job that was removed there are out of that switch.
static bool control_load_begin(struct control *c, json_t *request) {
    const uint64_t end = sk_clock_now() + SETTLE;
    bool begun;
    while (!(begun = control_done(control_call(c, 1, json_incref(request)))) &&
           sk_clock_now() < end && strstr(c->err.text, "a little later"))
        control_pause();
    json_decref(request);
    return begun;
}

static bool control_load(struct control *c, const struct control_job *j, const json_t *saved) {
    json_t *request = json_copy(j->request), *state = json_copy((json_t *)(uintptr_t)saved), *text;
    size_t i;
    json_object_del(state, "registers");
    json_object_del(state, "copies");
    json_object_set_new(request, "op", json_string("libra.load"));
    json_object_set_new(request, "state", state);
    if (!control_load_begin(c, request))
        return false;
    json_array_foreach(json_object_get(saved, "registers"), i, text) {
        if (!control_done(control_call(c, 1,
                                       json_pack("{s:s, s:s, s:i, s:O}", "op", "libra.put", "name",
                                                 j->name, "index", (int)i, "text", text))))
            return false;
    }
    return control_put_copies(c, j, json_object_get(saved, "copies")) &&
           control_done(control_call(c, 1,
                                     json_pack("{s:s, s:s, s:s}", "op", "libra.check", "name",
                                               j->name, "digest", sk_json_text(saved, "digest"))));
}

static long long control_next_epoch(const json_t *saved) {
    return (sk_json_number(saved, "epoch") + 1) & 0xffff;
}

static bool control_admit(struct control *c, unsigned s, const char *name, long long epoch) {
    return control_done(control_call(c, s,
                                     json_pack("{s:s, s:s, s:I}", "op", "libra.admit", "name", name,
                                               "epoch", (json_int_t)epoch)));
}

// ---- what it does ----

static bool control_begin(struct control *c) {
    json_t *list = control_call(c, 0, json_pack("{s:s}", "op", "job.list")), *job;
    json_t *status = list ? control_call(c, 1, json_pack("{s:s}", "op", "libra.status")) : NULL;
    for (size_t i = 0, k; status && i < c->n; i++) {
        bool there = false;
        json_array_foreach(json_object_get(list, "jobs"), k, job) {
            there |= strcmp(sk_json_text(job, "name"), c->jobs[i].name) == 0;
        }
        json_t *request = json_copy(c->jobs[i].request);
        json_object_set_new(request, "op", json_string("job.add"));
        if (there)
            json_decref(request);
        else if (!control_done(control_call(c, 0, request)))
            goto failed;
    }
    if (status) {
        json_decref(list);
        json_decref(status);
        control_say("ready: %zu jobs at %s, the standby is %s", c->n, c->path[0], c->path[1]);
        return true;
    }
failed:
    json_decref(list);
    json_decref(status);
    fprintf(stderr, "silken libra control: %s\n", c->err.text);
    return false;
}

// A job that cannot be copied goes on where it is.
static void control_copy(struct control *c, struct control_job *j) {
    json_t *saved = control_save(c, j);
    if (saved) {
        json_decref(j->copy);
        j->copy = saved;
        j->copied_at = sk_clock_now();
    } else {
        control_say("job %s: not copied: %s", j->name, c->err.text);
    }
    json_t *job = control_named(c, 0, "job.show", j->name);
    if (!job ||
        (sk_json_is(job, "held") && !control_admit(c, 0, j->name, sk_json_number(job, "epoch"))))
        control_say("job %s: not admitted again: %s", j->name, c->err.text);
    json_decref(job);
}

static bool control_move(struct control *c, struct control_job *j) {
    const uint64_t began = sk_clock_now();
    json_t *saved = control_save(c, j);
    bool good = saved && control_load(c, j, saved) &&
                control_admit(c, 1, j->name, control_next_epoch(saved));
    if (good) {
        control_say("job %s: moved to %s, digest %s, epoch %lld, in %llu ms", j->name, c->path[1],
                    sk_json_text(saved, "digest"), control_next_epoch(saved),
                    (unsigned long long)((sk_clock_now() - began) / MS));
        control_done(control_named(c, 0, "job.remove", j->name));
    } else {
        control_say("job %s: not moved: %s", j->name, c->err.text);
    }
    json_decref(saved);
    return good;
}

// From its last copy. False: something is lost.
static bool control_revive(struct control *c, struct control_job *j) {
    const bool loaded = j->copy && control_load(c, j, j->copy);
    if (!j->copy)
        control_say("job %s: is over: there is no copy of it", j->name);
    else if (!loaded)
        control_say("job %s: is over: %s", j->name, c->err.text);
    else if (j->lossless && control_done(control_named(c, 1, "libra.end", j->name)))
        control_say("job %s: ended, since it is lossless: its members are told", j->name);
    else if (!j->lossless && control_admit(c, 1, j->name, control_next_epoch(j->copy)))
        control_say("job %s: goes on at %s from a copy, digest %s, epoch %lld: what was pushed in "
                    "the last %llu ms is lost",
                    j->name, c->path[1], sk_json_text(j->copy, "digest"),
                    control_next_epoch(j->copy),
                    (unsigned long long)((sk_clock_now() - j->copied_at) / MS));
    else
        control_say("job %s: is over: %s", j->name, c->err.text);
    return false;
}

// Of all jobs.
static int control_all(struct control *c, bool (*what)(struct control *, struct control_job *)) {
    bool good = true;
    for (size_t i = 0; i < c->n; i++)
        good &= what(c, &c->jobs[i]);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

enum control_health { HEALTH_GOOD, HEALTH_FAILS, HEALTH_DEAD };

static enum control_health control_look(struct control *c) {
    const uint64_t asked = sk_clock_now();
    json_t *status = control_call(c, 0, json_pack("{s:s}", "op", "libra.status"));
    const uint64_t delay = sk_clock_now() - asked;
    char why[160] = "";
    if (!status) {
        control_hang_up(c, 0);
        if (++c->missed < c->misses)
            return HEALTH_GOOD;
        control_say("%s is dead: %s", c->path[0], c->err.text);
        return HEALTH_DEAD;
    }
    const json_int_t all = sk_json_number(status, "frames_lost"), lost = all - c->lost_before,
                     memory = sk_json_number(status, "memory_kib") / 1024;
    c->lost_before = all;
    c->missed = 0;
    if (delay > c->delay)
        snprintf(why, sizeof why, "its answer took %llu ms", (unsigned long long)(delay / MS));
    else if (lost > (json_int_t)c->lost)
        snprintf(why, sizeof why, "%lld frames found no room at its CPU port", (long long)lost);
    else if (c->memory && memory > (json_int_t)c->memory)
        snprintf(why, sizeof why, "it uses %lld MiB of memory", (long long)memory);
    json_decref(status);
    if (*why)
        control_say("%s is about to fail: %s", c->path[0], why);
    return *why ? HEALTH_FAILS : HEALTH_GOOD;
}

static int control_watch(struct control *c) {
    uint64_t copy_at = sk_clock_now();
    for (;;) {
        const enum control_health health = control_look(c);
        if (health == HEALTH_FAILS)
            return control_all(c, control_move);
        if (health == HEALTH_DEAD)
            return control_all(c, control_revive);
        if (c->checkpoint && c->missed == 0 && sk_clock_now() >= copy_at) {
            for (size_t i = 0; i < c->n; i++)
                control_copy(c, &c->jobs[i]);
            copy_at = sk_clock_now() + c->checkpoint;
        }
        const struct timespec pause = {.tv_sec = (time_t)(c->heartbeat / (1000 * MS)),
                                       .tv_nsec = (long)(c->heartbeat % (1000 * MS))};
        nanosleep(&pause, NULL);
    }
}

static void control_end(struct control *c) {
    for (size_t i = 0; i < c->n; i++) {
        json_decref(c->jobs[i].request);
        json_decref(c->jobs[i].copy);
    }
    free(c->jobs);
    control_hang_up(c, 0);
    control_hang_up(c, 1);
    json_decref(c->root);
    sk_json_release(&c->doc);
}

int cmd_libra_control(int argc, char **argv) {
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'}, {"move", no_argument, NULL, 'm'}, {NULL, 0, NULL, 0}};
    struct control c = {0};
    int option, status = EXIT_UNUSABLE;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1)
        switch (option) {
        case 'h':
            fputs(usage, stdout);
            return EXIT_GOOD;
        case 'm':
            c.moves = true;
            break;
        default:
            return cli_bad_option("libra", option, argv);
        }
    if (optind + 1 != argc)
        return cli_misused("libra control", "it takes one FILE");
    if (control_read(&c, argv[optind]) && control_begin(&c))
        status = c.moves ? control_all(&c, control_move) : control_watch(&c);
    control_end(&c);
    return status;
}
