// SPDX-License-Identifier: Apache-2.0
#include "control/requests_impl.h"

#include <errno.h>
#include <string.h>

#include "control/jobs.h"
#include "control/json.h"
#include "control/names.h"
#include "control/tm.h"
#include "control/values.h"
#include "pipeline/pre.h"

#ifndef SILKEN_VERSION
#define SILKEN_VERSION "unknown"
#endif

static const char *member_string(const struct request *r, const char *key) {
    struct sk_at at = sk_at_member(r->at, key);
    return sk_at_string(&at, true);
}

static uint64_t member_number(const struct request *r, const char *key, bool must, uint64_t max) {
    struct sk_at at = sk_at_member(r->at, key);
    return sk_at_number(&at, must, max);
}

void sk_set_number(json_t *object, const char *key, uint64_t v) {
    // JSON numbers of this library are signed; larger ones are written as hexadecimal text
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    json_object_set_new(object, key,
                        v > INT64_MAX ? json_string(text) : json_integer((json_int_t)v));
}

static json_t *value_text(const struct sk_field_desc *f, const uint64_t *words) {
    char text[1400];
    sk_value_format(text, sizeof text, f, words);
    return json_string(text);
}

// ---- what there is ----

static json_t *hello(const struct request *r) {
    const struct sk_program_desc *d = sk_switch_program(r->sw);
    json_t *pipelines = json_array();
    for (uint32_t i = 0; i < d->n_pipelines; i++)
        json_array_append_new(pipelines, json_string(d->pipelines[i]->name));
    return json_pack("{s:s, s:s, s:o}", "program", d->path, "version", SILKEN_VERSION, "pipelines",
                     pipelines);
}

static json_t *describe_table(const struct request *r, const struct sk_object *o) {
    const struct sk_table_desc *d = o->desc->tables[o->index];
    static const char *const kinds[] = {"exact", "ternary", "lpm", "range"};
    json_t *keys = json_array(), *actions = json_array();
    for (uint32_t i = 0; i < d->n_keys; i++)
        json_array_append_new(keys,
                              json_pack("{s:s, s:i, s:s}", "name", d->keys[i].name, "width",
                                        (int)d->keys[i].width, "match", kinds[d->keys[i].match]));
    for (uint32_t i = 0; i < d->n_actions; i++) {
        const struct sk_action_desc *a = d->actions[i];
        json_t *params = json_array();
        for (uint32_t j = 0; j < a->n_params; j++)
            json_array_append_new(params, json_pack("{s:s, s:i}", "name", a->params[j].name,
                                                    "width", (int)a->params[j].width));
        json_array_append_new(actions, json_pack("{s:s, s:o}", "name", a->name, "params", params));
    }
    json_t *counts = json_array();
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, o, pipe))
            json_array_append_new(counts, json_integer((json_int_t)sk_table_count(o->desc->table(
                                              sk_switch_pipe(r->sw, pipe), o->index))));
    return json_pack("{s:s, s:I, s:o, s:b, s:b, s:o, s:o}", "name", d->name, "size",
                     (json_int_t)d->size, "entries", counts, "const", d->const_entries, "hidden",
                     d->hidden, "keys", keys, "actions", actions);
}

static json_t *describe(const struct request *r, const struct sk_object *o) {
    if (o->kind == SK_TABLE)
        return describe_table(r, o);
    json_t *d = json_pack("{s:s}", "name", sk_object_name(o));
    if (o->kind == SK_REGISTER) {
        const struct sk_register_desc *reg = &o->desc->registers[o->index];
        sk_set_number(d, "size", reg->size);
        sk_set_number(d, "width", reg->width);
        sk_set_number(d, "words", reg->words);
    } else if (o->kind == SK_METER_OBJECT) {
        sk_describe_meter(o, d);
    } else if (o->kind == SK_COUNTER) {
        sk_set_number(d, "size", o->desc->counters[o->index].size);
    } else if (o->kind == SK_METER_OBJECT) {
        sk_set_number(d, "size", o->desc->meters[o->index].size);
    } else if (o->kind == SK_SELECTOR) {
        sk_describe_selector(r, o, d);
    } else {
        sk_set_number(d, "size", o->desc->value_sets[o->index].size);
    }
    return d;
}

static json_t *objects(const struct request *r) {
    static const char *const names[] = {"tables",     "registers", "counters",
                                        "value_sets", "meters",    "selectors"};
    json_t *all = json_object();
    for (enum sk_object_kind kind = SK_TABLE; kind <= SK_SELECTOR; kind++) {
        json_t *list = json_array();
        struct sk_object o;
        for (size_t i = 0; sk_object_at(r->sw, kind, i, &o); i++)
            json_array_append_new(list, describe(r, &o));
        json_object_set_new(all, names[kind], list);
    }
    return all;
}

// ---- tables ----

struct dump {
    const struct sk_table_desc *desc;
    json_t *entries;
    size_t at, from;
    uint64_t now;
};

static void set_counts(json_t *out, const struct sk_table_desc *d, const struct sk_entry *e) {
    sk_set_number(out, "hits", sk_entry_hits(e));
    if (d->has_counter && d->counter_type != 1)
        sk_set_number(out, "packets", e->packets);
    if (d->has_counter && d->counter_type != 0)
        sk_set_number(out, "bytes", e->bytes);
}

static json_t *action_json(const struct sk_table_desc *d, const struct sk_entry *e) {
    const struct sk_action_desc *a = d->actions[e->action];
    json_t *args = json_object(), *out;
    if (a->refers) {
        json_decref(args);
        out = json_pack("{s:I}", a->refers == SK_REFERS_MEMBER ? "member" : "group",
                        (json_int_t)e->data[0]);
        set_counts(out, d, e);
        return out;
    }
    for (uint32_t i = 0, word = 0; i < a->n_params; word += sk_words(a->params[i++].width))
        json_object_set_new(args, a->params[i].name, value_text(&a->params[i], e->data + word));
    out = json_pack("{s:s, s:o}", "action", a->name, "args", args);
    set_counts(out, d, e);
    return out;
}

static bool dump_entry(void *aux, const struct sk_entry *e) {
    struct dump *d = aux;
    if (d->at++ < d->from)
        return true;
    json_t *key = json_object();
    for (uint32_t i = 0, word = 0; i < d->desc->n_keys;
         word += sk_words(d->desc->keys[i++].width)) {
        char text[2800];
        sk_key_format(text, sizeof text, &d->desc->keys[i], e->value + word, e->mask + word);
        json_object_set_new(key, d->desc->keys[i].name, json_string(text));
    }
    json_t *entry = action_json(d->desc, e);
    if (d->desc->meter_kind || d->desc->idle_timeout)
        json_object_set_new(entry, "data", sk_entry_data_json(d->desc, e, d->now));
    json_object_set_new(entry, "key", key);
    json_object_set_new(entry, "priority", json_integer(e->priority));
    json_object_set_new(entry, "const", json_boolean(e->is_const));
    json_array_append_new(d->entries, entry);
    return json_array_size(d->entries) < SK_PAGE;
}

bool sk_request_pipe(const struct request *r, const struct sk_object *o, int wanted,
                     unsigned *pipe) {
    for (*pipe = 0; *pipe < SK_PIPES; (*pipe)++)
        if (sk_object_in_pipe(r->sw, o, *pipe) && (wanted < 0 || wanted == (int)*pipe))
            return true;
    sk_fail(r->err, "pipe %d has no '%s'", wanted, sk_object_name(o));
    return false;
}

static json_t *table_dump(const struct request *r) {
    static const char *const keys[] = {"op", "table", "pipe", "from", NULL};
    struct sk_object o;
    unsigned pipe;
    sk_at_keys(r->at, keys);
    const char *name = member_string(r, "table");
    size_t from = member_number(r, "from", false, INT64_MAX);
    int wanted = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_TABLE, name, &o, r->err) || !sk_request_pipe(r, &o, wanted, &pipe))
        return failed(r);
    struct sk_table *t = o.desc->table(sk_switch_pipe(r->sw, pipe), o.index);
    struct dump d = {.desc = o.desc->tables[o.index],
                     .entries = json_array(),
                     .from = from,
                     .now = sk_switch_now(r->sw)};
    sk_table_each(t, dump_entry, &d);
    json_t *result = describe(r, &o);
    json_object_set_new(result, "pipe", json_integer(pipe));
    json_object_set_new(result, "default", action_json(d.desc, sk_table_default(t)));
    size_t shown = json_array_size(d.entries);
    json_object_set_new(result, "entries", d.entries);
    if (from + shown < sk_table_count(t))
        sk_set_number(result, "next", from + shown);
    return result;
}

static json_t *change_entry(const struct request *r, unsigned parts,
                            int (*call)(struct sk_switch *, const struct sk_entry_spec *,
                                        struct sk_error *)) {
    struct sk_entry_spec e;
    sk_at_entry(r->at, parts | SK_AT_OP, &e);
    return good(r) ? done(r, call(r->sw, &e, r->err)) : NULL;
}

static json_t *table_add(const struct request *r) {
    return change_entry(r, SK_AT_KEY | SK_AT_ACTION, sk_control_entry_add);
}

static json_t *table_modify(const struct request *r) {
    return change_entry(r, SK_AT_KEY | SK_AT_ACTION, sk_control_entry_modify);
}

static json_t *table_delete(const struct request *r) {
    return change_entry(r, SK_AT_KEY, sk_control_entry_delete);
}

static json_t *table_default(const struct request *r) {
    return change_entry(r, SK_AT_ACTION, sk_control_default_set);
}

static int clear(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_error *err) {
    return sk_control_table_clear(sw, e->table, e->pipe, err);
}

static json_t *table_clear(const struct request *r) {
    return change_entry(r, 0, clear);
}

// ---- registers and counters ----

struct page {
    uint64_t from, to; // first index, one past the last
};

// 'from' and 'count' of a request against what there is; false when it failed.
static bool read_page(const struct request *r, uint64_t size, struct page *page) {
    page->from = member_number(r, "from", false, INT64_MAX);
    struct sk_at at = sk_at_member(r->at, "count");
    uint64_t count = at.value ? sk_at_number(&at, true, INT64_MAX) : SK_PAGE;
    if (good(r) && page->from >= size)
        sk_at_fail(r->at, "there is no index %llu; there are %llu", (unsigned long long)page->from,
                   (unsigned long long)size);
    count = count < SK_PAGE ? count : SK_PAGE;
    page->to = page->from + (count < size - page->from ? count : size - page->from);
    return good(r);
}

static const char *word_name(const struct sk_register_desc *d, uint32_t word) {
    static const char *const plain[] = {"f1", "f2"};
    return d->word_names[word] ? d->word_names[word] : plain[word];
}

static json_t *register_cell(const struct request *r, const struct sk_object *o, uint64_t index) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    const struct sk_field_desc f = {.width = d->width, .is_signed = d->is_signed};
    json_t *cell = json_object();
    sk_set_number(cell, "index", index);
    for (uint32_t word = 0; word < d->words; word++) {
        json_t *values = json_array();
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
            if (!sk_object_in_pipe(r->sw, o, pipe))
                continue;
            uint64_t v = o->desc->register_read(sk_switch_pipe(r->sw, pipe), o->index, index, word);
            json_array_append_new(values, value_text(&f, &v));
        }
        json_object_set_new(cell, word_name(d, word), values);
    }
    return cell;
}

static json_t *cells_json(const struct request *r, const struct sk_object *o,
                          const struct page *page, uint64_t size,
                          json_t *(*cell)(const struct request *, const struct sk_object *,
                                          uint64_t)) {
    json_t *cells = json_array();
    for (uint64_t i = page->from; i < page->to; i++)
        json_array_append_new(cells, cell(r, o, i));
    json_t *result = describe(r, o);
    json_object_set_new(result, "cells", cells);
    if (page->to < size)
        sk_set_number(result, "next", page->to);
    return result;
}

static json_t *register_read(const struct request *r) {
    static const char *const keys[] = {"op", "name", "from", "count", NULL};
    struct sk_object o;
    struct page page;
    sk_at_keys(r->at, keys);
    const char *name = member_string(r, "name");
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_REGISTER, name, &o, r->err))
        return failed(r);
    const struct sk_register_desc *d = &o.desc->registers[o.index];
    if (!read_page(r, d->size, &page))
        return NULL;
    json_t *result = cells_json(r, &o, &page, d->size, register_cell);
    json_t *fields = json_array(), *pipes = json_array();
    for (uint32_t word = 0; word < d->words; word++)
        json_array_append_new(fields, json_string(word_name(d, word)));
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, &o, pipe))
            json_array_append_new(pipes, json_integer(pipe));
    json_object_set_new(result, "fields", fields);
    json_object_set_new(result, "pipes", pipes);
    return result;
}

// All fields or none: the control API writes one at a time.
static int write_fields(const struct request *r, const char *name, uint64_t index, int pipe,
                        const struct sk_named_value *fields, size_t n) {
    uint64_t old[2][SK_PIPES];
    int rc = n > 2 ? sk_fail(r->err, "a register has at most two fields") : 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = sk_control_register_read(r->sw, name, index, fields[i].name, old[i], r->err);
    size_t written = 0;
    for (; rc == 0 && written < n; written++)
        rc = sk_control_register_write(r->sw, name, index, fields[written].name,
                                       fields[written].value, pipe, r->err);
    if (rc == 0)
        return 0;
    // the first field was good and the second not: take the first back
    for (unsigned p = 0; written == 2 && p < SK_PIPES; p++) {
        char text[24];
        struct sk_error ignored;
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)old[0][p]);
        if (pipe == -1 || pipe == (int)p)
            sk_control_register_write(r->sw, name, index, fields[0].name, text, (int)p, &ignored);
    }
    return rc;
}

static json_t *register_write(const struct request *r) {
    static const char *const keys[] = {"op", "name", "index", "value", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = member_string(r, "name");
    uint64_t index = member_number(r, "index", true, INT64_MAX);
    int pipe = sk_at_pipe(r->at);
    struct sk_at value = sk_at_member(r->at, "value");
    struct sk_named_value plain = {NULL, NULL}, *fields = &plain;
    size_t n = 1;
    if (json_is_object(value.value))
        fields = sk_at_values(&value, &n);
    else
        plain.value = sk_at_text(&value);
    return good(r) ? done(r, write_fields(r, name, index, pipe, fields, n)) : NULL;
}

static json_t *counter_cell(const struct request *r, const struct sk_object *o, uint64_t index) {
    uint64_t packets = 0, bytes = 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (!sk_object_in_pipe(r->sw, o, pipe))
            continue;
        const struct sk_counter_cell *c =
            o->desc->counter(sk_switch_pipe(r->sw, pipe), o->index) + index;
        packets += c->packets;
        bytes += c->bytes;
    }
    uint8_t type = o->desc->counters[o->index].type;
    json_t *cell = json_object();
    sk_set_number(cell, "index", index);
    if (type != 1)
        sk_set_number(cell, "packets", packets);
    if (type != 0)
        sk_set_number(cell, "bytes", bytes);
    return cell;
}

static json_t *counter_read(const struct request *r) {
    static const char *const keys[] = {"op", "name", "from", "count", NULL};
    struct sk_object o;
    struct page page;
    sk_at_keys(r->at, keys);
    const char *name = member_string(r, "name");
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_COUNTER, name, &o, r->err))
        return failed(r);
    uint64_t size = o.desc->counters[o.index].size;
    if (o.desc->counters[o.index].direct) {
        sk_fail(r->err, "counter '%s' is in the entries of table '%s'; name one by its key",
                sk_object_name(&o), o.desc->tables[o.desc->counters[o.index].table]->name);
        return failed(r);
    }
    return read_page(r, size, &page) ? cells_json(r, &o, &page, size, counter_cell) : NULL;
}

// ---- ports and statistics ----

static json_t *drops_json(const uint64_t *drops) {
    json_t *out = json_object();
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (drops[i] > 0)
            sk_set_number(out, sk_drop_text((enum sk_drop_reason)i), drops[i]);
    return out;
}

static const struct sk_config_port *configured(const struct request *r, uint16_t port) {
    const struct sk_config *c = r->service->config;
    for (size_t i = 0; c && i < c->n_ports; i++)
        if (c->ports[i].port == port)
            return &c->ports[i];
    return NULL;
}

static json_t *port_json(const struct request *r, uint16_t port, const struct sk_port_stats *s) {
    const struct sk_config_port *c = configured(r, port);
    json_t *out =
        json_pack("{s:i, s:b, s:b}", "port", (int)port, "up", sk_switch_port_is_up(r->sw, port),
                  "loopback", sk_switch_port_is_loopback(r->sw, port));
    if (c)
        json_object_set_new(out, "device", json_string(c->device));
    if (c && c->name)
        json_object_set_new(out, "name", json_string(c->name));
    if (r->service->link)
        json_object_set_new(out, "link", json_boolean(r->service->link(r->service->aux, port)));
    sk_set_number(out, "rx_packets", s->rx_packets);
    sk_set_number(out, "rx_bytes", s->rx_bytes);
    sk_set_number(out, "tx_packets", s->tx_packets);
    sk_set_number(out, "tx_bytes", s->tx_bytes);
    json_object_set_new(out, "drops", drops_json(s->drops));
    return out;
}

static json_t *ports(const struct request *r) {
    static const struct sk_port_stats nothing;
    json_t *list = json_array();
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        struct sk_port_stats s;
        sk_switch_port_stats(r->sw, port, &s);
        if (configured(r, port) || sk_switch_port_is_up(r->sw, port) ||
            memcmp(&s, &nothing, sizeof s) != 0)
            json_array_append_new(list, port_json(r, port, &s));
    }
    return json_pack("{s:o}", "ports", list);
}

static json_t *stats(const struct request *r) {
    struct sk_switch_stats s;
    sk_switch_stats(r->sw, &s);
    json_t *out = json_object();
    sk_set_number(out, "rx_packets", s.rx_packets);
    sk_set_number(out, "tx_packets", s.tx_packets);
    sk_set_number(out, "copies", s.copies);
    sk_set_number(out, "recirculated", s.recirculated);
    sk_set_number(out, "resubmitted", s.resubmitted);
    sk_set_number(out, "mirrored", s.mirrored);
    sk_set_number(out, "generated", s.generated);
    sk_set_number(out, "digests", s.digests);
    json_object_set_new(out, "drops", drops_json(s.drops));
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

static json_t *pre_list(const struct request *r) {
    json_t *nodes = json_array(), *groups = json_array();
    pre_nodes_each(sk_switch_pre(r->sw), list_node, nodes);
    pre_groups_each(sk_switch_pre(r->sw), list_group, groups);
    return json_pack("{s:o, s:o}", "nodes", nodes, "groups", groups);
}

static json_t *pre_done(const struct request *r, int rc, const char *what) {
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
    return failed(r);
}

static json_t *pre_node_set_request(const struct request *r) {
    static const char *const keys[] = {"op", "id", "rid", "ports", "lags", NULL};
    sk_at_keys(r->at, keys);
    uint32_t id = (uint32_t)member_number(r, "id", true, UINT32_MAX);
    uint16_t rid = (uint16_t)member_number(r, "rid", false, UINT16_MAX);
    struct sk_at list = sk_at_member(r->at, "ports");
    size_t n;
    uint16_t *numbers = sk_at_ports(&list, &n);
    struct sk_at lag_list = sk_at_member(r->at, "lags");
    size_t n_lags;
    uint8_t *lags = sk_at_lags(&lag_list, &n_lags);
    int rc = good(r) ? sk_pre_node_set_lags(r->sw, id, rid, numbers, n, lags, n_lags) : 0;
    return good(r) ? pre_done(r, rc, "node") : NULL;
}

static json_t *pre_group_set_request(const struct request *r) {
    static const char *const keys[] = {"op", "id", "nodes", NULL};
    sk_at_keys(r->at, keys);
    uint16_t id = (uint16_t)member_number(r, "id", true, UINT16_MAX);
    struct sk_at list = sk_at_member(r->at, "nodes");
    size_t n;
    struct sk_pre_member *members = sk_at_members(&list, &n);
    return good(r) ? pre_done(r, sk_pre_group_set(r->sw, id, members, n), "node") : NULL;
}

static const char *const id_keys[] = {"op", "id", NULL};

static json_t *pre_node_delete_request(const struct request *r) {
    sk_at_keys(r->at, id_keys);
    uint32_t id = (uint32_t)member_number(r, "id", true, UINT32_MAX);
    return good(r) ? pre_done(r, sk_pre_node_delete(r->sw, id), "node") : NULL;
}

static json_t *pre_group_delete_request(const struct request *r) {
    sk_at_keys(r->at, id_keys);
    uint16_t id = (uint16_t)member_number(r, "id", true, UINT16_MAX);
    return good(r) ? pre_done(r, sk_pre_group_delete(r->sw, id), "group") : NULL;
}

static json_t *job(const struct request *r) {
    static const char *const keys[] = {"op", "job", NULL};
    sk_at_keys(r->at, keys);
    struct sk_at at = sk_at_member(r->at, "job");
    int64_t number = at.value ? (int64_t)sk_at_number(&at, true, INT32_MAX) : -1;
    if (!good(r))
        return NULL;
    json_t *result = sk_jobs(r->sw, number, r->service->now, r->err);
    return result ? result : failed(r);
}

// ---- dispatch ----

static const struct {
    const char *op;
    json_t *(*handle)(const struct request *r);
} ops[] = {
    {"hello", hello},
    {"objects", objects},
    {"table.dump", table_dump},
    {"table.add", table_add},
    {"table.modify", table_modify},
    {"table.delete", table_delete},
    {"table.default", table_default},
    {"table.clear", table_clear},
    {"group.dump", sk_request_group_dump},
    {"group.add", sk_request_group_add},
    {"group.modify", sk_request_group_modify},
    {"group.delete", sk_request_group_delete},
    {"group.clear", sk_request_group_clear},
    {"group.member", sk_request_group_member},
    {"register.read", register_read},
    {"register.write", register_write},
    {"counter.read", counter_read},
    {"ports", ports},
    {"stats", stats},
    {"pre", pre_list},
    {"pre.node.set", pre_node_set_request},
    {"pre.node.delete", pre_node_delete_request},
    {"pre.group.set", pre_group_set_request},
    {"pre.group.delete", pre_group_delete_request},
    {"job", job},
    {"meter.read", sk_request_meter_read},
    {"meter.write", sk_request_meter_write},
    {"meter.reset", sk_request_meter_reset},
    {"counter.write", sk_request_counter_write},
    {"counter.clear", sk_request_counter_clear},
    {"entry.read", sk_request_entry_read},
    {"entry.write", sk_request_entry_write},
    {"idle.poll", sk_request_idle_poll},
    {"idle.update", sk_request_idle_update},
    {"events", sk_request_events},
};

static json_t *dispatch(const struct request *r) {
    if (!json_is_object(r->at->value)) {
        sk_at_fail(r->at, "request must be a JSON object");
        return NULL;
    }
    const char *op = member_string(r, "op");
    for (size_t i = 0; good(r) && i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].op, op) == 0)
            return ops[i].handle(r);
    bool known = false;
    json_t *result = good(r) ? sk_tm_request(op, r->at, r->sw, &known) : NULL;
    if (known)
        return result;
    struct sk_at at = sk_at_member(r->at, "op");
    sk_at_fail(&at, "there is no request '%.40s'", op);
    return NULL;
}

json_t *sk_request(const struct sk_service *service, const char *text, size_t length) {
    struct sk_error err = {""};
    json_error_t where;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    json_t *result = NULL;
    if (!root) {
        sk_fail(&err, "the request is no JSON: %s", where.text);
    } else {
        struct sk_json doc = {.err = &err};
        struct sk_at at = {.doc = &doc, .value = root};
        result = dispatch(&(struct request){service, service->sw, &at, &err});
        if (result && doc.failed) { // an op without members of its own was given some
            json_decref(result);
            result = NULL;
        }
        sk_json_release(&doc);
        json_decref(root);
    }
    if (result)
        return json_pack("{s:b, s:o}", "ok", 1, "result", result);
    // a sentence that was cut in the middle of a character is no UTF-8
    for (char *c = err.text; *c; c++)
        *c = *c & 0x80 ? '?' : *c;
    return json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
}
