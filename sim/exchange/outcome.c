// SPDX-License-Identifier: Apache-2.0
//
// What came of an exchange, as JSON.
#include <stdlib.h>
#include <string.h>

#include "sim/exchange/exchange_impl.h"

const char *const xkind_names[] = {"push", "pull", "ring", "collective"};

static void outcome_count(json_t *o, const char *key, uint64_t v) {
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

static int outcome_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Mean, the least that 99 % do not exceed, greatest; all of them, ascending, if 'list'.
static json_t *outcome_times(const double *us, size_t n, bool list) {
    json_t *o = json_object();
    double sum = 0;
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        abort();
    memcpy(sorted, us, n * sizeof *us);
    qsort(sorted, n, sizeof *sorted, outcome_order);
    for (size_t i = 0; i < n; i++)
        sum += sorted[i];
    outcome_count(o, "count", n);
    json_object_set_new(o, "mean_us", json_real(n ? sum / (double)n : 0));
    json_object_set_new(o, "p99_us", json_real(n ? sorted[(n * 99 + 99) / 100 - 1] : 0));
    json_object_set_new(o, "greatest_us", json_real(n ? sorted[n - 1] : 0));
    json_t *all = list ? json_array() : NULL;
    for (size_t i = 0; list && i < n; i++)
        json_array_append_new(all, json_real(sorted[i]));
    if (all)
        json_object_set_new(o, "all_us", all);
    free(sorted);
    return o;
}

static json_t *outcome_flows(const struct sim_exchange *x) {
    size_t n = 0;
    for (int k = 0; k < X_KINDS; k++)
        n += x->times[k].n;
    double *all = malloc((n + 1) * sizeof *all);
    if (!all)
        abort();
    n = 0;
    for (int k = 0; k < X_KINDS; k++) {
        if (x->times[k].n)
            memcpy(all + n, x->times[k].us, x->times[k].n * sizeof *all);
        n += x->times[k].n;
    }
    json_t *o = outcome_times(all, n, x->as->list_flows);
    for (int k = 0; k < X_KINDS; k++)
        if (x->times[k].n)
            json_object_set_new(o, xkind_names[k],
                                outcome_times(x->times[k].us, x->times[k].n, false));
    free(all);
    return o;
}

// Streams that are still open, too.
static json_t *outcome_streams(const struct sim_exchange *x) {
    struct xcounts n = x->counts;
    json_t *o = json_object();
    for (uint32_t i = 0; i < x->n_pipes; i++) {
        const struct xpipe *p = x->pipes[i];
        if (!p->used)
            continue;
        const struct pfabric_stats *f = &p->pfabric.stats;
        const struct tcp_stats *t = &p->tcp.stats;
        const bool pfabric = x->as->transport == SCN_PFABRIC;
        n.segments += pfabric ? f->segments : t->segments;
        n.again += pfabric ? f->again : t->again;
        n.timeouts += pfabric ? f->timeouts : t->timeouts;
        n.recoveries += pfabric ? 0 : t->recoveries;
        n.marks += pfabric ? 0 : t->marks;
    }
    outcome_count(o, "segments", n.segments);
    outcome_count(o, "again", n.again);
    outcome_count(o, "timeouts", n.timeouts);
    outcome_count(o, "recoveries", n.recoveries);
    outcome_count(o, "marks", n.marks);
    return o;
}

// Of flows that are over.
static json_t *outcome_dlcp(const struct sim_exchange *x) {
    const struct xcounts *n = &x->counts;
    json_t *o = json_object(), *refused = json_object();
    outcome_count(o, "data", n->data);
    outcome_count(o, "repeated", n->repeated);
    outcome_count(o, "important", n->important);
    outcome_count(o, "signals", n->signals);
    outcome_count(o, "rounds", n->rounds);
    outcome_count(o, "halved", n->halved);
    outcome_count(o, "came", n->came);
    outcome_count(o, "needless", n->needless);
    outcome_count(o, "missing", n->missing);
    outcome_count(o, "reports", n->reports);
    outcome_count(o, "elements", n->elements);
    outcome_count(o, "elements_lost", n->lost);
    for (int i = 1; i < DLCP_REASON_COUNT; i++)
        if (n->refused[i])
            outcome_count(refused, dlcp_reason_name((enum dlcp_reason)i), n->refused[i]);
    json_object_set_new(o, "ignored", refused);
    return o;
}

static json_t *outcome_worker(const struct xworker *w) {
    const struct sim_exchange *x = w->x;
    json_t *o = json_object();
    json_object_set_new(o, "host", json_string(x->sim->stations[w->stack->station].as->name));
    json_object_set_new(o, "state",
                        json_string(w->finished ? "done"
                                    : w->failed ? "failed"
                                    : w->gone   ? "crashed"
                                                : "working"));
    json_object_set_new(o, "done_us", json_real((double)w->finished_at / 1000));
    json_object_set(o, "iteration_us", w->times);
    return o;
}

void exchange_result(const struct sim_exchange *x, json_t *o) {
    json_t *workers = json_array();
    uint64_t last = 0;
    for (uint32_t i = 0; i < x->n_workers; i++) {
        json_array_append_new(workers, outcome_worker(&x->workers[i]));
        last = x->workers[i].finished_at > last ? x->workers[i].finished_at : last;
    }
    const uint64_t end = x->job->over ? last : xnow(x);
    json_object_set_new(o, "done_us", json_real((double)last / 1000));
    json_object_set_new(
        o, "gbps",
        json_real(end > x->job->start_ns
                      ? (double)x->bytes * 8 / (double)(end - x->job->start_ns) / x->n_workers
                      : 0));
    json_object_set_new(o, "protocol", json_string(scn_transport_names[x->as->transport]));
    outcome_count(o, "bytes", x->bytes);
    outcome_count(o, "verified", x->job->verified);
    json_object_set_new(o, "flows", outcome_flows(x));
    json_t *carried = x_is_dlcp(x) ? outcome_dlcp(x) : outcome_streams(x);
    json_object_set(o, "retransmissions",
                    json_object_get(carried, x_is_dlcp(x) ? "repeated" : "again"));
    json_object_set_new(o, x_is_dlcp(x) ? "dlcp" : "streams", carried);
    json_object_set_new(o, "workers", workers);
}
