// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include <stdio.h>
#include <string.h>

#include "control/state/jobs.h"
#include "base/json.h"
#include "control/tables/names.h"
#include "control/tables/tm.h"
#include "control/tables/values.h"

#ifndef SILKEN_VERSION
#define SILKEN_VERSION "unknown"
#endif

const char *sk_member_string(const struct request *r, const char *key) {
    struct sk_at at = sk_at_member(r->at, key);
    return sk_at_string(&at, true);
}

uint64_t sk_member_number(const struct request *r, const char *key, bool must, uint64_t max) {
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

json_t *sk_value_text(const struct sk_field_desc *f, const uint64_t *words) {
    char text[1400];
    sk_value_format(text, sizeof text, f, words);
    return json_string(text);
}

bool sk_request_pipe(const struct request *r, const struct sk_object *o, int wanted,
                     unsigned *pipe) {
    for (*pipe = 0; *pipe < SK_PIPES; (*pipe)++)
        if (sk_object_in_pipe(r->sw, o, *pipe) && (wanted < 0 || wanted == (int)*pipe))
            return true;
    sk_fail(r->err, "pipe %d has no '%s'", wanted, sk_object_name(o));
    return false;
}

// 'from' and 'count' of a request against what there is; false when it failed.
bool sk_read_page(const struct request *r, uint64_t size, struct page *page) {
    uint64_t from = page->from = sk_member_number(r, "from", false, INT64_MAX);
    struct sk_at at = sk_at_member(r->at, "count");
    uint64_t wanted = at.value ? sk_at_number(&at, true, INT64_MAX) : 0;
    if (good(r) && at.value && wanted == 0)
        sk_at_fail(&at, "it must be at least 1");
    uint64_t last = wanted ? from + wanted - 1 : from; // both numbers are at most INT64_MAX
    if (good(r) && last >= size)
        sk_at_fail(r->at, "there is no index %llu; there are %llu",
                   (unsigned long long)(from < size ? last : from), (unsigned long long)size);
    if (!good(r))
        return false;
    uint64_t count = wanted ? wanted : size - from;
    page->to = from + (count < SK_PAGE ? count : SK_PAGE);
    return true;
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

json_t *sk_describe(const struct request *r, const struct sk_object *o) {
    if (o->kind == SK_TABLE)
        return sk_describe_table(r, o);
    json_t *d = json_pack("{s:s}", "name", sk_object_name(o));
    if (o->kind == SK_REGISTER) {
        const struct sk_register_desc *reg = &o->desc->registers[o->index];
        sk_set_number(d, "size", reg->size);
        sk_set_number(d, "width", sk_register_field(reg).width);
        sk_set_number(d, "words", reg->wide ? 1 : reg->words);
    } else if (o->kind == SK_METER_OBJECT) {
        sk_describe_meter(o, d);
    } else if (o->kind == SK_COUNTER) {
        sk_set_number(d, "size", o->desc->counters[o->index].size);
    } else if (o->kind == SK_SELECTOR) {
        sk_describe_selector(r, o, d);
    } else if (o->kind == SK_HASH) {
        sk_describe_hash(r, o, d);
    } else {
        sk_set_number(d, "size", o->desc->value_sets[o->index].size);
    }
    return d;
}

static json_t *objects(const struct request *r) {
    static const char *const names[] = {"tables", "registers", "counters", "value_sets",
                                        "meters", "selectors", "hashes"};
    json_t *all = json_object();
    for (enum sk_object_kind kind = SK_TABLE; kind <= SK_HASH; kind++) {
        json_t *list = json_array();
        struct sk_object o;
        for (size_t i = 0; sk_object_at(r->sw, kind, i, &o); i++)
            json_array_append_new(list, sk_describe(r, &o));
        json_object_set_new(all, names[kind], list);
    }
    return all;
}

json_t *sk_cells_json(const struct request *r, const struct sk_object *o, const struct page *page,
                      uint64_t size, const void *copies, size_t bytes,
                      json_t *(*cell)(const struct request *, const struct sk_object *,
                                      uint64_t index, const void *copy)) {
    json_t *cells = json_array();
    for (uint64_t i = page->from; i < page->to; i++)
        json_array_append_new(cells,
                              cell(r, o, i, (const char *)copies + (i - page->from) * bytes));
    json_t *result = sk_describe(r, o);
    json_object_set_new(result, "cells", cells);
    if (page->to < size)
        sk_set_number(result, "next", page->to);
    return result;
}

static json_t *requests_job(const struct request *r) {
    static const char *const keys[] = {"op", "job", NULL};
    sk_at_keys(r->at, keys);
    struct sk_at at = sk_at_member(r->at, "job");
    int64_t number = at.value ? (int64_t)sk_at_number(&at, true, INT32_MAX) : -1;
    if (!good(r))
        return NULL;
    json_t *result = sk_jobs(r->sw, number, r->service->now, r->pauses, r->err);
    return result ? result : requests_failed(r);
}

// ---- dispatch ----

// How long packets wait for a request: CHANGES and LOOKS have one pause, which several of them may
// share in a batch; ALONE has one too; SLICES copies what packets change in pauses of its own, as
// short as pauses.h says, and makes text of it while packets go on.
enum request_kind { CHANGES, LOOKS, ALONE, SLICES };

struct op {
    const char *op;
    json_t *(*handle)(const struct request *r);
    enum request_kind kind;
};

static const struct op ops[] = {
    {"hello", hello, SLICES},
    {"objects", objects, SLICES},
    {"table.dump", sk_request_table_dump, SLICES},
    {"table.add", sk_request_table_add, CHANGES},
    {"table.modify", sk_request_table_modify, CHANGES},
    {"table.delete", sk_request_table_delete, CHANGES},
    {"table.default", sk_request_table_default, CHANGES},
    {"table.default.reset", sk_request_table_default_reset, CHANGES},
    {"table.clear", sk_request_table_clear, CHANGES},
    {"table.mask", sk_request_key_mask, LOOKS},
    {"table.mask.set", sk_request_key_mask_set, CHANGES},
    {"group.dump", sk_request_group_dump, SLICES},
    {"group.add", sk_request_group_add, CHANGES},
    {"group.modify", sk_request_group_modify, CHANGES},
    {"group.delete", sk_request_group_delete, CHANGES},
    {"group.clear", sk_request_group_clear, CHANGES},
    {"group.member", sk_request_group_member, LOOKS},
    {"hash.fields", sk_request_hash_fields, CHANGES},
    {"hash.algorithm", sk_request_hash_algorithm, CHANGES},
    {"hash.reset", sk_request_hash_reset, CHANGES},
    {"hash.compute", sk_request_hash_compute, LOOKS},
    {"register.read", sk_request_register_read, SLICES},
    {"register.write", sk_request_register_write, CHANGES},
    {"counter.read", sk_request_counter_read, SLICES},
    {"ports", sk_request_ports, SLICES},
    {"port.metadata", sk_request_port_metadata, CHANGES},
    {"stats", sk_request_stats, SLICES},
    {"pre", sk_request_pre_list, SLICES},
    {"pre.node.set", sk_request_pre_node_set, CHANGES},
    {"pre.node.delete", sk_request_pre_node_delete, CHANGES},
    {"pre.group.set", sk_request_pre_group_set, CHANGES},
    {"pre.group.delete", sk_request_pre_group_delete, CHANGES},
    {"job", requests_job, SLICES},
    {"meter.read", sk_request_meter_read, SLICES},
    {"meter.write", sk_request_meter_write, CHANGES},
    {"meter.reset", sk_request_meter_reset, CHANGES},
    {"counter.write", sk_request_counter_write, CHANGES},
    {"counter.clear", sk_request_counter_clear, CHANGES},
    {"entry.read", sk_request_entry_read, LOOKS},
    {"entry.write", sk_request_entry_write, CHANGES},
    {"idle.poll", sk_request_idle_poll, SLICES},
    {"idle.update", sk_request_idle_update, SLICES},
    {"events", sk_request_events, SLICES},
    {"state", sk_request_state, SLICES},
    {"watch", sk_request_watch, SLICES},
    {"alarms", sk_request_alarms, SLICES},
    {"record.start", sk_request_record_start, ALONE},
    {"record.stop", sk_request_record_stop, ALONE},
};

// Those that nothing can be said to.
static bool is_bare(const char *op) {
    static const char *const bare[] = {"hello", "objects", "ports",  "stats",  "pre",
                                       "watch", "alarms",  "mirror", "queues", "pktgen"};
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
        if (strcmp(bare[i], op) == 0)
            return true;
    return false;
}

static const struct op *requests_find_op(const char *op) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].op, op) == 0)
            return &ops[i];
    return NULL;
}

json_t *(*sk_request_handler_in_batch(const char *op))(const struct request *) {
    const struct op *found = requests_find_op(op);
    return found && (found->kind == CHANGES || found->kind == LOOKS) ? found->handle : NULL;
}

static json_t *in_slices(const struct request *r, const struct op *op) {
    const struct sk_service *s = r->service;
    struct sk_pauses pauses = {
        .pause = s->pause, .resume = s->resume_same ? s->resume_same : s->resume, .aux = s->aux};
    struct request own = *r;
    own.pauses = &pauses;
    // cppcheck-suppress returnDanglingLifetime // the reply is no part of the request
    return op->handle(&own);
}

// Between two bursts. The clock is not behind that of packets.
static json_t *in_pause(const struct request *r, const char *name, const struct op *op,
                        bool *known) {
    struct sk_service service = *r->service;
    struct request own = *r;
    const bool same = op ? op->kind == LOOKS : is_bare(name);
    struct sk_pauses pauses = {.pause = service.pause,
                               .resume = same && service.resume_same ? service.resume_same
                                                                     : service.resume,
                               .aux = service.aux};
    sk_pauses_begin(&pauses);
    const uint64_t latest = sk_switch_now(service.sw);
    service.now = service.now > latest ? service.now : latest;
    own.service = &service;
    own.pauses = &pauses;
    json_t *result = op ? op->handle(&own) : sk_tm_request(name, r->at, r->sw, known);
    sk_pauses_end(&pauses);
    // cppcheck-suppress returnDanglingLifetime // the reply is no part of the request
    return result;
}

// What touches the switch.
static json_t *handled(const struct request *r, const char *name, bool *known) {
    const struct op *op = requests_find_op(name);
    *known = op;
    return op && op->kind == SLICES ? in_slices(r, op) : in_pause(r, name, op, known);
}

static json_t *requests_dispatch(void *aux, const struct request *r) {
    (void)aux;
    if (!json_is_object(r->at->value)) {
        sk_at_fail(r->at, "a request must be a JSON object");
        return NULL;
    }
    static const char *const keys[] = {"op", NULL};
    const char *op = sk_member_string(r, "op");
    if (is_bare(op))
        sk_at_keys(r->at, keys);
    if (good(r) && strcmp(op, "batch") == 0)
        return sk_request_batch(r);
    bool known = false;
    json_t *result = NULL;
    if (good(r) && r->service->other && !requests_find_op(op))
        result = r->service->other(r->service->aux, op, r->at, &known);
    if (good(r) && !known)
        result = handled(r, op, &known);
    if (known || !good(r))
        return result;
    struct sk_at at = sk_at_member(r->at, "op");
    sk_at_fail(&at, "there is no request '%.40s'", op);
    return NULL;
}

static json_t *refusal(struct sk_error *err) {
    // a sentence that was cut in the middle of a character is no UTF-8
    for (char *c = err->text; *c; c++)
        *c = *c & 0x80 ? '?' : *c;
    return json_pack("{s:b, s:s}", "ok", 0, "error", err->text);
}

json_t *sk_reply_to(const struct sk_service *service, json_t *value,
                    json_t *(*execute)(void *aux, const struct request *r), void *aux) {
    struct sk_error err = {""};
    struct sk_json doc = {.err = &err};
    struct sk_at at = {.doc = &doc, .value = value};
    json_t *result = execute(aux, &(struct request){service, service->sw, &at, &err, NULL});
    if (result && doc.failed) { // an op without members of its own was given some
        json_decref(result);
        result = NULL;
    }
    sk_json_release(&doc);
    return result ? json_pack("{s:b, s:o}", "ok", 1, "result", result) : refusal(&err);
}

json_t *sk_request(const struct sk_service *service, const char *text, size_t length) {
    struct sk_error err = {""};
    json_error_t where;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        sk_fail(&err, "the request is not JSON: %s", sk_json_why(&where));
        return refusal(&err);
    }
    json_t *reply = sk_reply_to(service, root, requests_dispatch, NULL);
    json_decref(root);
    return reply;
}
