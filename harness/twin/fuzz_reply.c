// SPDX-License-Identifier: Apache-2.0
//
// fuzz_reply: what a server of BF Runtime answers, as the fuzzer has it: the description of its
// tables and the replies to each Read, all bytes of the fuzzer's but for the first, which says how
// many each has. What is dumped is written as files, which the reader of dumps takes, and as a
// script.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "brt/bfruntime.pb-c.h"
#include "twin/items.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_reply {
    const uint8_t *at, *end;
    unsigned calls;
};

static size_t fuzz_reply_part(struct fuzz_reply *f) {
    if (f->end - f->at < 2)
        return 0;
    const size_t n = (size_t)f->at[0] << 8 | f->at[1], left = (size_t)(f->end - f->at) - 2;
    f->at += 2;
    return n < left ? n : left;
}

// The fuzzer's text as a description of tables, in a message that is one.
static void fuzz_reply_config(struct fuzz_reply *f, size_t n,
                              void (*message)(void *, const uint8_t *, size_t), void *aux) {
    BfrtProto__ForwardingPipelineConfig c = BFRT_PROTO__FORWARDING_PIPELINE_CONFIG__INIT,
                                        *list[] = {&c};
    BfrtProto__GetForwardingPipelineConfigResponse r =
        BFRT_PROTO__GET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    c.p4_name = (char[]){"p"};
    c.bfruntime_info = (ProtobufCBinaryData){.len = n, .data = (uint8_t *)(uintptr_t)f->at};
    r.n_config = 1;
    r.config = list;
    const size_t length = bfrt_proto__get_forwarding_pipeline_config_response__get_packed_size(&r);
    uint8_t *bytes = malloc(length + 1);
    if (!bytes)
        abort();
    bfrt_proto__get_forwarding_pipeline_config_response__pack(&r, bytes);
    message(aux, bytes, length);
    free(bytes);
}

static int fuzz_reply_call(void *aux, const char *method, const uint8_t *bytes, size_t length,
                           void (*message)(void *, const uint8_t *, size_t), void *message_aux,
                           struct sk_error *err) {
    struct fuzz_reply *f = aux;
    const size_t n = fuzz_reply_part(f);
    (void)bytes;
    if (length == 0 || f->calls++ > 200)
        return sk_fail(err, "the connection is gone");
    if (strcmp(method, "Read") != 0)
        fuzz_reply_config(f, n, message, message_aux);
    else if (n % 7 == 6)
        sk_fail(err, "no such table");
    else
        message(message_aux, f->at, n);
    f->at += n;
    return strcmp(method, "Read") == 0 && n % 7 == 6;
}

// What was written can be read.
static void fuzz_reply_look(const struct twin_tables *t) {
    struct sk_error err;
    const char *name;
    json_t *table;
    json_object_foreach(t->tables, name, table) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        if (!out || !twin_name_is_file(name) || !twin_tables_write(t, name, out) || fclose(out))
            abort();
        json_t *root = json_loadb(text, n, 0, NULL);
        struct twin_side *s = twin_side_new("side");
        if (root && twin_read_text(s, "dump", text, n, &err) && !strstr(err.text, "control"))
            abort();
        json_decref(root);
        twin_side_free(s);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_reply f = {.at = data, .end = data + size};
    struct sk_error err = {""};
    struct twin_tables full, empty = {.program = NULL};
    const struct twin_caller caller = {.call = fuzz_reply_call, .aux = &f};
    if (twin_dump(&caller, NULL, &full, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    fuzz_reply_look(&full);
    twin_script(&empty, &full, &(struct twin_script_ports){.speed = "BF_SPEED_10G"}, out, &err);
    if (!out || fclose(out))
        abort();
    free(text);
    twin_tables_free(&full);
    return 0;
}
