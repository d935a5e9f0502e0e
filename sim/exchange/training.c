// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/exchange/exchange_impl.h"

static const struct scn_layer *training_layer_of(const struct sim_exchange *x, uint32_t layer) {
    return &x->job->as->work.layers[layer];
}

uint64_t x_tensor_bytes(const struct sim_exchange *x, uint32_t layer) {
    return (uint64_t)(training_layer_of(x, layer)->bytes / 4) * 4;
}

// Whole floats; a part that would be empty has one.
static uint64_t part_bytes(uint64_t bytes, uint32_t p, uint32_t n) {
    const uint64_t elements = bytes / 4;
    const uint64_t own = placement_cut(elements, p + 1, n) - placement_cut(elements, p, n);
    return own ? own * 4 : 4;
}

uint32_t x_urgency(const struct sim_exchange *x, uint32_t layer) {
    return (uint32_t)x->n_layers - 1 - layer;
}

// ---- who is done ----

static void training_look(struct sim_exchange *x) {
    for (uint32_t i = 0; i < x->n_workers; i++)
        if (!x->workers[i].finished && !x->workers[i].failed && !x->workers[i].gone)
            return;
    if (!x->job->over)
        job_is_over(x->job);
}

static void worker_fails(struct xworker *w, const char *why) {
    struct sim_exchange *x = w->x;
    if (w->finished || w->failed || w->gone)
        return;
    w->failed = x->job->failed = true;
    w->finished_at = xnow(x);
    sim_trace_add(&x->sim->trace, xnow(x), x->sim->stations[w->stack->station].as->name, why, NULL,
                  0);
    if (!x->sim->scenario->may_fail)
        sim_violate(x->sim, NULL, "job %s, worker %u: %s", x->job->as->name, w->rank, why);
    training_look(x);
}

static struct xworker *worker_at(struct sim_exchange *x, const struct xstack *at) {
    for (uint32_t i = 0; i < x->n_workers; i++)
        if (x->workers[i].stack == at)
            return &x->workers[i];
    return NULL;
}

void x_failed(struct sim_exchange *x, const struct xstack *at, const char *why) {
    struct xworker *w = worker_at(x, at);
    x->job->failed = true;
    if (w)
        worker_fails(w, why);
    else if (!x->sim->scenario->may_fail)
        sim_violate(x->sim, NULL, "job %s, server %s: %s", x->job->as->name,
                    x->sim->stations[at->station].as->name, why);
}

// ---- flows ----

void x_send(struct sim_exchange *x, const struct xflow *as) {
    struct xflow *f = malloc(sizeof *f);
    if (!f)
        abort();
    *f = *as;
    f->x = x;
    f->began = xnow(x);
    x->live_flows++;
    f->before = NULL;
    f->after = x->flows;
    if (f->after)
        f->after->before = f;
    x->flows = f;
    if (f->from != f->to) {
        xstack_submit(f->from, f);
        return;
    }
    f->arrived = f->bytes;
    x_flow_arrived(f);
}

static struct xstack *training_server_of(const struct sim_exchange *x, uint32_t layer,
                                         uint32_t part) {
    const struct placement *p = &x->places[layer];
    return x->stacks[x->as->servers[p->parts == 1 ? p->server : part]];
}

static void training_push(struct xworker *w, uint32_t layer) {
    struct sim_exchange *x = w->x;
    const uint32_t parts = x->places[layer].parts;
    const uint64_t iteration = w->pace.iteration - (w->pace.begun ? 0 : 1);
    w->left[layer] = parts;
    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t p = (k + (x->as->in_step ? 0 : w->rank)) % parts;
        const struct xflow f = {.from = w->stack,
                                .to = training_server_of(x, layer, p),
                                .kind = X_PUSH,
                                .layer = layer,
                                .part = p,
                                .iteration = iteration,
                                .bytes = part_bytes(x_tensor_bytes(x, layer), p, parts)};
        x_send(x, &f);
    }
}

static void training_pull(struct sim_exchange *x, const struct xflow *push) {
    for (uint32_t k = 0; k < x->n_workers; k++) {
        struct xworker *w = &x->workers[(k + push->layer + push->part) % x->n_workers];
        const struct xflow f = {.from = push->to,
                                .to = w->stack,
                                .kind = X_PULL,
                                .layer = push->layer,
                                .part = push->part,
                                .iteration = push->iteration,
                                .bytes = push->bytes};
        if (!w->gone)
            x_send(x, &f);
    }
}

// ---- the ring ----

static void ring_send(struct xworker *w, uint32_t layer, uint64_t iteration, uint32_t step) {
    struct sim_exchange *x = w->x;
    const uint32_t n = x->n_workers, chunk = placement_ring_chunk(w->rank, step, n);
    const struct xflow f = {.from = w->stack,
                            .to = x->workers[(w->rank + 1) % n].stack,
                            .kind = X_RING,
                            .layer = layer,
                            .part = chunk,
                            .step = step,
                            .iteration = iteration,
                            .bytes = part_bytes(x_tensor_bytes(x, layer), chunk, n)};
    if (step < placement_ring_steps(n))
        x_send(x, &f);
}

static void ring_own(struct xworker *w, uint32_t layer) {
    const uint64_t iteration = w->own[layer]++;
    uint64_t *held = &w->held[(2 * layer + iteration % 2) * X_RING_WORDS];
    ring_send(w, layer, iteration, 0);
    for (uint32_t step = 0; step < 64 * X_RING_WORDS; step++)
        if (held[step / 64] >> step % 64 & 1)
            ring_send(w, layer, iteration, step);
    memset(held, 0, X_RING_WORDS * sizeof *held);
}

// True when it was the layer's last one.
static bool ring_arrived(struct xworker *w, const struct xflow *f) {
    const size_t at = 2 * (size_t)f->layer + f->iteration % 2;
    const uint32_t step = f->step + 1, steps = placement_ring_steps(w->x->n_workers);
    if (w->own[f->layer] > f->iteration)
        ring_send(w, f->layer, f->iteration, step);
    else if (step < steps)
        w->held[at * X_RING_WORDS + step / 64] |= UINT64_C(1) << step % 64;
    if (++w->received[at] < steps)
        return false;
    w->received[at] = 0;
    return true;
}

// ---- computing ----

static void layer_there(struct xworker *w, uint32_t layer) {
    pace_parameters(&w->pace, layer);
    // not from here: what has just been received may be in the middle of being read
    sim_timer_set(&w->timer, xnow(w->x));
}

static void collective_own(struct xworker *w, uint32_t layer) {
    if (xtogether_own(w, layer))
        layer_there(w, layer);
}

static void training_begins(struct xworker *w) {
    struct sim_exchange *x = w->x;
    if (w->pace.iteration)
        json_array_append_new(w->times, json_real((double)(xnow(x) - w->began) / 1000));
    w->began = xnow(x);
    w->pace.stretch = 1 + x->job->as->work.jitter * (2 * sim_random_real(&w->random) - 1);
    x->furthest = w->pace.iteration + 1 > x->furthest ? w->pace.iteration + 1 : x->furthest;
}

static void training_step(struct xworker *w) {
    struct sim_exchange *x = w->x;
    enum pace_event e;
    size_t layer;
    if (w->finished || w->failed || w->gone)
        return;
    if (xnow(x) >= x->job->stop_ns && w->pace.iterations > x->furthest)
        w->pace.iterations = x->furthest;
    while ((e = pace_step(&w->pace, xnow(x), &layer)) != PACE_NONE) {
        w->progress = xnow(x);
        if (e == PACE_BEGINS)
            training_begins(w);
        else if (x->as->form == SCN_RING)
            ring_own(w, (uint32_t)layer);
        else if (scn_is_collective(x->as))
            collective_own(w, (uint32_t)layer);
        else
            training_push(w, (uint32_t)layer);
    }
    sim_timer_set(&w->timer, pace_deadline(&w->pace));
    if (!pace_done(&w->pace))
        return;
    json_array_append_new(w->times, json_real((double)(xnow(x) - w->began) / 1000));
    w->finished = true;
    w->finished_at = xnow(x);
    sim_trace_add(&x->sim->trace, xnow(x), x->sim->stations[w->stack->station].as->name, "is done",
                  NULL, 0);
    training_look(x);
}

static void training_wake(void *who, void *what) {
    struct xworker *w = who;
    (void)what;
    training_step(w);
    host_serve(w->x->sim->stations[w->stack->station].host);
}

static void training_watch(void *who, void *what) {
    struct xworker *w = who;
    const uint64_t limit = w->x->job->hard_limit;
    (void)what;
    if (w->finished || w->failed || w->gone)
        return;
    if (xnow(w->x) - w->progress >= limit)
        worker_fails(w, "no progress within the hard limit");
    else
        sim_timer_set(&w->watch, w->progress + limit);
}

static void training_start(void *who, void *what) {
    struct xworker *w = who;
    w->progress = xnow(w->x);
    if (w->x->job->hard_limit != SIM_NEVER)
        sim_timer_set(&w->watch, w->progress + w->x->job->hard_limit);
    training_wake(who, what);
}

static void training_note(struct sim_exchange *x, const struct xflow *f) {
    struct xtimes *t = &x->times[f->kind];
    if (t->n == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 256;
        t->us = realloc(t->us, t->capacity * sizeof *t->us);
        if (!t->us)
            abort();
    }
    t->us[t->n++] = (double)(xnow(x) - f->began) / 1000;
}

static void training_forget(struct xflow *f) {
    *(f->before ? &f->before->after : &f->x->flows) = f->after;
    if (f->after)
        f->after->before = f->before;
    f->x->live_flows--;
    free(f);
}

void x_flow_arrived(struct xflow *f) {
    struct sim_exchange *x = f->x;
    struct xworker *w = f->kind == X_PUSH ? NULL : worker_at(x, f->to);
    if (f->from != f->to)
        training_note(x, f);
    x->bytes += f->from != f->to && f->kind != X_PUSH ? f->bytes : 0;
    if (w)
        w->progress = xnow(x);
    if (f->kind == X_PUSH) {
        uint32_t *n = &x->arrivals[f->layer * x->n_servers + f->part];
        if (++*n == x->n_workers) {
            *n = 0;
            training_pull(x, f);
        }
    } else if (f->kind == X_PULL) {
        if (!--w->left[f->layer])
            layer_there(w, f->layer);
    } else if (f->kind == X_RING ? ring_arrived(w, f) : xtogether_arrived(w, f)) {
        layer_there(w, f->layer);
    }
    training_forget(f);
}

// ---- crashes and the end ----

void exchange_host_down(struct sim_exchange *x, uint32_t station) {
    struct xstack *s = x->stacks[station];
    if (!s || s->down)
        return;
    struct xworker *w = worker_at(x, s);
    s->down = true;
    x->job->failed = true;
    if (!x->sim->scenario->may_fail)
        sim_violate(x->sim, NULL, "job %s: host %s crashed", x->job->as->name,
                    x->sim->stations[station].as->name);
    for (uint32_t i = 0; i < x->n_pipes; i++) {
        struct xpipe *p = x->pipes[i];
        if (p->used && x_is_dlcp(x) && p->sender.stack == s)
            xdlcp_forget(&p->sender);
        if (p->used && x_is_dlcp(x) && p->receiver.stack == s)
            xdlcp_forget(&p->receiver);
    }
    if (w && !w->finished && !w->failed)
        w->gone = true;
    training_look(x);
}

void exchange_explain(struct sim_exchange *x) {
    for (uint32_t i = 0; i < x->n_workers && !x->sim->violated; i++) {
        const struct xworker *w = &x->workers[i];
        if (!w->finished && !w->failed && !w->gone)
            sim_violate(x->sim, NULL,
                        "at %g ms job %s, worker %u is not done: it is in iteration %llu, and "
                        "%llu flows of the job are on their way",
                        (double)x->sim->limit_ns / 1e6, x->job->as->name, i,
                        (unsigned long long)w->pace.iteration, (unsigned long long)x->live_flows);
    }
}

uint64_t exchange_bytes(const struct sim_exchange *x) {
    return x->bytes;
}

uint32_t exchange_workers(const struct sim_exchange *x) {
    return x->n_workers;
}

// ---- making it ----

// Numbers of pieces, by which DLCP calls its flows between two hosts.
static int number_pieces(struct sim_exchange *x, struct sk_error *err) {
    uint64_t n = 0;
    for (uint32_t l = 0; l < x->n_layers; l++) {
        const uint32_t parts = x->as->form == SCN_RING ? x->n_workers : x->places[l].parts;
        const uint64_t most = x_tensor_bytes(x, l) / parts + 8, cut = x->as->partition_bytes;
        x->tensor_base[l] = n;
        x->pieces_of[l] = cut ? (uint32_t)(most / cut + 1) : 1;
        n += (uint64_t)parts * x->pieces_of[l];
    }
    if (x_is_dlcp(x) && n > 65536)
        return sk_fail(err, "job %s: its tensors are %llu pieces; DLCP has numbers for 65536",
                       x->job->as->name, (unsigned long long)n);
    return 0;
}

static void training_make_worker(struct sim_exchange *x, uint32_t i) {
    struct xworker *w = &x->workers[i];
    const size_t n = x->n_layers;
    w->x = x;
    w->rank = i;
    w->stack = x->stacks[x->as->workers[i]];
    w->random = sim_random_of(x->sim->seed ^ (uint64_t)i << 32, x->job->as->name);
    w->left = calloc(n, sizeof *w->left);
    w->own = calloc(n, sizeof *w->own);
    w->received = calloc(2 * n, sizeof *w->received);
    w->held = calloc(2 * n * X_RING_WORDS, sizeof *w->held);
    if (!w->left || !w->own || !w->received || !w->held)
        abort();
    pace_init(&w->pace, &x->job->as->work,
              x->job->count == UINT64_MAX ? UINT64_MAX : x->job->count / n);
    w->times = json_array();
    sim_timer_init(&w->timer, &x->sim->events, training_wake, w);
    sim_timer_init(&w->watch, &x->sim->events, training_watch, w);
    sim_at(&x->sim->events, x->job->start_ns, training_start, w, NULL);
}

static void training_make_stacks(struct sim_exchange *x) {
    for (uint32_t i = 0; i < x->n_workers + x->n_servers; i++) {
        const uint32_t station =
            i < x->n_workers ? x->as->workers[i] : x->as->servers[i - x->n_workers];
        if (!x->stacks[station])
            x->stacks[station] = xstack_new(x, station);
    }
}

static void place_tensors(struct sim_exchange *x) {
    struct sim_random r = sim_random_of(x->sim->seed, x->job->as->name);
    for (uint32_t l = 0; l < x->n_layers; l++)
        if (x->as->form == SCN_SERVERS)
            x->places[l] = placement_of(x_tensor_bytes(x, l), (uint64_t)x->as->cut_bytes,
                                        x->n_servers, sim_random_next(&r) >> 11);
}

struct sim_exchange *exchange_new(struct sim_job *job, struct sk_error *err) {
    struct sim_exchange *x = job->exchange = calloc(1, sizeof *x);
    const size_t n = job->sim->scenario->n_stations;
    if (!x)
        abort();
    x->job = job;
    x->as = job->as->exchange;
    x->sim = job->sim;
    x->n_workers = (uint32_t)x->as->n_workers;
    x->n_servers = (uint32_t)x->as->n_servers;
    x->n_layers = job->as->work.n_layers;
    x->stacks = calloc(n, sizeof(struct xstack *));
    x->workers = calloc(x->n_workers, sizeof *x->workers);
    x->places = calloc(x->n_layers, sizeof *x->places);
    x->tensor_base = calloc(x->n_layers, sizeof *x->tensor_base);
    x->pieces_of = calloc(x->n_layers, sizeof *x->pieces_of);
    x->arrivals = calloc(x->n_layers * (x->n_servers + 1), sizeof *x->arrivals);
    x->connections = x->as->kept ? calloc(n * n, sizeof(struct xpipe *)) : NULL;
    x->hash = x_is_dlcp(x) ? calloc(X_HASH, sizeof(struct xpipe *)) : NULL;
    x->peers = x_is_dlcp(x) ? calloc(n * n, sizeof(struct dlcp_peer *)) : NULL;
    if (!x->stacks || !x->workers || !x->places || !x->tensor_base || !x->pieces_of ||
        !x->arrivals || (x->as->kept && !x->connections) ||
        (x_is_dlcp(x) && (!x->hash || !x->peers)))
        abort();
    training_make_stacks(x);
    place_tensors(x);
    for (uint32_t i = 0; i < x->n_workers; i++)
        training_make_worker(x, i);
    if (scn_is_collective(x->as)) {
        xtogether_init(x);
        return x;
    }
    return number_pieces(x, err) < 0 ? NULL : x;
}

static void free_worker(struct xworker *w) {
    pace_free(&w->pace);
    free(w->left);
    free(w->own);
    free(w->received);
    free(w->held);
    json_decref(w->times);
}

void exchange_free(struct sim_exchange *x) {
    if (!x)
        return;
    const size_t n = x->sim->scenario->n_stations;
    for (uint32_t i = 0; i < x->n_pipes; i++) {
        if (x->pipes[i]->used)
            xpipe_release(x->pipes[i]);
        free(x->pipes[i]);
    }
    while (x->flows)
        training_forget(x->flows);
    for (size_t i = 0; i < n; i++)
        if (x->stacks[i])
            xstack_free(x->stacks[i]);
    for (size_t i = 0; x->peers && i < n * n; i++)
        free(x->peers[i]);
    xtogether_free(x);
    for (uint32_t i = 0; i < x->n_workers; i++)
        free_worker(&x->workers[i]);
    for (int k = 0; k < X_KINDS; k++)
        free(x->times[k].us);
    free(x->stacks);
    free(x->workers);
    free(x->places);
    free(x->tensor_base);
    free(x->pieces_of);
    free(x->arrivals);
    free(x->pipes);
    free(x->free_slots);
    free(x->connections);
    free(x->hash);
    free(x->peers);
    free(x);
}
