// SPDX-License-Identifier: Apache-2.0
//
// requests_impl: what the files of requests share. socket.h lists the files.
#ifndef SILKEN_CONTROL_SOCKET_REQUESTS_IMPL_H
#define SILKEN_CONTROL_SOCKET_REQUESTS_IMPL_H

#include "control/tables/json_switch.h"
#include "control/tables/names.h"
#include "control/tables/pauses.h"
#include "control/socket/requests.h"

// A handler reads its members from 'at' and returns the result, or null after failing the document.
struct request {
    const struct sk_service *service;
    struct sk_switch *sw;
    const struct sk_at *at;
    struct sk_error *err;
    // Of a handler that pauses the switch itself, around what it copies; or the pause in which it
    // is called, which one that changes much may end and begin again.
    struct sk_pauses *pauses;
};

static inline json_t *requests_failed(const struct request *r) {
    r->at->doc->failed = true; // the sentence is in r->err
    return NULL;
}

static inline json_t *requests_done(const struct request *r, int rc) {
    return rc ? requests_failed(r) : json_object();
}

// Reading has gone well so far?
static inline bool good(const struct request *r) {
    return !r->at->doc->failed;
}

const char *sk_member_string(const struct request *r, const char *key);
uint64_t sk_member_number(const struct request *r, const char *key, bool must, uint64_t max);
// A value as text, a new reference; 'words' as in sk_value_format().
json_t *sk_value_text(const struct sk_field_desc *f, const uint64_t *words);

struct page {
    uint64_t from, to; // first index, one past the last
};

// 'from' and 'count' of a request against what there is, a page at most; false when it failed.
bool sk_read_page(const struct request *r, uint64_t size, struct page *page);
// The object's description with its cells of the page, each made by 'cell' of its 'bytes' bytes of
// 'copies'.
json_t *sk_cells_json(const struct request *r, const struct sk_object *o, const struct page *page,
                      uint64_t size, const void *copies, size_t bytes,
                      json_t *(*cell)(const struct request *, const struct sk_object *,
                                      uint64_t index, const void *copy));
json_t *sk_describe(const struct request *r, const struct sk_object *o);
void sk_set_number(json_t *object, const char *key, uint64_t v);
// The pipe asked for, or the first that has the object when that is -1; false after a sentence.
bool sk_request_pipe(const struct request *r, const struct sk_object *o, int wanted,
                     unsigned *pipe);

// Executes the request |value| with a document and a sentence of its own; the reply, a new
// reference.
json_t *sk_reply_to(const struct sk_service *service, json_t *value,
                    json_t *(*execute)(void *aux, const struct request *r), void *aux);
// What handles a request that may stand in a batch; null: there is none of that name.
json_t *(*sk_request_handler_in_batch(const char *op))(const struct request *);

// ---- requests_batch.c
json_t *sk_request_batch(const struct request *r);

// ---- requests_table.c
json_t *sk_describe_table(const struct request *r, const struct sk_object *o);
json_t *sk_request_table_dump(const struct request *r);
json_t *sk_request_table_add(const struct request *r);
json_t *sk_request_table_modify(const struct request *r);
json_t *sk_request_table_delete(const struct request *r);
json_t *sk_request_table_default(const struct request *r);
json_t *sk_request_table_default_reset(const struct request *r);
json_t *sk_request_table_clear(const struct request *r);

// ---- requests_register.c
json_t *sk_request_register_read(const struct request *r);
json_t *sk_request_register_write(const struct request *r);
json_t *sk_request_counter_read(const struct request *r);

// ---- requests_switch.c
json_t *sk_request_ports(const struct request *r);
json_t *sk_request_port_metadata(const struct request *r);
json_t *sk_request_stats(const struct request *r);
json_t *sk_request_counts(const struct request *r); // "stats", "ports" and "clock", consistent
json_t *sk_request_pre_list(const struct request *r);
json_t *sk_request_pre_node_set(const struct request *r);
json_t *sk_request_pre_node_delete(const struct request *r);
json_t *sk_request_pre_group_set(const struct request *r);
json_t *sk_request_pre_group_delete(const struct request *r);

// ---- requests_meter.c
// Meter specification and ageing of an entry, counts too: by the names of attached.h.
json_t *sk_entry_data_json(const struct sk_table_desc *d, const struct sk_entry *e, uint64_t now);
void sk_describe_meter(const struct sk_object *o, json_t *out);
json_t *sk_request_meter_read(const struct request *r);
json_t *sk_request_meter_write(const struct request *r);
json_t *sk_request_meter_reset(const struct request *r);
json_t *sk_request_counter_write(const struct request *r);
json_t *sk_request_counter_clear(const struct request *r);
json_t *sk_request_entry_read(const struct request *r);
json_t *sk_request_entry_write(const struct request *r);
json_t *sk_request_idle_poll(const struct request *r);
json_t *sk_request_idle_update(const struct request *r);
json_t *sk_request_events(const struct request *r);

// ---- requests_hash.c
void sk_describe_hash(const struct request *r, const struct sk_object *o, json_t *out);
json_t *sk_request_hash_fields(const struct request *r);
json_t *sk_request_hash_algorithm(const struct request *r);
json_t *sk_request_hash_reset(const struct request *r);
json_t *sk_request_hash_compute(const struct request *r);

// ---- requests_mask.c
json_t *sk_request_key_mask(const struct request *r);
json_t *sk_request_key_mask_set(const struct request *r);

// ---- requests_state.c
json_t *sk_request_state(const struct request *r);

// ---- requests_watch.c
json_t *sk_request_watch(const struct request *r);
json_t *sk_request_alarms(const struct request *r);

// ---- requests_record.c
json_t *sk_request_record_start(const struct request *r);
json_t *sk_request_record_stop(const struct request *r);

// ---- requests_group.c
void sk_describe_selector(const struct request *r, const struct sk_object *o, json_t *out);
json_t *sk_request_group_dump(const struct request *r);
json_t *sk_request_group_add(const struct request *r);
json_t *sk_request_group_modify(const struct request *r);
json_t *sk_request_group_delete(const struct request *r);
json_t *sk_request_group_clear(const struct request *r);
json_t *sk_request_group_member(const struct request *r);

#endif
