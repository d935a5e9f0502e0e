// SPDX-License-Identifier: Apache-2.0
#include "sim/notes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/address.h"
#include "sim/job.h"
#include "sim/libra/libra.h"

static json_t *notes_list(json_t *of, const char *key) {
    json_t *list = json_object_get(of, key);
    if (!list) {
        list = json_array();
        if (json_object_set_new(of, key, list) < 0)
            abort();
    }
    return list;
}

static json_t *notes_multicast(const struct sim *s) {
    json_t *o = json_object_get(s->notes, "multicast");
    if (!o) {
        o = json_object();
        if (json_object_set_new(s->notes, "multicast", o) < 0)
            abort();
    }
    return o;
}

static json_t *notes_pairs(const struct sk_named_value *pairs, size_t n) {
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++)
        if (json_object_set_new(o, pairs[i].name, json_string(pairs[i].value)) < 0)
            abort();
    return o;
}

json_t *note_entry_json(const struct sk_entry_spec *e) {
    json_t *o =
        json_pack("{s:s, s:o, s:s, s:o}", "table", e->table, "key", notes_pairs(e->keys, e->n_keys),
                  "action", e->action, "args", notes_pairs(e->args, e->n_args));
    if (!o)
        abort();
    return o;
}

void note_entry(struct sim *s, const struct sk_entry_spec *e) {
    if (s->notes)
        json_array_append_new(notes_list(s->notes, "entries"), note_entry_json(e));
}

void note_filled(struct sim *s, const char *tables) {
    if (s->notes)
        json_array_append_new(notes_list(s->notes, "filled"), json_pack("{s:s}", "tables", tables));
}

void note_node(struct sim *s, uint32_t node, uint16_t rid, uint16_t port) {
    if (s->notes)
        json_array_append_new(
            notes_list(notes_multicast(s), "nodes"),
            json_pack("{s:i, s:i, s:[i]}", "id", (int)node, "rid", rid, "ports", port));
}

void note_group(struct sim *s, uint32_t id, const struct sk_pre_member *members, uint32_t n) {
    json_t *nodes = s->notes ? json_array() : NULL;
    if (!nodes)
        return;
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(nodes, members[i].l1_xid_valid
                                         ? json_pack("{s:i, s:i}", "node", (int)members[i].node,
                                                     "xid", members[i].l1_xid)
                                         : json_integer(members[i].node));
    json_array_append_new(notes_list(notes_multicast(s), "groups"),
                          json_pack("{s:i, s:o}", "id", (int)id, "nodes", nodes));
}

// Lists go behind what is there, members of "multicast", too; all else is the scenario's to say.
static void notes_merge(json_t *into, json_t *from) {
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value) {
        json_t *there = json_object_get(into, key);
        if (json_is_array(there) && json_is_array(value))
            json_array_extend(there, value);
        else if (json_is_object(there) && json_is_object(value))
            notes_merge(there, value);
        else
            json_object_set(into, key, value);
    }
}

void note_part(struct sim *s, const char *text) {
    json_t *part = s->notes ? json_loads(text, 0, NULL) : NULL;
    if (!part)
        return;
    notes_merge(s->notes, part);
    json_decref(part);
}

// ---- a switch ----

static void notes_queues(const struct sim_node *n, json_t *notes) {
    for (size_t i = 0; i < n->n_ports; i++) {
        const struct sk_port_queue queue = node_queue(n->ports[i].out);
        json_t *q = json_pack("{s:i}", "port", n->ports[i].dev_port);
        if (queue.speed_mbps)
            json_object_set_new(q, "speed", json_integer(queue.speed_mbps));
        if (queue.limit_red) {
            json_object_set_new(q, "red", json_integer(queue.limit_red));
            json_object_set_new(q, "yellow", json_integer(queue.limit_yellow));
            json_object_set_new(q, "green", json_integer(queue.limit_green));
        }
        if (json_object_size(q) > 1)
            json_array_append(notes_list(notes, "queues"), q);
        json_decref(q);
    }
}

// What control.c does with a switch in here.
static void notes_sessions(const struct sim *s, const struct sim_station *st, json_t *notes) {
    json_t *except = json_pack("{s:[], s:[]}", "switchml", "atp");
    bool any = false;
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++) {
        const struct sim_job *job = s->jobs[i];
        any |= job->as->sessions;
        if (!job->as->sessions && !job->exchange)
            json_array_append_new(
                json_object_get(except, job->as->protocol == SIM_ATP ? "atp" : "switchml"),
                json_integer(job->number));
    }
    if (any && control_has_sessions(st->node)) {
        char mac[20], ip[20];
        snprintf(ip, sizeof ip, "%u.%u.%u.%u", st->ip >> 24, st->ip >> 16 & 255, st->ip >> 8 & 255,
                 st->ip & 255);
        json_object_set_new(notes, "sessions",
                            json_pack("{s:s, s:s, s:O}", "mac", sk_mac_text(st->mac, mac), "ip", ip,
                                      "except", except));
    }
    json_decref(except);
}

json_t *note_switch(struct sim *s, struct sim_station *st, struct sk_error *err) {
    s->notes = json_object();
    notes_queues(st->node, s->notes);
    const int status = node_configure(st, err);
    json_t *notes = s->notes;
    s->notes = NULL;
    if (status == 0) {
        notes_sessions(s, st, notes);
        json_t *libra = libra_section(s, st);
        if (libra)
            json_object_set_new(notes, "libra", libra);
        if (st->as->tor)
            json_object_set_new(notes, "tor", json_loads(st->as->tor, 0, NULL));
        return notes;
    }
    json_decref(notes);
    return NULL;
}
