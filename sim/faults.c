// SPDX-License-Identifier: Apache-2.0
//
// The faults of a scenario in one run: what the seed draws of them, and when they happen.
#include <stdlib.h>
#include <string.h>

#include "sim/cpu.h"
#include "sim/job.h"
#include "sim/libra/libra.h"
#include "sim/own/own.h"
#include "sim/process.h"
#include "sim/real.h"

static uint64_t at_of(struct sim *s, const struct sim_range *us) {
    return (uint64_t)(sim_draw(&s->draws, us) * 1000);
}

// ---- links ----

static bool leads_where(const struct sim *s, uint32_t link, enum scn_way way) {
    const bool to_switch = s->stations[link_to(s, link)].as->is_switch;
    return way == SCN_BOTH || to_switch == (way == SCN_TO_SWITCH);
}

// Of two faults of a kind the later one counts.
static void damage(const struct scn_fault *f, struct sim_link *l, double rate, uint64_t by_ns) {
    switch (f->kind) {
    case SCN_LOSS:
        l->faults.loss = rate;
        if (f->n_packets) {
            l->faults.lose = f->packets;
            l->faults.n_lose = f->n_packets;
        }
        break;
    case SCN_DUPLICATE:
        l->faults.duplicate = rate;
        break;
    case SCN_REORDER:
        l->faults.reorder = rate;
        l->faults.reorder_ns = by_ns;
        break;
    case SCN_CORRUPT:
        l->faults.corrupt = rate;
        l->faults.undetected = f->undetected;
        break;
    default:
        break;
    }
}

static void damage_links(struct sim *s, const struct scn_fault *f) {
    const double rate = sim_draw(&s->draws, &f->rate);
    const uint64_t by = at_of(s, &f->by_us);
    for (uint32_t l = 0; l < s->n_links; l++) {
        bool here = f->n_cables == 0;
        for (size_t i = 0; i < f->n_cables; i++)
            here |= f->cables[i] == l / 2;
        if (here && leads_where(s, l, f->way))
            damage(f, &s->links[l], rate, by);
    }
}

static void cable_down(void *who, void *what) {
    struct sim_link *l = who;
    sim_trace_add(l->trace, l->events->now, l->name, "goes down", NULL, 0);
    sim_link_set_down(l, true);
    paths_changed(what);
}

static void cable_up(void *who, void *what) {
    struct sim_link *l = who;
    sim_trace_add(l->trace, l->events->now, l->name, "comes up", NULL, 0);
    sim_link_set_down(l, false);
    paths_changed(what);
}

// ---- stations ----

static void restart(void *who, void *what) {
    struct sim_station *st = who;
    (void)what;
    if (!real_power(st, false))
        node_restart(st);
    paths_changed(st->node->sim);
}

static void sim_faults_configure(void *who, void *what) {
    struct sim_station *st = who;
    struct sim *s = st->node->sim;
    struct sk_error err;
    (void)what;
    if (real_power(st, true)) {
        paths_changed(s);
        return;
    }
    sim_trace_add(&s->trace, s->events.now, st->as->name, "is configured", NULL, 0);
    if (!st->node->configured && node_configure(st, &err) < 0)
        sim_violate(s, NULL, "%s", err.text);
    if (s->events.now)
        paths_changed(s);
}

static void crash(void *who, void *what) {
    struct sim_station *st = who;
    struct sim *s = st->host->sim;
    if (st->host->down)
        return;
    sim_trace_add(&s->trace, s->events.now, st->as->name, "crashes", NULL, 0);
    for (size_t i = 0; i < s->scenario->n_jobs; i++)
        job_host_down(s->jobs[i], st->id, what != NULL);
    libra_host_down(s, st->id, what != NULL);
    own_host_down(s, st->id);
    host_crash(st->host);
}

static void come_back(void *who, void *what) {
    struct sim_station *st = who;
    struct sim *s = st->host->sim;
    (void)what;
    if (!st->host->down)
        return;
    sim_trace_add(&s->trace, s->events.now, st->as->name, "is back", NULL, 0);
    st->host->down = false;
    for (size_t i = 0; i < s->scenario->n_jobs; i++)
        job_host_up(s->jobs[i], st->id);
    libra_host_up(s, st->id);
    own_host_up(s, st->id);
}

static void slow_cpu(void *who, void *what) {
    struct sim_station *st = who;
    if (st->node->cpu)
        cpu_slow(st->node->cpu, (uint64_t)(uintptr_t)what);
}

static void sim_faults_migrate(void *who, void *what) {
    (void)what;
    libra_move(who);
}

// ---- when ----

struct target {
    uint32_t list[2 * SCN_MAX_LEVELLED_STATION];
    size_t n;
};

// Whether a fault that names no stations is one of this one.
static bool may_be_at(const struct sim *s, enum scn_fault_kind kind, uint32_t station) {
    bool worker = false, server = false;
    if (kind == SCN_MIGRATE)
        return station == 0; // of the network as a whole
    if (kind != SCN_WORKER_RESTART && kind != SCN_SERVER_RESTART)
        return s->stations[station].as->is_switch != (kind == SCN_HOST_CRASH);
    for (size_t i = 0; i < s->scenario->n_jobs && !s->stations[station].as->is_switch; i++) {
        const struct scn_job *job = &s->scenario->jobs[i];
        bool serves = false;
        for (size_t k = 0; k < job->n_servers; k++)
            serves |= job->servers[k] == station;
        server |= job->sessions && serves;
        worker |= job->sessions && !serves;
    }
    return kind == SCN_SERVER_RESTART ? server : worker;
}

// The things that are named, or all there are; with 'one' a drawn one of them.
static void targets(struct sim *s, const struct scn_fault *f, struct target *t) {
    const bool cables = f->kind == SCN_LINK_DOWN;
    const size_t named = cables ? f->n_cables : f->n_stations;
    t->n = 0;
    for (size_t i = 0; i < named; i++)
        t->list[t->n++] = cables ? f->cables[i] : f->stations[i];
    for (uint32_t i = 0; !named && cables && i < s->scenario->n_cables; i++)
        t->list[t->n++] = i;
    for (uint32_t i = 0; !named && !cables && i < s->scenario->n_stations; i++)
        if (may_be_at(s, f->kind, i))
            t->list[t->n++] = i;
    const uint64_t which = sim_random_below(&s->draws, t->n ? t->n : 1);
    if (f->one && t->n) {
        t->list[0] = t->list[which];
        t->n = 1;
    }
}

static uint64_t late_of(struct sim *s, const struct scn_fault *f) {
    return f->late_us.high > 0 ? at_of(s, &f->late_us) : 0;
}

static void schedule(struct sim *s, const struct scn_fault *f, uint32_t target, uint64_t at,
                     uint64_t until) {
    struct sim_events *e = &s->events;
    struct sim_station *st = f->kind == SCN_LINK_DOWN ? NULL : &s->stations[target];
    switch (f->kind) {
    case SCN_LINK_DOWN:
        for (uint32_t l = 2 * target; l < 2 * target + 2; l++) {
            sim_at(e, at, cable_down, &s->links[l], s);
            sim_at(e, until, cable_up, &s->links[l], s);
        }
        break;
    case SCN_SWITCH_RESTART:
        sim_at(e, at, restart, st, NULL);
        sim_at(e, until, sim_faults_configure, st, NULL);
        break;
    case SCN_HOST_CRASH:
        sim_at(e, at, crash, st, until == SIM_NEVER ? st : NULL); // for ever?
        sim_at(e, until, come_back, st, NULL);
        break;
    case SCN_WORKER_RESTART:
        processes_restart_at(s, target, false, at, until, late_of(s, f));
        break;
    case SCN_SERVER_RESTART:
        processes_restart_at(s, target, true, at, until, late_of(s, f));
        break;
    case SCN_SLOW_CPU:
        sim_at(e, at, slow_cpu, st, (void *)(uintptr_t)at_of(s, &f->service_us));
        sim_at(e, until, slow_cpu, st, NULL);
        break;
    case SCN_MIGRATE:
        sim_at(e, at, sim_faults_migrate, s, NULL);
        break;
    default:
        break;
    }
}

static void schedule_all(struct sim *s, const struct scn_fault *f) {
    static _Thread_local struct target t;
    const bool at_once = f->kind == SCN_WORKER_RESTART || f->kind == SCN_SERVER_RESTART;
    const bool once = f->times.low == 1 && f->times.high == 1;
    const unsigned times = once ? 1 : (unsigned)(sim_draw(&s->draws, &f->times) + 0.5);
    for (unsigned k = 0; k < times; k++) {
        targets(s, f, &t);
        for (size_t i = 0; i < t.n; i++) {
            const uint64_t at = at_of(s, &f->at_us), for_ns = at_of(s, &f->for_us);
            schedule(s, f, t.list[i], at, for_ns || at_once ? at + for_ns : SIM_NEVER);
        }
    }
}

// All switches are configured at the start, but for those whose control plane is slow.
static void configure_all(struct sim *s, const bool *active) {
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        uint64_t at = 0;
        if (!s->stations[i].as->is_switch)
            continue;
        for (size_t k = 0; k < s->scenario->n_faults; k++) {
            const struct scn_fault *f = &s->scenario->faults[k];
            bool here = f->n_stations == 0;
            for (size_t j = 0; j < f->n_stations; j++)
                here |= f->stations[j] == i;
            if (f->kind == SCN_SLOW_CONTROL && active[k] && here)
                at = at_of(s, &f->delay_us);
        }
        s->stations[i].node->configured_at = at;
        sim_at(&s->events, at, sim_faults_configure, &s->stations[i], NULL);
    }
}

void faults_schedule(struct sim *s) {
    const size_t n = s->scenario->n_faults;
    bool *active = calloc(n + 1, sizeof *active);
    if (!active)
        abort();
    for (size_t i = 0; i < n; i++)
        active[i] = sim_random_real(&s->draws) < s->scenario->faults[i].chance;
    configure_all(s, active);
    for (size_t i = 0; i < n; i++) {
        const struct scn_fault *f = &s->scenario->faults[i];
        if (active[i] && f->kind <= SCN_CORRUPT)
            damage_links(s, f);
        else if (active[i] && f->kind != SCN_SLOW_CONTROL)
            schedule_all(s, f);
    }
    free(active);
}
