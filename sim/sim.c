// SPDX-License-Identifier: Apache-2.0
#include "sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "sim/exchange/exchange.h"
#include "sim/job.h"
#include "sim/libra/libra.h"
#include "sim/own/own.h"
#include "sim/result.h"

void sim_violate(struct sim *s, const struct sim_key *key, const char *format, ...) {
    va_list ap;
    if (s->violated)
        return;
    s->violated = true;
    if (key)
        s->key = *key;
    s->has_key = key != NULL;
    va_start(ap, format);
    vsnprintf(s->violation, sizeof s->violation, format, ap);
    va_end(ap);
}

// ---- building ----

// The scenario has looked at the texts.
static void sim_read_address(struct sim_station *st) {
    char address[24];
    if (!st->as->address)
        return;
    const char *slash = strchr(st->as->address, '/');
    snprintf(address, sizeof address, "%.*s", (int)(slash - st->as->address), st->as->address);
    sk_ip_parse(address, &st->address);
    st->mask = ~UINT32_C(0) << (32 - atoi(slash + 1));
    if (st->as->gateway)
        sk_ip_parse(st->as->gateway, &st->gateway);
}

static void make_stations(struct sim *s) {
    const struct scenario *sc = s->scenario;
    s->stations = calloc(sc->n_stations + 1, sizeof *s->stations);
    if (!s->stations)
        abort();
    for (uint32_t i = 0; i < sc->n_stations; i++) {
        const uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)((i + 1) >> 8), (uint8_t)(i + 1)};
        s->stations[i].as = &sc->stations[i];
        s->stations[i].id = i;
        s->stations[i].ip = UINT32_C(0x0a000000) + i + 1;
        memcpy(s->stations[i].mac, mac, 6);
        sim_read_address(&s->stations[i]);
    }
}

static void make_links(struct sim *s) {
    const struct scenario *sc = s->scenario;
    s->n_links = 2 * sc->n_cables;
    s->links = calloc(s->n_links + 1, sizeof *s->links);
    if (!s->links)
        abort();
    for (uint32_t i = 0; i < s->n_links; i++) {
        const struct scn_cable *c = &sc->cables[i / 2];
        struct sim_link *l = &s->links[i];
        if (i % 2) {
            l->rate_mbps = l[-1].rate_mbps;
            l->delay_ns = l[-1].delay_ns;
            l->queue_bytes = l[-1].queue_bytes;
        } else {
            l->rate_mbps = (uint32_t)(sim_draw(&s->draws, &c->line.gbps) * 1000 + 0.5);
            l->delay_ns = (uint64_t)(sim_draw(&s->draws, &c->line.delay_us) * 1000);
            l->queue_bytes = (uint32_t)sim_draw(&s->draws, &c->line.queue_bytes);
        }
        snprintf(l->name, sizeof l->name, "%.18s>%.18s", sc->stations[link_to(s, i ^ 1)].name,
                 sc->stations[link_to(s, i)].name);
        sim_link_init(l, &s->events, &s->frames, &s->trace, s->seed);
    }
}

static int make_nodes(struct sim *s, struct sk_program *const *programs, struct sk_error *err) {
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        struct sim_station *st = &s->stations[i];
        if (!st->as->is_switch) {
            host_make(s, st);
            neighbour_make(s, st);
        } else if (node_make(s, st, programs[st->as->program], err) < 0)
            return -1;
    }
    // a switch's ports wait in the engine: what is in its links' own queues is on the wire
    for (uint32_t l = 0; l < s->n_links; l++)
        if (s->stations[link_to(s, l ^ 1)].as->is_switch)
            s->links[l].queue_bytes = 0;
    return 0;
}

static int make_traffic(struct sim *s, struct sk_error *err) {
    const struct scenario *sc = s->scenario;
    s->jobs = calloc(sc->n_jobs + 1, sizeof(struct sim_job *));
    s->background = calloc(sc->n_background + 1, sizeof(struct sim_app *));
    if (!s->jobs || !s->background)
        abort();
    for (uint32_t i = 0; i < sc->n_jobs; i++) {
        if (!job_new(s, i, err))
            return -1;
        s->unfinished += job_ends(s->jobs[i]);
    }
    if (libra_make(s, err) < 0)
        return -1;
    own_make(s);
    for (uint32_t i = 0; i < sc->n_background; i++) {
        const struct scn_background *b = &sc->background[i];
        if (b->gbps.low <= 0 && s->stations[b->from].host->out->rate_mbps == 0)
            return sk_fail(err, "background '%s' has no rate, nor has the link of %s", b->name,
                           sc->stations[b->from].name);
        s->background[i] = background_new(s, i);
    }
    return 0;
}

struct sim *sim_new(const struct scenario *sc, struct sk_program *const *programs, uint64_t seed,
                    size_t trace, FILE *live, struct sk_error *err) {
    struct sim *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->scenario = sc;
    s->seed = seed;
    s->limit_ns = (uint64_t)(sc->limit_ms * 1e6);
    s->draws = sim_random_of(seed, "scenario");
    sim_trace_init(&s->trace, trace, live);
    make_stations(s);
    make_links(s);
    if (make_nodes(s, programs, err) < 0 || routes_make(s, err) < 0) {
        sim_free(s);
        return NULL;
    }
    faults_schedule(s);
    if (make_traffic(s, err) < 0) {
        sim_free(s);
        return NULL;
    }
    series_start(s);
    return s;
}

int sim_try(const struct scenario *sc, struct sk_program *const *programs, uint64_t seed,
            struct sk_error *err) {
    struct sim *s = sim_new(sc, programs, seed, 0, NULL, err);
    int status = s ? 0 : -1;
    for (uint32_t i = 0; i < sc->n_stations && status == 0; i++)
        if (sc->stations[i].is_switch)
            status = node_configure(&s->stations[i], err);
    sim_free(s);
    return status;
}

void sim_free(struct sim *s) {
    if (!s)
        return;
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        host_free(s->stations[i].host);
        node_free(s->stations[i].node);
    }
    for (uint32_t i = 0; s->jobs && i < s->scenario->n_jobs; i++)
        job_free(s->jobs[i]);
    libra_free(s);
    own_free(s);
    for (uint32_t i = 0; s->background && i < s->scenario->n_background; i++)
        free(s->background[i]);
    free(s->jobs);
    free(s->background);
    free(s->links);
    free(s->stations);
    free(s->next_link);
    free(s->distances);
    free(s->avoided);
    sim_events_free(&s->events);
    sim_frames_free(&s->frames);
    sim_trace_free(&s->trace);
    json_decref(s->series);
    json_decref(s->notes);
    free(s->sample);
    free(s);
}

// ---- running ----

static bool run_until(struct sim *s, uint64_t time) {
    while (!s->violated && sim_next(&s->events) <= time) {
        sim_step(&s->events);
        check_step(s);
        if (s->done_at && !s->ended)
            return true;
    }
    if (!s->violated && s->events.now < time)
        s->events.now = time;
    return false;
}

bool sim_is_endless(const struct sim *s) {
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        if (!job_ends(s->jobs[i]))
            return true;
    return s->scenario->n_jobs + s->scenario->n_libra + s->scenario->n_own == 0;
}

void sim_explain(struct sim *s) {
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++) {
        const struct sim_job *job = s->jobs[i];
        if (job->exchange && job_ends(job))
            exchange_explain(job->exchange);
        for (uint32_t w = 0; w < job->n_workers && !s->violated; w++) {
            const struct sim_worker *k = &job->workers[w];
            if (job_ends(job) && !k->finished && !k->failed && !k->gone)
                sim_violate(s, NULL,
                            "at %g ms job %s, worker %u is not done: %" PRIu64 " tensors are, "
                            "%" PRIu64 " are in flight",
                            (double)s->limit_ns / 1e6, job->as->name, w, k->done, k->in_flight);
        }
    }
    libra_explain(s);
    own_explain(s);
}

void sim_run(struct sim *s) {
    const uint64_t quiet = (uint64_t)(s->scenario->quiet_ms * 1e6);
    if (sim_is_endless(s)) { // the others may be done by then
        s->ended = true;
        run_until(s, s->limit_ns);
        if (s->unfinished)
            sim_explain(s);
    } else if (!run_until(s, s->limit_ns)) {
        sim_explain(s);
    } else {
        s->ended = true;
        run_until(s, s->done_at + quiet);
    }
    if (!s->violated)
        check_end(s);
}

void sim_tell(const struct sim *s, const char *path, FILE *out) {
    fprintf(out, "%s: seed %" PRIu64 ", at %.3f us: %s\n", path, s->seed,
            (double)s->events.now / 1000, s->violation);
    if (s->trace.size) {
        fputs("Last events", out);
        if (s->has_key)
            fprintf(out, " to %s %" PRIu32 " of job %u",
                    s->key.protocol == SIM_ATP     ? "fragment"
                    : s->key.protocol == SIM_LIBRA ? "packet"
                                                   : "slot",
                    s->key.number, s->key.job);
        fputs(":\n", out);
        sim_trace_print(&s->trace, s->has_key ? &s->key : NULL, 60, out);
    }
    fprintf(out, "To repeat it: silken sim %s --seed %" PRIu64 " --trace\n", path, s->seed);
}
