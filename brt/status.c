// SPDX-License-Identifier: Apache-2.0
#include "brt/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "brt/bfruntime.pb-c.h"
#include "brt/memory.h"
#include "brt/status.pb-c.h"
#include "stages/table.h"

enum rpc_status brt_rpc_status(enum brt_code code) {
    switch (code) {
    case BRT_OK:
        return RPC_OK;
    case BRT_NOT_READY:
    case BRT_IN_USE:
        return RPC_UNAVAILABLE;
    case BRT_NO_SYS_RESOURCES:
    case BRT_NO_SPACE:
        return RPC_RESOURCE_EXHAUSTED;
    case BRT_INVALID_ARG:
        return RPC_INVALID_ARGUMENT;
    case BRT_ALREADY_EXISTS:
    case BRT_ENTRY_REFERENCES_EXIST:
        return RPC_ALREADY_EXISTS;
    case BRT_OBJECT_NOT_FOUND:
    case BRT_TABLE_NOT_FOUND:
        return RPC_NOT_FOUND;
    case BRT_NOT_SUPPORTED:
    case BRT_NOT_IMPLEMENTED:
        return RPC_UNIMPLEMENTED;
    case BRT_INTERNAL_ERROR:
        return RPC_INTERNAL;
    case BRT_UNEXPECTED:
        break;
    }
    return RPC_UNKNOWN;
}

enum brt_code brt_fail(struct sk_error *err, enum brt_code code, const char *format, ...) {
    char text[sizeof err->text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    sk_fail(err, "%s", text);
    return code;
}

enum brt_code brt_of_table_error(int error) {
    switch (error) {
    case SK_OK:
        return BRT_OK;
    case SK_E_EXISTS:
    case SK_E_COLLISION:
        return BRT_ALREADY_EXISTS;
    case SK_E_NOT_FOUND:
    case SK_E_NO_MEMBER:
    case SK_E_NO_GROUP:
        return BRT_OBJECT_NOT_FOUND;
    case SK_E_FULL:
    case SK_E_LINES:
        return BRT_NO_SPACE;
    case SK_E_MEMORY:
        return BRT_NO_SYS_RESOURCES;
    case SK_E_IN_USE:
        return BRT_ENTRY_REFERENCES_EXIST;
    default:
        return BRT_INVALID_ARG;
    }
}

// ---- details ----

static bool status_pack_error(struct brt_memory *m, const char *url, const struct brt_result *r,
                              Google__Rpc__Status__Any *out) {
    BfrtProto__Error error = BFRT_PROTO__ERROR__INIT;
    error.canonical_code = (int32_t)r->canonical;
    error.code = (int32_t)(r->canonical == RPC_OK ? r->status : RPC_OK);
    error.message = (char *)(r->message ? r->message : "");
    google__rpc__status__any__init(out);
    out->type_url = (char *)url;
    out->value.len = bfrt_proto__error__get_packed_size(&error);
    out->value.data = brt_take(m, out->value.len);
    if (out->value.data)
        bfrt_proto__error__pack(&error, out->value.data);
    return out->value.data;
}

uint8_t *brt_details_of(struct brt_memory *m, const char *url, const char *message,
                        const struct brt_result *results, size_t n, size_t *length) {
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    Google__Rpc__Status__Any *any = brt_take(m, (n + 1) * sizeof *any);
    status.details = brt_take(m, (n + 1) * sizeof *status.details);
    if (!any || !status.details)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        status.details[i] = &any[i];
        if (!status_pack_error(m, url, &results[i], &any[i]))
            return NULL;
    }
    status.n_details = n;
    status.code = RPC_UNKNOWN;
    status.message = (char *)message;
    uint8_t *bytes = brt_take(m, google__rpc__status__get_packed_size(&status));
    if (bytes)
        *length = google__rpc__status__pack(&status, bytes);
    return bytes;
}

uint8_t *brt_details(struct brt_memory *m, const char *message, const struct brt_result *results,
                     size_t n, size_t *length) {
    *length = 0;
    while (n > 0 && results[n - 1].canonical == RPC_OK)
        n--;
    if (n == 0)
        return NULL;
    *length = 1; // until it is known
    return brt_details_of(m, "type.googleapis.com/bfrt_proto.Error", message, results, n, length);
}
