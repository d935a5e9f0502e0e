// SPDX-License-Identifier: Apache-2.0
#include "control/tables/tm.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "control/tables/values.h"

// ---- members ----

static uint64_t control_tm_number(const struct sk_at *at, const char *key, bool must,
                                  uint64_t max) {
    struct sk_at member = sk_at_member(at, key);
    return sk_at_number(&member, must, max);
}

static uint64_t number_or(const struct sk_at *at, const char *key, uint64_t otherwise,
                          uint64_t max) {
    return sk_at_member(at, key).value ? control_tm_number(at, key, true, max) : otherwise;
}

static bool control_tm_flag(const struct sk_at *at, const char *key) {
    struct sk_at member = sk_at_member(at, key);
    if (json_is_boolean(member.value))
        return json_is_true(member.value);
    return sk_at_number(&member, false, 1);
}

static uint16_t control_tm_port(const struct sk_at *at, const char *key) {
    struct sk_at member = sk_at_member(at, key);
    return sk_at_port(&member);
}

static unsigned control_tm_choice(const struct sk_at *at, const char *key,
                                  const char *const *names) {
    struct sk_at member = sk_at_member(at, key);
    const char *text = sk_at_string(&member, true);
    for (unsigned i = 0; text && names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    if (text)
        sk_at_fail(&member, "'%.40s' is not one of its values", text);
    return 0;
}

// 'keys' begins with "op", which only a request may have.
static void control_tm_check_keys(const struct sk_at *at, const char *const *keys, bool request) {
    sk_at_keys(at, request ? keys : keys + 1);
}

// ---- reading ----

static void control_tm_read_mirror(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {
        "op",      "id",     "direction", "port",    "mcast_a",  "mcast_b",    "cpu",
        "qid",     "cos",    "color",     "cpu_cos", "hash1",    "hash2",      "xid1",
        "xid2",    "rid",    "deflect",   "max",     "hash_cfg", "hash_cfg_p", "icos_cfg",
        "dod_cfg", "mc_cfg", "epipe_cfg", NULL};
    static const char *const directions[] = {"ingress", "egress", "both", NULL};
    control_tm_check_keys(at, keys, request);
    out->id = (uint32_t)control_tm_number(at, "id", true, SK_MIRROR_LAST);
    if (out->id == 0)
        sk_at_fail(at, "mirror sessions are 1 to %u", SK_MIRROR_LAST);
    struct sk_mirror_session *s = &out->mirror;
    s->enabled = true;
    s->direction = (uint8_t)(control_tm_choice(at, "direction", directions) + 1);
    s->ucast_valid = sk_at_member(at, "port").value;
    s->ucast_port = s->ucast_valid ? control_tm_port(at, "port") : 0;
    s->mcast_a_valid = sk_at_member(at, "mcast_a").value;
    s->mcast_grp_a = (uint16_t)control_tm_number(at, "mcast_a", false, UINT16_MAX);
    s->mcast_b_valid = sk_at_member(at, "mcast_b").value;
    s->mcast_grp_b = (uint16_t)control_tm_number(at, "mcast_b", false, UINT16_MAX);
    s->copy_to_cpu = control_tm_flag(at, "cpu");
    s->deflect_on_drop = control_tm_flag(at, "deflect");
    s->qid = (uint8_t)control_tm_number(at, "qid", false, 127);
    s->cos = (uint8_t)control_tm_number(at, "cos", false, 7);
    s->color = (uint8_t)control_tm_number(at, "color", false, 3);
    s->icos_for_copy_to_cpu = (uint8_t)control_tm_number(at, "cpu_cos", false, 7);
    s->level1_mcast_hash = (uint16_t)control_tm_number(at, "hash1", false, 8191);
    s->level2_mcast_hash = (uint16_t)control_tm_number(at, "hash2", false, 8191);
    s->level1_exclusion_id = (uint16_t)control_tm_number(at, "xid1", false, UINT16_MAX);
    s->level2_exclusion_id = (uint16_t)control_tm_number(at, "xid2", false, 287);
    s->rid = (uint16_t)control_tm_number(at, "rid", false, UINT16_MAX);
    s->max_pkt_len = (uint16_t)control_tm_number(at, "max", false, UINT16_MAX);
    s->hash_cfg = control_tm_flag(at, "hash_cfg");
    s->hash_cfg_p = control_tm_flag(at, "hash_cfg_p");
    s->icos_cfg = control_tm_flag(at, "icos_cfg");
    s->dod_cfg = control_tm_flag(at, "dod_cfg");
    s->mc_cfg = control_tm_flag(at, "mc_cfg");
    s->epipe_cfg = control_tm_flag(at, "epipe_cfg");
}

static void read_lag(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op", "id", "ports", "left", "right", NULL};
    control_tm_check_keys(at, keys, request);
    struct sk_at ports = sk_at_member(at, "ports");
    out->id = (uint32_t)control_tm_number(at, "id", true, SK_PRE_LAGS - 1);
    out->lag.ports = sk_at_ports(&ports, &out->lag.n_ports);
    out->lag.left = (uint16_t)control_tm_number(at, "left", false, UINT16_MAX);
    out->lag.right = (uint16_t)control_tm_number(at, "right", false, UINT16_MAX);
}

static void read_ecmp(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op", "id", "nodes", NULL};
    control_tm_check_keys(at, keys, request);
    struct sk_at nodes = sk_at_member(at, "nodes");
    out->id = (uint32_t)control_tm_number(at, "id", true, UINT32_MAX);
    out->n = sk_at_length(&nodes);
    if (out->n > SK_PRE_ECMP_SLOTS) {
        sk_at_fail(&nodes, "an ECMP group has at most %u nodes", SK_PRE_ECMP_SLOTS);
        out->n = 0;
    }
    for (size_t i = 0; i < out->n; i++) {
        struct sk_at node = sk_at_item(&nodes, i);
        out->nodes[i] = json_is_null(node.value)
                            ? SK_PRE_NO_NODE
                            : (uint32_t)sk_at_number(&node, true, UINT32_MAX - 1);
    }
}

// Which queues of its group are a port's is the driver's choice: without a number it is the one for
// 16 each.
static void read_flow_control(const struct sk_at *at, uint16_t dev_port, uint32_t qid,
                              struct sk_queue_schedule *out) {
    const struct sk_at mode = sk_at_member(at, "flow_control"), pg = sk_at_member(at, "pg_queue");
    const char *text = sk_at_string(&mode, false);
    if (mode.value && text && strcmp(text, "xoff") != 0)
        sk_at_fail(&mode, "flow control is \"xoff\", or is not there");
    out->xoff = text && strcmp(text, "xoff") == 0;
    if (pg.value && !mode.value)
        sk_at_fail(&pg, "a pg_queue is for \"flow_control\"");
    if (out->xoff && !pg.value && qid >= SK_PG_QUEUES_OF_PORT)
        sk_at_fail(at, "queue %u needs a \"pg_queue\": which of its port group's queues it is",
                   qid);
    out->pg_queue = pg.value ? (uint8_t)sk_at_number(&pg, true, SK_PORT_QUEUES - 1)
                             : SK_PG_QUEUE(dev_port, qid);
}

static uint32_t cells_or(const struct sk_at *at, const char *key, uint32_t otherwise) {
    return (uint32_t)number_or(at, key, otherwise, UINT32_MAX);
}

static void tm_read_limits(const struct sk_at *at, const struct sk_queue_limits *otherwise,
                           struct sk_queue_limits *out) {
    out->red = cells_or(at, "red", otherwise->red);
    out->yellow = cells_or(at, "yellow", otherwise->yellow);
    out->green = cells_or(at, "green", otherwise->green);
}

// As struct sk_queue_buffer has it.
static uint8_t read_share(const struct sk_at *at, uint8_t otherwise) {
    const struct sk_at member = sk_at_member(at, "share");
    if (!member.value)
        return otherwise;
    for (uint8_t i = 1; i <= SK_SHARE_HIGHEST; i++)
        if (json_is_number(member.value) &&
            json_number_value(member.value) * 128 == (double)(1u << i))
            return i;
    sk_at_fail(&member, "a share of what is free is 4, 2, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125 or "
                        "0.015625");
    return 0;
}

static void tm_read_cells(const struct sk_at *at, const struct sk_queue_buffer *otherwise,
                          struct sk_queue_buffer *out) {
    const struct sk_at pool = sk_at_member(at, "pool"), share = sk_at_member(at, "share"),
                       pooled = sk_at_member(at, "pooled"), base = sk_at_member(at, "base");
    *out = *otherwise;
    out->guaranteed = cells_or(at, "guaranteed", otherwise->guaranteed);
    out->share = read_share(at, otherwise->share);
    out->base = cells_or(at, "base", out->share ? otherwise->base : 0);
    if (pool.value) {
        out->pooled = true;
        out->pool = (uint8_t)sk_at_number(&pool, true, SK_APP_POOLS - 1);
    }
    if (pooled.value && !control_tm_flag(at, "pooled")) {
        out->pooled = false;
        out->share = 0;
        out->base = 0;
        if (pool.value)
            sk_at_fail(&pool, "a queue that is not \"pooled\" has no pool");
    }
    if (share.value && !out->pooled)
        sk_at_fail(&share, "a share is of a \"pool\"");
    if (base.value && !out->share)
        sk_at_fail(&base, "cells that a \"share\" does not limit need one");
}

static void read_own(const struct sk_at *at, const struct sk_port_queue *q,
                     struct sk_queue_schedule *out) {
    const struct sk_queue_limits port = {q->limit_red, q->limit_yellow, q->limit_green};
    out->own_limits = sk_at_member(at, "red").value || sk_at_member(at, "yellow").value ||
                      sk_at_member(at, "green").value;
    out->own_buffer = sk_at_member(at, "guaranteed").value || sk_at_member(at, "pool").value ||
                      sk_at_member(at, "share").value || sk_at_member(at, "pooled").value ||
                      sk_at_member(at, "base").value;
    if (out->own_limits)
        tm_read_limits(at, &port, &out->limits);
    if (out->own_buffer)
        tm_read_cells(at, &q->buffer, &out->buffer);
}

static void read_schedule(const struct sk_at *at, uint16_t dev_port, struct sk_port_queue *q) {
    static const char *const keys[] = {
        "qid",      "priority", "weight",     "flow_control", "red",    "yellow", "green",
        "pg_queue", "share",    "guaranteed", "pool",         "pooled", "base",   NULL};
    bool said[SK_PORT_QUEUES] = {false};
    for (size_t i = 0; i < sk_at_length(at); i++) {
        const struct sk_at item = sk_at_item(at, i), weight = sk_at_member(&item, "weight");
        sk_at_keys(&item, keys);
        const uint32_t qid = (uint32_t)control_tm_number(&item, "qid", true, SK_PORT_QUEUES - 1);
        if (said[qid])
            sk_at_fail(&item, "queue %u is listed twice", qid);
        said[qid] = true;
        q->schedule[qid] = (struct sk_queue_schedule){
            .priority = (uint8_t)control_tm_number(&item, "priority", false, SK_PRIORITIES - 1),
            .weight = (uint16_t)sk_at_number(&weight, false, SK_WEIGHT_HIGHEST)};
        if (weight.value && q->schedule[qid].weight == 0)
            sk_at_fail(&weight, "a weight is 1 to %u", SK_WEIGHT_HIGHEST);
        read_flow_control(&item, dev_port, qid, &q->schedule[qid]);
        read_own(&item, q, &q->schedule[qid]);
    }
}

static void read_queue(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op",     "port",     "speed",      "limit", "red",
                                       "yellow", "green",    "guaranteed", "pool",  "share",
                                       "base",   "schedule", NULL};
    static const struct sk_queue_buffer none;
    const struct sk_at schedule = sk_at_member(at, "schedule");
    control_tm_check_keys(at, keys, request);
    out->port = control_tm_port(at, "port");
    out->queue.speed_mbps = (uint32_t)control_tm_number(at, "speed", false, UINT32_MAX);
    out->queue.limit = cells_or(at, "limit", 0);
    out->queue.limit_red = cells_or(at, "red", 0);
    out->queue.limit_yellow = cells_or(at, "yellow", 0);
    out->queue.limit_green = cells_or(at, "green", 0);
    tm_read_cells(at, &none, &out->queue.buffer);
    read_schedule(&schedule, out->port, &out->queue);
}

static void read_pool(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op", "id", "cells", "red", "yellow", "green", NULL};
    const struct sk_at cells = sk_at_member(at, "cells");
    control_tm_check_keys(at, keys, request);
    out->id = (uint32_t)control_tm_number(at, "id", true, SK_APP_POOLS - 1);
    out->pool.cells = (uint32_t)sk_at_between(&cells, true, 1, UINT32_MAX);
    out->pool.limit_red = cells_or(at, "red", 0);
    out->pool.limit_yellow = cells_or(at, "yellow", 0);
    out->pool.limit_green = cells_or(at, "green", 0);
}

bool sk_tm_names_pools(const struct sk_at *at, const struct sk_tm_item *item, unsigned pools) {
    const struct sk_port_queue *q = &item->queue;
    for (size_t i = 0; i <= SK_PORT_QUEUES; i++) {
        const struct sk_queue_buffer *b = &q->buffer;
        if (i < SK_PORT_QUEUES && q->schedule[i].own_buffer)
            b = &q->schedule[i].buffer;
        if (b->pooled && !(pools >> b->pool & 1)) {
            sk_at_fail(at, "there is no pool %u: pools are in \"pools\"", b->pool);
            return false;
        }
    }
    return true;
}

static void read_buffer(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op", "pipe", "offset", "bytes", NULL};
    static const char digits[] = "0123456789abcdef";
    control_tm_check_keys(at, keys, request);
    struct sk_at member = sk_at_member(at, "bytes");
    const char *text = sk_at_string(&member, true);
    out->pipe = (unsigned)control_tm_number(at, "pipe", true, SK_PIPES - 1);
    out->id = (uint32_t)control_tm_number(at, "offset", true, SK_PKTGEN_BUFFER - 1);
    out->n = text ? strlen(text) / 2 : 0;
    if (out->n > SK_PKTGEN_BUFFER)
        out->n = 0, sk_at_fail(&member, "the buffer has %u bytes", SK_PKTGEN_BUFFER);
    uint8_t *bytes = sk_json_keep(at->doc, out->n + 1);
    for (size_t i = 0; text && text[i] && i < 2 * out->n + 1; i++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));
        if (!digit || strlen(text) % 2) {
            sk_at_fail(&member, "it must be bytes in hexadecimal digits");
            break;
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (digit - digits));
    }
    out->bytes = bytes;
}

static const char *const triggers[] = {"one_shot", "periodic", "port_down", "recirculation", NULL};

static void read_pktgen(const struct sk_at *at, bool request, struct sk_tm_item *out) {
    static const char *const keys[] = {"op",      "pipe",      "app",        "trigger", "length",
                                       "offset",  "timer",     "pattern",    "mask",    "batches",
                                       "packets", "batch_gap", "packet_gap", "source",  NULL};
    control_tm_check_keys(at, keys, request);
    struct sk_pktgen_app *a = &out->app;
    out->pipe = (unsigned)control_tm_number(at, "pipe", true, SK_PIPES - 1);
    out->id = (uint32_t)control_tm_number(at, "app", true, SK_PKTGEN_APPS - 1);
    a->enabled = true;
    a->trigger = (enum sk_pktgen_trigger)control_tm_choice(at, "trigger", triggers);
    a->length = (uint16_t)control_tm_number(at, "length", true, SK_PKTGEN_BUFFER);
    a->offset = (uint16_t)control_tm_number(at, "offset", false, SK_PKTGEN_BUFFER - 1);
    a->timer_ns = control_tm_number(at, "timer", false, INT64_MAX / 2);
    a->pattern = (uint32_t)control_tm_number(at, "pattern", false, UINT32_MAX);
    a->mask = (uint32_t)number_or(at, "mask", UINT32_MAX, UINT32_MAX);
    a->batches = (uint32_t)number_or(at, "batches", 1, 65536);
    a->packets = (uint32_t)number_or(at, "packets", 1, 65536);
    a->batch_gap_ns = (uint32_t)control_tm_number(at, "batch_gap", false, UINT32_MAX);
    a->packet_gap_ns = (uint32_t)control_tm_number(at, "packet_gap", false, UINT32_MAX);
    a->source_port = (uint8_t)number_or(at, "source", SK_PKTGEN_USUAL, SK_PIPE_PORTS - 1);
}

void sk_tm_read(const struct sk_at *at, enum sk_tm_kind kind, bool request,
                struct sk_tm_item *out) {
    static const char *const backup_keys[] = {"op", "port", "backup", NULL};
    static const char *const global_keys[] = {"op", "rid", NULL};
    static const char *const deflect_keys[] = {"op", "port", "qid", NULL};
    *out = (struct sk_tm_item){.kind = kind};
    switch (kind) {
    case SK_TM_MIRROR:
        control_tm_read_mirror(at, request, out);
        return;
    case SK_TM_LAG:
        read_lag(at, request, out);
        return;
    case SK_TM_ECMP:
        read_ecmp(at, request, out);
        return;
    case SK_TM_BACKUP:
        control_tm_check_keys(at, backup_keys, request);
        out->port = control_tm_port(at, "port");
        out->other = control_tm_port(at, "backup");
        return;
    case SK_TM_GLOBAL:
        control_tm_check_keys(at, global_keys, request);
        out->id = (uint32_t)control_tm_number(at, "rid", true, UINT16_MAX);
        return;
    case SK_TM_POOL:
        read_pool(at, request, out);
        return;
    case SK_TM_QUEUE:
        read_queue(at, request, out);
        return;
    case SK_TM_DEFLECT:
        control_tm_check_keys(at, deflect_keys, request);
        out->port = control_tm_port(at, "port");
        out->id = (uint32_t)control_tm_number(at, "qid", false, 127);
        return;
    case SK_TM_BUFFER:
        read_buffer(at, request, out);
        return;
    case SK_TM_PKTGEN:
        read_pktgen(at, request, out);
    }
}

// ---- applying ----

static int control_tm_explain(int rc, const char *invalid, struct sk_error *err) {
    switch (-rc) {
    case 0:
        return 0;
    case EINVAL:
        return sk_fail(err, "%s", invalid);
    case ENOENT:
        return sk_fail(err, "it contains a node that does not exist");
    case EEXIST:
        return sk_fail(err, "it contains a node twice");
    case ENOTSUP:
        return sk_fail(err, "not supported yet: recirculation as a trigger on a Tofino 2");
    default:
        return sk_fail(err, "%s", strerror(-rc));
    }
}

static int set_queue(struct sk_switch *sw, const struct sk_tm_item *i, struct sk_error *err) {
    const int rc = sk_switch_port_queue(sw, i->port, &i->queue);
    if (rc == -EEXIST)
        return sk_fail(err,
                       "a pg_queue is another queue's of the same port group: port %u has 8 "
                       "ports in its group",
                       i->port);
    if (rc == -ENOTSUP)
        return sk_fail(err,
                       "ports of several pipes cannot share a pool here: their pipes run at times "
                       "of their own");
    return control_tm_explain(rc, "the limits must ascend: red, yellow, green", err);
}

int sk_tm_apply(struct sk_switch *sw, const struct sk_tm_item *i, struct sk_error *err) {
    switch (i->kind) {
    case SK_TM_MIRROR:
        return control_tm_explain(sk_mirror_set(sw, (uint16_t)i->id, &i->mirror),
                                  "there is no such queue", err);
    case SK_TM_LAG:
        return control_tm_explain(sk_pre_lag_set(sw, (uint8_t)i->id, &i->lag), "it cannot be set",
                                  err);
    case SK_TM_ECMP:
        return control_tm_explain(sk_pre_ecmp_set(sw, i->id, i->nodes, i->n), "it cannot be set",
                                  err);
    case SK_TM_BACKUP:
        return control_tm_explain(sk_pre_backup_set(sw, i->port, i->other), "it cannot be set",
                                  err);
    case SK_TM_GLOBAL:
        sk_pre_global_rid(sw, (uint16_t)i->id);
        return 0;
    case SK_TM_POOL:
        return control_tm_explain(sk_switch_app_pool(sw, i->id, &i->pool),
                                  "the limits must ascend: red, yellow, green, cells", err);
    case SK_TM_QUEUE:
        return set_queue(sw, i, err);
    case SK_TM_DEFLECT:
        sk_switch_deflect_to(sw, i->port, (uint8_t)i->id);
        return 0;
    case SK_TM_BUFFER:
        return control_tm_explain(sk_pktgen_buffer(sw, i->pipe, i->id, i->bytes, (uint32_t)i->n),
                                  "it does not fit into the buffer", err);
    default:
        return control_tm_explain(
            sk_pktgen_set(sw, i->pipe, i->id, &i->app, sk_switch_now(sw)),
            "a Tofino has applications 0 to 7; a packet has at least 8 bytes, all in the "
            "buffer; there are 1 to 65536 "
            "batches and packets; a period is at least 1 ns; the source port is 68 to "
            "71, or on a Tofino 2 a port of the pipe below 8 that recirculates",
            err);
    }
}

// ---- requests ----

static unsigned pools_there(const struct sk_switch *sw) {
    unsigned there = 0;
    for (unsigned i = 0; i < SK_APP_POOLS; i++) {
        struct sk_app_pool p;
        sk_switch_app_pool_get(sw, i, &p);
        there |= (unsigned)(p.cells > 0) << i;
    }
    return there;
}

static json_t *control_tm_set(const struct sk_at *at, enum sk_tm_kind kind, struct sk_switch *sw) {
    struct sk_tm_item item;
    struct sk_error err;
    sk_tm_read(at, kind, true, &item);
    if (!at->doc->failed && kind == SK_TM_QUEUE)
        sk_tm_names_pools(at, &item, pools_there(sw));
    if (!at->doc->failed && sk_tm_apply(sw, &item, &err))
        sk_at_fail(at, "%s", err.text);
    return at->doc->failed ? NULL : json_object();
}

// What a Tofino 2's session leaves to the deparser.
static void add_choices(json_t *o, const struct sk_mirror_session *s) {
    const struct {
        const char *key;
        bool set;
    } all[] = {{"hash_cfg", s->hash_cfg}, {"hash_cfg_p", s->hash_cfg_p},
               {"icos_cfg", s->icos_cfg}, {"dod_cfg", s->dod_cfg},
               {"mc_cfg", s->mc_cfg},     {"epipe_cfg", s->epipe_cfg}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].set)
            json_object_set_new(o, all[i].key, json_true());
}

static json_t *mirror_list(struct sk_switch *sw) {
    static const char *const directions[] = {"none", "ingress", "egress", "both"};
    json_t *list = json_array();
    for (uint16_t id = 1; id <= SK_MIRROR_LAST; id++) {
        const struct sk_mirror_session *s = sk_mirror_get(sw, id);
        if (!s->enabled)
            continue;
        json_t *o =
            json_pack("{s:i, s:s, s:i, s:i, s:i, s:b, s:i}", "id", (int)id, "direction",
                      directions[s->direction], "qid", (int)s->qid, "cos", (int)s->cos, "color",
                      (int)s->color, "cpu", (int)s->copy_to_cpu, "max", (int)s->max_pkt_len);
        if (s->ucast_valid)
            json_object_set_new(o, "port", json_integer(s->ucast_port));
        if (s->mcast_a_valid)
            json_object_set_new(o, "mcast_a", json_integer(s->mcast_grp_a));
        if (s->mcast_b_valid)
            json_object_set_new(o, "mcast_b", json_integer(s->mcast_grp_b));
        add_choices(o, s);
        json_array_append_new(list, o);
    }
    return json_pack("{s:o}", "sessions", list);
}

static void set_limits(json_t *o, const struct sk_queue_limits *l) {
    json_object_set_new(o, "red", json_integer(l->red));
    json_object_set_new(o, "yellow", json_integer(l->yellow));
    json_object_set_new(o, "green", json_integer(l->green));
}

// 'own': also what the port has otherwise.
static void set_cells(json_t *o, const struct sk_queue_buffer *b, bool own) {
    if (b->guaranteed || own)
        json_object_set_new(o, "guaranteed", json_integer(b->guaranteed));
    if (b->pooled)
        json_object_set_new(o, "pool", json_integer(b->pool));
    else if (own)
        json_object_set_new(o, "pooled", json_false());
    if (b->pooled && b->share)
        json_object_set_new(o, "share", json_real((double)(1u << b->share) / 128));
    if (b->pooled && b->share && b->base)
        json_object_set_new(o, "base", json_integer(b->base));
}

static json_t *schedule_list(const struct sk_switch *sw, uint16_t port,
                             const struct sk_port_queue *q) {
    json_t *list = json_array();
    for (int i = 0; i < (int)SK_PORT_QUEUES; i++) {
        const struct sk_queue_schedule *s = &q->schedule[i];
        if (!s->priority && !s->weight && !s->xoff && !s->own_limits && !s->own_buffer)
            continue;
        json_t *o = json_pack("{s:i, s:i, s:i}", "qid", i, "priority", (int)s->priority, "weight",
                              s->weight ? (int)s->weight : (int)SK_WEIGHT_HIGHEST);
        if (s->own_limits)
            set_limits(o, &s->limits);
        if (s->own_buffer)
            set_cells(o, &s->buffer, true);
        if (s->xoff) {
            json_object_set_new(o, "flow_control", json_string("xoff"));
            json_object_set_new(o, "pg_queue", json_integer(s->pg_queue));
            json_object_set_new(o, "held",
                                json_boolean(sk_switch_port_held(sw, port, (unsigned)i)));
        }
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *port_queue_json(struct sk_switch *sw, uint16_t port) {
    struct sk_port_queue q;
    sk_switch_port_queue_get(sw, port, &q);
    json_t *schedule = schedule_list(sw, port, &q);
    if (!q.speed_mbps && !json_array_size(schedule)) {
        json_decref(schedule);
        return NULL;
    }
    json_t *o = json_pack("{s:i, s:I}", "port", (int)port, "speed", (json_int_t)q.speed_mbps);
    set_limits(o, &(struct sk_queue_limits){q.limit_red, q.limit_yellow, q.limit_green});
    if (q.limit)
        json_object_set_new(o, "limit", json_integer(q.limit));
    set_cells(o, &q.buffer, false);
    json_object_set_new(o, "schedule", schedule);
    return o;
}

static json_t *pool_list(const struct sk_switch *sw) {
    json_t *list = json_array();
    for (unsigned i = 0; i < SK_APP_POOLS; i++) {
        struct sk_app_pool p;
        sk_switch_app_pool_get(sw, i, &p);
        if (!p.cells)
            continue;
        json_t *o = json_pack("{s:i, s:I, s:I}", "id", (int)i, "cells", (json_int_t)p.cells, "used",
                              (json_int_t)sk_switch_app_pool_used(sw, i));
        set_limits(o, &(struct sk_queue_limits){p.limit_red, p.limit_yellow, p.limit_green});
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *queue_list(struct sk_switch *sw) {
    json_t *list = json_array();
    for (uint16_t p = 0; p < SK_PORTS; p++) {
        json_t *o = port_queue_json(sw, p);
        if (o)
            json_array_append_new(list, o);
    }
    return json_pack("{s:o, s:o}", "queues", list, "pools", pool_list(sw));
}

static json_t *pktgen_list(struct sk_switch *sw) {
    json_t *list = json_array();
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (unsigned app = 0; app < SK_PKTGEN_APPS; app++) {
            struct sk_pktgen_app a;
            struct sk_pktgen_counts n;
            sk_pktgen_get(sw, pipe, app, &a, &n);
            if (a.enabled)
                json_array_append_new(
                    list,
                    json_pack("{s:i, s:i, s:s, s:i, s:i, s:I, s:I, s:I}", "pipe", (int)pipe, "app",
                              (int)app, "trigger", triggers[a.trigger], "length", (int)a.length,
                              "offset", (int)a.offset, "triggers", (json_int_t)n.triggers,
                              "batches", (json_int_t)n.batches, "packets", (json_int_t)n.packets));
        }
    return json_pack("{s:o}", "apps", list);
}

static json_t *control_tm_pktgen_off(const struct sk_at *at, struct sk_switch *sw) {
    static const char *const keys[] = {"op", "pipe", "app", NULL};
    sk_at_keys(at, keys);
    unsigned pipe = (unsigned)control_tm_number(at, "pipe", true, SK_PIPES - 1);
    unsigned app = (unsigned)control_tm_number(at, "app", true, SK_PKTGEN_APPS - 1);
    struct sk_pktgen_app a;
    struct sk_pktgen_counts n;
    if (at->doc->failed)
        return NULL;
    sk_pktgen_get(sw, pipe, app, &a, &n);
    if (!a.enabled)
        sk_at_fail(at, "application %u of pipe %u is not enabled", app, pipe);
    else if (sk_pktgen_set(sw, pipe, app, &(struct sk_pktgen_app){0}, sk_switch_now(sw)))
        sk_at_fail(at, "not enough memory");
    return at->doc->failed ? NULL : json_object();
}

static json_t *control_tm_port_set(const struct sk_at *at, struct sk_switch *sw) {
    static const char *const keys[] = {"op", "port", "up", NULL};
    sk_at_keys(at, keys);
    uint16_t p = control_tm_port(at, "port");
    bool up = control_tm_flag(at, "up");
    if (at->doc->failed)
        return NULL;
    sk_switch_port_up(sw, p, up);
    return json_object();
}

static json_t *control_tm_pool_delete(const struct sk_at *at, struct sk_switch *sw) {
    static const char *const keys[] = {"op", "id", NULL};
    sk_at_keys(at, keys);
    const unsigned id = (unsigned)control_tm_number(at, "id", true, SK_APP_POOLS - 1);
    if (at->doc->failed)
        return NULL;
    if (!(pools_there(sw) >> id & 1))
        sk_at_fail(at, "it does not exist");
    else if (sk_switch_app_pool_has_queues(sw, id))
        sk_at_fail(at, "a queue still uses it");
    else
        sk_switch_app_pool(sw, id, &(struct sk_app_pool){0});
    return at->doc->failed ? NULL : json_object();
}

static int mirror_delete(struct sk_switch *sw, uint32_t id) {
    const struct sk_mirror_session *s = sk_mirror_get(sw, (uint16_t)(id > SK_MIRROR_LAST ? 0 : id));
    if (!s || !s->enabled)
        return -ENOENT;
    return sk_mirror_set(sw, (uint16_t)id, &(struct sk_mirror_session){0});
}

static json_t *control_tm_delete(const struct sk_at *at, struct sk_switch *sw, bool mirror) {
    static const char *const keys[] = {"op", "id", NULL};
    sk_at_keys(at, keys);
    uint32_t id = (uint32_t)control_tm_number(at, "id", true, UINT32_MAX);
    if (at->doc->failed)
        return NULL;
    int rc = mirror ? mirror_delete(sw, id) : sk_pre_ecmp_delete(sw, id);
    if (rc)
        sk_at_fail(at, rc == -EBUSY ? "a group still has it" : "it does not exist");
    return rc ? NULL : json_object();
}

json_t *sk_tm_request(const char *op, const struct sk_at *at, struct sk_switch *sw, bool *known) {
    static const struct {
        const char *op;
        enum sk_tm_kind kind;
    } sets[] = {{"mirror.set", SK_TM_MIRROR},    {"pre.lag.set", SK_TM_LAG},
                {"pre.ecmp.set", SK_TM_ECMP},    {"pre.backup.set", SK_TM_BACKUP},
                {"pre.global", SK_TM_GLOBAL},    {"port.queue", SK_TM_QUEUE},
                {"port.deflect", SK_TM_DEFLECT}, {"pktgen.buffer", SK_TM_BUFFER},
                {"pktgen.set", SK_TM_PKTGEN},    {"pool.set", SK_TM_POOL}};
    *known = true;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(op, sets[i].op) == 0)
            return control_tm_set(at, sets[i].kind, sw);
    if (strcmp(op, "mirror") == 0)
        return mirror_list(sw);
    if (strcmp(op, "queues") == 0)
        return queue_list(sw);
    if (strcmp(op, "pktgen") == 0)
        return pktgen_list(sw);
    if (strcmp(op, "pktgen.off") == 0)
        return control_tm_pktgen_off(at, sw);
    if (strcmp(op, "port.set") == 0)
        return control_tm_port_set(at, sw);
    if (strcmp(op, "pool.delete") == 0)
        return control_tm_pool_delete(at, sw);
    if (strcmp(op, "mirror.delete") == 0 || strcmp(op, "pre.ecmp.delete") == 0)
        return control_tm_delete(at, sw, op[0] == 'm');
    *known = false;
    return NULL;
}

// ---- digests ----

json_t *sk_digest_json(const struct sk_digest *d) {
    json_t *fields = json_object();
    for (uint32_t i = 0; i < d->desc->n_fields; i++) {
        uint64_t words[SK_DIGEST_BYTES / 8];
        char text[160];
        sk_digest_field(d, i, words);
        sk_value_format(text, sizeof text, &d->desc->fields[i], words);
        json_object_set_new(fields, d->desc->fields[i].name, json_string(text));
    }
    return json_pack("{s:s, s:s, s:i, s:I, s:o}", "event", "digest", "digest", d->desc->name,
                     "pipe", (int)d->pipe, "time", (json_int_t)d->time_ns, "fields", fields);
}
