// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include "base/clock.h"

// Packets wait for so much of a batch at a time, and the request in which it ends: a quarter of the
// longest pause that the switch allows itself.
#define BATCH_SLICE_NS UINT64_C(250000)

struct batch {
    const struct request *r;
    struct sk_service service; // with the time of the pause
    struct sk_pauses pauses;   // in one, a request that changes much may go on in further ones
    bool paused;
    uint64_t slice_end;
};

static void batch_pause(struct batch *b) {
    if (b->paused)
        return;
    b->pauses = (struct sk_pauses){
        .pause = b->service.pause, .resume = b->service.resume, .aux = b->service.aux};
    sk_pauses_begin(&b->pauses);
    const uint64_t latest = sk_switch_now(b->service.sw);
    if (b->service.now < latest)
        b->service.now = latest;
    b->paused = true;
    b->slice_end = sk_clock_now() + BATCH_SLICE_NS;
}

static void batch_resume(struct batch *b) {
    if (b->paused)
        sk_pauses_end(&b->pauses);
    b->paused = false;
}

static json_t *batch_execute(void *aux, const struct request *r) {
    struct batch *b = aux;
    if (!json_is_object(r->at->value)) {
        sk_at_fail(r->at, "a request must be a JSON object");
        return NULL;
    }
    const char *op = sk_member_string(r, "op");
    if (!good(r))
        return NULL;
    json_t *(*handle)(const struct request *) = sk_request_handler_in_batch(op);
    if (!handle) {
        sk_at_fail(r->at, "a batch takes no request '%.40s'", op);
        return NULL;
    }
    batch_pause(b);
    struct request own = *r;
    own.service = &b->service;
    own.pauses = &b->pauses;
    json_t *result = handle(&own);
    if (sk_clock_now() >= b->slice_end)
        batch_resume(b);
    // cppcheck-suppress returnDanglingLifetime // the reply is no part of the request
    return result;
}

json_t *sk_request_batch(const struct request *r) {
    static const char *const keys[] = {"op", "requests", "continue", NULL};
    sk_at_keys(r->at, keys);
    const struct sk_at list = sk_at_member(r->at, "requests");
    const struct sk_at go_on = sk_at_member(r->at, "continue");
    if (good(r) && !json_is_array(list.value))
        sk_at_fail(&list, "it must be a list of requests");
    const size_t n = json_array_size(list.value);
    if (good(r) && (n == 0 || n > SK_BATCH))
        sk_at_fail(&list, "a batch has 1 to %u requests, not %zu", SK_BATCH, n);
    if (good(r) && go_on.value && !json_is_boolean(go_on.value))
        sk_at_fail(&go_on, "it must be true or false");
    if (!good(r))
        return NULL;
    struct batch b = {.r = r, .service = *r->service};
    json_t *replies = json_array();
    json_int_t done = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *reply = sk_reply_to(r->service, json_array_get(list.value, i), batch_execute, &b);
        const bool ok = json_is_true(json_object_get(reply, "ok"));
        json_array_append_new(replies, reply);
        done += ok;
        if (!ok && !json_is_true(go_on.value))
            break;
    }
    batch_resume(&b);
    return json_pack("{s:I, s:o}", "done", done, "replies", replies);
}
