// SPDX-License-Identifier: Apache-2.0
#include "sim/libra/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// Coprime to every number of parameters that a scenario may say: a prime above them.
#define SPREAD UINT64_C(2654435761)
#define KEPT   (UINT64_C(1) << 20) // ranks, at most

struct lsim_job *lsim_job_numbered(const struct sim *s, uint32_t i) {
    return &s->libra->jobs[i];
}

// ---- batches ----

// Keys of neighbouring ranks are far apart, so servers with ranges of keys have alike much to do.
uint64_t lsim_key(const struct lsim_job *j, uint64_t rank) {
    return rank * SPREAD % (uint64_t)j->as->parameters;
}

// As control/libra and hosts/keyvalue divide parameters among servers.
uint32_t lsim_server_of(const struct lsim_job *j, uint64_t key) {
    const uint64_t all = (uint64_t)j->as->parameters, each = all / j->n_servers,
                   more = all % j->n_servers;
    uint32_t s = j->n_servers - 1;
    while (key < s * each + (s < more ? s : more))
        s--;
    return s;
}

uint32_t lsim_cells(const struct lsim_job *j) {
    return (j->as->hot + LIBRA_PLACES - 1) / LIBRA_PLACES;
}

static double lsim_job_uniform(void *random) {
    return ((double)(sim_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static size_t lsim_job_draw_ranks(const struct lsim_job *j, uint32_t worker, uint32_t batch,
                                  uint64_t *ranks) {
    struct sim_random r = sim_random_of(j->value_seed ^ ((uint64_t)worker << 32 | batch), "batch");
    return zipf_batch(&j->zipf, j->as->draws, lsim_job_uniform, &r, ranks);
}

size_t lsim_ranks(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t *ranks) {
    if (!j->ranks)
        return lsim_job_draw_ranks(j, worker, batch, ranks);
    const size_t number = (size_t)worker * j->n_batches + batch;
    uint64_t *kept = j->ranks + number * j->as->draws;
    if (j->n_ranks[number] == 0)
        j->n_ranks[number] = (uint32_t)lsim_job_draw_ranks(j, worker, batch, kept);
    memcpy(ranks, kept, j->n_ranks[number] * sizeof *ranks);
    return j->n_ranks[number];
}

static uint64_t lsim_job_mix(const struct lsim_job *j, uint32_t worker, uint32_t batch,
                             uint64_t rank) {
    return sim_mix(sim_mix(j->value_seed + ((uint64_t)worker << 32 | batch)) ^ rank);
}

// What a server has is a float: of random integers those that it can tell apart.
uint32_t lsim_integer(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t rank) {
    if (j->tagged)
        return UINT32_C(1) << LSIM_TAG_BITS * worker;
    const uint32_t any = (uint32_t)lsim_job_mix(j, worker, batch, rank);
    return rank < j->as->hot ? any : (any & 0xfffff) | 1;
}

float lsim_float(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t rank) {
    if (!j->as->floats)
        return (float)lsim_integer(j, worker, batch, rank);
    return 0.5f + (float)(lsim_job_mix(j, worker, batch, rank) >> 40) * 0x1p-25f;
}

// ---- the end ----

static void lsim_job_is_done(struct lsim_worker *w) {
    struct lsim_job *j = w->job;
    bool over = !j->over;
    w->finished_at = j->sim->events.now;
    for (uint32_t i = 0; i < j->n_workers; i++)
        over &= j->workers[i].finished || j->workers[i].failed || j->workers[i].gone;
    j->over |= over;
    if (over && --j->sim->unfinished == 0)
        j->sim->done_at = j->sim->events.now;
}

void lsim_finished(struct lsim_worker *w) {
    if (w->finished || w->failed || w->gone)
        return;
    w->finished = true;
    sim_trace_add(&w->job->sim->trace, w->job->sim->events.now,
                  w->job->sim->stations[w->station].as->name, "is done", NULL, 0);
    lsim_job_is_done(w);
}

void lsim_failed(struct lsim_worker *w, const char *why) {
    if (w->finished || w->failed || w->gone)
        return;
    w->failed = w->job->failed = true;
    sim_trace_add(&w->job->sim->trace, w->job->sim->events.now,
                  w->job->sim->stations[w->station].as->name, "has failed", NULL, 0);
    lsim_job_is_done(w);
    if (!w->job->sim->scenario->may_fail)
        sim_violate(w->job->sim, NULL, "job %s, worker %u: %s", w->job->as->name, w->rank, why);
}

void libra_explain(struct sim *s) {
    for (size_t i = 0; i < s->libra->n; i++)
        for (uint32_t k = 0; k < s->libra->jobs[i].n_workers; k++) {
            const struct lsim_worker *w = &s->libra->jobs[i].workers[k];
            if (!w->finished && !w->failed && !w->gone)
                sim_violate(s, NULL,
                            "at %g ms job %s, worker %u is not done: %u of %u batches are, %u are "
                            "on their way",
                            (double)s->limit_ns / 1e6, w->job->as->name, k, w->done,
                            w->job->n_batches, w->in_flight);
        }
}

// ---- crashes ----

static void lsim_job_worker_down(struct lsim_worker *w, bool for_ever) {
    if (w->app)
        lsim_give_up(w->app);
    w->app = NULL; // the host frees it
    w->done += w->in_flight;
    w->in_flight = 0;
    if (!for_ever || w->finished || w->failed)
        return;
    w->gone = w->job->failed = true;
    lsim_job_is_done(w);
    if (!w->job->sim->scenario->may_fail)
        sim_violate(w->job->sim, NULL, "job %s: a host that crashed does not come back to it",
                    w->job->as->name);
}

void libra_host_down(struct sim *s, uint32_t station, bool for_ever) {
    for (size_t i = 0; i < s->libra->n; i++) {
        struct lsim_job *j = &s->libra->jobs[i];
        for (uint32_t w = 0; w < j->n_workers; w++)
            if (j->workers[w].station == station)
                lsim_job_worker_down(&j->workers[w], for_ever);
        for (uint32_t k = 0; k < j->n_servers; k++)
            if (j->servers[k].station == station) {
                j->servers[k].app = NULL;
                j->servers[k].crashed_at = s->events.now;
                j->servers[k].gone = for_ever;
            }
    }
}

static void lsim_job_server_up(struct lsim_server *sv) {
    struct sim *s = sv->job->sim;
    struct sk_error err;
    sv->incarnation++;
    sv->app = lsim_server_app(sv, &err);
    if (sv->app)
        host_add(s->stations[sv->station].host, (struct sim_app *)sv->app);
    else
        sim_violate(s, NULL, "%s", err.text);
}

void libra_host_up(struct sim *s, uint32_t station) {
    for (size_t i = 0; i < s->libra->n; i++) {
        struct lsim_job *j = &s->libra->jobs[i];
        for (uint32_t k = 0; k < j->n_servers; k++)
            if (j->servers[k].station == station && !j->servers[k].app)
                lsim_job_server_up(&j->servers[k]);
        for (uint32_t k = 0; k < j->n_workers; k++) {
            struct lsim_worker *w = &j->workers[k];
            if (w->station != station || w->app || w->finished || w->failed || w->gone)
                continue;
            w->incarnation++;
            w->app = lsim_worker_app(w);
            host_add(s->stations[station].host, (struct sim_app *)w->app);
        }
    }
    host_serve(s->stations[station].host);
}

// ---- made and freed ----

static uint64_t lsim_job_micro(struct sim_random *r, const struct sim_range *range) {
    const uint64_t ns = (uint64_t)(sim_draw(r, range) * 1000);
    return ns ? ns : 1;
}

static uint32_t lsim_job_whole(struct sim_random *r, const struct sim_range *range) {
    return (uint32_t)(sim_draw(r, range) + 0.5);
}

// Draws of its own: those of other things stay as they are.
static void lsim_job_draw(struct lsim_job *j) {
    struct sim_random r = sim_random_of(j->sim->seed, j->as->name);
    const struct scn_libra *as = j->as;
    const double limit = sim_draw(&r, &as->hard_limit_ms);
    j->hard_limit = limit > 0 ? (uint64_t)(limit * 1e6) : LIBRA_NEVER;
    j->rto_initial = lsim_job_micro(&r, &as->rto_initial_us);
    j->rto_min = lsim_job_micro(&r, &as->rto_min_us);
    j->rto_max = lsim_job_micro(&r, &as->rto_max_us);
    j->window = lsim_job_whole(&r, &as->window);
    j->window_max = lsim_job_whole(&r, &as->window_max);
    j->n_batches = lsim_job_whole(&r, &as->batches);
    j->start_ns = (uint64_t)(sim_draw(&r, &as->start_ms) * 1e6);
    j->n_workers = as->workers ? (uint32_t)as->n_workers : lsim_job_whole(&r, &as->worker_count);
    j->value_seed = sim_random_next(&r);
}

static void *lsim_job_memory(size_t n, size_t size) {
    void *m = calloc(n + 1, size);
    if (!m)
        abort();
    return m;
}

static void lsim_job_choose_workers(struct lsim_job *j) {
    const struct sim *s = j->sim;
    uint32_t i = 0;
    j->workers = lsim_job_memory(j->n_workers, sizeof *j->workers);
    for (uint32_t st = 0; st < s->scenario->n_stations && i < j->n_workers; st++) {
        bool taken = s->stations[st].as->is_switch;
        for (size_t k = 0; k < j->as->n_servers; k++)
            taken |= j->as->servers[k] == st;
        if (j->as->workers)
            j->workers[i].station = j->as->workers[i];
        else if (!taken)
            j->workers[i].station = st;
        i += j->as->workers || !taken;
    }
    for (uint32_t w = 0; w < j->n_workers; w++) {
        struct lsim_worker *k = &j->workers[w];
        k->job = j;
        k->rank = w;
        k->ready_at = j->start_ns;
        k->pace = sim_random_of(j->sim->seed ^ (uint64_t)w << 32, j->as->name);
        k->log = lsim_job_memory(j->n_batches, sizeof *k->log);
        k->times = json_array();
    }
}

static void lsim_job_keep_ranks(struct lsim_job *j) {
    const uint64_t batches = (uint64_t)j->n_workers * j->n_batches;
    if (batches == 0 || j->as->draws > KEPT / batches)
        return;
    j->ranks = lsim_job_memory(batches * j->as->draws, sizeof *j->ranks);
    j->n_ranks = lsim_job_memory(batches, sizeof *j->n_ranks);
}

static int lsim_job_layout(struct lsim_job *j, struct sk_error *err) {
    uint64_t *keys = lsim_job_memory(j->as->hot, sizeof *keys);
    for (uint32_t r = 0; r < j->as->hot; r++)
        keys[r] = lsim_key(j, r);
    const int rc = j->as->hot == 0 ? 0
                                   : libra_layout_make(&j->layout, j->number, 1, LIBRA_PLACES, keys,
                                                       j->as->hot, err);
    free(keys);
    return rc;
}

static int lsim_job_make(struct sim *s, uint32_t i, struct sk_error *err) {
    struct lsim_job *j = &s->libra->jobs[i];
    j->sim = s;
    j->as = &s->scenario->libra[i];
    j->number = (uint8_t)(i + 1);
    j->here = SCN_NONE;
    j->zipf = (struct zipf){j->as->parameters, j->as->skew};
    j->lost_from = j->lost_to = LSIM_NEVER;
    lsim_job_draw(j);
    lsim_job_choose_workers(j);
    lsim_job_keep_ranks(j);
    j->n_servers = (uint32_t)j->as->n_servers;
    j->tagged = !j->as->floats && j->n_workers <= LSIM_TAGS && j->n_batches < 1u << LSIM_TAG_BITS;
    j->at = j->as->at == SCN_NONE ? switch_of(s, j->workers[0].station) : j->as->at;
    if (lsim_is_admitted(j) && j->as->collects)
        return sk_fail(err,
                       "job %s has \"collect\", for which Libra_s is needed: switch %s has a "
                       "\"tor\", and so no Libra_s",
                       j->as->name, s->stations[j->at].as->name);
    if (j->as->rate_mbps && !lsim_is_admitted(j))
        return sk_fail(err,
                       "job %s has a \"rate\", but no \"hot\" parameters at a switch with a "
                       "\"tor\", whose meters limit what is sent to them",
                       j->as->name);
    if (lsim_job_layout(j, err) < 0)
        return -1;
    for (uint32_t k = 0; k < j->n_servers; k++) {
        j->servers[k] = (struct lsim_server){.job = j, .number = k, .station = j->as->servers[k]};
        if (!(j->servers[k].app = lsim_server_app(&j->servers[k], err)))
            return -1;
        host_add(s->stations[j->servers[k].station].host, (struct sim_app *)j->servers[k].app);
    }
    for (uint32_t w = 0; w < j->n_workers; w++) {
        j->workers[w].app = lsim_worker_app(&j->workers[w]);
        host_add(s->stations[j->workers[w].station].host, (struct sim_app *)j->workers[w].app);
    }
    return 0;
}

// Hosts look for what they have to do when they are woken.
static void lsim_job_wake(void *who, void *unused) {
    (void)unused;
    host_serve(who);
}

int libra_make(struct sim *s, struct sk_error *err) {
    const struct scenario *sc = s->scenario;
    s->libra = lsim_job_memory(1, sizeof *s->libra);
    s->libra->jobs = lsim_job_memory(sc->n_libra, sizeof *s->libra->jobs);
    for (uint32_t i = 0; i < sc->n_libra; i++) {
        s->libra->n = i + 1; // is freed in any case
        if (lsim_job_make(s, i, err) < 0)
            return -1;
        s->unfinished++;
    }
    for (uint32_t i = 0; i < sc->n_stations && sc->n_libra; i++)
        if (s->stations[i].host)
            sim_at(&s->events, 0, lsim_job_wake, s->stations[i].host, NULL);
    if (sc->controller)
        lsim_control_make(s);
    return 0;
}

static void lsim_job_clear(struct lsim_job *j) {
    for (uint32_t w = 0; j->workers && w < j->n_workers; w++) {
        for (uint32_t b = 0; b < j->n_batches; b++)
            free(j->workers[w].log[b]);
        free(j->workers[w].log);
        json_decref(j->workers[w].times);
    }
    free(j->workers);
    free(j->ranks);
    free(j->n_ranks);
    libra_layout_clear(&j->layout);
}

void libra_free(struct sim *s) {
    if (!s->libra)
        return;
    for (size_t i = 0; i < s->libra->n; i++)
        lsim_job_clear(&s->libra->jobs[i]);
    lsim_control_free(s->libra->control);
    free(s->libra->jobs);
    free(s->libra);
    s->libra = NULL;
}
