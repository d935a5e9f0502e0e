// SPDX-License-Identifier: Apache-2.0
//
// What the control plane writes into a switch: where stations are, the jobs' groups and workers,
// from which depth of its queues on packets are marked. Which of that a program is told depends on
// the tables that it has: `macs` (ours) or `forward` (p4/l2), `workers` and `receivers` (SwitchML),
// `queues` (ATP).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/config/config.h"
#include "control/tables/control.h"
#include "base/error.h"
#include "control/tables/names.h"
#include "sim/job.h"
#include "hosts/core/halves.h"
#include "sim/libra/libra.h"
#include "sim/notes.h"

#define FLOOD_GROUP     1u
#define ATP_GROUPS      100u  // + 16 * job + server
#define SWITCHML_GROUP  2000u // + job
#define ABOVE_GROUP     2300u // + job: the switch above alone
#define RIDS            1024u // of the program: from 1 on workers, from the end the switches above
#define AUDIENCE_GROUPS 0x4000u // + 64 * job: of worker i alone + 2 * i, of all others + 2 * i + 1
#define SPLIT_GROUPS    0xfff0u // + pipe
#define MAX_DEPTH       ((1u << 19) - 1)
#define CELL_BYTES      80u

struct writer {
    struct sim *sim;
    struct sim_station *st;
    struct sk_switch *sw;
    uint32_t nodes; // of multicast, given away
    bool macs;      // else it is `forward`
    bool halves;    // the tables of 16-bit floats are filled
    struct sk_error *err;
    int status;
};

static bool sim_config_has(const struct writer *w, const char *table) {
    struct sk_object object;
    struct sk_error err;
    return sk_find_object(w->sw, SK_TABLE, table, &object, &err) >= 0;
}

// keys and args: name, value, name, value ... null
static void sim_config_add(struct writer *w, const char *table, const char *const *keys,
                           const char *action, const char *const *args) {
    struct sk_named_value key[12], arg[12];
    struct sk_entry_spec e = {
        .table = table, .keys = key, .action = action, .args = arg, .pipe = -1};
    for (; keys[0]; keys += 2)
        key[e.n_keys++] = (struct sk_named_value){keys[0], keys[1]};
    for (; args[0]; args += 2)
        arg[e.n_args++] = (struct sk_named_value){args[0], args[1]};
    if (w->status == 0)
        w->status = sk_control_entry_add(w->sw, &e, w->err);
    if (w->status == 0)
        note_entry(w->sim, &e);
}

static const char *sim_config_number(char *out, uint64_t value) {
    snprintf(out, 24, "%" PRIu64, value);
    return out;
}

static uint16_t dev_port(const struct writer *w, uint32_t link) {
    const struct sim_node *n = w->st->node;
    for (size_t i = 0; i < n->n_ports; i++)
        if (n->ports[i].out == &w->sim->links[link])
            return n->ports[i].dev_port;
    return SK_PORT_INVALID;
}

static void send_mac(struct writer *w, const uint8_t mac[6], bool group, uint32_t where) {
    char address[20], n[24];
    const char *keys[] = {"hdr.ethernet.dst_addr", sk_mac_text(mac, address), NULL};
    const char *args[] = {group ? "group" : "port", sim_config_number(n, where), NULL};
    if (w->macs)
        sim_config_add(w, "macs", keys, group ? "to_group" : "to_port", args);
    else if (!group)
        sim_config_add(w, "forward", keys, "send", args);
}

struct group {
    struct sk_pre_member members[SK_PORTS];
    uint32_t n;
};

static void sim_config_join(struct writer *w, struct group *g, uint16_t port, uint16_t rid,
                            bool exclude) {
    const uint32_t node = ++w->nodes;
    if (w->status == 0 && (g->n == SK_PORTS || sk_pre_node_set(w->sw, node, rid, &port, 1) < 0))
        w->status = sk_fail(w->err, "multicast node %u refused", node);
    if (w->status == 0) {
        g->members[g->n++] = (struct sk_pre_member){
            .node = node, .l1_xid_valid = exclude, .l1_xid = exclude ? port : 0};
        note_node(w->sim, node, rid, port);
    }
}

static void make_group(struct writer *w, uint32_t id, const struct group *g) {
    if (w->status == 0 && sk_pre_group_set(w->sw, (uint16_t)id, g->members, g->n) < 0)
        w->status = sk_fail(w->err, "multicast group %u refused", id);
    if (w->status == 0)
        note_group(w->sim, id, g->members, g->n);
}

// ---- everybody ----

// A large network has more stations than the table has room for: those that are reached by the link
// by which most are take its default entry. That link; SCN_NONE: the network is not so large.
static uint32_t write_most(struct writer *w) {
    const struct sim *s = w->sim;
    if (s->scenario->n_stations <= SCN_MAX_STATION || !w->macs)
        return SCN_NONE;
    uint32_t most = SCN_NONE, *by_link = calloc(s->n_links, sizeof *by_link);
    if (!by_link)
        abort();
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        const uint32_t link = route(s, w->st->id, i);
        if (i != w->st->id && (++by_link[link], most == SCN_NONE || by_link[link] > by_link[most]))
            most = link;
    }
    free(by_link);
    char n[24];
    const struct sk_named_value arg = {"port", sim_config_number(n, dev_port(w, most))};
    const struct sk_entry_spec e = {
        .table = "macs", .action = "to_port", .args = &arg, .n_args = 1, .pipe = -1};
    if (w->status == 0)
        w->status = sk_control_default_set(w->sw, &e, w->err);
    return most;
}

static void write_stations(struct writer *w) {
    static _Thread_local struct group all;
    all.n = 0;
    for (size_t i = 0; i < w->st->node->n_ports; i++)
        sim_config_join(w, &all, w->st->node->ports[i].dev_port, 0, true);
    make_group(w, FLOOD_GROUP, &all);
    const uint32_t most = write_most(w);
    for (uint32_t i = 0; i < w->sim->scenario->n_stations; i++) {
        const struct sim_station *to = &w->sim->stations[i];
        if (to != w->st && most != SCN_NONE && route(w->sim, w->st->id, i) == most)
            continue;
        if (to != w->st && !libra_writes(w->sim, w->st->id, i))
            send_mac(w, to->mac, false,
                     dev_port(w, route(w->sim, w->st->id, libra_where(w->sim, i))));
    }
}

static void write_marks(struct writer *w) {
    char depth[32];
    const char *keys[] = {"eg_intr_md.enq_qdepth", depth, NULL}, *none[] = {NULL};
    const uint32_t cells = w->st->node->ecn_bytes / CELL_BYTES;
    if (!cells || !sim_config_has(w, "queues"))
        return;
    snprintf(depth, sizeof depth, "%u..%u", cells, MAX_DEPTH);
    if (w->sim->scenario->paths == SCN_ONE_PATH) {
        sim_config_add(w, "queues", keys, "mark", none);
        return;
    }
    // a program that forwards everything marks only what knows marks: ECT(1), ECT(0)
    for (int ecn = 1; ecn < 3; ecn++) {
        const char *both[] = {keys[0], depth, "hdr.ipv4.ecn", ecn == 1 ? "1" : "2", NULL};
        sim_config_add(w, "queues", both, "mark", none);
    }
}

// ---- SwitchML ----

static void write_worker(struct writer *w, const struct sim_job *job, uint32_t rank,
                         struct group *g) {
    const struct sim_station *st = &w->sim->stations[job->workers[rank].station];
    const uint16_t port = dev_port(w, route(w->sim, w->st->id, st->id));
    const uint32_t rid = (uint32_t)(job->number - 1) * 32 + rank + 1;
    char mac[20], n[10][24];
    const char *keys[] = {"hdr.switchml.job_number",
                          sim_config_number(n[0], job->number),
                          "hdr.ipv4.src_addr",
                          sim_config_number(n[1], st->ip),
                          "ig_intr_md.ingress_port",
                          sim_config_number(n[2], port),
                          NULL};
    const char *args[] = {"worker_bit",  sim_config_number(n[3], UINT64_C(1) << rank),
                          "num_workers", sim_config_number(n[4], job->n_workers),
                          "group",       sim_config_number(n[5], SWITCHML_GROUP + job->number),
                          "rid",         sim_config_number(n[6], rid),
                          "port",        n[2],
                          "pool_base",   sim_config_number(n[7], job->pool_base),
                          "pool_last",   sim_config_number(n[8], job->slots - 1),
                          NULL};
    const char *receiver[] = {"md.rid", n[6], NULL};
    const char *address[] = {"mac",      sk_mac_text(st->mac, mac),       "ip", n[1],
                             "udp_port", sim_config_number(n[9], 0xbee0), NULL};
    sim_config_add(w, "workers", keys, "admit", args);
    sim_config_add(w, "receivers", receiver, "address", address);
    sim_config_join(w, g, port, (uint16_t)rid, false);
}

// ---- SwitchML over several levels ----

// Whether the program's switches may have others above and below them.
static bool has_levels(const struct writer *w) {
    struct sk_object table;
    struct sk_error err;
    return sk_find_object(w->sw, SK_TABLE, "workers", &table, &err) >= 0 &&
           sk_find_action(table.desc->tables[table.index], "result", &err) >= 0;
}

// What is below a switch, at bit 'i' of its slots.
static void write_below(struct writer *w, const struct sim_job *job, const struct sim_level *level,
                        uint32_t i, struct group *g) {
    const struct sim_station *st = &w->sim->stations[level->below[i]];
    const uint16_t port = dev_port(w, route(w->sim, w->st->id, st->id));
    const uint32_t rid = (uint32_t)(job->number - 1) * 32 + i + 1;
    const bool top = level->above == SCN_NONE;
    char mac[20], n[12][24];
    const char *keys[] = {"hdr.switchml.job_number",
                          sim_config_number(n[0], job->number),
                          "hdr.ipv4.src_addr",
                          sim_config_number(n[1], st->ip),
                          "ig_intr_md.ingress_port",
                          sim_config_number(n[2], port),
                          NULL};
    const char *args[] = {
        "worker_bit",  sim_config_number(n[3], UINT64_C(1) << i),
        "num_workers", sim_config_number(n[4], level->n_below),
        "group",       sim_config_number(n[5], SWITCHML_GROUP + job->number),
        "rid",         sim_config_number(n[6], rid),
        "port",        n[2],
        "pool_base",   sim_config_number(n[7], job->pool_base),
        "pool_last",   sim_config_number(n[8], job->slots - 1),
        "way",         top ? "0" : "2",
        "above",       sim_config_number(n[9], top ? 0 : ABOVE_GROUP + job->number),
        NULL};
    const char *receiver[] = {"md.rid", n[6], NULL};
    const char *address[] = {"mac",      sk_mac_text(st->mac, mac),        "ip", n[1],
                             "udp_port", sim_config_number(n[10], 0xbee0), NULL};
    sim_config_add(w, "workers", keys, "admit", args);
    sim_config_add(w, "receivers", receiver, "address", address);
    sim_config_join(w, g, port, (uint16_t)rid, false);
}

// The switch above: where partial sums go, and from where all sums come.
static void write_above(struct writer *w, const struct sim_job *job, const struct sim_level *level,
                        struct group *g) {
    const struct sim_station *st = &w->sim->stations[level->above];
    const uint16_t port = dev_port(w, route(w->sim, w->st->id, st->id));
    const uint32_t rid = RIDS - job->number;
    char mac[20], own[20], n[8][24];
    const char *keys[] = {"hdr.switchml.job_number",
                          sim_config_number(n[0], job->number),
                          "hdr.ipv4.src_addr",
                          sim_config_number(n[1], st->ip),
                          "ig_intr_md.ingress_port",
                          sim_config_number(n[2], port),
                          NULL};
    const char *args[] = {"group",     sim_config_number(n[3], SWITCHML_GROUP + job->number),
                          "pool_base", sim_config_number(n[4], job->pool_base),
                          "pool_last", sim_config_number(n[5], job->slots - 1),
                          NULL};
    const char *receiver[] = {"md.rid", sim_config_number(n[6], rid), NULL};
    const char *address[] = {
        "mac",     sk_mac_text(st->mac, mac),    "ip",     n[1],
        "own_mac", sk_mac_text(w->st->mac, own), "own_ip", sim_config_number(n[7], w->st->ip),
        NULL};
    sim_config_add(w, "workers", keys, "result", args);
    sim_config_add(w, "receivers", receiver, "above", address);
    sim_config_join(w, g, port, (uint16_t)rid, false);
}

static void write_level(struct writer *w, const struct sim_job *job) {
    static _Thread_local struct group below, above;
    const struct sim_level *level = levels_at(job, w->st->id);
    if (!level || (w->st->node->restarts && !job->as->sessions))
        return;
    if (w->status == 0 && !has_levels(w))
        w->status = sk_fail(w->err, "job %s has \"levels\", but the program of switch %s has none",
                            job->as->name, w->st->as->name);
    if (w->status == 0 && job->number * 32u >= RIDS - job->number)
        w->status = sk_fail(w->err, "job %s has \"levels\": it must be one of the first %u jobs",
                            job->as->name, RIDS / 33);
    below.n = above.n = 0;
    for (uint32_t i = 0; i < level->n_below; i++)
        write_below(w, job, level, i, &below);
    make_group(w, SWITCHML_GROUP + job->number, &below);
    if (level->above == SCN_NONE)
        return;
    write_above(w, job, level, &above);
    make_group(w, ABOVE_GROUP + job->number, &above);
}

// ---- its collective operations ----

// Worker 'rank' alone, or all others.
static uint32_t write_audience_group(struct writer *w, const struct sim_job *job, uint32_t rank,
                                     bool rest) {
    static _Thread_local struct group g;
    const uint32_t id = AUDIENCE_GROUPS + 64u * job->number + 2 * rank + rest;
    g.n = 0;
    for (uint32_t i = 0; i < job->n_workers; i++)
        if ((i == rank) != rest)
            sim_config_join(w, &g, dev_port(w, route(w->sim, w->st->id, job->workers[i].station)),
                            (uint16_t)((job->number - 1) * 32 + i + 1), false);
    make_group(w, id, &g);
    return id;
}

static void write_audience(struct writer *w, const struct sim_job *job, uint32_t audience,
                           uint32_t group, uint32_t brief) {
    char n[4][24];
    const char *keys[] = {"hdr.switchml.job_number", sim_config_number(n[0], job->number),
                          "audience", sim_config_number(n[1], audience), NULL};
    const char *args[] = {"group", sim_config_number(n[2], group), "brief_group",
                          sim_config_number(n[3], brief), NULL};
    sim_config_add(w, "audiences", keys, "audience", args);
}

// Of collective operations (p4/switchml/README.md).
static void write_audiences(struct writer *w, const struct sim_job *job) {
    static const uint32_t pipes[] = {0, 1, 3};
    static _Thread_local struct group g;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        g.n = 0;
        sim_config_join(w, &g, (uint16_t)(pipes[i] << 7 | 68), 0, false);
        sim_config_join(w, &g, (uint16_t)(pipes[i] << 7 | 70), 0, false);
        make_group(w, SPLIT_GROUPS + pipes[i], &g);
    }
    for (uint32_t i = 0; i < job->n_workers; i++) {
        const uint32_t one = write_audience_group(w, job, i, false),
                       rest = write_audience_group(w, job, i, true);
        write_audience(w, job, i, one, rest);
        write_audience(w, job, SWML_ALL_BUT + i, rest, one);
    }
    write_audience(w, job, SWML_NOBODY, 0, SWITCHML_GROUP + job->number);
}

// A switch that has lost its registers does not take a running job again: a slot in which some had
// contributed before and some repeat themselves after would count the wrong ones (the sums would be
// wrong, not late). Its workers are strangers to it, and fail. A job with sessions begins a new
// one.
static int sim_config_fill(void *aux, const char *table, const char *action, const uint32_t *values,
                           size_t n, unsigned digits) {
    const struct writer *w = aux;
    (void)digits;
    return sk_control_table_fill(w->sw, table, action, values, n, -1, w->err);
}

// The tables of a switch that adds 16-bit floats.
static void write_halves(struct writer *w) {
    if (w->halves || w->status)
        return;
    w->halves = true;
    w->status = sk_halves_fill(sim_config_fill, w);
    if (w->status == 0)
        note_filled(w->sim, "halves");
}

static void write_switchml(struct writer *w, const struct sim_job *job) {
    static _Thread_local struct group g;
    if (job->levels)
        write_level(w, job);
    if (job->levels || job->at != w->st->id)
        return;
    if (w->status == 0 && has_levels(w))
        w->status =
            sk_fail(w->err, "switch %s has a program for jobs with \"levels\", which job %s is not",
                    w->st->as->name, job->as->name);
    if (job->as->f16)
        write_halves(w);
    if (w->st->node->restarts && !job->as->sessions)
        return;
    g.n = 0;
    for (uint32_t i = 0; i < job->n_workers; i++)
        write_worker(w, job, i, &g);
    make_group(w, SWITCHML_GROUP + job->number, &g);
    if (job->as->work.collectives)
        write_audiences(w, job);
}

// ---- ATP: the part of the tree from the server to the job's workers that is at this switch ----

static void write_tree(struct writer *w, const struct sim_job *job, uint32_t server) {
    static _Thread_local struct group g;
    const uint32_t root = job->as->servers[server];
    uint8_t mac[6];
    uint32_t links[SK_PORTS], n = 0;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        uint32_t x = job->workers[i].station;
        while (x != root) {
            const uint32_t up = route(w->sim, x, root), y = link_to(w->sim, up);
            uint32_t seen = 0;
            while (seen < n && links[seen] != (up ^ 1))
                seen++;
            if (y == w->st->id && seen == n && n < SK_PORTS)
                links[n++] = up ^ 1;
            x = y;
        }
    }
    if (!n)
        return;
    g.n = 0;
    for (uint32_t i = 0; i < n; i++)
        sim_config_join(w, &g, dev_port(w, links[i]), 0, false);
    const uint32_t id = ATP_GROUPS + job->number * SCN_MAX_FLOWS + server;
    make_group(w, id, &g);
    atp_group_mac(job, server, mac);
    send_mac(w, mac, true, id);
}

// ---- what the scenario says itself ----

// An item of "queues" without a port is for all that have a link, whose speed is the link's. Ports
// that recirculate are as fast as it says, or take no time.
static void sim_config_spread(const struct writer *w, const json_t *item, json_t *out) {
    const struct sim_node *n = w->st->node;
    const json_t *one = json_object_get(item, "port");
    if (one && sk_port_is_internal((unsigned)json_integer_value(one), false))
        json_array_append_new(out, json_deep_copy(item));
    for (size_t i = 0; i < n->n_ports; i++) {
        if (one && json_integer_value(one) != n->ports[i].dev_port)
            continue;
        json_t *copy = json_deep_copy(item);
        json_object_set_new(copy, "port", json_integer(n->ports[i].dev_port));
        json_object_set_new(copy, "speed", json_integer(n->ports[i].out->rate_mbps));
        json_array_append_new(out, copy);
    }
}

// The scenario's text, with queues for each port.
static char *sim_config_unfold(const struct writer *w) {
    json_t *all = json_loads(w->st->as->config, 0, NULL), *queues = json_array(), *item;
    size_t i;
    if (!all || !queues)
        abort(); // it was printed by us
    const json_t *said = json_object_get(all, "queues");
    json_array_foreach(said, i, item) {
        sim_config_spread(w, item, queues);
    }
    if (said)
        json_object_set(all, "queues", queues);
    char *text = json_dumps(all, 0);
    if (!text)
        abort();
    json_decref(queues);
    json_decref(all);
    return text;
}

static void sim_config_write(struct writer *w) {
    if (w->status != 0 || !w->st->as->config)
        return;
    char *text = sim_config_unfold(w);
    note_part(w->sim, text);
    struct sk_config *c = sk_config_parse_part("config", text, strlen(text), w->err);
    free(text);
    if (!c)
        w->status = -1;
    if (c && sk_config_apply(c, w->sw, w->err) < 0)
        w->status = -1;
    sk_config_free(c);
}

int config_write(struct sim_station *st, struct sk_error *err) {
    struct writer w = {.sim = st->node->sim, .st = st, .sw = st->node->sw, .err = err};
    const bool one = w.sim->scenario->paths == SCN_ONE_PATH, paths = sim_config_has(&w, "paths");
    const bool sets = !one && paths;
    w.macs = sim_config_has(&w, "macs");
    if (one && paths && !st->as->config)
        return sk_fail(err,
                       "the program forwards by its table 'paths': the topology needs \"paths\": "
                       "\"flow\" or \"packet\"");
    if (!one && !paths)
        return sk_fail(err,
                       "the scenario has several \"paths\", but the program has no table 'paths'");
    const bool known = w.macs || sim_config_has(&w, "forward");
    if (!sets && !known && !st->as->config)
        return sk_fail(err, "the program has neither a table 'macs' nor a table 'forward', so the "
                            "simulator cannot configure where stations are, and the switch has no "
                            "\"config\"");
    if (sets)
        w.status = paths_write(st, err);
    else if (known)
        write_stations(&w);
    write_marks(&w);
    // a ToR's jobs are those of its section (control/tor/jobs_impl.h)
    const bool admits = st->as->tor && sim_config_has(&w, "registered");
    for (size_t i = 0; i < w.sim->scenario->n_jobs && !admits; i++) {
        const struct sim_job *job = w.sim->jobs[i];
        if (job->as->protocol == SIM_SWITCHML)
            write_switchml(&w, job);
        else if (job->as->protocol == SIM_ATP)
            for (uint32_t k = 0; k < job->as->n_servers; k++)
                write_tree(&w, job, k);
    }
    sim_config_write(&w);
    return w.status;
}
