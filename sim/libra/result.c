// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "sim/libra/job.h"

static void lsim_result_count(json_t *o, const char *key, uint64_t n) {
    json_object_set_new(o, key, json_integer((json_int_t)n));
}

static json_t *lsim_result_ignored(const uint64_t *by_reason) {
    json_t *o = json_object();
    for (int r = 1; r < LIBRA_REASON_COUNT; r++)
        if (by_reason[r])
            lsim_result_count(o, libra_reason_name((enum libra_reason)r), by_reason[r]);
    return o;
}

static json_t *lsim_result_link(const struct libra_worker_stats *x) {
    json_t *o = json_object();
    lsim_result_count(o, "sent", x->sent);
    lsim_result_count(o, "retransmissions", x->repeated);
    lsim_result_count(o, "acks", x->acks);
    lsim_result_count(o, "answers", x->answers);
    lsim_result_count(o, "moves", x->moves);
    json_object_set_new(o, "ignored", lsim_result_ignored(x->ignored));
    return o;
}

static double lsim_result_seconds(const struct lsim_worker *w) {
    const uint64_t end = w->finished_at ? w->finished_at : w->job->sim->events.now;
    return end > w->job->start_ns ? (double)(end - w->job->start_ns) / 1e9 : 0;
}

static json_t *lsim_result_worker(const struct lsim_worker *w, uint64_t *again) {
    json_t *o = json_object(), *links = json_array();
    const double seconds = lsim_result_seconds(w);
    uint64_t repeated = w->repeated_before;
    for (unsigned i = 0; w->app && i <= w->job->n_servers; i++) {
        const struct libra_worker_stats x = lsim_link_stats(w->app, i);
        repeated += x.repeated;
        json_array_append_new(links, lsim_result_link(&x));
    }
    *again += repeated;
    json_object_set_new(o, "host", json_string(w->job->sim->stations[w->station].as->name));
    json_object_set_new(o, "state",
                        json_string(w->finished ? "done"
                                    : w->failed ? "failed"
                                    : w->app    ? "working"
                                                : "crashed"));
    lsim_result_count(o, "batches", w->done);
    lsim_result_count(o, "pairs", w->pairs);
    json_object_set_new(o, "pairs_per_second",
                        json_real(seconds > 0 ? (double)w->pairs / seconds : 0));
    json_object_set_new(o, "done_us", json_real((double)w->finished_at / 1000));
    lsim_result_count(o, "incarnations", w->incarnation + 1);
    lsim_result_count(o, "retransmissions", repeated);
    json_object_set(o, "batch_us", w->times);
    json_object_set_new(o, "links", links);
    return o;
}

static json_t *lsim_result_server(const struct lsim_server *sv) {
    json_t *o = json_object();
    const struct libra_server *state = lsim_server_state(sv);
    json_object_set_new(o, "host", json_string(sv->job->sim->stations[sv->station].as->name));
    lsim_result_count(o, "incarnations", sv->incarnation + 1);
    if (!state)
        return o;
    const struct libra_server_stats x = libra_server_stats(state);
    lsim_result_count(o, "pushes", x.pushes);
    lsim_result_count(o, "pulls", x.pulls);
    lsim_result_count(o, "again", x.again);
    lsim_result_count(o, "pairs", x.pairs);
    lsim_result_count(o, "hot_pairs", x.hot_pairs);
    lsim_result_count(o, "collected", x.collected);
    lsim_result_count(o, "keys", libra_server_keys(state));
    json_object_set_new(o, "refused", lsim_result_ignored(x.refused));
    return o;
}

static json_t *lsim_result_switch(const struct lsim_job *j) {
    struct libra_s *l = j->here == SCN_NONE ? NULL : lsim_switch(j->sim, j->here);
    struct sk_error err;
    json_t *job =
        l ? lsim_ask(l, json_pack("{s:s, s:s}", "op", "job.show", "name", j->as->name), &err)
          : NULL;
    json_t *stats = json_incref(json_object_get(job, "stats"));
    json_decref(job);
    return stats ? stats : json_object();
}

static json_t *lsim_result_job(const struct lsim_job *j) {
    json_t *o = json_object(), *workers = json_array(), *servers = json_array();
    uint64_t again = 0, last = 0, pairs = 0;
    for (uint32_t w = 0; w < j->n_workers; w++) {
        json_array_append_new(workers, lsim_result_worker(&j->workers[w], &again));
        last = j->workers[w].finished_at > last ? j->workers[w].finished_at : last;
        pairs += j->workers[w].pairs;
    }
    for (uint32_t k = 0; k < j->n_servers; k++)
        json_array_append_new(servers, lsim_result_server(&j->servers[k]));
    const double seconds = last > j->start_ns ? (double)(last - j->start_ns) / 1e9 : 0,
                 rate = seconds > 0 ? (double)pairs / seconds / j->n_workers : 0;
    json_object_set_new(o, "name", json_string(j->as->name));
    json_object_set_new(o, "protocol", json_string("libra"));
    json_object_set_new(o, "outcome",
                        json_string(j->failed ? "failed"
                                    : j->over ? "sums"
                                              : "unfinished"));
    json_object_set_new(o, "done_us", json_real((double)last / 1000));
    json_object_set_new(o, "pairs_per_second", json_real(rate)); // of a worker
    json_object_set_new(o, "gbps", json_real(rate * 32 / 1e9));  // of values
    json_object_set_new(o, "hot_share",
                        json_real(j->all_pairs ? (double)j->hot_pairs / (double)j->all_pairs : 0));
    lsim_result_count(o, "retransmissions", again);
    lsim_result_count(o, "verified", j->verified);
    lsim_result_count(o, "unchecked", j->unchecked);
    lsim_result_count(o, "moves", j->moves);
    json_object_set_new(
        o, "lost_us",
        json_real(j->lost_to == LSIM_NEVER ? 0 : (double)(j->lost_to - j->lost_from) / 1000));
    json_object_set_new(o, "switch", lsim_result_switch(j));
    json_object_set_new(o, "workers", workers);
    json_object_set_new(o, "servers", servers);
    return o;
}

bool libra_results(const struct sim *s, json_t *jobs) {
    bool failed = false;
    for (size_t i = 0; i < s->libra->n; i++) {
        failed |= s->libra->jobs[i].failed;
        json_array_append_new(jobs, lsim_result_job(&s->libra->jobs[i]));
    }
    return failed;
}
