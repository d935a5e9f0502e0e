// SPDX-License-Identifier: Apache-2.0
//
// status: errors, with the chip's driver's names and with gRPC's.
//
// In a call with a list of updates each update succeeds or fails by itself. If one fails, the call
// ends with RPC_UNKNOWN, and its details (a google.rpc.Status) hold an Error for each update, up to
// the last that failed.
#ifndef SILKEN_BRT_STATUS_H
#define SILKEN_BRT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "rpc/rpc.h"

// The driver's statuses that this server returns, with their published numbers.
enum brt_code {
    BRT_OK = 0,
    BRT_NOT_READY = 1,
    BRT_NO_SYS_RESOURCES = 2,
    BRT_INVALID_ARG = 3,
    BRT_ALREADY_EXISTS = 4,
    BRT_OBJECT_NOT_FOUND = 6,
    BRT_NO_SPACE = 9,
    BRT_UNEXPECTED = 15,
    BRT_ENTRY_REFERENCES_EXIST = 16,
    BRT_NOT_SUPPORTED = 17,
    BRT_INTERNAL_ERROR = 22,
    BRT_TABLE_NOT_FOUND = 23,
    BRT_IN_USE = 24,
    BRT_NOT_IMPLEMENTED = 25,
};
enum rpc_status brt_rpc_status(enum brt_code code);

// A sentence in 'err', and the code.
enum brt_code brt_fail(struct sk_error *err, enum brt_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Of a call on a table (enum sk_table_error, stages/table.h).
enum brt_code brt_of_table_error(int error);

// ---- the results of a list of updates ----
struct brt_result {
    enum rpc_status status, canonical; // 'status': beside a canonical RPC_OK, what there is to say
    const char *message;               // "" if there is none
};
struct brt_memory;
// A google.rpc.Status with a message of this type (a URL) for each of the 'n', each with the
// fields of bfrt_proto.Error; null when memory is short.
uint8_t *brt_details_of(struct brt_memory *m, const char *url, const char *message,
                        const struct brt_result *results, size_t n, size_t *length);
// The details of a call: a google.rpc.Status, in memory of 'm'; null when all were good, or when
// memory is short ('*length' is then not 0).
uint8_t *brt_details(struct brt_memory *m, const char *message, const struct brt_result *results,
                     size_t n, size_t *length);

#endif
