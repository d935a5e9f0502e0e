// SPDX-License-Identifier: Apache-2.0
//
// fuzz_service: lines of workers of the job service, mostly right ones and any bytes, workers that
// go, jobs that an operator removes and time between; the switch finds some addresses, and has room
// for some jobs. After each step every worker is of one job or of none, nobody is told anything
// after the end, and the switch has the jobs that run.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/service/service.h"
#include "harness/control/tor/fuzz_input.h"

#define WORKERS 24u
#define STEPS   200u
#define MS      UINT64_C(1000000)
#define TOKEN   "correct-horse-battery"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct worker {
    bool member, admitted;
};
struct rig {
    struct worker workers[WORKERS];
    unsigned in_switch;
    struct input *in;
};

static int locate(void *aux, const struct admission_request *worker, struct admission_place *place,
                  struct sk_error *err) {
    const uint32_t ip = worker->ip;
    (void)aux;
    if ((ip & 7) == 6)
        return sk_fail(err, "nowhere");
    snprintf(place->link, sizeof place->link, "p%u", ip & 7);
    sk_fail(err, "not yet");
    return (ip & 7) != 5;
}

static int add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct rig *r = aux;
    for (uint32_t i = 0; i < job->workers; i++)
        must(job->members[i].owner && job->members[i].placed);
    if (byte(r->in) % 4 == 3)
        return sk_fail(err, "full");
    r->in_switch++;
    return 0;
}

static void removed(void *aux, const char *name) {
    struct rig *r = aux;
    must(*name && r->in_switch-- > 0);
}

static void waits(void *owner, const struct admission_job *job) {
    const struct worker *w = owner;
    must(w->member && !w->admitted && job->state == ADMISSION_WAITING);
}

static void admitted(void *owner, const struct admission_job *job, uint32_t rank) {
    struct worker *w = owner;
    must(w->member && !w->admitted && job->members[rank].owner == owner);
    w->admitted = true;
}

static void over(void *owner, const char *why) {
    struct worker *w = owner;
    must(w->member && *why);
    w->member = false;
}

// A good request, or some bytes in it are others.
static size_t line_of(struct input *in, char *line, size_t size) {
    int n = snprintf(line, size,
                     "{\"token\": \"" TOKEN "\", \"job\": \"j%u\", \"rank\": %u, \"workers\": %u, "
                     "\"ip\": \"10.0.0.%u\"}",
                     byte(in) % 3, byte(in) % 4, 1 + byte(in) % 4, byte(in) % 32);
    for (unsigned flips = byte(in); flips > 250; flips--)
        line[byte(in) % (unsigned)n] = (char)byte(in);
    return (size_t)n;
}

static void come(struct rig *r, struct admission *a, uint64_t now) {
    struct worker *w = &r->workers[byte(r->in) % WORKERS];
    struct admission_request q;
    struct sk_error err = {.text = ""};
    char line[256];
    bool known;
    const size_t n = line_of(r->in, line, sizeof line);
    if (w->member || service_request(line, n, TOKEN, 0, &q, &known, &err))
        return;
    must(known && q.rank < q.workers && q.workers <= ADMISSION_WORKERS && q.job[0] && q.ip);
    *w = (struct worker){.member = true};
    if (admission_join(a, &q, w, now, &err)) {
        must(err.text[0] != '\0');
        w->member = false;
    }
}

static void go(struct rig *r, struct admission *a, const char *why, uint64_t now) {
    struct worker *w = &r->workers[byte(r->in) % WORKERS];
    if (w->member)
        w->member = false, admission_leave(a, w, why, now);
}

// Whoever was admitted is told that the job is over; of a job that waits, nobody is.
static void end(struct rig *r, struct admission *a, uint64_t now) {
    struct worker *w = &r->workers[byte(r->in) % WORKERS];
    const bool runs = w->member && w->admitted;
    if (w->member)
        admission_end(a, w, now);
    must(!runs || !w->member);
}

// Two jobs that the switch has are never at one address with one port. What is listed are the
// members that are there still.
static void look_at_pair(const json_t *one, const json_t *other) {
    const json_t *a = json_object_get(one, "members"), *b = json_object_get(other, "members");
    if (!json_object_get(one, "port") ||
        !json_equal(json_object_get(one, "port"), json_object_get(other, "port")))
        return;
    for (size_t i = 0; i < json_array_size(a) * json_array_size(b); i++) {
        const json_t *m = json_array_get(a, i % json_array_size(a)),
                     *n = json_array_get(b, i / json_array_size(a));
        must(!json_equal(json_object_get(m, "address"), json_object_get(n, "address")));
    }
}

static void look_at_ports(const json_t *jobs) {
    for (size_t i = 0; i < json_array_size(jobs); i++)
        for (size_t k = 0; k < i; k++)
            look_at_pair(json_array_get(jobs, i), json_array_get(jobs, k));
}

static void look(const struct rig *r, const struct admission *a, uint64_t now) {
    json_t *jobs = admission_json(a, now), *job;
    size_t members = 0, in_switch = 0, i;
    look_at_ports(jobs);
    json_array_foreach(jobs, i, job) {
        members += json_array_size(json_object_get(job, "members"));
        in_switch += strcmp(json_string_value(json_object_get(job, "state")), "waiting") != 0;
    }
    for (i = 0; i < WORKERS; i++)
        members -= r->workers[i].member;
    must(members == 0 && in_switch == r->in_switch);
    json_decref(jobs);
}

// Any bytes as a request: the token alone decides whether it is known.
static void any_bytes(const uint8_t *data, size_t size) {
    struct admission_request q;
    struct sk_error err = {.text = ""};
    bool known;
    if (service_request((const char *)data, size, TOKEN, 1, &q, &known, &err))
        must(err.text[0] && !strchr(err.text, '\n'));
    else
        must(known);
    service_is_leave((const char *)data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct admission_ops ops = {locate, add, removed, waits, admitted, over};
    struct input in = {data, size};
    struct rig r = {.in = &in};
    struct admission *a = admission_new(&ops, &r, 64, 900 * MS, 100 * MS);
    uint64_t now = 1;
    any_bytes(data, size);
    for (unsigned step = 0; step < STEPS && in.left > 0; step++) {
        const unsigned what = byte(&in) % 16;
        if (what < 8)
            come(&r, a, now);
        else if (what < 10)
            go(&r, a, what == 8 ? NULL : "gone", now);
        else if (what == 11)
            end(&r, a, now);
        else if (what == 10)
            admission_removed(a, "j1"), r.in_switch = UINT32_MAX;
        else
            now += byte(&in) * MS, admission_run(a, now);
        if (r.in_switch == UINT32_MAX) { // whoever removed it took it from the switch before
            json_t *jobs = admission_json(a, now), *job;
            size_t i;
            r.in_switch = 0;
            for (i = 0; i < json_array_size(jobs); i++) {
                job = json_array_get(jobs, i);
                r.in_switch +=
                    strcmp(json_string_value(json_object_get(job, "state")), "waiting") != 0;
            }
            json_decref(jobs);
        }
        look(&r, a, now);
    }
    admission_free(a);
    must(r.in_switch == 0);
    return 0;
}
