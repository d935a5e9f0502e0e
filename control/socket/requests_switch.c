// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/port_metadata.h"
#include "pipeline/tm/pre.h"

static json_t *requests_switch_drops_json(const uint64_t *drops) {
    json_t *out = json_object();
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (drops[i] > 0)
            sk_set_number(out, sk_drop_text((enum sk_drop_reason)i), drops[i]);
    return out;
}

static const struct sk_config_port *requests_switch_configured(const struct request *r,
                                                               uint16_t port) {
    const struct sk_service *s = r->service;
    for (size_t i = 0; i < s->n_ports; i++)
        if (s->ports[i].port == port)
            return &s->ports[i];
    return NULL;
}

static json_t *device_json(const struct sk_port_device *d) {
    json_t *out = json_pack("{s:s, s:b, s:i, s:i, s:i, s:i}", "driver", d->driver, "promiscuous",
                            d->promiscuous, "speed_mbps", (int)d->speed_mbps, "mtu", (int)d->mtu,
                            "queues", (int)d->queues, "waiting", (int)d->waiting);
    sk_set_number(out, "missed", d->missed);
    sk_set_number(out, "rx_errors", d->rx_errors);
    sk_set_number(out, "tx_errors", d->tx_errors);
    if (strcmp(d->driver, "net_memif") == 0)
        sk_set_number(out, "peers_closed", d->peers_closed);
    return out;
}

struct port_copy {
    struct sk_port_stats stats;
    uint32_t cells[SK_PORT_QUEUES];
    bool held[SK_PORT_QUEUES];
    struct sk_queue_counts counts[SK_PORT_QUEUES];
    bool shown;
};

// Ports that are configured, up, or have counted something.
static void copy_port(const struct request *r, uint16_t port, struct port_copy *p) {
    static const struct sk_port_stats nothing;
    sk_switch_port_stats(r->sw, port, &p->stats);
    p->shown = requests_switch_configured(r, port) || sk_switch_port_is_up(r->sw, port) ||
               memcmp(&p->stats, &nothing, sizeof nothing) != 0;
    for (unsigned i = 0; p->shown && i < SK_PORT_QUEUES; i++) {
        p->cells[i] = sk_switch_port_depth(r->sw, port, i);
        p->held[i] = p->cells[i] && sk_switch_port_held(r->sw, port, i);
        if (!sk_switch_queue_counts(r->sw, port, i, &p->counts[i]))
            break;
    }
}

// By colour and reason; null when the queue has refused nothing.
static json_t *refused_json(const struct sk_queue_counts *n) {
    json_t *out = NULL;
    for (unsigned color = 0; color < SK_COLORS; color++) {
        json_t *of_color = NULL;
        for (unsigned i = 0; i < SK_QUEUE_DROPS; i++) {
            if (n->refused[color][i] == 0)
                continue;
            of_color = of_color ? of_color : json_object();
            sk_set_number(of_color, sk_drop_text((enum sk_drop_reason)(SK_DROP_QUEUE_FULL + i)),
                          n->refused[color][i]);
        }
        if (!of_color)
            continue;
        out = out ? out : json_object();
        json_object_set_new(out, sk_color_text(color), of_color);
    }
    return out;
}

// Queues in which something waits, or that did not take something; null when none.
static json_t *queues_json(const struct port_copy *p) {
    json_t *list = NULL;
    for (unsigned i = 0; i < SK_PORT_QUEUES; i++) {
        json_t *refused = refused_json(&p->counts[i]);
        if (p->cells[i] == 0 && !refused)
            continue;
        list = list ? list : json_array();
        json_t *o = json_pack("{s:i, s:I}", "queue", (int)i, "cells", (json_int_t)p->cells[i]);
        if (p->held[i])
            json_object_set_new(o, "held", json_true());
        sk_set_number(o, "taken", p->counts[i].taken);
        sk_set_number(o, "left", p->counts[i].left);
        if (refused)
            json_object_set_new(o, "drops", refused);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *requests_switch_port_json(const struct request *r, uint16_t port,
                                         const struct port_copy *p) {
    const struct sk_port_stats *s = &p->stats;
    const struct sk_config_port *c = requests_switch_configured(r, port);
    json_t *out =
        json_pack("{s:i, s:b, s:b}", "port", (int)port, "up", sk_switch_port_is_up(r->sw, port),
                  "loopback", sk_switch_port_is_loopback(r->sw, port));
    if (c)
        json_object_set_new(out, "device", json_string(c->device));
    if (c && c->name)
        json_object_set_new(out, "name", json_string(c->name));
    struct sk_port_device device;
    if (r->service->device && r->service->device(r->service->aux, port, &device)) {
        json_object_set_new(out, "link", json_boolean(device.link));
        json_object_set_new(out, "device_state", device_json(&device));
    }
    json_object_set_new(out, "pipe", json_integer(sk_port_pipe(port)));
    json_object_set_new(out, "lcore", json_integer(sk_switch_core_of(r->sw, sk_port_pipe(port))));
    json_t *metadata = sk_port_metadata_json(r->sw, port);
    if (metadata)
        json_object_set_new(out, "metadata", metadata);
    sk_set_number(out, "rx_packets", s->rx_packets);
    sk_set_number(out, "rx_bytes", s->rx_bytes);
    sk_set_number(out, "tx_packets", s->tx_packets);
    sk_set_number(out, "tx_bytes", s->tx_bytes);
    json_object_set_new(out, "drops", requests_switch_drops_json(s->drops));
    json_t *queues = queues_json(p);
    if (queues)
        json_object_set_new(out, "queues", queues);
    return out;
}

struct switch_copy {
    struct sk_switch_stats stats;
    uint64_t now, remembered, inside;
    bool with_ports;
    struct port_copy ports[SK_PORTS];
};

// The caller frees it. The copy is consistent.
static struct switch_copy *copy_switch(const struct request *r, bool with_ports) {
    struct switch_copy *c = malloc(sizeof *c);
    if (!c)
        abort();
    // Its pages exist from here on: packets do not wait until the kernel has made them.
    memset(c, 0, with_ports ? sizeof *c : offsetof(struct switch_copy, ports));
    c->with_ports = with_ports;
    sk_pauses_begin(r->pauses);
    const uint64_t latest = sk_switch_now(r->sw);
    c->now = r->service->now > latest ? r->service->now : latest;
    sk_switch_stats(r->sw, &c->stats);
    c->remembered = sk_switch_remembered(r->sw);
    c->inside = sk_switch_inside(r->sw);
    for (uint16_t port = 0; with_ports && port < SK_PORTS; port++)
        copy_port(r, port, &c->ports[port]);
    sk_pauses_end(r->pauses);
    return c;
}

static json_t *requests_switch_ports_json(const struct request *r, const struct switch_copy *c) {
    json_t *list = json_array();
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (c->ports[port].shown)
            json_array_append_new(list, requests_switch_port_json(r, port, &c->ports[port]));
    return list;
}

json_t *sk_request_ports(const struct request *r) {
    struct switch_copy *c = copy_switch(r, true);
    json_t *list = requests_switch_ports_json(r, c);
    free(c);
    return json_pack("{s:o}", "ports", list);
}

json_t *sk_request_port_metadata(const struct request *r) {
    static const char *const keys[] = {"op", "port", "metadata", NULL};
    sk_at_keys(r->at, keys);
    struct sk_at at = sk_at_member(r->at, "port"), value = sk_at_member(r->at, "metadata");
    uint16_t port = sk_at_port(&at);
    size_t n = 0;
    if (json_is_object(value.value)) {
        const struct sk_named_value *fields = sk_at_values(&value, &n);
        return good(r) ? requests_done(r, sk_control_port_metadata(r->sw, port, fields, n, r->err))
                       : NULL;
    }
    const char *text = sk_at_text(&value);
    return good(r) ? requests_done(r, sk_control_port_metadata_raw(r->sw, port, text, r->err))
                   : NULL;
}

static json_t *stats_json(const struct request *r, const struct switch_copy *c) {
    const struct sk_switch_stats s = c->stats;
    json_t *out = json_object();
    sk_set_number(out, "rx_packets", s.rx_packets);
    sk_set_number(out, "tx_packets", s.tx_packets);
    sk_set_number(out, "copies", s.copies);
    sk_set_number(out, "recirculated", s.recirculated);
    sk_set_number(out, "resubmitted", s.resubmitted);
    sk_set_number(out, "mirrored", s.mirrored);
    sk_set_number(out, "generated", s.generated);
    sk_set_number(out, "digests", s.digests);
    sk_set_number(out, "remembered", c->remembered);
    uint64_t dropped = 0;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        dropped += s.drops[i];
    sk_set_number(out, "dropped", dropped);
    sk_set_number(out, "inside", c->inside);
    json_object_set_new(out, "lcores", json_integer(sk_switch_cores(r->sw)));
    json_object_set_new(out, "drops", requests_switch_drops_json(s.drops));
    return out;
}

json_t *sk_request_stats(const struct request *r) {
    struct switch_copy *c = copy_switch(r, false);
    json_t *out = stats_json(r, c);
    free(c);
    return out;
}

json_t *sk_request_counts(const struct request *r) {
    struct switch_copy *c = copy_switch(r, true);
    json_t *out = json_pack("{s:o, s:o}", "stats", stats_json(r, c), "ports",
                            requests_switch_ports_json(r, c));
    sk_set_number(out, "clock", c->now);
    free(c);
    return out;
}

// ---- replication engine ----

static bool list_node(void *aux, const struct sk_pre_node_view *n) {
    json_t *ports = json_array();
    for (size_t i = 0; i < n->n_ports; i++)
        json_array_append_new(ports, json_integer(n->ports[i]));
    json_t *node =
        json_pack("{s:I, s:i, s:o}", "id", (json_int_t)n->id, "rid", (int)n->rid, "ports", ports);
    json_t *lags = json_array();
    for (size_t i = 0; i < n->n_lags; i++)
        json_array_append_new(lags, json_integer(n->lags[i]));
    if (n->n_lags > 0)
        json_object_set(node, "lags", lags);
    json_decref(lags);
    json_array_append_new(aux, node);
    return true;
}

static bool list_group(void *aux, uint16_t mgid, const struct sk_pre_member *m, size_t n) {
    json_t *nodes = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *node = json_pack("{s:I}", m[i].ecmp ? "ecmp" : "node", (json_int_t)m[i].node);
        if (m[i].l1_xid_valid)
            json_object_set_new(node, "xid", json_integer(m[i].l1_xid));
        json_array_append_new(nodes, node);
    }
    json_array_append_new(aux, json_pack("{s:i, s:o}", "id", (int)mgid, "nodes", nodes));
    return true;
}

json_t *sk_request_pre_list(const struct request *r) {
    json_t *nodes = json_array(), *groups = json_array();
    pre_nodes_each(sk_switch_pre(r->sw), list_node, nodes);
    pre_groups_each(sk_switch_pre(r->sw), list_group, groups);
    return json_pack("{s:o, s:o}", "nodes", nodes, "groups", groups);
}

static json_t *requests_switch_pre_done(const struct request *r, int rc, const char *what) {
    switch (-rc) {
    case 0:
        return json_object();
    case ENOENT:
        sk_fail(r->err, "there is no such %s", what);
        break;
    case EEXIST:
        sk_fail(r->err, "a node is given twice");
        break;
    case EBUSY:
        sk_fail(r->err, "a group still has this node");
        break;
    default:
        sk_fail(r->err, "%s", strerror(-rc));
    }
    return requests_failed(r);
}

json_t *sk_request_pre_node_set(const struct request *r) {
    static const char *const keys[] = {"op", "id", "rid", "ports", "lags", NULL};
    sk_at_keys(r->at, keys);
    uint32_t id = (uint32_t)sk_member_number(r, "id", true, UINT32_MAX);
    uint16_t rid = (uint16_t)sk_member_number(r, "rid", false, UINT16_MAX);
    struct sk_at list = sk_at_member(r->at, "ports");
    size_t n;
    uint16_t *numbers = sk_at_ports(&list, &n);
    struct sk_at lag_list = sk_at_member(r->at, "lags");
    size_t n_lags;
    uint8_t *lags = sk_at_lags(&lag_list, &n_lags);
    int rc = good(r) ? sk_pre_node_set_lags(r->sw, id, rid, numbers, n, lags, n_lags) : 0;
    return good(r) ? requests_switch_pre_done(r, rc, "node") : NULL;
}

json_t *sk_request_pre_group_set(const struct request *r) {
    static const char *const keys[] = {"op", "id", "nodes", NULL};
    sk_at_keys(r->at, keys);
    uint16_t id = (uint16_t)sk_member_number(r, "id", true, UINT16_MAX);
    struct sk_at list = sk_at_member(r->at, "nodes");
    size_t n;
    struct sk_pre_member *members = sk_at_members(&list, &n);
    return good(r) ? requests_switch_pre_done(r, sk_pre_group_set(r->sw, id, members, n), "node")
                   : NULL;
}

static const char *const id_keys[] = {"op", "id", NULL};

json_t *sk_request_pre_node_delete(const struct request *r) {
    sk_at_keys(r->at, id_keys);
    uint32_t id = (uint32_t)sk_member_number(r, "id", true, UINT32_MAX);
    return good(r) ? requests_switch_pre_done(r, sk_pre_node_delete(r->sw, id), "node") : NULL;
}

json_t *sk_request_pre_group_delete(const struct request *r) {
    sk_at_keys(r->at, id_keys);
    uint16_t id = (uint16_t)sk_member_number(r, "id", true, UINT16_MAX);
    return good(r) ? requests_switch_pre_done(r, sk_pre_group_delete(r->sw, id), "group") : NULL;
}
