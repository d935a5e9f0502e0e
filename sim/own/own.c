// SPDX-License-Identifier: Apache-2.0
#include "sim/own/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct own_job;

// A station of a job; while its host is up, an app of it.
struct own_station {
    struct sim_app app; // first: what the host knows of it
    struct own_job *job;
    uint32_t number, host, incarnation;
    void *station; // null: its host is down, or the job has not begun
    enum silken_station_state state;
};

struct own_job {
    struct sim *sim;
    const struct scn_own *as;
    struct own_station *stations;
    uint64_t start_ns, done_at;
    bool begun, over, failed;
};

struct sim_own {
    struct own_job *jobs;
    size_t n;
};

// ---- how a station is ----

// A library's text goes to terminals and into JSON.
static void own_clean(char *text, size_t size) {
    text[size - 1] = 0;
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void own_is_over(struct own_job *job) {
    for (size_t i = 0; i < job->as->n_hosts; i++)
        if (job->stations[i].state == SILKEN_STATION_BUSY)
            return;
    if (job->over)
        return;
    job->over = true;
    job->done_at = job->sim->events.now;
    if (--job->sim->unfinished == 0)
        job->sim->done_at = job->sim->events.now;
}

static void own_look(struct own_station *st) {
    struct own_job *job = st->job;
    struct sim *s = job->sim;
    char why[256] = "";
    // one that is done may still find that something is wrong
    if (!st->station || st->state == SILKEN_STATION_WRONG)
        return;
    enum silken_station_state state = job->as->stations->state(st->station, why, sizeof why);
    own_clean(why, sizeof why);
    if ((unsigned)state > SILKEN_STATION_WRONG) {
        snprintf(why, sizeof why, "its state is %d, which silken/station.h does not have",
                 (int)state);
        state = SILKEN_STATION_WRONG;
    }
    if (state == st->state || (state != SILKEN_STATION_WRONG && st->state != SILKEN_STATION_BUSY))
        return;
    st->state = state;
    job->failed |= state == SILKEN_STATION_FAILED;
    sim_trace_add(&s->trace, s->events.now, s->stations[st->host].as->name,
                  state == SILKEN_STATION_DONE ? "is done" : "has failed", NULL, 0);
    if (state == SILKEN_STATION_WRONG)
        sim_violate(s, NULL, "job %s, station %u: %s", job->as->name, st->number, why);
    else if (state == SILKEN_STATION_FAILED && !s->scenario->may_fail)
        sim_violate(s, NULL, "job %s, station %u has failed: %s", job->as->name, st->number, why);
    own_is_over(job);
}

// ---- on its host ----

static bool own_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct own_station *st = (const struct own_station *)a;
    return st->job->as->stations->wants(st->station, frame, length);
}

static void own_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct own_station *st = (struct own_station *)a;
    st->job->as->stations->deliver(st->station, frame, length, now);
    own_look(st);
}

static size_t own_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct own_station *st = (struct own_station *)a;
    const size_t most = cap < SILKEN_STATION_FRAME ? cap : SILKEN_STATION_FRAME;
    const size_t n = st->job->as->stations->next(st->station, buf, most, now);
    if (n > most || (n && n < 14)) {
        sim_violate(st->job->sim, NULL, "job %s, station %u sends a frame of %zu bytes",
                    st->job->as->name, st->number, n);
        return 0;
    }
    own_look(st);
    return n;
}

static uint64_t own_deadline(struct sim_app *a) {
    const struct own_station *st = (const struct own_station *)a;
    const uint64_t now = st->job->sim->events.now,
                   wanted = st->job->as->stations->deadline(st->station);
    return wanted < now ? now : wanted;
}

static void own_expire(struct sim_app *a, uint64_t now) {
    struct own_station *st = (struct own_station *)a;
    st->job->as->stations->expire(st->station, now);
    own_look(st);
}

static void own_gone(struct sim_app *a) {
    struct own_station *st = (struct own_station *)a;
    if (st->station)
        st->job->as->stations->close(st->station);
    st->station = NULL;
}

static const struct sim_app_ops own_ops = {own_wants,    own_deliver, own_next,
                                           own_deadline, own_expire,  own_gone};

static struct silken_station_address own_address(const struct sim_station *st) {
    struct silken_station_address a = {.ip = st->ip};
    memcpy(a.mac, st->mac, 6);
    return a;
}

static void own_open(struct own_station *st) {
    struct own_job *job = st->job;
    struct sim *s = job->sim;
    struct silken_station_address all[SCN_MAX_WORKERS];
    char error[256] = "";
    for (size_t i = 0; i < job->as->n_hosts; i++)
        all[i] = own_address(&s->stations[job->as->hosts[i]]);
    const struct silken_station_info info = {
        .seed = s->seed,
        .number = st->number,
        .stations = (uint32_t)job->as->n_hosts,
        .incarnation = st->incarnation,
        .address = all,
        .at_switch = own_address(&s->stations[switch_of(s, st->host)]),
        .options = job->as->options,
    };
    st->station = job->as->stations->open(&info, error, sizeof error);
    own_clean(error, sizeof error);
    if (!st->station) {
        sim_violate(s, NULL, "job %s, station %u cannot be opened: %s", job->as->name, st->number,
                    *error ? error : "it gives no reason");
        return;
    }
    st->app = (struct sim_app){.ops = &own_ops};
    host_add(s->stations[st->host].host, &st->app);
    own_look(st);
    host_serve(s->stations[st->host].host);
}

// ---- the job ----

static void own_begin(void *who, void *what) {
    struct own_job *job = who;
    (void)what;
    job->begun = true;
    for (size_t i = 0; i < job->as->n_hosts; i++)
        if (!job->sim->stations[job->stations[i].host].host->down)
            own_open(&job->stations[i]);
}

void own_make(struct sim *s) {
    const struct scenario *sc = s->scenario;
    if (!sc->n_own)
        return;
    s->own = calloc(1, sizeof *s->own);
    if (!s->own || !(s->own->jobs = calloc(sc->n_own, sizeof *s->own->jobs)))
        abort();
    for (size_t i = 0; i < sc->n_own; i++) {
        struct own_job *job = &s->own->jobs[s->own->n++];
        *job = (struct own_job){.sim = s, .as = &sc->own[i]};
        job->stations = calloc(job->as->n_hosts, sizeof *job->stations);
        if (!job->stations)
            abort();
        for (uint32_t k = 0; k < job->as->n_hosts; k++)
            job->stations[k] =
                (struct own_station){.job = job, .number = k, .host = job->as->hosts[k]};
        job->start_ns = (uint64_t)(sim_draw(&s->draws, &job->as->start_ms) * 1e6);
        s->unfinished++;
        sim_at(&s->events, job->start_ns, own_begin, job, NULL);
    }
}

void own_host_down(struct sim *s, uint32_t station) {
    for (size_t j = 0; s->own && j < s->own->n; j++)
        for (size_t i = 0; i < s->own->jobs[j].as->n_hosts; i++)
            if (s->own->jobs[j].stations[i].host == station)
                s->own->jobs[j].stations[i].incarnation++;
}

void own_host_up(struct sim *s, uint32_t station) {
    for (size_t j = 0; s->own && j < s->own->n; j++)
        for (size_t i = 0; i < s->own->jobs[j].as->n_hosts; i++) {
            struct own_station *st = &s->own->jobs[j].stations[i];
            if (st->host == station && s->own->jobs[j].begun && !st->station)
                own_open(st);
        }
}

void own_explain(struct sim *s) {
    for (size_t j = 0; s->own && j < s->own->n; j++)
        for (size_t i = 0; i < s->own->jobs[j].as->n_hosts; i++)
            if (s->own->jobs[j].stations[i].state == SILKEN_STATION_BUSY)
                sim_violate(s, NULL, "at %g ms job %s, station %zu is not done",
                            (double)s->limit_ns / 1e6, s->own->jobs[j].as->name, i);
}

// ---- the result ----

static void own_tell(void *to, const char *name, uint64_t value) {
    json_object_set_new(to, name, json_integer((json_int_t)value));
}

static json_t *own_station_result(const struct own_station *st) {
    static const char *const states[] = {"working", "done", "failed", "wrong"};
    json_t *counts = json_object();
    if (st->station && st->job->as->stations->counts)
        st->job->as->stations->counts(st->station, own_tell, counts);
    return json_pack("{s:s, s:s, s:i, s:o}", "host", st->job->sim->stations[st->host].as->name,
                     "state", states[st->state], "incarnation", (int)st->incarnation, "counts",
                     counts);
}

bool own_results(const struct sim *s, json_t *jobs) {
    bool failed = false;
    for (size_t j = 0; s->own && j < s->own->n; j++) {
        const struct own_job *job = &s->own->jobs[j];
        json_t *stations = json_array(), *o;
        json_int_t verified = 0;
        failed |= job->failed;
        for (size_t i = 0; i < job->as->n_hosts; i++) {
            json_array_append_new(stations, o = own_station_result(&job->stations[i]));
            verified +=
                json_integer_value(json_object_get(json_object_get(o, "counts"), "verified"));
        }
        json_array_append_new(jobs, json_pack("{s:s, s:s, s:s, s:f, s:I, s:o}", "name",
                                              job->as->name, "protocol", "own", "outcome",
                                              s->violated   ? "violated"
                                              : job->failed ? "failed"
                                              : job->over   ? "sums"
                                                            : "unfinished",
                                              "done_us", (double)job->done_at / 1000, "verified",
                                              verified, "workers", stations));
    }
    return failed;
}

void own_free(struct sim *s) {
    for (size_t j = 0; s->own && j < s->own->n; j++)
        free(s->own->jobs[j].stations);
    if (s->own)
        free(s->own->jobs);
    free(s->own);
}
