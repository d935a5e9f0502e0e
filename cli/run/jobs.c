// SPDX-License-Identifier: Apache-2.0
//
// The job service in the running switch (control/service/service.h): what it admits are jobs of the
// ToR, by the same requests as an operator's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"
#include "base/address.h"
#include "base/json.h"
#include "control/published/published.h"
#include "control/published/tables.h"
#include "control/service/service.h"
#include "control/tor/tor.h"
#include "control/watch/watch.h"

#define SECOND         UINT64_C(1000000000)
#define MOST_BREATH_NS UINT64_C(1000000)

// ---- what the service has done ----

static const char *run_jobs_ip(uint32_t ip, char out[16]) {
    snprintf(out, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return out;
}

int run_jobs_locate(void *aux, const struct admission_request *worker,
                    struct admission_place *place, struct sk_error *err) {
    struct run *r = aux;
    char text[16];
    if (worker->roce.pairs > 0)
        return sk_fail(err, "the program of a ToR has no RoCEv2 (p4/switchml/with_roce.p4 has)");
    json_t *request = json_pack("{s:s}", "address", run_jobs_ip(worker->ip, text)),
           *found = run_tor_ask(r, "job.locate", request, err);
    int rc = found ? 0 : -1;
    if (found && *sk_json_text(found, "waits"))
        sk_fail(err, "%s", sk_json_text(found, "waits"));
    else if (found && sk_mac_parse(sk_json_text(found, "mac"), place->mac) &&
             sk_mac_parse(sk_json_text(found, "switch_mac"), place->switch_mac) &&
             sk_ip_parse(sk_json_text(found, "switch_ip"), &place->switch_ip))
        rc = snprintf(place->link, sizeof place->link, "%s", sk_json_text(found, "link")) > 0;
    json_decref(found);
    json_decref(request);
    return rc;
}

int run_jobs_admit(struct run *r, struct admission_job *job, json_t *more, struct sk_error *err) {
    json_t *workers = json_array();
    char text[16];
    for (uint32_t i = 0; i < job->workers; i++)
        json_array_append_new(workers, json_sprintf("%s:%s", job->members[i].place.link,
                                                    run_jobs_ip(job->members[i].request.ip, text)));
    json_t *request = json_pack("{s:s, s:s, s:o, s:i, s:i, s:b}", "name", job->name, "protocol",
                                "switchml", "workers", workers, "slots", (int)job->slots,
                                "udp_port", (int)job->port, "lease", 1),
           *added;
    json_object_update(request, more);
    added = run_tor_ask(r, "job.add", request, err);
    const int rc = added ? 0 : -1;
    job->number = (uint32_t)sk_json_number(added, "number");
    job->elements = (uint32_t)sk_json_number(added, "elements");
    json_decref(added);
    json_decref(request);
    return rc;
}

static int run_jobs_add(void *aux, struct admission_job *job, struct sk_error *err) {
    return run_jobs_admit(aux, job, NULL, err);
}

void run_jobs_remove(void *aux, const char *name) {
    struct run *r = aux;
    struct sk_error ignored;
    json_t *request = json_pack("{s:s}", "name", name);
    json_decref(run_tor_ask(r, "job.remove", request, &ignored));
    json_decref(request);
}

// ---- jobs of p4/switchml without a ToR: by RoCEv2 ----

static int run_jobs_roce_locate(void *aux, const struct admission_request *worker,
                                struct admission_place *place, struct sk_error *err) {
    struct run *r = aux;
    if (worker->roce.pairs == 0)
        return sk_fail(err, "without \"tor\" the service admits jobs of the kind switchml-roce");
    return published_tables_locate(r->job_tables, worker, place, err);
}

static int run_jobs_roce_add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct run *r = aux;
    return published_tables_add(r->job_tables, job, err);
}

static void run_jobs_roce_remove(void *aux, const char *name) {
    struct run *r = aux;
    published_tables_remove(r->job_tables, name);
}

static bool run_jobs_tables(struct run *r, struct sk_error *err) {
    const struct sk_config_job_service *j = &r->config->job_service;
    const struct sessions_switch on = {
        .sw = r->sw, .pause = run_pause, .resume = run_resume, .aux = r};
    r->job_tables = published_tables_new(&on, j->mac, j->ip, run_now, err);
    return r->job_tables;
}

// Entries of jobs are brought into the next program as those of an operator are; the numbers of
// queue pairs may be lost, and then the workers find no answers.
void run_jobs_program_changed(struct run *r) {
    const struct sessions_switch on = {
        .sw = r->sw, .pause = run_pause, .resume = run_resume, .aux = r};
    struct sk_error err;
    if (r->job_tables && published_tables_replaced(r->job_tables, &on, &err))
        run_say(err.text);
}

// ---- from start to end ----

bool run_jobs_start(struct run *r) {
    const struct sk_config_job_service *j = &r->config->job_service;
    struct sk_error err;
    if (!j->listen)
        return true;
    char *path = run_beside_config(r, j->token_file), *token = service_token_read(path, &err);
    const struct service_options o = {
        .listen = j->address,
        .token = token,
        .slots = j->slots,
        .wait_ns = j->wait * SECOND,
        .grace_ns = j->grace * SECOND,
        .silence = (unsigned)j->silence,
        .jobs = {.locate = run_jobs_locate, .add = run_jobs_add, .remove = run_jobs_remove},
        .aux = r};
    struct service_options without = o;
    without.jobs = (struct admission_ops){
        .locate = run_jobs_roce_locate, .add = run_jobs_roce_add, .remove = run_jobs_roce_remove};
    if (token && (r->tor || run_jobs_tables(r, &err)))
        r->service = service_open(r->tor ? &o : &without, &err);
    free(token);
    free(path);
    return r->service || run_say(err.text);
}

int run_jobs_fd(const struct run *r, uint64_t now) {
    return r->service && now >= r->control.jobs_due ? service_fd(r->service) : -1;
}

// As much as it takes of the thread's time, the others get.
void run_jobs_turn(struct run *r, uint64_t now) {
    if (!r->service || now < r->control.jobs_due)
        return;
    service_poll(r->service, now);
    const uint64_t end = run_now(), took = end - now;
    r->control.jobs_due = end + (took < MOST_BREATH_NS ? took : MOST_BREATH_NS);
}

void run_jobs_answered(struct run *r, const char *op, const json_t *request, json_t *result) {
    const char *removed = strcmp(op, "job.remove") == 0 ? sk_json_text(request, "name") : NULL;
    if (removed && r->service)
        admission_removed(service_admission(r->service), removed);
    if (removed && r->published) {
        published_removed(r->published, removed);
        r->published_removed = run_now();
    }
    if (strcmp(op, "job.list") != 0 || (!r->service && !r->published))
        return;
    json_t *all =
               r->service ? admission_json(service_admission(r->service), run_now()) : json_array(),
           *of_published = r->published ? published_json(r->published, run_now()) : NULL;
    json_array_extend(all, of_published);
    json_decref(of_published);
    json_object_set_new(result, "service", all);
}

void run_jobs_count(const struct run *r, struct sk_watch_control *out) {
    if (!r->service)
        return;
    const struct service_counts c = service_counts(r->service);
    out->serves_jobs = true;
    out->jobs = c.jobs;
    out->workers = c.connections;
    out->jobs_admitted = c.admitted;
    out->jobs_failed = c.failed;
    out->workers_refused = c.refused;
}

uint16_t run_jobs_port(const struct run *r) {
    return r->service ? service_port(r->service) : 0;
}

// Its jobs' entries go before the switch does, which nobody runs any more.
void run_jobs_end(struct run *r) {
    const struct sessions_switch on = {.sw = r->sw};
    struct sk_error ignored;
    if (r->job_tables)
        published_tables_replaced(r->job_tables, &on, &ignored);
    service_close(r->service);
    published_tables_free(r->job_tables);
    r->job_tables = NULL;
}
