// SPDX-License-Identifier: Apache-2.0
//
// Libra_s at a switch's CPU port, as `silken run` has it with "libra" in its configuration. Jobs
// are added once: a switch that was restarted has nothing of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "sim/cpu.h"
#include "sim/libra/job.h"

// ---- Libra_s as a program at the CPU port ----

static void lsim_switch_frame(void *aux, const uint8_t *frame, uint32_t length, uint64_t now) {
    libra_s_frame(aux, frame, length, now);
}

static void lsim_switch_run(void *aux, uint64_t now) {
    libra_s_run(aux, now);
}

static uint64_t lsim_switch_deadline(void *aux) {
    return libra_s_deadline(aux);
}

static void lsim_switch_free(void *aux) {
    libra_s_free(aux);
}

static bool lsim_switch_send(void *aux, const uint8_t *frame, uint32_t length) {
    return cpu_give(((struct sim_node *)aux)->cpu, frame, length);
}

// A job's layout has the job's name.
static int lsim_switch_layout(void *aux, const char *name, struct libra_layout *layout,
                              struct sk_error *err) {
    const struct sim *s = ((struct sim_node *)aux)->sim;
    for (size_t i = 0; i < s->libra->n; i++) {
        const struct libra_layout *its = &s->libra->jobs[i].layout;
        if (strcmp(s->libra->jobs[i].as->name, name) == 0)
            return libra_layout_make(layout, its->job, its->epoch, its->registers, its->keys,
                                     its->n, err);
    }
    return sk_fail(err, "there is no layout '%.60s'", name);
}

struct libra_s *lsim_switch(const struct sim *s, uint32_t station) {
    const struct sim_node *n = s->stations[station].node;
    const bool its =
        n && n->sw && n->cpu && n->cpu->on && n->cpu->program.frame == lsim_switch_frame;
    return its ? n->cpu->program.aux : NULL;
}

json_t *lsim_ask(struct libra_s *l, json_t *request, struct sk_error *err) {
    struct sk_json doc = {.name = "request", .err = err};
    const struct sk_at at = {.doc = &doc, .value = request};
    bool known;
    json_t *reply = libra_s_request(l, sk_json_text(request, "op"), &at, &known);
    json_decref(request);
    sk_json_release(&doc);
    return reply;
}

// ---- jobs ----

static json_t *lsim_switch_member(const struct sim_node *n, uint32_t station, bool mac) {
    const struct sim_station *st = &n->sim->stations[station];
    const uint16_t port = node_port_to(n, station);
    char text[SK_MAC_TEXT];
    return json_sprintf("%u:%u.%u.%u.%u%s%s", port, st->ip >> 24, st->ip >> 16 & 255,
                        st->ip >> 8 & 255, st->ip & 255, mac ? "/" : "",
                        mac ? sk_mac_text(st->mac, text) : "");
}

json_t *lsim_job_request(const struct lsim_job *j, const struct sim_node *n) {
    json_t *workers = json_array(), *servers = json_array();
    for (uint32_t w = 0; w < j->n_workers; w++)
        json_array_append_new(workers, lsim_switch_member(n, j->workers[w].station, false));
    for (uint32_t k = 0; k < j->n_servers; k++)
        json_array_append_new(servers, lsim_switch_member(n, j->servers[k].station, true));
    return json_pack("{s:s, s:s, s:s, s:I, s:i, s:o, s:o}", "op", "job.add", "name", j->as->name,
                     "layout", j->as->name, "parameters", (json_int_t)j->as->parameters, "cells",
                     (int)lsim_cells(j), "workers", workers, "servers", servers);
}

static int lsim_switch_add_job(struct lsim_job *j, struct sim_node *n, struct libra_s *l,
                               struct sk_error *err) {
    json_t *reply = lsim_ask(l, lsim_job_request(j, n), err);
    if (!reply)
        return -1;
    json_decref(reply);
    j->added = true;
    j->here = j->at;
    return 0;
}

// ---- begun and ended ----

static bool lsim_switch_is_hot(const struct sim *s, uint32_t station) {
    for (size_t i = 0; i < s->libra->n; i++)
        if (s->libra->jobs[i].as->hot && s->libra->jobs[i].at == station &&
            !lsim_is_admitted(&s->libra->jobs[i]))
            return true;
    return false;
}

// The station whose address the switch has as Libra's; SCN_NONE: it runs no Libra_s.
static uint32_t lsim_switch_address(const struct sim *s, uint32_t st) {
    const struct scn_controller *c = s->scenario->controller;
    if (!s->libra || s->scenario->n_libra == 0)
        return SCN_NONE;
    if (c && c->standby == st && lsim_switch_is_hot(s, c->from))
        return c->from;
    return lsim_switch_is_hot(s, st) ? st : SCN_NONE;
}

bool libra_writes(const struct sim *s, uint32_t st, uint32_t station) {
    const uint32_t address = lsim_switch_address(s, st);
    if (address == SCN_NONE)
        return false;
    for (size_t i = 0; i < s->libra->n; i++)
        for (uint32_t k = 0; k < s->libra->jobs[i].n_servers; k++)
            if (s->libra->jobs[i].at == address && s->libra->jobs[i].as->hot &&
                s->libra->jobs[i].servers[k].station == station)
                return true;
    return station == address;
}

uint32_t libra_where(const struct sim *s, uint32_t station) {
    const struct scn_controller *c = s->scenario->controller;
    return c && c->from == station && s->libra->control && lsim_control_moved(s->libra->control)
               ? c->standby
               : station;
}

static int lsim_switch_begin(struct sim_station *st, struct libra_s *l, struct sk_error *err) {
    struct sim *s = st->node->sim;
    for (size_t i = 0; i < s->libra->n; i++) {
        struct lsim_job *j = &s->libra->jobs[i];
        if (j->at != st->id || !j->as->hot || j->added ||
            lsim_switch_add_job(j, st->node, l, err) == 0)
            continue;
        sk_error_prefix(err, "job %s", j->as->name);
        return -1;
    }
    return 0;
}

static struct libra_s *lsim_switch_new(struct sim_station *st, const struct sim_station *address,
                                       struct sk_error *err) {
    const struct libra_s_host host = {.sw = st->node->sw,
                                      .cpu_port = SK_CPU_PORT,
                                      .send = lsim_switch_send,
                                      .layout = lsim_switch_layout,
                                      .aux = st->node};
    char mac[SK_MAC_TEXT];
    json_t *section =
        json_pack("{s:s, s:o}", "mac", sk_mac_text(address->mac, mac), "address",
                  json_sprintf("%u.%u.%u.%u", address->ip >> 24, address->ip >> 16 & 255,
                               address->ip >> 8 & 255, address->ip & 255));
    struct sk_json doc = {.name = "libra", .err = err};
    const struct sk_at at = {.doc = &doc, .value = section};
    struct libra_s *l = libra_s_new(&host, &at, err);
    json_decref(section);
    sk_json_release(&doc);
    return l;
}

static bool lsim_switch_adds_floats(struct sk_switch *sw) {
    struct sk_object object;
    struct sk_error err;
    return sk_find_object(sw, SK_REGISTER, "records.rests", &object, &err) >= 0;
}

// Integers and floats are different programs.
static int lsim_switch_check_values(const struct sim_station *st, struct sk_error *err) {
    const struct sim *s = st->node->sim;
    const bool floats = lsim_switch_adds_floats(st->node->sw);
    for (size_t i = 0; i < s->libra->n; i++) {
        const struct lsim_job *j = &s->libra->jobs[i];
        if (j->as->hot && j->at == lsim_switch_address(s, st->id) && j->as->floats != floats)
            return sk_fail(err, "job %s pushes %s, and the program adds %s", j->as->name,
                           floats ? "integers" : "floats", floats ? "floats" : "integers");
    }
    return 0;
}

int libra_start(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    const uint32_t address = lsim_switch_address(n->sim, st->id);
    if (address == SCN_NONE)
        return 0;
    if (!n->cpu)
        n->cpu = cpu_new(n, st->as, n->sim->seed);
    libra_stop(st);
    struct libra_s *l = lsim_switch_new(st, &n->sim->stations[address], err);
    if (!l)
        return -1;
    const struct sim_cpu_program program = {lsim_switch_frame, lsim_switch_run,
                                            lsim_switch_deadline, lsim_switch_free, l};
    cpu_on(n->cpu, &program);
    if (lsim_switch_check_values(st, err) < 0)
        return -1;
    return lsim_switch_begin(st, l, err);
}

void libra_stop(struct sim_station *st) {
    struct sim_node *n = st->node;
    const bool tor = st->as->tor; // what is at its CPU port is not Libra's
    if (!tor && (!n->cpu || !n->cpu->on))
        return;
    if (!tor)
        cpu_off(n->cpu);
    for (size_t i = 0; i < n->sim->libra->n; i++)
        if (n->sim->libra->jobs[i].here == st->id)
            n->sim->libra->jobs[i].here = SCN_NONE;
}

// ---- Libra_s in a process ----

// A switch that was restarted has nothing of its jobs.
json_t *libra_section(const struct sim *s, const struct sim_station *st) {
    const uint32_t at = lsim_switch_address(s, st->id);
    char mac[SK_MAC_TEXT], file[40];
    json_t *jobs = json_array();
    if (at == SCN_NONE) {
        json_decref(jobs);
        return NULL;
    }
    for (size_t i = 0; i < s->libra->n && st->node->restarts == 0; i++) {
        const struct lsim_job *j = &s->libra->jobs[i];
        if (j->at != st->id || !j->as->hot)
            continue;
        json_t *job = lsim_job_request(j, st->node);
        json_object_del(job, "op");
        snprintf(file, sizeof file, LIBRA_LAYOUT, i);
        json_object_set_new(job, "layout", json_string(file));
        json_array_append_new(jobs, job);
    }
    const struct sim_station *address = &s->stations[at];
    return json_pack("{s:s, s:o, s:o}", "mac", sk_mac_text(address->mac, mac), "address",
                     json_sprintf("%u.%u.%u.%u", address->ip >> 24, address->ip >> 16 & 255,
                                  address->ip >> 8 & 255, address->ip & 255),
                     "jobs", jobs);
}

bool libra_write_layout(const struct sim *s, size_t job, FILE *out) {
    return libra_layout_write(&s->libra->jobs[job].layout, out);
}

void libra_is_elsewhere(struct sim *s) {
    for (size_t i = 0; i < s->libra->n; i++)
        s->libra->jobs[i].here = s->libra->jobs[i].at;
}
