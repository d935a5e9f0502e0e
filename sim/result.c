// SPDX-License-Identifier: Apache-2.0
#include "sim/result.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cpu.h"
#include "sim/exchange/exchange.h"
#include "sim/job.h"
#include "sim/libra/libra.h"
#include "sim/own/own.h"
#include "sim/process.h"

static void sim_result_count(json_t *o, const char *key, uint64_t v) {
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void real(json_t *o, const char *key, double v) {
    json_object_set_new(o, key, json_real(v));
}

static uint64_t worker_bytes(const struct sim_worker *w) {
    uint64_t bytes = w->bytes_before;
    for (uint32_t f = 0; f < SCN_MAX_FLOWS && w->lanes[f]; f++)
        bytes += lane_bytes(w->lanes[f]);
    return bytes;
}

// ---- jobs ----

static json_t *reasons(const uint64_t *ignored, int n, const char *(*name)(int)) {
    json_t *o = json_object();
    for (int i = 1; i < n; i++)
        if (ignored[i])
            sim_result_count(o, name(i), ignored[i]);
    return o;
}

static const char *swml_name(int reason) {
    return swml_reason_name((enum swml_reason)reason);
}

static const char *atp_name(int reason) {
    return atp_reason_name((enum atp_reason)reason);
}

static json_t *lane_result(const struct sim_lane *lane) {
    json_t *o = json_object();
    if (lane->swml) {
        const struct swml_stats x = swml_worker_stats(lane->swml);
        sim_result_count(o, "sent", x.packets_sent);
        sim_result_count(o, "retransmissions", x.retransmissions);
        sim_result_count(o, "answers", x.answers);
        real(o, "rtt_us", (double)x.rtt / 1000);
        real(o, "rto_us", (double)x.rto / 1000);
        json_object_set_new(o, "ignored", reasons(x.ignored, SWML_REASON_COUNT, swml_name));
        return o;
    }
    const struct atp_worker_stats x = atp_worker_stats(lane->atp);
    sim_result_count(o, "sent", x.packets_sent);
    sim_result_count(o, "retransmissions", x.retransmissions);
    sim_result_count(o, "timeouts", x.timeouts);
    sim_result_count(o, "losses", x.losses);
    sim_result_count(o, "floats", x.floats);
    sim_result_count(o, "answers", x.acks);
    sim_result_count(o, "marks", x.marks);
    sim_result_count(o, "rehashed", x.rehashed);
    sim_result_count(o, "window", x.window);
    real(o, "rtt_us", (double)x.rtt / 1000);
    real(o, "rto_us", (double)x.rto / 1000);
    json_object_set_new(o, "ignored", reasons(x.ignored, ATP_REASON_COUNT, atp_name));
    return o;
}

static json_t *worker_result(const struct sim_worker *w) {
    const struct sim_job *job = w->job;
    const uint64_t end = w->finished_at ? w->finished_at : job->sim->events.now;
    const uint64_t bytes = worker_bytes(w);
    json_t *o = json_object(), *lanes = json_array();
    uint64_t resent = w->retransmissions_before;
    for (uint32_t f = 0; f < SCN_MAX_FLOWS && w->lanes[f]; f++) {
        json_array_append_new(lanes, lane_result(w->lanes[f]));
        resent += lane_retransmissions(w->lanes[f]);
    }
    json_object_set_new(o, "host", json_string(job->sim->stations[w->station].as->name));
    json_object_set_new(o, "state",
                        json_string(w->finished  ? "done"
                                    : w->failed  ? "failed"
                                    : w->crashed ? "crashed"
                                                 : "working"));
    sim_result_count(o, "tensors", w->done);
    sim_result_count(o, "bytes", bytes);
    real(o, "gbps", end > job->start_ns ? (double)bytes * 8 / (double)(end - job->start_ns) : 0);
    real(o, "done_us", (double)w->finished_at / 1000);
    sim_result_count(o, "retransmissions", resent);
    if (job->sessions) {
        sim_result_count(o, "incarnations", w->seat.incarnation);
        sim_result_count(o, "refusals", w->seat.refusals);
    }
    json_object_set(o, job->as->work.kind == SCN_TRAINING ? "iteration_us" : "tensor_us", w->times);
    json_object_set_new(o, "flows", lanes);
    return o;
}

static json_t *server_result(const struct sim_server *s) {
    const struct atp_server_stats x = atp_server_stats(s->atp);
    json_t *o = json_object();
    sim_result_count(o, "flow", s->flow);
    json_object_set_new(
        o, "host",
        json_string(s->job->sim->stations[atp_server_station(s->job, s->flow)].as->name));
    sim_result_count(o, "gradients", x.gradients);
    sim_result_count(o, "from_one", x.values_from[0]);
    sim_result_count(o, "from_some", x.values_from[1]);
    sim_result_count(o, "from_all", x.values_from[2]);
    sim_result_count(o, "completed", x.completed);
    sim_result_count(o, "parameters_sent", x.parameters_sent);
    sim_result_count(o, "repeated", x.repeated);
    sim_result_count(o, "overflows", x.overflows);
    sim_result_count(o, "rehashed", x.rehashed);
    sim_result_count(o, "marks", x.marks);
    json_object_set_new(o, "ignored", reasons(x.ignored, ATP_REASON_COUNT, atp_name));
    return o;
}

static json_t *job_result(const struct sim_job *job) {
    json_t *o = json_object(), *workers = json_array(), *servers = json_array();
    uint64_t resent = 0, last = 0;
    double gbps = 0;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        const struct sim_worker *w = &job->workers[i];
        json_t *result = worker_result(w);
        resent += (uint64_t)json_integer_value(json_object_get(result, "retransmissions"));
        gbps += json_real_value(json_object_get(result, "gbps")) / job->n_workers;
        last = w->finished_at > last ? w->finished_at : last;
        json_array_append_new(workers, result);
    }
    for (uint32_t f = 0; f < SCN_MAX_FLOWS; f++)
        if (job->servers[f])
            json_array_append_new(servers, server_result(job->servers[f]));
    json_object_set_new(o, "name", json_string(job->as->name));
    json_object_set_new(o, "protocol",
                        json_string(job->as->protocol == SIM_ATP ? "atp" : "switchml"));
    json_object_set_new(o, "outcome",
                        json_string(job->failed     ? "failed"
                                    : job->over     ? "sums"
                                    : job_ends(job) ? "unfinished"
                                                    : "stopped"));
    real(o, "done_us", (double)last / 1000);
    real(o, "gbps", gbps);
    sim_result_count(o, "retransmissions", resent);
    sim_result_count(o, "verified", job->verified);
    if (job->sessions)
        sim_result_count(o, "sessions", processes_sessions(job));
    json_object_set_new(o, "workers", workers);
    json_object_set_new(o, "servers", servers);
    if (job->exchange)
        exchange_result(job->exchange, o);
    return o;
}

// ---- the network ----

static json_t *link_result(const struct sim_link *l) {
    json_t *o = json_object(), *lost = json_object();
    json_object_set_new(o, "name", json_string(l->name));
    real(o, "gbps", l->rate_mbps / 1000.0);
    sim_result_count(o, "packets", l->stats.sent);
    sim_result_count(o, "bytes", l->stats.sent_bytes);
    sim_result_count(o, "delivered", l->stats.delivered);
    sim_result_count(o, "delivered_bytes", l->stats.delivered_bytes);
    sim_result_count(o, "duplicated", l->stats.duplicated);
    sim_result_count(o, "reordered", l->stats.reordered);
    sim_result_count(o, "in_flight", l->stats.in_flight);
    sim_result_count(o, "most_queued_bytes", l->stats.most_queued);
    real(o, "utilisation", l->events->now ? (double)l->stats.busy_ns / (double)l->events->now : 0);
    for (int i = 0; i < SIM_LOSS_COUNT; i++)
        if (l->stats.lost[i])
            sim_result_count(lost, sim_loss_text((enum sim_loss)i), l->stats.lost[i]);
    json_object_set_new(o, "lost", lost);
    return o;
}

static json_t *node_result(const struct sim_station *st) {
    json_t *o = json_object(), *drops = json_object();
    struct sk_switch_stats x;
    node_stats(st->node, &x);
    json_object_set_new(o, "name", json_string(st->as->name));
    sim_result_count(o, "received", x.rx_packets);
    sim_result_count(o, "sent", x.tx_packets);
    sim_result_count(o, "copies", x.copies);
    sim_result_count(o, "resubmitted", x.resubmitted);
    sim_result_count(o, "recirculated", x.recirculated);
    sim_result_count(o, "restarts", st->node->restarts);
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (x.drops[i])
            sim_result_count(drops, sk_drop_text((enum sk_drop_reason)i), x.drops[i]);
    json_object_set_new(o, "drops", drops);
    if (st->node->cpu)
        json_object_set_new(o, "cpu", cpu_result(st->node->cpu));
    if (st->node->alarms)
        json_object_set(o, "alarms", st->node->alarms);
    if (st->node->more_alarms)
        sim_result_count(o, "more_alarms", st->node->more_alarms);
    return o;
}

json_t *sim_result(const struct sim *s) {
    json_t *o = json_object(), *jobs = json_array(), *links = json_array(),
           *switches = json_array(), *background = json_array();
    bool failed = false;
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++) {
        failed |= s->jobs[i]->failed;
        json_array_append_new(jobs, job_result(s->jobs[i]));
    }
    failed |= libra_results(s, jobs);
    failed |= own_results(s, jobs);
    for (uint32_t l = 0; l < s->n_links; l++)
        json_array_append_new(links, link_result(&s->links[l]));
    for (uint32_t i = 0; i < s->scenario->n_stations; i++)
        if (s->stations[i].node)
            json_array_append_new(switches, node_result(&s->stations[i]));
    for (uint32_t i = 0; i < s->scenario->n_background; i++)
        json_array_append_new(background, background_result(s->background[i]));
    json_object_set_new(o, "scenario", json_string(s->scenario->name));
    sim_result_count(o, "seed", s->seed);
    json_object_set_new(o, "outcome",
                        json_string(s->violated ? "violated"
                                    : failed    ? "failed"
                                                : "sums"));
    if (s->violated)
        json_object_set_new(o, "violation", json_string(s->violation));
    real(o, "done_us", (double)s->done_at / 1000);
    real(o, "virtual_us", (double)s->events.now / 1000);
    sim_result_count(o, "events", s->events.ran);
    sim_result_count(o, "abandoned_aggregators", s->abandoned);
    json_object_set_new(o, "jobs", jobs);
    json_object_set_new(o, "links", links);
    json_object_set_new(o, "switches", switches);
    json_object_set_new(o, "background", background);
    if (s->scenario->controller)
        json_object_set_new(o, "controller", libra_controller_result(s));
    if (s->series)
        json_object_set(o, "series", s->series);
    return o;
}

// ---- series ----

struct sample {
    struct sim *s;
    uint64_t every_ns;
    uint64_t *last; // what each column was
    size_t n;
};

// The next column: what is 'total' now, as what was added since the last sample, times 'factor'.
static void column(struct sample *x, json_t *rows, size_t *at, uint64_t total, double factor) {
    const uint64_t added = total - x->last[*at];
    x->last[(*at)++] = total;
    json_array_append_new(rows, json_real((double)added * factor));
}

static json_t *sim_result_list_of(json_t *object, const char *key) {
    json_t *list = json_object_get(object, key);
    if (!list)
        json_object_set_new(object, key, list = json_array());
    return list;
}

static json_t *sim_result_object_of(json_t *object, const char *key) {
    json_t *o = json_object_get(object, key);
    if (!o)
        json_object_set_new(object, key, o = json_object());
    return o;
}

static void sample_job(struct sample *x, const struct sim_job *job, json_t *o, size_t *at,
                       double gbps) {
    json_t *workers = sim_result_object_of(o, "workers_gbps"),
           *mean = sim_result_list_of(o, "gbps");
    double sum = 0;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        json_t *list =
            sim_result_list_of(workers, job->sim->stations[job->workers[i].station].as->name);
        column(x, list, at, worker_bytes(&job->workers[i]), gbps);
        sum += json_real_value(json_array_get(list, json_array_size(list) - 1));
    }
    if (job->exchange) {
        json_t *list = sim_result_list_of(o, "all_gbps");
        column(x, list, at, exchange_bytes(job->exchange), gbps);
        sum = json_real_value(json_array_get(list, json_array_size(list) - 1));
    }
    json_array_append_new(
        mean, json_real(sum / (job->exchange ? exchange_workers(job->exchange) : job->n_workers)));
    static const char *const from[] = {"from_one", "from_some", "from_all"};
    for (int k = 0; job->as->protocol == SIM_ATP && k < 3; k++) {
        uint64_t total = 0;
        for (uint32_t f = 0; f < job->as->flows; f++)
            if (job->servers[f])
                total += atp_server_stats(job->servers[f]->atp).values_from[k];
        if (total < x->last[*at]) // a server crashed with its counts
            total = x->last[*at];
        column(x, sim_result_list_of(o, from[k]), at, total, 1);
    }
}

static void sim_result_take(void *who, void *what) {
    struct sample *x = who;
    struct sim *s = x->s;
    const double gbps = 8.0 / (double)x->every_ns;
    size_t at = 0;
    (void)what;
    json_array_append_new(sim_result_list_of(s->series, "us"),
                          json_real((double)s->events.now / 1000));
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        sample_job(
            x, s->jobs[i],
            sim_result_object_of(sim_result_object_of(s->series, "jobs"), s->jobs[i]->as->name),
            &at, gbps);
    for (uint32_t i = 0; i < s->scenario->n_background; i++)
        column(x,
               sim_result_list_of(sim_result_object_of(s->series, "background"),
                                  s->scenario->background[i].name),
               &at, background_received(s->background[i]), gbps);
    for (uint32_t l = 0; l < s->n_links; l++)
        column(x, sim_result_list_of(sim_result_object_of(s->series, "links"), s->links[l].name),
               &at, s->links[l].stats.delivered_bytes, gbps);
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        struct sk_switch_stats stats;
        if (!s->stations[i].node)
            continue;
        node_stats(s->stations[i].node, &stats);
        json_t *o = sim_result_object_of(sim_result_object_of(s->series, "switches"),
                                         s->stations[i].as->name);
        column(x, sim_result_list_of(o, "resubmitted"), &at, stats.resubmitted, 1);
        column(x, sim_result_list_of(o, "recirculated"), &at, stats.recirculated, 1);
        column(x, sim_result_list_of(o, "queue_drops"), &at, sk_queue_drops(stats.drops), 1);
    }
    sim_at(&s->events, s->events.now + x->every_ns, sim_result_take, x, NULL);
}

void series_start(struct sim *s) {
    size_t columns = s->n_links + s->scenario->n_background + 3 * s->scenario->n_stations;
    if (s->scenario->sample_us <= 0)
        return;
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        columns += s->jobs[i]->n_workers + 3;
    struct sample *x = s->sample = calloc(1, sizeof *x + columns * sizeof *x->last);
    if (!x)
        abort();
    *x =
        (struct sample){s, (uint64_t)(s->scenario->sample_us * 1000), (uint64_t *)(x + 1), columns};
    s->series = json_object();
    json_object_set_new(s->series, "every_us", json_real(s->scenario->sample_us));
    sim_at(&s->events, x->every_ns, sim_result_take, x, NULL);
}
