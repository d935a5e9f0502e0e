// SPDX-License-Identifier: Apache-2.0
//
// The service for the published SwitchML client in the running switch
// (control/published/published.h).
#include "control/published/published.h"

#include <string.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/run/run.h"
#include "control/published/tables.h"
#include "control/state/jobs.h"
#include "control/tor/tor.h"
#include "control/watch/watch.h"

#define SECOND            UINT64_C(1000000000)
#define SWITCHML_ELEMENTS 256u // of a packet, in p4/switchml and in p4/rack
#define RACK_ELEMENTS     64u

static struct sessions_switch run_published_on(struct run *r) {
    return (struct sessions_switch){
        .sw = r->sw, .pause = run_pause, .resume = run_resume, .aux = r};
}

// ---- jobs of a ToR with p4/rack ----

static int published_rack_locate(void *aux, const struct admission_request *worker,
                                 struct admission_place *place, struct sk_error *err) {
    struct run *r = aux;
    const struct sessions_switch on = run_published_on(r);
    char said[SK_MAC_TEXT], known[SK_MAC_TEXT];
    if (r->published_removed && sessions_under_way(&on, r->published_removed)) {
        sk_fail(err, "packets of a job that is over are under way in the switch");
        return 0;
    }
    r->published_removed = 0;
    const int rc = run_jobs_locate(aux, worker, place, err);
    if (rc <= 0 || memcmp(place->mac, worker->mac, sizeof place->mac) == 0)
        return rc;
    sk_mac_text(worker->mac, said);
    sk_mac_text(place->mac, known);
    return sk_fail(err, "it says that its MAC address is %s, and the switch knows %s", said, known);
}

static int published_rack_add(void *aux, struct admission_job *job, struct sk_error *err) {
    json_t *more = json_pack("{s:b, s:s}", "sessions", 0, "numbers", "all");
    const int rc = run_jobs_admit(aux, job, more, err);
    json_decref(more);
    return rc;
}

static void published_rack_remove(void *aux, const char *name) {
    struct run *r = aux;
    run_jobs_remove(aux, name);
    r->published_removed = run_now();
}

static uint64_t published_rack_packets(void *aux, const char *name) {
    struct run *r = aux;
    struct sk_error ignored;
    json_t *list = tor_request(r->tor, "job.list", NULL, run_now(), &ignored), *job;
    uint64_t packets = 0;
    size_t i;
    json_array_foreach(json_object_get(list, "jobs"), i, job) {
        if (strcmp(sk_json_text(job, "name"), name) != 0)
            continue;
        run_pause(r);
        packets = sk_jobs_packets(r->sw, (uint32_t)sk_json_number(job, "first_slot"));
        run_resume(r);
    }
    json_decref(list);
    return packets;
}

static void published_of_rack(struct run *r, struct published_options *o) {
    o->elements = RACK_ELEMENTS;
    o->jobs = (struct admission_ops){.locate = published_rack_locate,
                                     .add = published_rack_add,
                                     .remove = published_rack_remove};
    o->packets = published_rack_packets;
    o->aux = r;
}

// ---- jobs of p4/switchml ----

static bool published_of_switchml(struct run *r, struct published_options *o,
                                  struct sk_error *err) {
    const struct sk_config_switchml_jobs *s = &r->config->switchml_jobs;
    const struct sessions_switch on = run_published_on(r);
    r->published_tables = published_tables_new(&on, s->mac, s->ip, run_now, err);
    o->elements = SWITCHML_ELEMENTS;
    o->jobs = (struct admission_ops){.locate = published_tables_locate,
                                     .add = published_tables_add,
                                     .remove = published_tables_remove};
    o->packets = published_tables_packets;
    o->aux = r->published_tables;
    return r->published_tables;
}

// ---- from start to end ----

bool run_published_start(struct run *r) {
    const struct sk_config_switchml_jobs *s = &r->config->switchml_jobs;
    struct published_options o = {.address = s->listen,
                                  .slots = s->slots,
                                  .udp_port = s->udp_port,
                                  .wait_ns = s->wait * SECOND,
                                  .grace_ns = s->grace * SECOND,
                                  .silence_ns = s->silence * SECOND};
    struct sk_error err;
    if (!s->listen)
        return true;
    if (r->tor)
        published_of_rack(r, &o);
    else if (!published_of_switchml(r, &o, &err))
        return run_say(err.text);
    r->published = published_open(&o, &err);
    return r->published || run_say(err.text);
}

int run_published_fd(const struct run *r) {
    return r->published ? published_fd(r->published) : -1;
}

uint64_t run_published_wait(const struct run *r) {
    const uint64_t due = r->published ? published_due(r->published) : UINT64_MAX,
                   now = sk_clock_now();
    return due > now ? due - now : 0;
}

void run_published_turn(struct run *r) {
    if (r->published)
        published_poll(r->published, sk_clock_now(), run_now());
}

// Entries of jobs are brought into the next program as those of an operator are.
void run_published_program_changed(struct run *r, bool kept) {
    const struct sessions_switch on = run_published_on(r);
    struct sk_error err = {.text = ""};
    if (!r->published)
        return;
    if (!r->tor && published_tables_replaced(r->published_tables, &on, &err))
        run_say(err.text);
    if (!kept || *err.text)
        published_lost(r->published,
                       "the switch's program was replaced, and its state of the job is lost",
                       run_now());
}

json_t *run_published_request(struct run *r, const char *op, const struct sk_at *at, bool *known) {
    static const char *const keys[] = {"op", NULL};
    // with a ToR it is run_jobs_answered()
    *known = (r->published || r->service) && !r->tor && strcmp(op, "job.list") == 0;
    if (!*known)
        return NULL;
    sk_at_keys(at, keys);
    if (at->doc->failed)
        return NULL;
    json_t *result = json_pack("{s:[]}", "jobs");
    run_jobs_answered(r, op, NULL, result);
    return result;
}

void run_published_count(const struct run *r, struct sk_watch_control *out) {
    if (!r->published)
        return;
    const struct published_counts c = published_counts(r->published);
    out->serves_jobs = true;
    out->jobs = c.jobs.jobs;
    out->workers = c.workers;
    out->jobs_admitted = c.jobs.admitted;
    out->jobs_failed = c.jobs.failed;
    out->workers_refused = c.refused;
}

uint16_t run_published_port(const struct run *r) {
    return r->published ? published_port(r->published) : 0;
}

// Its jobs' entries go before the switch does, which nobody runs any more.
void run_published_end(struct run *r) {
    const struct sessions_switch on = {.sw = r->sw};
    struct sk_error ignored;
    if (r->published_tables)
        published_tables_replaced(r->published_tables, &on, &ignored);
    published_close(r->published);
    published_tables_free(r->published_tables);
    r->published = NULL;
    r->published_tables = NULL;
}
