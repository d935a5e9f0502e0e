// SPDX-License-Identifier: Apache-2.0
//
// Jobs of Libra at a switch with a "tor": its CPU port has the ToR's control plane behind it and no
// Libra_s. That control plane has such jobs, too (control/tor/jobs_libra.c); those of a scenario
// are admitted here, by the same entries (p4/rack/README.md, "What the control plane writes").
// The entries with UDP port 0 are left out: they are for packets with IPv4 options, which no
// simulated host sends.
//
// Cells and records are given away in the order of the scenario, and are 0 as the switch begins
// with them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "base/json.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "hosts/libra/adder.h"
#include "sim/libra/job.h"

#define CELLS    16384u // of each register of p4/libra
#define RECORDS  64u    // workers that have some
#define PROTOCOL 3u     // Libra's in 'registered'
#define TO_LIBRA 453u   // the port by which its pipe is entered
#define MEMBERS  "membership.workers"

struct admit_number {
    char text[24];
};

struct admit {
    struct sim_station *st;
    struct sk_error *err;
    json_t *links; // of the section "tor"
    uint32_t cells, records;
    bool begun; // what all jobs have in common is there
};

bool lsim_is_admitted(const struct lsim_job *j) {
    return j->as->hot && j->sim->scenario->stations[j->at].tor;
}

static const char *lsim_admit_number(struct admit_number *n, uint32_t number) {
    snprintf(n->text, sizeof n->text, "%" PRIu32, number);
    return n->text;
}

static int lsim_admit_add(const struct admit *a, struct sk_entry_spec e) {
    e.pipe = -1;
    return sk_control_entry_add(a->st->node->sw, &e, a->err);
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

// ---- entries ----

// Nobody else may speak to the switch, or to a worker in the name of the switch.
static int lsim_admit_guard(const struct admit *a, uint32_t address, uint16_t port) {
    struct admit_number n[2];
    const struct sk_named_value keys[] = {{"hdr.ipv4.dst_addr", lsim_admit_number(&n[0], address)},
                                          {"dst_port", lsim_admit_number(&n[1], port)}};
    return lsim_admit_add(a, (struct sk_entry_spec){
                                 .table = "guarded", .keys = keys, .n_keys = 2, .action = "guard"});
}

// The rate is that of the ToR's own jobs (docs/manual.md): bursts of 10 ms, at least some dozens of
// packets.
static int lsim_admit_register(const struct admit *a, const struct lsim_job *j, uint32_t address,
                               uint16_t port) {
    const uint32_t rate = j->as->rate_mbps * 1000,
                   burst = j->as->rate_mbps < 10 ? 100 : j->as->rate_mbps * 10;
    struct admit_number n[6];
    const char *kbps = lsim_admit_number(&n[0], rate), *kbits = lsim_admit_number(&n[1], burst);
    const struct sk_named_value keys[] = {{"ingress_port", lsim_admit_number(&n[2], port)},
                                          {"md.tag", "0"},
                                          {"hdr.ipv4.src_addr", lsim_admit_number(&n[3], address)},
                                          {"protocol", lsim_admit_number(&n[4], PROTOCOL)},
                                          {"job", lsim_admit_number(&n[5], j->number)},
                                          {"is_ack", "0"}};
    const struct sk_named_value meter[] = {{"$METER_SPEC_CIR_KBPS", kbps},
                                           {"$METER_SPEC_PIR_KBPS", kbps},
                                           {"$METER_SPEC_CBS_KBITS", kbits},
                                           {"$METER_SPEC_PBS_KBITS", kbits}};
    return lsim_admit_add(a, (struct sk_entry_spec){.table = "registered",
                                                    .keys = keys,
                                                    .n_keys = 6,
                                                    .action = "libra",
                                                    .args = meter,
                                                    .n_args = rate ? 4 : 0});
}

static int lsim_admit_member(const struct admit *a, const struct lsim_job *j, uint32_t worker,
                             uint32_t address) {
    struct admit_number n[8];
    const struct sk_named_value keys[] = {
        {"hdr.libra.job", lsim_admit_number(&n[0], j->number)},
        {"hdr.libra.worker", lsim_admit_number(&n[1], worker)},
        {"hdr.ipv4.src_addr", lsim_admit_number(&n[2], address)},
        {"ig_intr_md.ingress_port", lsim_admit_number(&n[3], TO_LIBRA)}};
    const struct sk_named_value args[] = {
        {"cell_base", lsim_admit_number(&n[4], j->cell_base)},
        {"cell_last", lsim_admit_number(&n[5], lsim_cells(j) - 1)},
        {"record_base", lsim_admit_number(&n[6], (a->records + worker) * LIBRA_WINDOW_MOST)},
        {"epoch", lsim_admit_number(&n[7], j->layout.epoch)}};
    return lsim_admit_add(a, (struct sk_entry_spec){.table = MEMBERS,
                                                    .keys = keys,
                                                    .n_keys = 4,
                                                    .action = "admit",
                                                    .args = args,
                                                    .n_args = 4});
}

static int lsim_admit_way(const struct admit *a, const struct lsim_job *j,
                          const struct sim_station *to, uint16_t port, uint32_t vid) {
    struct admit_number n[4];
    char mac[SK_MAC_TEXT];
    const struct sk_named_value keys[] = {{"job", lsim_admit_number(&n[0], j->number)},
                                          {"dst_addr", lsim_admit_number(&n[1], to->ip)}};
    const struct sk_named_value args[] = {{"port", lsim_admit_number(&n[2], port)},
                                          {"vid", lsim_admit_number(&n[3], vid)},
                                          {"dst_addr", sk_mac_text(to->mac, mac)}};
    return lsim_admit_add(a, (struct sk_entry_spec){.table = "receives",
                                                    .keys = keys,
                                                    .n_keys = 2,
                                                    .action = "out_by",
                                                    .args = args,
                                                    .n_args = 3});
}

// ---- a job ----

// The VLAN of the station's link, of frames without a tag; 0: it has none.
static uint32_t lsim_admit_vlan(const struct admit *a, const struct sim_station *to) {
    json_t *link;
    size_t i;
    json_array_foreach(a->links, i, link) {
        if (strcmp(sk_json_text(link, "port"), to->as->name) == 0)
            return (uint32_t)json_integer_value(json_object_get(link, "access"));
    }
    return 0;
}

static int lsim_admit_worker(const struct admit *a, const struct lsim_job *j, uint32_t worker) {
    const struct sim_station *to = &j->sim->stations[j->workers[worker].station];
    const uint16_t port = node_port_to(a->st->node, to->id);
    const uint32_t vid = lsim_admit_vlan(a, to);
    if (vid == 0)
        return sk_fail(a->err,
                       "worker %s is at no link of the \"tor\" with \"port\": \"%s\" and "
                       "\"access\"; one that is elsewhere cannot be admitted",
                       to->as->name, to->as->name);
    return lsim_admit_member(a, j, worker, to->ip) || lsim_admit_register(a, j, to->ip, port) ||
                   lsim_admit_way(a, j, to, port, vid) ||
                   lsim_admit_guard(a, to->ip, lsim_worker_port(j))
               ? -1
               : 0;
}

static int lsim_admit_fill(void *aux, const char *table, const char *action, const uint32_t *values,
                           size_t n) {
    const struct admit *a = aux;
    return sk_control_table_fill(a->st->node->sw, table, action, values, n, -1, a->err);
}

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

static int lsim_admit_begin(struct admit *a) {
    struct sk_object table, cells;
    struct sk_pipe_list pipes;
    struct sk_error ignored;
    if (a->begun)
        return 0;
    a->begun = true;
    if (sk_find_object(a->st->node->sw, SK_TABLE, MEMBERS, &table, &ignored) < 0)
        return sk_fail(a->err,
                       "a switch with a \"tor\" has no Libra_s: it takes jobs of Libra by the "
                       "table '%s' of p4/rack/with_libra.p4, which its program lacks",
                       MEMBERS);
    for (unsigned r = 0; r < LIBRA_PLACES; r++)
        if (lsim_admit_find(a->st->node->sw, r, &cells, &pipes, a->err) < 0)
            return -1;
    return libra_adder_fill(libra_adder(), lsim_admit_fill, a) ||
                   lsim_admit_guard(a, a->st->ip, LIBRA_PORT)
               ? -1
               : 0;
}

static int lsim_admit_job(struct admit *a, struct lsim_job *j) {
    if (!j->as->floats)
        return sk_fail(a->err, "it pushes integers, and the program adds floats");
    if (a->cells + lsim_cells(j) > CELLS || a->records + j->n_workers > RECORDS)
        return sk_fail(a->err,
                       "there is no room: the switch has %u cells in each register and records of "
                       "%u workers, and with this job %u and %u would be used",
                       CELLS, RECORDS, a->cells + lsim_cells(j), a->records + j->n_workers);
    j->cell_base = a->cells;
    for (uint32_t w = 0; w < j->n_workers; w++)
        if (lsim_admit_worker(a, j, w))
            return -1;
    j->added = true;
    j->here = j->at;
    return 0;
}

int lsim_admit(struct sim_station *st, struct sk_error *err) {
    const struct sim *s = st->node->sim;
    json_t *tor = json_loads(st->as->tor, 0, NULL);
    struct admit a = {.st = st, .err = err, .links = json_object_get(tor, "links")};
    int rc = 0;
    for (size_t i = 0; i < s->libra->n && rc == 0; i++) {
        struct lsim_job *j = &s->libra->jobs[i];
        if (!lsim_is_admitted(j) || j->at != st->id || j->added)
            continue;
        rc = lsim_admit_begin(&a) || lsim_admit_job(&a, j) ? -1 : 0;
        if (rc)
            sk_error_prefix(err, "job %s", j->as->name);
        a.cells += lsim_cells(j);
        a.records += j->n_workers;
    }
    json_decref(tor);
    return rc;
}

// ---- its cells ----

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
