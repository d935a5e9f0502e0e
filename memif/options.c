// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memif/memif_impl.h"

#define LEAST_BUFFER 64u
#define MOST_BUFFER  65535u // DPDK's limit

struct memif_value {
    const char *at;
    size_t length;
};

static bool memif_value_is(struct memif_value v, const char *word) {
    return v.length == strlen(word) && memcmp(v.at, word, v.length) == 0;
}

static bool memif_number(struct memif_value v, uint64_t least, uint64_t most, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < v.length; i++) {
        if (v.at[i] < '0' || v.at[i] > '9' || n > most)
            return false;
        n = n * 10 + (uint64_t)(v.at[i] - '0');
    }
    *out = n;
    return v.length > 0 && n >= least && n <= most;
}

static bool memif_text(struct memif_value v, char *out, size_t size) {
    if (v.length == 0 || v.length >= size)
        return false;
    memcpy(out, v.at, v.length);
    memset(out + v.length, 0, size - v.length);
    return true;
}

static bool memif_is_mac(struct memif_value v) {
    if (v.length != 17)
        return false;
    for (size_t i = 0; i < v.length; i++)
        if (i % 3 == 2 ? v.at[i] != ':' : !strchr("0123456789abcdefABCDEF", v.at[i]))
            return false;
    return true;
}

// What the key's value must be; null: it is, and is taken.
static const char *memif_take_value(struct memif_options *o, struct memif_value key,
                                    struct memif_value v) {
    uint64_t n = 0;
    if (memif_value_is(key, "role")) {
        o->server = memif_value_is(v, "server") || memif_value_is(v, "master");
        return o->server || memif_value_is(v, "client") || memif_value_is(v, "slave")
                   ? NULL
                   : "server or client";
    }
    if (memif_value_is(key, "id")) {
        const bool good = memif_number(v, 0, UINT32_MAX, &n);
        o->id = (uint32_t)n;
        return good ? NULL : "a number below 4294967296";
    }
    if (memif_value_is(key, "rsize")) {
        const bool good = memif_number(v, 1, MEMIF_MOST_LOG2, &n);
        o->log2_ring = (unsigned)n;
        return good ? NULL : "1 to 14: rings have 2 to this power descriptors";
    }
    if (memif_value_is(key, "bsize")) {
        const bool good = memif_number(v, LEAST_BUFFER, MOST_BUFFER, &n);
        o->buffer = (uint32_t)n;
        return good ? NULL : "64 to 65535 bytes";
    }
    if (memif_value_is(key, "socket"))
        return memif_text(v, o->socket, sizeof o->socket) ? NULL : "of 1 to 107 bytes";
    if (memif_value_is(key, "secret"))
        return memif_text(v, o->secret, sizeof o->secret) ? NULL : "of 1 to 24 bytes";
    if (memif_value_is(key, "mac"))
        return memif_is_mac(v) ? NULL : "an address like 02:00:00:00:00:01";
    if (memif_value_is(key, "zero-copy"))
        return memif_value_is(v, "no") ? NULL
                                       : "no: a peer would have the memory of the whole process";
    if (memif_value_is(key, "socket-abstract")) {
        o->abstract = memif_value_is(v, "yes");
        return o->abstract || memif_value_is(v, "no") ? NULL : "yes or no";
    }
    return "left out: memif does not have it";
}

bool memif_options_parse(const char *arguments, struct memif_options *out, char *error,
                         size_t error_size) {
    *out = (struct memif_options){
        .socket = "/run/memif.sock", .abstract = true, .log2_ring = 10, .buffer = 2048};
    for (const char *at = arguments + (*arguments == ','); *at;) {
        const size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        const struct memif_value key = {at, equals ? (size_t)(equals - at) : length};
        const struct memif_value value = {equals ? equals + 1 : at + length,
                                          equals ? length - key.length - 1 : 0};
        const char *must = memif_take_value(out, key, value);
        if (must) {
            snprintf(error, error_size, "%.*s is '%.*s', and must be %s", (int)key.length, key.at,
                     (int)value.length, value.at, must);
            return false;
        }
        at += length + (at[length] == ',');
    }
    if (out->abstract && strlen(out->socket) >= MEMIF_SOCKET_NAME) {
        snprintf(error, error_size, "the name of an abstract socket has at most %u bytes",
                 MEMIF_SOCKET_NAME - 1);
        return false;
    }
    return true;
}
