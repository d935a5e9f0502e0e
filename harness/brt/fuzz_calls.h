// SPDX-License-Identifier: Apache-2.0
//
// fuzz_calls: what the fuzz targets of controllers' services share: the description of
// harness/stf/everything.p4, what is sent during a call, and messages made of the fuzzer's bytes.
#ifndef SILKEN_HARNESS_BRT_FUZZ_CALLS_H
#define SILKEN_HARNESS_BRT_FUZZ_CALLS_H

#include <string.h>
#include <unistd.h>

#include "brt/memory.h"
#include "brt/service.h"
#include "harness/control/fuzz_program.h"

// BF Runtime's or P4Runtime's, to be freed.
static inline char *fuzz_description(bool p4info) {
    char path[] = "/tmp/silken-fuzz-calls-XXXXXX", *text = NULL;
    size_t room = 0;
    const int fd = mkstemp(path);
    const struct compile_options opt = {.path = "harness/stf/everything.p4",
                                        .parse_only = true,
                                        .bfrt = p4info ? NULL : path,
                                        .p4info = p4info ? path : NULL};
    char *none = compile_p4(&opt, stderr);
    FILE *f = fd >= 0 && none ? fdopen(fd, "r") : NULL;
    if (!f || getdelim(&text, &room, 0, f) <= 0)
        abort();
    fclose(f);
    free(none);
    unlink(path);
    return text;
}

// ---- calls ----

struct fuzz_call {
    const ProtobufCMessageDescriptor *answer;
    unsigned ended;
    bool error_in_response;
};

// Only before the call's end, and only what the client can read.
static inline bool fuzz_send(void *call, const void *bytes, size_t length) {
    const struct fuzz_call *c = call;
    if (c->ended)
        abort();
    ProtobufCMessage *m = protobuf_c_message_unpack(c->answer, NULL, length, bytes);
    if (!m)
        abort();
    protobuf_c_message_free_unpacked(m, NULL);
    return true;
}

static inline bool fuzz_give(void *call, uint8_t *bytes, size_t length) {
    const bool room = fuzz_send(call, bytes, length);
    free(bytes);
    return room;
}

static inline const char *fuzz_metadata(const void *call, const char *name) {
    const struct fuzz_call *c = call;
    return c->error_in_response && strcmp(name, "error_in_resp") == 0 ? "1" : NULL;
}

// ---- messages out of bytes ----

struct fuzz_input {
    const uint8_t *at, *end;
    struct brt_memory memory;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

static inline void *fuzz_take(struct fuzz_input *in, size_t n) {
    void *p = brt_take(&in->memory, n);
    if (!p)
        abort();
    return p;
}

#define FUZZ_NEW(in, type, init) fuzz_new(in, sizeof(type), &(const type)init)
static inline void *fuzz_new(struct fuzz_input *in, size_t n, const void *init) {
    return memcpy(fuzz_take(in, n), init, n);
}

#endif
