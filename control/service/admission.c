// SPDX-License-Identifier: Apache-2.0
#include "control/service/admission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND    UINT64_C(1000000000)
#define LOOK_NS   UINT64_C(20000000) // between two looks for places of a job's workers
#define PLACED_NS (10 * SECOND)      // until a worker has to be found

struct admission {
    struct admission_ops ops;
    void *aux;
    uint32_t slots;
    uint64_t wait, grace;
    struct admission_job *list[ADMISSION_JOBS]; // in the order in which they came
    size_t n;
    struct admission_counts counts;
};

struct admission *admission_new(const struct admission_ops *ops, void *aux, uint32_t slots,
                                uint64_t wait_ns, uint64_t grace_ns) {
    struct admission *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->ops = *ops;
    a->aux = aux;
    a->slots = slots;
    a->wait = wait_ns;
    a->grace = grace_ns;
    return a;
}

// ---- text ----

static const char *adm_ip(uint32_t ip, char out[16]) {
    snprintf(out, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return out;
}

// "1, 3"
static void adm_missing(const struct admission_job *job, char *out, size_t size) {
    size_t n = 0;
    *out = '\0';
    for (uint32_t i = 0; i < job->workers && n + 8 < size; i++)
        if (!job->members[i].owner)
            n += (size_t)snprintf(out + n, size - n, "%s%u", n ? ", " : "", i);
}

static uint32_t adm_count(const struct admission_job *job) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->workers; i++)
        n += job->members[i].owner != NULL;
    return n;
}

// ---- the list ----

static void adm_drop(struct admission *a, size_t i) {
    free(a->list[i]);
    memmove(&a->list[i], &a->list[i + 1], (--a->n - i) * sizeof *a->list);
}

// The job of that name that waits, or the other one. Null: there is none.
static struct admission_job *adm_find(const struct admission *a, const char *name, bool waits) {
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i]->name, name) == 0 &&
            (a->list[i]->state == ADMISSION_WAITING) == waits)
            return a->list[i];
    return NULL;
}

static struct admission_job *adm_of(const struct admission *a, const void *owner, uint32_t *rank) {
    for (size_t i = 0; i < a->n; i++)
        for (*rank = 0; *rank < a->list[i]->workers; ++*rank)
            if (a->list[i]->members[*rank].owner == owner)
                return a->list[i];
    return NULL;
}

static void adm_tell_over(struct admission *a, struct admission_job *job, const char *why) {
    for (uint32_t i = 0; i < job->workers; i++) {
        void *owner = job->members[i].owner;
        job->members[i].owner = NULL;
        if (owner)
            a->ops.over(owner, why);
    }
}

static void adm_tell_waits(struct admission *a, struct admission_job *job) {
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->members[i].owner)
            a->ops.waits(job->members[i].owner, job);
}

void admission_free(struct admission *a) {
    if (!a)
        return;
    while (a->n > 0) {
        struct admission_job *job = a->list[0];
        adm_tell_over(a, job, "the job service has ended");
        if (job->state != ADMISSION_WAITING)
            a->ops.remove(a->aux, job->name);
        adm_drop(a, 0);
    }
    free(a);
}

// ---- coming ----

// Of the workers that are there.
static uint32_t adm_pairs(const struct admission_job *job) {
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->members[i].owner)
            return job->members[i].request.roce.pairs;
    return 0;
}

// Whether the worker fits those of its job that are there.
static int adm_fits(const struct admission *a, const struct admission_job *job,
                    const struct admission_request *r, struct sk_error *err) {
    const uint32_t slots = r->slots ? r->slots : a->slots;
    char text[16];
    if (r->workers != job->workers)
        return sk_fail(err,
                       "the other workers of job '%s' were started for %u workers, this one for %u",
                       job->name, job->workers, r->workers);
    if (job->members[r->rank].owner)
        return sk_fail(err, "rank %u of job '%s' is taken, by a worker at %s", r->rank, job->name,
                       adm_ip(job->members[r->rank].request.ip, text));
    if (slots != job->slots)
        return sk_fail(err, "the other workers of job '%s' asked for %u slots, this one for %u",
                       job->name, job->slots, slots);
    if (r->roce.pairs != adm_pairs(job))
        return sk_fail(err,
                       "the other workers of job '%s' have %u queue pairs for RoCEv2, this one %u",
                       job->name, adm_pairs(job), r->roce.pairs);
    if (r->port != job->port && (r->port == 0 || job->port == 0))
        return sk_fail(err,
                       "some of the workers of job '%s' use UDP port %u, and others the one that "
                       "the service gives",
                       job->name, r->port ? r->port : job->port);
    if (r->port != job->port)
        return sk_fail(err, "the other workers of job '%s' use UDP port %u, this one uses %u",
                       job->name, job->port, r->port);
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->members[i].owner && job->members[i].request.ip == r->ip)
            return sk_fail(err, "address %s is worker %u's of job '%s'", adm_ip(r->ip, text), i,
                           job->name);
    return 0;
}

// A rank that is there in the job that runs does not come again.
static int adm_runs_already(const struct admission *a, const struct admission_request *r,
                            struct sk_error *err) {
    const struct admission_job *job = adm_find(a, r->job, false);
    char text[16];
    return job && r->rank < job->workers && job->members[r->rank].owner
               ? sk_fail(err, "job '%s' is running, and its rank %u is taken, by a worker at %s",
                         job->name, r->rank, adm_ip(job->members[r->rank].request.ip, text))
               : 0;
}

static struct admission_job *adm_new(struct admission *a, const struct admission_request *r,
                                     uint64_t now, struct sk_error *err) {
    if (a->n == ADMISSION_JOBS) {
        sk_fail(err, "the service has %u jobs, the most that it can have", ADMISSION_JOBS);
        return NULL;
    }
    struct admission_job *job = calloc(1, sizeof *job);
    if (!job)
        abort();
    memcpy(job->name, r->job, sizeof job->name);
    job->workers = r->workers;
    job->slots = r->slots ? r->slots : a->slots;
    job->port = r->port;
    job->since = now;
    a->list[a->n++] = job;
    return job;
}

int admission_join(struct admission *a, const struct admission_request *r, void *owner,
                   uint64_t now_ns, struct sk_error *err) {
    struct admission_job *job = adm_find(a, r->job, true);
    if (adm_runs_already(a, r, err) || (job && adm_fits(a, job, r, err)))
        return -1;
    if (!job && !(job = adm_new(a, r, now_ns, err)))
        return -1;
    job->members[r->rank] =
        (struct admission_member){.owner = owner, .request = *r, .since = now_ns};
    adm_tell_waits(a, job);
    return 0;
}

// ---- going ----

static void adm_remove(struct admission *a, struct admission_job *job) {
    size_t i = 0;
    while (a->list[i] != job)
        i++;
    if (job->state != ADMISSION_WAITING)
        a->ops.remove(a->aux, job->name);
    adm_drop(a, i);
}

// The others are told, and can do nothing more.
static void adm_over(struct admission *a, struct admission_job *job, const char *why,
                     uint64_t now) {
    snprintf(job->why, sizeof job->why, "%s", why);
    job->state = ADMISSION_ENDING;
    job->since = now;
    job->ends = now + a->grace;
    adm_tell_over(a, job, job->why);
}

static void adm_fail(struct admission *a, struct admission_job *job, const char *why,
                     uint64_t now) {
    a->counts.failed++;
    adm_over(a, job, why, now);
}

void admission_end(struct admission *a, void *owner, uint64_t now_ns) {
    uint32_t rank;
    struct admission_job *job = adm_of(a, owner, &rank);
    if (job && job->state == ADMISSION_RUNNING)
        adm_over(a, job, "its workers are done", now_ns);
}

void admission_leave(struct admission *a, void *owner, const char *why, uint64_t now_ns) {
    uint32_t rank;
    struct admission_job *job = adm_of(a, owner, &rank);
    char ip[16], sentence[256];
    if (!job)
        return;
    adm_ip(job->members[rank].request.ip, ip);
    job->members[rank].owner = NULL;
    if (job->state == ADMISSION_RUNNING && why) {
        snprintf(sentence, sizeof sentence, "worker %u of job '%s' (%s) is gone: %s", rank,
                 job->name, ip, why);
        adm_fail(a, job, sentence, now_ns);
    } else if (adm_count(job) == 0) {
        adm_remove(a, job);
    } else if (job->state == ADMISSION_WAITING) {
        adm_tell_waits(a, job);
    }
}

void admission_removed(struct admission *a, const char *name) {
    struct admission_job *job = adm_find(a, name, false);
    char sentence[160];
    if (!job)
        return;
    snprintf(sentence, sizeof sentence, "job '%s' was removed from the switch by its operator",
             job->name);
    a->counts.failed += job->state == ADMISSION_RUNNING;
    adm_tell_over(a, job, sentence);
    for (size_t i = 0; i < a->n; i++)
        if (a->list[i] == job) {
            adm_drop(a, i);
            return;
        }
}

// ---- places ----

// False: the worker cannot be a member, and was told.
static bool adm_locate(struct admission *a, struct admission_job *job, uint32_t rank,
                       uint64_t now) {
    struct admission_member *m = &job->members[rank];
    struct sk_error err = {.text = ""};
    char sentence[640], ip[16];
    const int rc = a->ops.locate(a->aux, &m->request, &m->place, &err);
    const bool other = rc > 0 && m->request.has_mac && memcmp(m->request.mac, m->place.mac, 6) != 0;
    m->placed = rc > 0 && !other;
    snprintf(m->waits, sizeof m->waits, "%.150s", rc > 0 ? "" : err.text);
    if (m->placed || (rc == 0 && now - m->since < PLACED_NS))
        return true;
    if (other)
        snprintf(sentence, sizeof sentence,
                 "the switch finds %s at another MAC address than this worker says it has",
                 adm_ip(m->request.ip, ip));
    else
        snprintf(sentence, sizeof sentence, "the switch does not find %s: %s",
                 adm_ip(m->request.ip, ip), err.text);
    void *owner = m->owner;
    m->owner = NULL;
    a->ops.over(owner, sentence);
    return false;
}

// Looks where they are. False: some of them are not there any more.
static bool adm_locate_all(struct admission *a, struct admission_job *job, bool again,
                           uint64_t now) {
    bool stayed = true;
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->members[i].owner && (again || !job->members[i].placed))
            stayed &= adm_locate(a, job, i, now);
    return stayed;
}

static bool adm_complete(const struct admission_job *job) {
    for (uint32_t i = 0; i < job->workers; i++)
        if (!job->members[i].owner || !job->members[i].placed)
            return false;
    return true;
}

// ---- ports ----

static bool adm_share_address(const struct admission_job *a, const struct admission_job *b) {
    for (uint32_t i = 0; i < a->workers; i++)
        for (uint32_t k = 0; k < b->workers; k++)
            if (a->members[i].request.ip == b->members[k].request.ip)
                return true;
    return false;
}

static bool adm_has_port(const struct admission_job *job, uint16_t port) {
    return job->port == port || job->session_port == port;
}

// Whether a job that the switch has uses one of the ports at an address of this one's.
static bool adm_ports_taken(const struct admission *a, const struct admission_job *job,
                            uint16_t port, uint16_t session_port) {
    for (size_t i = 0; i < a->n; i++)
        if (a->list[i]->state != ADMISSION_WAITING && adm_share_address(a->list[i], job) &&
            (adm_has_port(a->list[i], port) || adm_has_port(a->list[i], session_port)))
            return true;
    return false;
}

// Every job of the list takes one pair at most, so that one is free. Workers that have chosen a
// port have the usual one for sessions.
static void adm_give_ports(const struct admission *a, struct admission_job *job) {
    uint16_t port = ADMISSION_PORT, session_port = ADMISSION_SESSION_PORT;
    if (job->port != 0) {
        job->session_port = session_port;
        return;
    }
    for (uint16_t next = ADMISSION_PORTS; adm_ports_taken(a, job, port, session_port); next += 2) {
        port = next;
        session_port = (uint16_t)(next + 1);
    }
    job->port = port;
    job->session_port = session_port;
}

// ---- time ----

static void adm_admit(struct admission *a, struct admission_job *job, uint64_t now) {
    struct sk_error err = {.text = ""};
    char sentence[640];
    adm_give_ports(a, job);
    if (a->ops.add(a->aux, job, &err)) {
        snprintf(sentence, sizeof sentence, "the switch does not admit job '%s': %s", job->name,
                 err.text);
        a->counts.failed++;
        adm_tell_over(a, job, sentence);
        adm_remove(a, job);
        return;
    }
    job->state = ADMISSION_RUNNING;
    job->since = now;
    a->counts.admitted++;
    for (uint32_t i = 0; i < job->workers; i++)
        a->ops.admitted(job->members[i].owner, job, i);
}

static void adm_give_up(struct admission *a, struct admission_job *job) {
    char missing[160], sentence[320];
    adm_missing(job, missing, sizeof missing);
    snprintf(sentence, sizeof sentence,
             "job '%s' has waited for %llu s, and %s%s did not come: it is given up", job->name,
             (unsigned long long)(a->wait / SECOND), *missing ? "rank " : "its turn", missing);
    a->counts.failed++;
    adm_tell_over(a, job, sentence);
    adm_remove(a, job);
}

// One that waits. True: a job was admitted, which takes a while.
static bool adm_run_waiting(struct admission *a, struct admission_job *job, uint64_t now) {
    if (now - job->looked >= LOOK_NS) {
        job->looked = now;
        if (!adm_locate_all(a, job, false, now)) {
            if (adm_count(job) == 0)
                adm_remove(a, job);
            else
                adm_tell_waits(a, job);
            return false;
        }
        // places are looked at again, as all are there now
        if (adm_complete(job) && !adm_find(a, job->name, false) &&
            adm_locate_all(a, job, true, now) && adm_complete(job)) {
            adm_admit(a, job, now);
            return true;
        }
    }
    if (now - job->since >= a->wait)
        adm_give_up(a, job);
    return false;
}

void admission_run(struct admission *a, uint64_t now_ns) {
    for (size_t i = a->n; i-- > 0;) // from the end: dropping one moves those after it only
        if (a->list[i]->state == ADMISSION_ENDING && now_ns >= a->list[i]->ends)
            adm_remove(a, a->list[i]);
    for (size_t i = a->n; i-- > 0;)
        if (a->list[i]->state == ADMISSION_WAITING && adm_run_waiting(a, a->list[i], now_ns))
            return;
}

// ---- what there is ----

static json_t *adm_member_json(const struct admission_member *m, uint32_t rank, uint64_t now) {
    char ip[16];
    json_t *out =
        json_pack("{s:i, s:s, s:I}", "rank", (int)rank, "address", adm_ip(m->request.ip, ip),
                  "seconds", (json_int_t)((now - m->since) / SECOND));
    if (!m->placed && *m->waits)
        json_object_set_new(out, "waits", json_string(m->waits));
    return out;
}

json_t *admission_json(const struct admission *a, uint64_t now_ns) {
    static const char *const states[] = {"waiting", "running", "ending"};
    json_t *list = json_array();
    for (size_t i = 0; i < a->n; i++) {
        const struct admission_job *job = a->list[i];
        json_t *missing = json_array(), *members = json_array();
        for (uint32_t k = 0; k < job->workers; k++)
            if (job->members[k].owner)
                json_array_append_new(members, adm_member_json(&job->members[k], k, now_ns));
            else if (job->state == ADMISSION_WAITING)
                json_array_append_new(missing, json_integer(k));
        json_t *one = json_pack("{s:s, s:s, s:i, s:I, s:o, s:o}", "name", job->name, "state",
                                states[job->state], "workers", (int)job->workers, "seconds",
                                (json_int_t)((now_ns - job->since) / SECOND), "missing", missing,
                                "members", members);
        if (job->state != ADMISSION_WAITING)
            json_object_set_new(one, "port", json_integer(job->port));
        if (*job->why)
            json_object_set_new(one, "why", json_string(job->why));
        json_array_append_new(list, one);
    }
    return list;
}

struct admission_counts admission_counts(const struct admission *a) {
    struct admission_counts counts = a->counts;
    counts.jobs = a->n;
    return counts;
}
