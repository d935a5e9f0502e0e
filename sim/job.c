// SPDX-License-Identifier: Apache-2.0
#include "sim/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/exchange/exchange.h"
#include "sim/process.h"

// ---- what the job's tensors are ----

static bool is_training(const struct sim_job *job) {
    return job->as->work.kind == SCN_TRAINING;
}

static size_t sim_job_elements_of(const struct sim_job *job, uint64_t tensor) {
    const struct scn_work *work = &job->as->work;
    return is_training(job) ? (size_t)(work->layers[tensor % work->n_layers].bytes / 4)
                            : job->elements;
}

static bool may_begin(const struct sim_job *job, uint64_t tensor) {
    return tensor < job->count &&
           (job->sim->events.now < job->stop_ns || tensor < job->furthest || job->sessions);
}

bool job_ends(const struct sim_job *job) {
    return job->count != UINT64_MAX || job->stop_ns != SIM_NEVER;
}

// Elements in a packet, by which the lane counts.
static size_t packet_elements(const struct sim_job *job) {
    return job->as->protocol == SIM_ATP ? ATP_VALUES : job->as->k;
}

// ---- submitting ----

// The lane's part of a tensor; what it need not send any more is cut off.
static void sim_job_cut(struct sim_lane *lane, const struct sim_tensor *t, struct sim_part *part) {
    struct sim_job *job = lane->worker->job;
    const size_t flows = job->as->protocol == SIM_ATP ? job->as->flows : 1;
    const size_t from = t->count * lane->flow / flows, to = t->count * (lane->flow + 1) / flows;
    const size_t each = packet_elements(job), fragments = (to - from + each - 1) / each;
    size_t skip = 0;
    if (lane->first > lane->fragments)
        skip =
            lane->first - lane->fragments < fragments ? lane->first - lane->fragments : fragments;
    part->from = from + skip * each;
    part->count = part->from < to ? to - part->from : 0;
    part->fragment = lane->fragments + skip;
    lane->fragments += fragments;
}

static void no_memory(const struct sim_job *job, size_t bytes) __attribute__((noreturn));
static void no_memory(const struct sim_job *job, size_t bytes) {
    fprintf(stderr,
            "silken sim: not enough memory for a tensor of job %s: %zu bytes, for each worker\n",
            job->as->name, bytes);
    exit(2);
}

static void submit_parts(struct sim_worker *w, struct sim_copy *copy) {
    struct sim_job *job = w->job;
    for (uint32_t f = 0; f < SCN_MAX_FLOWS && w->lanes[f]; f++) {
        struct sim_part *part = calloc(1, sizeof *part);
        if (!part)
            abort();
        part->copy = copy;
        sim_job_cut(w->lanes[f], copy->tensor, part);
        if (part->count == 0) {
            free(part);
            continue;
        }
        copy->parts++;
        part->next = w->lanes[f]->parts;
        w->lanes[f]->parts = part;
        if (lane_submit(w->lanes[f], part, copy->data) < 0 && !w->failed)
            sim_violate(job->sim, NULL, "job %s, worker %u: tensor %llu is refused", job->as->name,
                        w->rank, (unsigned long long)copy->tensor->number);
    }
}

static void sim_job_submit(struct sim_worker *w) {
    struct sim_job *job = w->job;
    const uint64_t number = w->next++;
    const size_t count = sim_job_elements_of(job, number);
    struct sim_copy *copy = calloc(1, sizeof *copy);
    if (!copy || !(copy->data = malloc(count * sizeof *copy->data + 4)))
        no_memory(job, count * sizeof *copy->data);
    job->furthest = w->next > job->furthest ? w->next : job->furthest;
    copy->worker = w;
    copy->tensor = values_tensor(job, number, count);
    copy->submitted = job->sim->events.now;
    copy->next = w->copies;
    w->copies = copy;
    w->in_flight++;
    values_fill(job, number, values_who(w->rank, w->seat.incarnation), count, copy->data);
    if (job->sessions)
        process_submit(copy);
    else
        submit_parts(w, copy);
}

void job_is_over(struct sim_job *job) {
    job->over = true;
    if (job_ends(job) && --job->sim->unfinished == 0)
        job->sim->done_at = job->sim->events.now;
}

static void is_over(struct sim_worker *w) {
    struct sim_job *job = w->job;
    bool over = !job->over;
    w->finished_at = job->sim->events.now;
    for (uint32_t i = 0; i < job->n_workers; i++)
        over &= job->workers[i].finished || job->workers[i].failed || job->workers[i].gone;
    if (over)
        job_is_over(job);
}

static void sim_job_is_gone(struct sim_worker *w) {
    if (!w->job->sim->scenario->may_fail && !w->job->failed)
        sim_violate(w->job->sim, NULL, "job %s: a host that crashed does not come back to it",
                    w->job->as->name);
    w->gone = w->job->failed = true;
    is_over(w);
}

static void sim_job_finish(struct sim_worker *w) {
    if (w->finished || w->failed)
        return;
    w->finished = true;
    sim_trace_add(&w->job->sim->trace, w->job->sim->events.now,
                  w->job->sim->stations[w->station].as->name, "is done", NULL, 0);
    if (w->job->sessions)
        process_finished(w);
    else
        is_over(w);
}

// ---- work ----

static void keep_busy(struct sim_worker *w) {
    while (w->in_flight < w->job->as->work.outstanding && may_begin(w->job, w->next))
        sim_job_submit(w);
    if (!w->in_flight)
        sim_job_finish(w);
}

static void set_pace(struct sim_worker *w) {
    w->stretch = 1 + w->job->as->work.jitter * (2 * sim_random_real(&w->pace) - 1);
}

// When the gradient of the next layer comes out.
static uint64_t gradient_at(const struct sim_worker *w) {
    const struct scn_work *work = &w->job->as->work;
    double done = work->forward / work->whole;
    for (size_t i = 0; i <= w->layer && i < work->n_layers; i++)
        done += work->layers[i].share * work->backward / work->whole;
    return w->started + (uint64_t)(work->compute_ns * w->stretch * done);
}

static void note_time(struct sim_worker *w, uint64_t since) {
    json_array_append_new(w->times, json_real((double)(w->job->sim->events.now - since) / 1000));
}

static void iterate(struct sim_worker *w) {
    const size_t layers = w->job->as->work.n_layers;
    if (!may_begin(w->job, w->iteration * layers)) {
        sim_job_finish(w);
        return;
    }
    w->started = w->job->sim->events.now;
    w->layer = 0;
    set_pace(w);
    sim_timer_set(&w->timer, gradient_at(w));
}

static void gradients(void *who, void *what) {
    struct sim_worker *w = who;
    const size_t layers = w->job->as->work.n_layers;
    (void)what;
    if (w->crashed || w->failed || w->finished)
        return;
    while (w->layer < layers && gradient_at(w) <= w->job->sim->events.now) {
        w->layer++;
        sim_job_submit(w);
    }
    if (w->layer < layers)
        sim_timer_set(&w->timer, gradient_at(w));
    host_serve(w->job->sim->stations[w->station].host);
}

static void sim_job_begin(void *who, void *what) {
    struct sim_worker *w = who;
    (void)what;
    if (w->crashed || w->next)
        return; // or back already
    if (is_training(w->job))
        iterate(w);
    else
        keep_busy(w);
    host_serve(w->job->sim->stations[w->station].host);
}

void job_copy_done(struct sim_copy *copy) {
    struct sim_worker *w = copy->worker;
    struct sim_copy **at = &w->copies;
    while (*at != copy)
        at = &(*at)->next;
    *at = copy->next;
    w->done++;
    w->in_flight--;
    if (!is_training(w->job))
        note_time(w, copy->submitted);
    values_release(w->job, copy->tensor);
    free(copy->data);
    free(copy);
    if (!is_training(w->job)) {
        keep_busy(w);
    } else if (!w->in_flight && w->layer == w->job->as->work.n_layers) {
        note_time(w, w->started);
        w->iteration++;
        iterate(w);
    }
}

// ---- sums ----

static struct sim_key sim_job_key_of(const struct sim_lane *lane, const struct sim_part *part,
                                     size_t element) {
    const struct sim_job *job = lane->worker->job;
    const uint64_t number = part->fragment + element / packet_elements(job);
    struct sim_key key = {job->as->protocol, job->number,
                          (uint32_t)(number % (job->slots + !job->slots))};
    if (job->as->protocol == SIM_ATP) {
        const uint32_t bits = 24 - job->flow_bits;
        const uint64_t ahead = job->servers[lane->flow] ? job->servers[lane->flow]->renumbered : 0;
        key.number = ((uint32_t)(number + ahead) & ((1u << bits) - 1)) |
                     (job->flow_bits ? lane->flow << bits : 0);
    }
    return key;
}

static void sim_job_verify(const struct sim_lane *lane, const struct sim_part *part) {
    struct sim_job *job = lane->worker->job;
    const struct sim_tensor *t = part->copy->tensor;
    const size_t wrong = values_wrong(job, t, values_who(lane->worker->rank, 0), part->copy->data,
                                      part->from, part->count);
    job->verified += part->count;
    if (wrong == part->count || job->sim->scenario->any_sums)
        return;
    const struct sim_key key = sim_job_key_of(lane, part, wrong);
    const size_t element = part->from + wrong;
    float real;
    memcpy(&real, &part->copy->data[element], sizeof real);
    if (t->reach != SK_ALL)
        sim_violate(job->sim, &key,
                    "job %s, worker %u: element %zu of tensor %llu, which is not for all, is %08x",
                    job->as->name, lane->worker->rank, element, (unsigned long long)t->number,
                    part->copy->data[element]);
    else if (t->reals)
        sim_violate(job->sim, &key,
                    "job %s, worker %u: element %zu of tensor %llu is %.9g, but must be %.9g",
                    job->as->name, lane->worker->rank, element, (unsigned long long)t->number,
                    (double)real, t->reals[element]);
    else
        sim_violate(job->sim, &key,
                    "job %s, worker %u: element %zu of tensor %llu is %08x, but must be %08x",
                    job->as->name, lane->worker->rank, element, (unsigned long long)t->number,
                    part->copy->data[element], t->sums[element]);
}

void job_part_done(struct sim_lane *lane, struct sim_part *part) {
    struct sim_part **at = &lane->parts;
    struct sim_copy *copy = part->copy;
    while (*at != part)
        at = &(*at)->next;
    *at = part->next;
    sim_job_verify(lane, part);
    free(part);
    if (--copy->parts == 0)
        job_copy_done(copy);
}

void job_worker_failed(struct sim_worker *w) {
    struct sim_job *job = w->job;
    if (w->failed || w->finished)
        return;
    w->failed = job->failed = true;
    sim_trace_add(&job->sim->trace, job->sim->events.now, job->sim->stations[w->station].as->name,
                  "has failed", NULL, 0);
    is_over(w);
    if (!job->sim->scenario->may_fail)
        sim_violate(job->sim, NULL, "job %s, worker %u: no progress within the hard limit",
                    job->as->name, w->rank);
}

// ---- crashes ----

static void sim_job_drop_copies(struct sim_worker *w) {
    while (w->copies) {
        struct sim_copy *copy = w->copies;
        w->copies = copy->next;
        if (w->job->sessions)
            values_release(w->job, copy->tensor);
        free(copy->data);
        free(copy);
    }
    w->in_flight = 0;
}

void job_worker_stops(struct sim_worker *w) {
    sim_job_drop_copies(w);
    w->crashed = true;
    w->finished = false;
}

void job_worker_begins(struct sim_worker *w) {
    w->crashed = w->finished = false;
    w->next = w->done = w->iteration = 0;
    w->layer = 0;
    if (is_training(w->job))
        iterate(w);
    else
        keep_busy(w);
}

static void worker_down(struct sim_worker *w, bool for_ever) {
    for (uint32_t f = 0; f < SCN_MAX_FLOWS && w->lanes[f]; f++) {
        w->bytes_before += lane_bytes(w->lanes[f]);
        w->retransmissions_before += lane_retransmissions(w->lanes[f]);
        w->lanes[f] = NULL; // the host frees it
    }
    if (w->finished || w->failed)
        return;
    sim_job_drop_copies(w);
    w->crashed = true;
    if (for_ever || w->job->as->protocol == SIM_SWITCHML)
        sim_job_is_gone(w);
}

void job_host_down(struct sim_job *job, uint32_t station, bool for_ever) {
    if (job->exchange) {
        exchange_host_down(job->exchange, station);
        return;
    }
    if (job->sessions) {
        processes_host_down(job, station, for_ever);
        return;
    }
    for (uint32_t i = 0; i < job->n_workers; i++)
        if (job->workers[i].station == station)
            worker_down(&job->workers[i], for_ever);
    for (uint32_t f = 0; f < SCN_MAX_FLOWS; f++)
        if (job->servers[f] && atp_server_station(job, f) == station)
            job->servers[f] = NULL;
}

// Where the sums of the flow that are there end, in fragments from the beginning; its numbers
// change.
static uint64_t begin_anew(struct sim_job *job, uint32_t flow, uint64_t *number) {
    struct sim_server *s = job->servers[flow];
    const char *why = "";
    const uint64_t position = atp_server_first(s->atp) - s->renumbered;
    for (uint32_t i = 0; i < job->n_workers; i++)
        if (job->workers[i].lanes[flow])
            atp_worker_move(job->workers[i].lanes[flow]->atp, &job->places[flow][i]);
    if (atp_server_reshape(s->atp, job->shapes[flow], job->sim->events.now, &why) < 0)
        sim_violate(job->sim, NULL, "job %s, flow %u: no new shape: %s", job->as->name, flow, why);
    *number = atp_server_first(s->atp);
    s->renumbered = *number - position;
    return position;
}

// The first tensor that is not complete on all flows; the lanes' counts are put right.
static uint64_t sim_job_resume(struct sim_worker *w) {
    const struct sim_job *job = w->job;
    for (uint64_t number = 0;; number++) {
        const struct sim_tensor t = {.count = sim_job_elements_of(job, number)};
        uint64_t before[SCN_MAX_FLOWS];
        bool complete = number < job->furthest;
        for (uint32_t f = 0; f < job->as->flows; f++) {
            struct sim_part part;
            before[f] = w->lanes[f]->fragments;
            sim_job_cut(w->lanes[f], &t, &part);
            complete &= part.count == 0;
        }
        if (complete)
            continue;
        for (uint32_t f = 0; f < job->as->flows; f++)
            w->lanes[f]->fragments = before[f];
        return number;
    }
}

static void sim_job_replace(struct sim_worker *w) {
    struct sim_job *job = w->job;
    struct sim_host *host = job->sim->stations[w->station].host;
    struct sk_error err;
    for (uint32_t f = 0; f < job->as->flows; f++)
        if (!job->servers[f]) { // nobody to ask
            sim_job_is_gone(w);
            return;
        }
    for (uint32_t f = 0; f < job->as->flows; f++) {
        uint64_t number, position = begin_anew(job, f, &number);
        w->lanes[f] = atp_lane(w, f, number, &err);
        if (!w->lanes[f]) {
            sim_violate(job->sim, NULL, "%s", err.text);
            return;
        }
        w->lanes[f]->first = position;
        host_add(host, &w->lanes[f]->app);
        host_serve(job->sim->stations[atp_server_station(job, f)].host);
    }
    for (uint32_t i = 0; i < job->n_workers; i++)
        if (!job->workers[i].crashed)
            host_serve(job->sim->stations[job->workers[i].station].host);
    w->crashed = false;
    w->next = w->done = sim_job_resume(w);
    if (is_training(job)) {
        const size_t layers = job->as->work.n_layers;
        w->iteration = w->next / layers;
        iterate(w);
        w->layer = w->next % layers;
    } else {
        keep_busy(w);
    }
    host_serve(host);
}

void job_host_up(struct sim_job *job, uint32_t station) {
    if (job->sessions) {
        processes_host_up(job, station);
        return;
    }
    for (uint32_t i = 0; i < job->n_workers; i++)
        if (job->workers[i].station == station && job->workers[i].crashed && !job->workers[i].gone)
            sim_job_replace(&job->workers[i]);
}

// ---- making it ----

static uint64_t micro(struct sim *s, const struct sim_range *r) {
    const uint64_t ns = (uint64_t)(sim_draw(&s->draws, r) * 1000);
    return ns ? ns : 1;
}

static uint32_t sim_job_whole(struct sim *s, const struct sim_range *r) {
    return (uint32_t)(sim_draw(&s->draws, r) + 0.5);
}

static void sim_job_draw(struct sim_job *job) {
    struct sim *s = job->sim;
    const struct scn_job *as = job->as;
    const struct scn_work *work = &as->work;
    const double limit = sim_draw(&s->draws, &as->hard_limit_ms),
                 count = sim_draw(&s->draws, &work->count),
                 start = sim_draw(&s->draws, &work->start_ms),
                 stop = sim_draw(&s->draws, &work->stop_ms);
    job->rto_initial = micro(s, &as->rto_initial_us);
    job->rto_min = micro(s, &as->rto_min_us);
    job->rto_max = micro(s, &as->rto_max_us);
    job->hard_limit = limit > 0 ? (uint64_t)(limit * 1e6) : SIM_NEVER;
    job->count = count < 0.5 ? UINT64_MAX : (uint64_t)(count + 0.5);
    if (is_training(job) && job->count != UINT64_MAX)
        job->count *= work->n_layers;
    job->elements = (size_t)(sim_draw(&s->draws, &work->bytes) / 4);
    job->elements += !job->elements;
    job->start_ns = (uint64_t)(start * 1e6);
    job->stop_ns = stop > 0 ? (uint64_t)(stop * 1e6) : SIM_NEVER;
    job->slots = as->protocol == SIM_SWITCHML ? sim_job_whole(s, &as->slots) : 0;
    job->window = sim_job_whole(s, &as->window);
    job->window_max = sim_job_whole(s, &as->window_max);
    job->first_index = sim_job_whole(s, &as->first_index);
    job->indices = sim_job_whole(s, &as->indices);
}

// The first hosts that are not servers, when the scenario gives a number only.
static void choose_workers(struct sim_job *job) {
    const struct scn_job *as = job->as;
    uint32_t n = as->workers ? (uint32_t)as->n_workers : sim_job_whole(job->sim, &as->worker_count),
             i = 0;
    job->workers = calloc(n, sizeof *job->workers);
    if (!job->workers)
        abort();
    for (uint32_t st = 0; st < job->sim->scenario->n_stations && i < n; st++) {
        bool taken = job->sim->stations[st].as->is_switch;
        for (size_t k = 0; k < as->n_servers; k++)
            taken |= as->servers[k] == st;
        if (as->workers || !taken)
            job->workers[i].station = as->workers ? as->workers[i] : st;
        i += as->workers || !taken;
    }
    job->n_workers = n;
}

static int make_lanes(struct sim_worker *w, struct sk_error *err) {
    const struct sim_job *job = w->job;
    const uint32_t n = job->as->protocol == SIM_ATP ? job->as->flows : 1;
    for (uint32_t f = 0; f < n; f++) {
        w->lanes[f] = job->as->protocol == SIM_ATP ? atp_lane(w, f, 0, err) : switchml_lane(w, err);
        if (!w->lanes[f])
            return -1;
        host_add(job->sim->stations[w->station].host, &w->lanes[f]->app);
    }
    return 0;
}

static int make_workers(struct sim_job *job, struct sk_error *err) {
    for (uint32_t i = 0; i < job->n_workers; i++) {
        struct sim_worker *w = &job->workers[i];
        if (!job->as->sessions && make_lanes(w, err) < 0)
            return -1;
        w->pace = sim_random_of(job->sim->seed ^ (uint64_t)i << 32, job->as->name);
        w->times = json_array();
        sim_timer_init(&w->timer, &job->sim->events, gradients, w);
        if (!job->as->sessions)
            sim_at(&job->sim->events, job->start_ns, sim_job_begin, w, NULL);
    }
    return 0;
}

static int make_servers(struct sim_job *job, struct sk_error *err) {
    const bool atp = job->as->protocol == SIM_ATP && !job->as->sessions;
    for (uint32_t f = 0; atp && f < job->as->flows; f++) {
        job->servers[f] = atp_server_app(job, f, err);
        if (!job->servers[f])
            return -1;
        host_add(job->sim->stations[atp_server_station(job, f)].host, &job->servers[f]->app);
    }
    return 0;
}

struct sim_job *job_new(struct sim *s, uint32_t i, struct sk_error *err) {
    struct sim_job *job = s->jobs[i] = calloc(1, sizeof *job);
    if (!job)
        abort();
    job->sim = s;
    job->as = &s->scenario->jobs[i];
    job->number = (uint8_t)(i + 1);
    struct sim_random values = sim_random_of(s->seed + i, "values");
    job->value_seed = sim_random_next(&values);
    sim_job_draw(job);
    if (job->as->exchange)
        return exchange_new(job, err) ? job : NULL;
    choose_workers(job);
    for (uint32_t w = 0; w < job->n_workers; w++) {
        job->workers[w].job = job;
        job->workers[w].rank = w;
    }
    const bool atp = job->as->protocol == SIM_ATP;
    if ((atp ? atp_prepare(job, err) : switchml_prepare(job, err)) < 0 ||
        make_servers(job, err) < 0 || make_workers(job, err) < 0 ||
        (job->as->sessions && processes_make(job, err) < 0))
        return NULL;
    return job;
}

void job_free(struct sim_job *job) {
    if (!job)
        return;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        sim_job_drop_copies(&job->workers[i]);
        json_decref(job->workers[i].times);
    }
    while (job->tensors) {
        struct sim_tensor *t = job->tensors;
        job->tensors = t->next;
        free(t->sums);
        free(t->reals);
        free(t);
    }
    for (uint32_t f = 0; f < SCN_MAX_FLOWS; f++) {
        free(job->shapes[f]);
        free(job->places[f]);
    }
    processes_free(job);
    exchange_free(job->exchange);
    free(job->levels);
    free(job->workers);
    free(job);
}
