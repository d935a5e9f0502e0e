// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "brt/brt_impl.h"
#include "brt/package.h"

// ---- the service ----

struct brt *brt_new(const struct brt_host *host) {
    struct brt *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->host = *host;
    brt_memory_init(&b->request, BRT_REQUEST_BYTES);
    brt_memory_init(&b->scratch, BRT_SCRATCH_BYTES);
    return b;
}

int brt_running_new(struct brt_running *out, struct sk_switch *sw, const struct brt_description *d,
                    size_t n, struct sk_error *err) {
    *out = (struct brt_running){.sw = sw};
    for (; out->n < n && out->n < SK_PIPES; out->n++) {
        struct brt_program *p = &out->programs[out->n];
        const struct brt_description *own = &d[out->n];
        p->schema = brt_schema_new(sw, own->schema, err);
        if (!p->schema)
            return -1;
        p->name = sk_copy_text(own->name);
        p->schema_text = sk_copy_text(own->schema);
        p->binary = brt_package_write(own->text, strlen(own->text), &p->n_binary);
    }
    return 0;
}

int brt_run_programs(struct brt *b, struct sk_switch *sw, const struct brt_description *d, size_t n,
                     struct sk_error *err) {
    static const struct brt_running none;
    struct brt_running now;
    struct brt_moved moved;
    brt_start_drop(b);
    const int rc = brt_running_new(&now, sw, d, n, err);
    if (rc) {
        brt_running_free(b, &now);
        now = (struct brt_running){.sw = sw};
    }
    brt_running_free(b, &b->now);
    b->now = now;
    brt_moved(&moved, &none, &b->now);
    brt_rebind(b, &moved);
    return rc;
}

struct sk_switch *brt_switch(const struct brt *b) {
    return b->now.sw;
}

struct brt_schema *brt_program_schema(const struct brt *b) {
    return b->now.n == 1 ? b->now.programs[0].schema : NULL;
}

struct brt_memory *brt_request_memory(struct brt *b) {
    return &b->request;
}

struct brt_memory *brt_scratch_memory(struct brt *b) {
    return &b->scratch;
}

void brt_service_free(struct brt *b) {
    brt_start_free(b);
    brt_memory_free(&b->request);
    brt_memory_free(&b->scratch);
    brt_running_free(b, &b->now);
    free(b->ports);
    free(b->tm_bases);
    free(b);
}

// ---- bytes ----

void brt_append(struct brt_bytes *out, uint32_t field, const ProtobufCMessage *message) {
    const size_t n = protobuf_c_message_get_packed_size(message);
    if (out->full || n > BRT_REPLY_BYTES - out->n) {
        out->full = true;
        return;
    }
    out->bytes = sk_grow_bytes(out->bytes, out->n, n + 16, &out->room);
    out->bytes[out->n++] = (uint8_t)(field << 3 | 2); // a message
    for (size_t v = n;; v >>= 7) {
        out->bytes[out->n++] = (uint8_t)(v & 127) | (v > 127 ? 128 : 0);
        if (v <= 127)
            break;
    }
    out->n += protobuf_c_message_pack(message, out->bytes + out->n);
}

bool brt_send(const struct brt_call *c, const ProtobufCMessage *message) {
    const size_t n = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(n + 1);
    if (!bytes)
        abort();
    protobuf_c_message_pack(message, bytes);
    const bool room = c->carrier->send(c->call, bytes, n);
    free(bytes);
    return room;
}

// ---- ends ----

void brt_end(const struct brt_call *c, enum brt_code code, const char *sentence) {
    c->carrier->end(c->call, brt_rpc_status(code), sentence, NULL, 0);
}

void brt_end_unread(struct brt *b, const struct brt_call *c) {
    if (b->request.refused)
        brt_end(c, BRT_NO_SYS_RESOURCES, "the request needs too much memory");
    else
        brt_end(c, BRT_INTERNAL_ERROR, "the request cannot be decoded");
    brt_memory_reuse(&b->request);
}

void brt_end_list(struct brt *b, const struct brt_call *c, const char *message,
                  const struct brt_result *results, size_t n) {
    size_t length;
    const uint8_t *details = brt_details(&b->request, message, results, n, &length);
    if (!details && length)
        brt_end(c, BRT_NO_SYS_RESOURCES, "the answer needs too much memory");
    else if (details)
        c->carrier->end(c->call, RPC_UNKNOWN, message, details, length);
    else
        brt_end(c, BRT_OK, NULL);
}

// ---- what a call's metadata say ----

static bool service_number(const struct brt_call *c, const char *name, uint64_t most,
                           uint64_t *out) {
    const char *text = c->carrier->metadata(c->call, name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return !*end && *out <= most;
}

struct brt_wishes brt_wishes(const struct brt_call *c) {
    struct brt_wishes w = {false};
    uint64_t flag, seconds = 0, nanoseconds = 0;
    w.error_in_response = service_number(c, "error_in_resp", 1, &flag) && flag;
    w.ignore_not_found = service_number(c, "ignore_not_found", 1, &flag) && flag;
    const bool has_seconds = service_number(c, "deadline_sec", INT32_MAX, &seconds);
    w.has_deadline =
        service_number(c, "deadline_nsec", UINT64_C(999999999), &nanoseconds) || has_seconds;
    if (w.has_deadline)
        w.deadline = sk_clock_now() + seconds * UINT64_C(1000000000) + nanoseconds;
    return w;
}

bool brt_is_late(const struct brt_wishes *w) {
    return w->has_deadline && sk_clock_now() >= w->deadline;
}
