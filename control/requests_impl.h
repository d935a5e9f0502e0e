// SPDX-License-Identifier: Apache-2.0
//
// requests_impl: what the rooms of requests share: requests.c, requests_meter.c for meters, counters and
// ageing, requests_group.c for the groups of
// action selectors.
#ifndef SILKEN_CONTROL_REQUESTS_IMPL_H
#define SILKEN_CONTROL_REQUESTS_IMPL_H

#include "control/json.h"
#include "control/names.h"
#include "control/requests.h"

// A handler reads its members from 'at' and returns the result, or null after failing the document.
struct request {
    const struct sk_service *service;
    struct sk_switch *sw;
    const struct sk_at *at;
    struct sk_error *err;
};

static inline json_t *failed(const struct request *r) {
    r->at->doc->failed = true; // the sentence is in r->err
    return NULL;
}

static inline json_t *done(const struct request *r, int rc) {
    return rc ? failed(r) : json_object();
}

// Reading has gone well so far?
static inline bool good(const struct request *r) {
    return !r->at->doc->failed;
}

void sk_set_number(json_t *object, const char *key, uint64_t v);
// The pipe asked for, or the first that has the object when that is -1; false after a sentence.
bool sk_request_pipe(const struct request *r, const struct sk_object *o, int wanted,
                     unsigned *pipe);

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

// ---- requests_group.c
void sk_describe_selector(const struct request *r, const struct sk_object *o, json_t *out);
json_t *sk_request_group_dump(const struct request *r);
json_t *sk_request_group_add(const struct request *r);
json_t *sk_request_group_modify(const struct request *r);
json_t *sk_request_group_delete(const struct request *r);
json_t *sk_request_group_clear(const struct request *r);
json_t *sk_request_group_member(const struct request *r);

#endif
