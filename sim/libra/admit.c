// SPDX-License-Identifier: Apache-2.0
//
// Jobs of Libra at a switch with a "tor": its CPU port has the ToR's control plane behind it and no
// Libra_s. That control plane is asked for the job, as by `silken ctl job add`
// (control/tor/jobs_libra.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "sim/libra/job.h"

bool lsim_is_admitted(const struct lsim_job *j) {
    return j->as->hot && j->sim->scenario->stations[j->at].tor;
}

// ---- which jobs ----

static bool lsim_admit_may_work(const struct scenario *sc, const struct scn_libra *as,
                                uint32_t station) {
    bool serves = false;
    for (size_t k = 0; k < as->n_servers; k++)
        serves |= as->servers[k] == station;
    return !sc->stations[station].is_switch && !serves;
}

static uint32_t lsim_admit_first_worker(const struct scenario *sc, const struct scn_libra *as) {
    uint32_t st = as->workers ? as->workers[0] : 0;
    while (!as->workers && !lsim_admit_may_work(sc, as, st))
        st++;
    return st;
}

bool libra_is_at_a_tor(const struct scenario *sc) {
    for (size_t i = 0; i < sc->n_libra; i++) {
        const struct scn_libra *as = &sc->libra[i];
        uint32_t at = as->at;
        for (uint32_t c = 0; c < sc->n_cables && at == SCN_NONE; c++)
            if (sc->cables[c].a == lsim_admit_first_worker(sc, as))
                at = sc->cables[c].b;
            else if (sc->cables[c].b == lsim_admit_first_worker(sc, as))
                at = sc->cables[c].a;
        if (as->hot && at != SCN_NONE && sc->stations[at].tor)
            return true;
    }
    return false;
}

// ---- a job ----

static json_t *lsim_admit_address(uint32_t ip) {
    return json_sprintf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

static json_t *lsim_admit_request(const struct lsim_job *j) {
    const struct sim_station *stations = j->sim->stations;
    json_t *workers = json_array();
    for (uint32_t w = 0; w < j->n_workers; w++) {
        const struct sim_station *st = &stations[j->workers[w].station];
        json_t *address = lsim_admit_address(st->ip);
        json_array_append_new(workers,
                              json_sprintf("%s:%s", st->as->name, json_string_value(address)));
        json_decref(address);
    }
    json_t *request = json_pack("{s:s, s:s, s:i, s:i, s:I, s:i, s:i, s:o, s:o}", "name",
                                j->as->name, "protocol", "libra", "number", j->number, "epoch",
                                j->layout.epoch, "hot", (json_int_t)j->layout.n, "cells",
                                (int)lsim_cells(j), "udp_port", lsim_worker_port(j), "address",
                                lsim_admit_address(stations[j->at].ip), "workers", workers);
    if (j->as->rate_mbps)
        json_object_set_new(request, "rate", json_integer(j->as->rate_mbps));
    return request;
}

// A host that sends frames without a tag: its link is in a VLAN without one.
static bool lsim_admit_untagged(const json_t *tor, const struct sim_station *host) {
    json_t *link;
    size_t i;
    json_array_foreach(json_object_get(tor, "links"), i, link) {
        if (strcmp(sk_json_text(link, "port"), host->as->name) == 0)
            return json_is_integer(json_object_get(link, "access"));
    }
    return false;
}

static int lsim_admit_check(const struct sim_station *st, const struct lsim_job *j,
                            struct sk_error *err) {
    json_t *tor = json_loads(st->as->tor, 0, NULL);
    const char *elsewhere = NULL;
    for (uint32_t w = 0; w < j->n_workers; w++) {
        const struct sim_station *host = &j->sim->stations[j->workers[w].station];
        elsewhere = lsim_admit_untagged(tor, host) ? elsewhere : host->as->name;
    }
    json_decref(tor);
    return elsewhere ? sk_fail(err,
                               "worker %s is at no link of the \"tor\" with \"port\": \"%s\" and "
                               "\"access\"; one that is elsewhere cannot be admitted",
                               elsewhere, elsewhere)
                     : 0;
}

static int lsim_admit_job(const struct sim_station *st, struct lsim_job *j, struct sk_error *err) {
    if (!j->as->floats)
        return sk_fail(err, "it pushes integers, and the program adds floats");
    if (lsim_admit_check(st, j, err))
        return -1;
    json_t *job = sim_tor_ask(st->node, "job.add", lsim_admit_request(j), err);
    if (!job)
        return -1;
    j->cell_base = (uint32_t)sk_json_number(job, "first_cell");
    j->added = true;
    j->here = j->at;
    json_decref(job);
    return 0;
}

int libra_admit(struct sim_station *st, struct sk_error *err) {
    const struct sim *s = st->node->sim;
    for (size_t i = 0; s->libra && st->as->tor && i < s->libra->n; i++) {
        struct lsim_job *j = &s->libra->jobs[i];
        if (!lsim_is_admitted(j) || j->at != st->id || j->added || lsim_admit_job(st, j, err) == 0)
            continue;
        sk_error_prefix(err, "job %s", j->as->name);
        return -1;
    }
    return 0;
}

// ---- its cells ----

// A register of cells, and the pipe that has it.
static int lsim_admit_find(const struct sk_switch *sw, unsigned r, struct sk_object *cells,
                           struct sk_pipe_list *pipes, struct sk_error *err) {
    char name[48];
    snprintf(name, sizeof name, "lane%u.cells%u", r % 2, r / 2);
    if (sk_find_object(sw, SK_REGISTER, name, cells, err) < 0 ||
        sk_find_pipes(sw, cells, -1, pipes, err) < 0)
        return -1;
    return pipes->n == 1 ? 0 : sk_fail(err, "register '%s' is in several pipes", name);
}

static char *lsim_admit_read(const struct lsim_job *j, unsigned r) {
    struct sk_switch *sw = j->sim->stations[j->here].node->sw;
    const uint32_t n = lsim_cells(j);
    char *text = malloc(8 * (size_t)n + 1);
    struct sk_object cells;
    struct sk_pipe_list pipes;
    struct sk_error err;
    if (!text || lsim_admit_find(sw, r, &cells, &pipes, &err) < 0)
        abort(); // it has been found before
    for (uint32_t i = 0; i < n; i++)
        snprintf(text + 8 * (size_t)i, 9, "%08x",
                 (uint32_t)cells.desc->register_read(sk_switch_pipe(sw, pipes.list[0]), cells.index,
                                                     j->cell_base + i, 0));
    return text;
}

json_t *lsim_admitted_cells(const struct lsim_job *j) {
    json_t *list = json_array();
    for (unsigned r = 0; r < LIBRA_PLACES; r++) {
        char *text = lsim_admit_read(j, r);
        json_array_append_new(list, json_string(text));
        free(text);
    }
    return list;
}
