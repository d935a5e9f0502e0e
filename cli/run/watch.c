// SPDX-License-Identifier: Apache-2.0
//
// watch: the metrics' port, telemetry and the alarms of a running switch (control/watch/). Who asks
// for metrics more often than every SHORTEST_NS gets the numbers of before: nobody makes the pipes
// wait all the time.
#include "cli/run/run.h"
#include "control/libra/libra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "control/tor/tor.h"
#include "control/watch/aggregators.h"
#include "control/watch/alarms.h"
#include "control/watch/http.h"
#include "control/watch/telemetry.h"
#include "control/watch/watch.h"

#define SHORTEST_NS UINT64_C(100000000)
#define LOOK_NS     UINT64_C(1000000000) // for alarms
#define SCAN_NS     UINT64_C(125000000)  // of some aggregators: of all in two seconds
#define SCAN_CELLS  4096u
#define KNOWN_NS    UINT64_C(10000000) // how old the number of interruptions before a pause may be

struct run_watch {
    struct http_server *http;     // null: no one listens
    struct sk_watch moment, look; // for metrics and telemetry, for alarms
    struct sk_watch_control counts;
    bool taken; // there is a moment
    char *text; // of it, or null
    size_t length;
    uint64_t wanted_at, paused_at, look_due, scan_due;
    long interruptions;   // before the pause began,
    uint64_t interrupted; // when that was found out
    struct sk_alarms *alarms;
    struct sk_aggregators *aggregators;
};

// How often this thread lost its processor to another.
static long watch_interruptions(void) {
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    return use.ru_nivcsw;
}

static void watch_longest(uint64_t *longest, uint64_t ns) {
    *longest = ns > *longest ? ns : *longest;
}

void run_watch_pause_wanted(struct run *r) {
    if (r->watch)
        r->watch->wanted_at = run_now();
}

void run_watch_paused(struct run *r) {
    struct run_watch *w = r->watch;
    if (!w)
        return;
    w->paused_at = run_now();
    if (w->paused_at - w->interrupted < KNOWN_NS) // a call of the kernel less
        return;
    w->interruptions = watch_interruptions();
    w->interrupted = w->paused_at;
}

void run_watch_resumed(struct run *r) {
    struct run_watch *w = r->watch;
    if (!w)
        return;
    const uint64_t now = run_now(), ns = now - w->wanted_at, own = now - w->paused_at;
    w->counts.pauses++;
    w->counts.paused_ns += ns;
    watch_longest(&w->counts.longest_pause_ns, ns);
    // without an interruption the clock's time is the thread's
    if (own > w->counts.longest_pause_cpu_ns && watch_interruptions() == w->interruptions)
        w->counts.longest_pause_cpu_ns = own;
    else if (own > w->counts.longest_pause_cpu_ns)
        w->interrupted = 0;
}

static void count_control(struct run *r) {
    struct sk_watch_control *c = &r->watch->counts;
    if (r->server) {
        const struct sk_server_counts n = sk_server_counts(r->server);
        c->requests = n.requests;
        c->refused = n.refused;
        c->clients = n.clients;
    }
    const struct http_counts n = http_counts(r->watch->http);
    c->scrapes = n.answered;
    c->http_refused = n.refused;
    run_jobs_count(r, c);
    run_published_count(r, c);
    c->digests_lost = r->control.digests.lost;
}

static void take_moment(struct run *r) {
    struct run_watch *w = r->watch;
    const struct sk_service service = run_service(r, run_now());
    if (w->taken && service.now - w->moment.clock < SHORTEST_NS)
        return;
    free(w->text);
    w->text = NULL;
    w->taken = true;
    sk_watch_take(&w->moment, &service);
    json_t *held = sk_aggregators_json(w->aggregators);
    json_array_extend(w->moment.jobs, held);
    json_decref(held);
    if (r->libra)
        w->moment.libra = libra_s_list(r->libra);
    else if (r->tor)
        w->moment.libra = tor_libra(r->tor);
}

static void run_watch_read_metrics(struct run *r) {
    struct run_watch *w = r->watch;
    take_moment(r);
    if (w->text)
        return;
    count_control(r);
    json_t *alarms = sk_alarms_json(w->alarms), *raised = sk_alarms_raised(w->alarms);
    w->text = sk_metrics_text(&w->moment, &w->counts, alarms, raised, &w->length);
    json_decref(alarms);
    json_decref(raised);
}

static void answer_telemetry(struct run *r) {
    if (!telemetry_is_asked())
        return;
    take_moment(r);
    json_t *alarms = sk_alarms_json(r->watch->alarms);
    telemetry_answer(&r->watch->moment, alarms);
    json_decref(alarms);
}

static struct http_page page(void *aux, const struct http_request *request, uint64_t id) {
    static const char start[] = "Silken: metrics for Prometheus are at /metrics\n";
    struct run *r = aux;
    (void)id;
    if (strcmp(request->path, "/") == 0)
        return (struct http_page){
            .type = "text/plain; charset=utf-8", .body = start, .length = sizeof start - 1};
    if (strcmp(request->path, "/metrics") != 0)
        return (struct http_page){0};
    run_watch_read_metrics(r);
    return (struct http_page){.type = "text/plain; version=0.0.4; charset=utf-8",
                              .body = r->watch->text,
                              .length = r->watch->length};
}

// ---- alarms ----

static void run_watch_tell(void *aux, json_t *event) {
    struct run *r = aux;
    const char *kind = sk_json_text(event, "alarm"), *text = sk_json_text(event, "text");
    fprintf(stderr, "silken run: alarm%s: %s%s%s\n",
            json_is_true(json_object_get(event, "on")) ? "" : " is over", kind,
            *kind && *text ? ": " : "", text);
    if (r->server)
        sk_server_publish(r->server, json_incref(event));
    json_decref(event);
}

static void scan(struct run *r, uint64_t now) {
    struct run_watch *w = r->watch;
    if (now < w->scan_due)
        return;
    run_pause(r);
    const bool any = sk_aggregators_scan(w->aggregators, r->sw, now, SCAN_CELLS);
    run_resume_same(r);
    w->scan_due = now + (any ? SCAN_NS : LOOK_NS); // there may be another program then
}

void run_watch_look_now(struct run *r, uint64_t now) {
    struct run_watch *w = r->watch;
    struct sk_service service = run_service(r, now);
    service.device = NULL; // no alarm asks the devices, and they may take their time
    w->look_due = now + LOOK_NS;
    sk_watch_take(&w->look, &service);
    json_t *held = sk_aggregators_json(w->aggregators);
    sk_alarms_look(w->alarms, &w->look, held);
    json_decref(held);
}

bool run_watch_event(struct run *r, const json_t *event) {
    const char *kind = json_string_value(json_object_get(event, "event"));
    const struct sk_service service = run_service(r, run_now());
    char name[SK_WATCH_NAME];
    // the ToR's control plane has links of its own, and says itself which of them flap
    if (kind && strcmp(kind, "link") == 0 && !r->config->tor) {
        const uint16_t port = (uint16_t)json_integer_value(json_object_get(event, "port"));
        sk_watch_name(&service, port, name);
        sk_alarms_link(r->watch->alarms, port, name, json_is_true(json_object_get(event, "up")),
                       service.now);
    }
    return sk_alarms_take(r->watch->alarms, event, service.now);
}

void run_watch_reloaded(struct run *r) {
    sk_alarms_set(r->watch->alarms, &r->config->alarms);
}

json_t *run_watch_alarms(void *run) {
    return sk_alarms_json(((struct run *)run)->watch->alarms);
}
json_t *run_watch_aggregators(void *run) {
    return sk_aggregators_json(((struct run *)run)->watch->aggregators);
}

// ---- from start to end ----

bool run_watch_start(struct run *r) {
    struct sk_error err;
    const struct sk_config_metrics *m = &r->config->metrics;
    r->watch = calloc(1, sizeof *r->watch);
    if (!r->watch)
        abort();
    r->watch->counts.started = run_now();
    r->watch->alarms = sk_alarms_new(&r->config->alarms, run_watch_tell, r);
    r->watch->aggregators = sk_aggregators_new();
    if (r->config->telemetry && telemetry_register(&err))
        return run_say(err.text);
    if (!m->listen)
        return true;
    r->watch->http = http_open(&m->address, "metrics", &err);
    return r->watch->http || run_say(err.text);
}

void run_watch_turn(struct run *r, uint64_t now) {
    scan(r, now);
    if (now >= r->watch->look_due)
        run_watch_look_now(r, now);
    answer_telemetry(r);
    if (r->watch->http)
        http_poll(r->watch->http, now, page, r);
}

uint16_t run_watch_port(const struct run *r) {
    return r->watch->http ? http_port(r->watch->http) : 0;
}

void run_watch_end(struct run *r) {
    if (!r->watch)
        return;
    telemetry_end();
    http_close(r->watch->http);
    sk_watch_free(&r->watch->moment);
    sk_watch_free(&r->watch->look);
    sk_alarms_free(r->watch->alarms);
    sk_aggregators_free(r->watch->aggregators);
    free(r->watch->text);
    free(r->watch);
    r->watch = NULL;
}
