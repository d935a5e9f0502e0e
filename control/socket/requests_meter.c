// SPDX-License-Identifier: Apache-2.0
//
// requests_meter: meters and filters, counts, what hangs on entries, ageing.
#include <string.h>

#include "control/tables/attached.h"
#include "control/tables/idle.h"
#include "control/socket/requests_impl.h"
#include "control/tables/values.h"

static const char *name_member(const struct request *r, const char *key) {
    struct sk_at at = sk_at_member(r->at, key);
    return sk_at_string(&at, true);
}

static uint64_t number_member(const struct request *r, const char *key, bool must) {
    struct sk_at at = sk_at_member(r->at, key);
    return sk_at_number(&at, must, INT64_MAX);
}

// "index": a number, or "all".
static uint64_t cells_member(const struct request *r) {
    struct sk_at at = sk_at_member(r->at, "index");
    const char *text = json_string_value(at.value);
    return text && strcmp(text, "all") == 0 ? SK_ALL_CELLS : sk_at_number(&at, true, INT64_MAX);
}

static json_t *data_json(const struct sk_data *d) {
    json_t *out = json_object();
    for (size_t i = 0; i < d->n; i++)
        json_object_set_new(out, d->list[i].name, json_string(d->list[i].value));
    return out;
}

json_t *sk_entry_data_json(const struct sk_table_desc *d, const struct sk_entry *e, uint64_t now) {
    const struct sk_holder holder = sk_holder_of_table(d);
    struct sk_data data;
    sk_attached_read(&holder, e, e->meter, now, &data);
    return data_json(&data);
}

// ---- meters and filters -------------------------------------------------------------------------

void sk_describe_meter(const struct sk_object *o, json_t *out) {
    static const char *const kinds[] = {"", "meter", "lpf", "wred"};
    const struct sk_meter_desc *d = &o->desc->meters[o->index];
    sk_set_number(out, "size", d->size);
    json_object_set_new(out, "kind", json_string(kinds[d->kind]));
    if (d->kind == SK_METER)
        json_object_set_new(out, "unit", json_string(d->bytes ? "bytes" : "packets"));
    if (d->direct)
        json_object_set_new(out, "table", json_string(o->desc->tables[d->table]->name));
}

json_t *sk_request_meter_read(const struct request *r) {
    static const char *const keys[] = {"op", "name", "from", "count", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = name_member(r, "name");
    int pipe = sk_at_pipe(r->at);
    struct sk_object o;
    struct sk_data d;
    struct page page;
    uint64_t from = number_member(r, "from", false);
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_METER_OBJECT, name, &o, r->err) ||
        sk_control_meter_read(r->sw, sk_object_name(&o), from, pipe, &d, r->err))
        return requests_failed(r);
    uint64_t size = o.desc->meters[o.index].size;
    if (!sk_read_page(r, size, &page))
        return NULL;
    json_t *result = json_pack("{s:s}", "name", sk_object_name(&o)), *cells = json_array();
    sk_describe_meter(&o, result);
    for (uint64_t i = page.from; i < page.to; i++) {
        sk_control_meter_read(r->sw, sk_object_name(&o), i, pipe, &d, r->err);
        json_t *cell = data_json(&d);
        sk_set_number(cell, "index", i);
        json_array_append_new(cells, cell);
    }
    json_object_set_new(result, "cells", cells);
    if (page.to < size)
        sk_set_number(result, "next", page.to);
    return result;
}

json_t *sk_request_meter_write(const struct request *r) {
    static const char *const keys[] = {"op", "name", "index", "spec", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = name_member(r, "name");
    uint64_t index = cells_member(r);
    int pipe = sk_at_pipe(r->at);
    struct sk_at spec = sk_at_member(r->at, "spec");
    size_t n;
    struct sk_named_value *values = sk_at_values(&spec, &n);
    return good(r) ? requests_done(r, sk_control_meter_write(r->sw, r->pauses, name, index, values,
                                                             n, pipe, r->err))
                   : NULL;
}

json_t *sk_request_meter_reset(const struct request *r) {
    static const char *const keys[] = {"op", "name", "index", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = name_member(r, "name");
    uint64_t index = cells_member(r);
    int pipe = sk_at_pipe(r->at);
    return good(r) ? requests_done(
                         r, sk_control_meter_reset(r->sw, r->pauses, name, index, pipe, r->err))
                   : NULL;
}

// ---- counters -----------------------------------------------------------------------------------

json_t *sk_request_counter_write(const struct request *r) {
    static const char *const keys[] = {"op", "name", "index", "packets", "bytes", NULL};
    sk_at_keys(r->at, keys);
    const char *name = name_member(r, "name");
    uint64_t index = number_member(r, "index", true);
    struct sk_counter_cell cell = {number_member(r, "packets", false),
                                   number_member(r, "bytes", false)};
    return good(r) ? requests_done(r, sk_control_counter_write(r->sw, name, index, &cell, r->err))
                   : NULL;
}

json_t *sk_request_counter_clear(const struct request *r) {
    static const char *const keys[] = {"op", "name", NULL};
    sk_at_keys(r->at, keys);
    const char *name = name_member(r, "name");
    return good(r) ? requests_done(r, sk_control_counter_clear(r->sw, r->pauses, name, r->err))
                   : NULL;
}

// ---- entries ------------------------------------------------------------------------------------

static void entry_members(const struct request *r, struct sk_entry_spec *e) {
    struct sk_at table = sk_at_member(r->at, "table"), key = sk_at_member(r->at, "key"),
                 priority = sk_at_member(r->at, "priority");
    *e = (struct sk_entry_spec){.table = sk_at_string(&table, true), .pipe = sk_at_pipe(r->at)};
    e->keys = sk_at_values(&key, &e->n_keys);
    e->has_priority = priority.value;
    if (json_is_integer(priority.value))
        e->priority = json_integer_value(priority.value);
    else if (priority.value)
        sk_at_fail(&priority, "it must be a whole number");
}

json_t *sk_request_entry_read(const struct request *r) {
    static const char *const keys[] = {"op", "table", "key", "priority", "pipe", NULL};
    struct sk_entry_spec e;
    struct sk_data d;
    sk_at_keys(r->at, keys);
    entry_members(r, &e);
    if (!good(r))
        return NULL;
    return sk_control_entry_read(r->sw, &e, &d, r->err) ? requests_failed(r)
                                                        : json_pack("{s:o}", "data", data_json(&d));
}

json_t *sk_request_entry_write(const struct request *r) {
    static const char *const keys[] = {"op", "table", "key", "priority", "pipe", "data", NULL};
    struct sk_entry_spec e;
    sk_at_keys(r->at, keys);
    entry_members(r, &e);
    struct sk_at data = sk_at_member(r->at, "data");
    size_t n;
    struct sk_named_value *values = sk_at_values(&data, &n);
    return good(r) ? requests_done(r, sk_control_entry_write(r->sw, &e, values, n, r->err)) : NULL;
}

// ---- ageing -------------------------------------------------------------------------------------

static json_t *key_json(const struct sk_table_desc *d, const struct sk_entry *e) {
    json_t *key = json_object();
    for (uint32_t i = 0, word = 0; i < d->n_keys; word += sk_words(d->keys[i++].width)) {
        char text[2800];
        sk_key_format(text, sizeof text, &d->keys[i], e->value + word, e->mask + word);
        json_object_set_new(key, d->keys[i].name, json_string(text));
    }
    return key;
}

json_t *sk_idle_event_json(const struct sk_idle_event *event) {
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:o}", "event", "idle_timeout", "table", event->table->name, "state",
        event->idle ? "ENTRY_IDLE" : "ENTRY_ACTIVE", "key", key_json(event->table, event->entry));
    json_object_set_new(out, "priority", json_integer(event->entry->priority));
    return out;
}

static void append_event(void *aux, const struct sk_idle_event *event) {
    json_array_append_new(aux, sk_idle_event_json(event));
}

json_t *sk_request_idle_poll(const struct request *r) {
    static const char *const keys[] = {"op", NULL};
    sk_at_keys(r->at, keys);
    if (!good(r))
        return NULL;
    json_t *events = json_array();
    sk_control_idle_poll(r->sw, r->pauses,
                         &(struct sk_idle_listener){.fn = append_event, .aux = events});
    return json_pack("{s:o}", "events", events);
}

json_t *sk_request_idle_update(const struct request *r) {
    static const char *const keys[] = {"op", "table", NULL};
    sk_at_keys(r->at, keys);
    const char *table = name_member(r, "table");
    if (!good(r))
        return NULL;
    sk_pauses_begin(r->pauses);
    const int rc = sk_control_hit_update(r->sw, r->pauses, table, r->err);
    sk_pauses_end(r->pauses);
    return requests_done(r, rc);
}

// From now on the client gets a line for each event.
json_t *sk_request_events(const struct request *r) {
    static const char *const keys[] = {"op", NULL};
    sk_at_keys(r->at, keys);
    if (!good(r))
        return NULL;
    if (!r->service->subscribe) {
        sk_fail(r->err, "events are sent on a control socket only");
        return requests_failed(r);
    }
    *r->service->subscribe = true;
    return json_object();
}
