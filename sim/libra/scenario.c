// SPDX-License-Identifier: Apache-2.0
#include "sim/libra/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hosts/libra/worker.h"
#include "sim/scenario_impl.h"

#define MAX_MS     3.6e6
#define MAX_US     3.6e9
#define SERVERS    16u     // control/libra has no more
#define MEMBERS    64u     // nor the records of p4/libra
#define HOT        262144u // cells of p4/libra
#define PARAMETERS 2e9
#define RATE       100000u // Mbit/s

static void lsim_scenario_read_work(const struct scenario *s, const struct sk_at *at,
                                    struct scn_libra *j) {
    static const char *const work_keys[] = {
        "parameters", "zipf", "draws", "batches", "outstanding", "compute_us", "jitter",
        "values",     "pull", "sync",  "collect", "start_ms",    NULL};
    static const char *const types[] = {"integers", "floats", NULL};
    const struct sk_at work = sk_at_member(at, "work");
    if (!json_is_object(work.value)) {
        sk_at_fail(&work, work.value ? "must be an object" : "it is missing");
        return;
    }
    sk_at_keys(&work, work_keys);
    j->parameters = floor(scn_number(&work, "parameters", 1, PARAMETERS, 100000));
    j->skew = scn_number(&work, "zipf", 0.1, 3, 1);
    j->draws = scn_whole(&work, "draws", 1, 1000000, 1000);
    j->batches = scn_range(&work, "batches", 1, 100000, 1);
    j->outstanding = scn_whole(&work, "outstanding", 1, 64, 1);
    j->compute_ns = scn_number(&work, "compute_us", 0, MAX_US, 0) * 1000;
    j->jitter = scn_number(&work, "jitter", 0, 1, 0);
    j->floats = scn_choice(&work, "values", types, 0) == 1;
    j->pulls = scn_flag(&work, "pull", false);
    j->barrier = scn_flag(&work, "sync", false);
    j->collects = scn_flag(&work, "collect", false);
    j->start_ms = scn_range(&work, "start_ms", 0, MAX_MS, 0);
    const struct sk_at collect = sk_at_member(&work, "collect"),
                       start = sk_at_member(&work, "start_ms"),
                       outstanding = sk_at_member(&work, "outstanding");
    if (j->collects && !(j->floats && j->pulls))
        sk_at_fail(&collect, "needs \"values\": \"floats\" and \"pull\": true");
    if (j->barrier && j->outstanding > 1)
        sk_at_fail(&outstanding, "of a job with \"sync\" is 1");
    if (j->start_ms.high >= s->limit_ms)
        sk_at_fail(&start, "can be %g, but the run ends at limit_ms, which is %g", j->start_ms.high,
                   s->limit_ms);
}

static void lsim_scenario_read_hosts(const struct sk_at *at, struct scn_libra *j) {
    const struct sk_at window = sk_at_member(at, "window"), least = sk_at_member(at, "rto_min_us");
    j->window = scn_range(at, "window", 1, LIBRA_WINDOW_MOST, 16);
    j->window_max = scn_range(at, "window_max", 1, LIBRA_WINDOW_MOST, 128);
    j->rto_initial_us = scn_range(at, "rto_us", 1, MAX_US, 20000);
    j->rto_min_us = scn_range(at, "rto_min_us", 1, MAX_US, 2000);
    j->rto_max_us = scn_range(at, "rto_max_us", 1, MAX_US, 200000);
    j->hard_limit_ms = scn_range(at, "hard_limit_ms", 0, MAX_MS, 0);
    if (j->window.high > j->window_max.low)
        sk_at_fail(&window, "can be %g, which is above window_max", j->window.high);
    if (j->rto_min_us.high > j->rto_max_us.low)
        sk_at_fail(&least, "can be more than rto_max_us");
}

static bool lsim_scenario_is_server(const struct scn_libra *j, uint32_t station) {
    for (size_t i = 0; i < j->n_servers; i++)
        if (j->servers[i] == station)
            return true;
    return false;
}

static void lsim_scenario_read_members(const struct scenario *s, const struct sk_at *at,
                                       struct scn_libra *j) {
    const struct sk_at servers = sk_at_member(at, "servers"), m = sk_at_member(at, "workers");
    uint32_t hosts = 0;
    j->servers = scn_stations(s, &servers, true, false, &j->n_servers);
    if (j->n_servers < 1 || j->n_servers > SERVERS) {
        sk_at_fail(servers.value ? &servers : at,
                   "\"servers\" must be 1 to %u hosts that are parameter servers", SERVERS);
        return;
    }
    for (uint32_t i = 0; i < s->n_stations; i++)
        hosts += !s->stations[i].is_switch && !lsim_scenario_is_server(j, i);
    const uint32_t most = MEMBERS - (uint32_t)j->n_servers, limit = hosts < most ? hosts : most;
    if (limit == 0) {
        sk_at_fail(at, "there is no host for a worker");
    } else if (json_is_array(m.value) && json_is_string(json_array_get(m.value, 0))) {
        j->workers = scn_stations(s, &m, true, false, &j->n_workers);
        if (j->n_workers > most)
            sk_at_fail(&m, "is %zu workers; with %zu servers there can be %u", j->n_workers,
                       j->n_servers, most);
        for (size_t i = 0; i < j->n_workers; i++)
            if (lsim_scenario_is_server(j, j->workers[i]))
                sk_at_fail(&m, "'%s' is a server of the job, too", s->stations[j->workers[i]].name);
    } else {
        j->worker_count = scn_range(at, "workers", 1, limit, limit);
    }
}

void scn_read_libra(struct scenario *s, const struct sk_at *at, size_t i) {
    static const char *const keys[] = {"name",          "protocol", "workers",    "servers",
                                       "switch",        "hot",      "work",       "window",
                                       "window_max",    "rto_us",   "rto_min_us", "rto_max_us",
                                       "hard_limit_ms", "rate",     NULL};
    if (!s->libra)
        s->libra = scn_keep(at, 64, sizeof *s->libra); // as many jobs as a scenario has
    struct scn_libra *j = &s->libra[s->n_libra++];
    const struct sk_at where = sk_at_member(at, "switch"), hot = sk_at_member(at, "hot");
    char *name = scn_keep(at, 32, 1);
    sk_at_keys(at, keys);
    snprintf(name, 32, "job%zu", i);
    j->name = scn_word(at, "name", name);
    if (strlen(j->name) > 60)
        sk_at_fail(at, "a job's name has at most 60 characters");
    j->at = where.value ? scn_station_named(s, &where, false, true) : SCN_NONE;
    j->hot = scn_whole(at, "hot", 0, HOT, 0);
    j->rate_mbps = scn_whole(at, "rate", 0, RATE, 0);
    lsim_scenario_read_members(s, at, j);
    lsim_scenario_read_work(s, at, j);
    lsim_scenario_read_hosts(at, j);
    if (j->hot > j->parameters)
        sk_at_fail(&hot, "is %u, and the job has %.0f parameters", j->hot, j->parameters);
    if (j->parameters < (double)j->n_servers)
        sk_at_fail(at, "it has fewer parameters than servers");
    if (j->collects && j->hot == 0)
        sk_at_fail(at, "\"collect\" needs \"hot\" parameters");
}

void scn_read_controller(struct scenario *s, const struct sk_at *root) {
    static const char *const keys[] = {
        "switch",        "standby",  "heartbeat_us", "misses",   "lossless", "lost",
        "checkpoint_ms", "delay_us", "request_us",   "learn_us", NULL};
    const struct sk_at at = sk_at_member(root, "controller");
    if (!at.value)
        return;
    if (!json_is_object(at.value)) {
        sk_at_fail(&at, "must be an object");
        return;
    }
    struct scn_controller *c = s->controller = scn_keep(&at, 1, sizeof *c);
    const struct sk_at from = sk_at_member(&at, "switch"), standby = sk_at_member(&at, "standby");
    sk_at_keys(&at, keys);
    c->from = scn_station_named(s, &from, false, true);
    c->standby = scn_station_named(s, &standby, false, true);
    if (c->from != SCN_NONE && s->stations[c->from].tor)
        sk_at_fail(&from, "has a \"tor\", and so no Libra_s that could move jobs");
    if (c->from == c->standby)
        sk_at_fail(&standby, "is the switch itself");
    c->heartbeat_ns = scn_number(&at, "heartbeat_us", 10, MAX_US, 1000) * 1000;
    c->misses = scn_whole(&at, "misses", 1, 1000, 3);
    c->checkpoint_ns = scn_number(&at, "checkpoint_ms", 0, MAX_MS, 0) * 1e6;
    c->delay_ns = scn_number(&at, "delay_us", 1, MAX_US, 500000) * 1000;
    c->lost = scn_whole(&at, "lost", 0, UINT32_MAX, 1000);
    c->request_ns = scn_number(&at, "request_us", 0, MAX_US, 100) * 1000;
    c->learn_ns = scn_number(&at, "learn_us", 0, MAX_US, 100) * 1000;
    c->lossless = scn_flag(&at, "lossless", false);
}
