// SPDX-License-Identifier: Apache-2.0
//
// The service for the published SwitchML client in the running switch
// (control/published/published.h).
#include "control/published/published.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/run/run.h"
#include "control/published/tables.h"
#include "control/watch/watch.h"

#define SECOND UINT64_C(1000000000)

static struct sessions_switch run_published_on(struct run *r) {
    return (struct sessions_switch){
        .sw = r->sw, .pause = run_pause, .resume = run_resume, .aux = r};
}

bool run_published_start(struct run *r) {
    const struct sk_config_switchml_jobs *s = &r->config->switchml_jobs;
    const struct sessions_switch on = run_published_on(r);
    struct sk_error err;
    if (!s->listen)
        return true;
    r->published_tables = published_tables_new(&on, s->mac, s->ip, run_now, &err);
    if (!r->published_tables)
        return run_say(err.text);
    r->published =
        published_open(&(struct published_options){.address = s->listen,
                                                   .slots = s->slots,
                                                   .udp_port = s->udp_port,
                                                   .wait_ns = s->wait * SECOND,
                                                   .grace_ns = s->grace * SECOND,
                                                   .silence_ns = s->silence * SECOND,
                                                   .jobs = {.locate = published_tables_locate,
                                                            .add = published_tables_add,
                                                            .remove = published_tables_remove},
                                                   .packets = published_tables_packets,
                                                   .aux = r->published_tables},
                       &err);
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
    if (published_tables_replaced(r->published_tables, &on, &err))
        run_say(err.text);
    if (!kept || *err.text)
        published_lost(r->published,
                       "the switch's program was replaced, and its state of the job is lost",
                       run_now());
}

json_t *run_published_request(struct run *r, const char *op, const struct sk_at *at, bool *known) {
    static const char *const keys[] = {"op", NULL};
    *known = r->published && strcmp(op, "job.list") == 0;
    if (!*known)
        return NULL;
    sk_at_keys(at, keys);
    return at->doc->failed ? NULL
                           : json_pack("{s:[], s:o}", "jobs", "service",
                                       published_json(r->published, run_now()));
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
