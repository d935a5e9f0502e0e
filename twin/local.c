// SPDX-License-Identifier: Apache-2.0
//
// local: calls of a service in this process, which it ends before it returns.
#include <stdlib.h>
#include <string.h>

#include "brt/service.h"
#include "brt/status.pb-c.h"
#include "brt/bfruntime.pb-c.h"
#include "twin/twin.h"

struct local_call {
    void (*message)(void *aux, const uint8_t *bytes, size_t length);
    void *aux;
    struct sk_error *err;
    bool failed;
};

static bool local_send(void *call, const void *bytes, size_t length) {
    struct local_call *c = call;
    c->message(c->aux, bytes, length);
    return true;
}

static bool local_give(void *call, uint8_t *bytes, size_t length) {
    const bool room = local_send(call, bytes, length);
    free(bytes);
    return room;
}

static void local_end(void *call, enum rpc_status status, const char *message,
                      const uint8_t *details, size_t length) {
    struct local_call *c = call;
    Google__Rpc__Status *s = details ? google__rpc__status__unpack(NULL, length, details) : NULL;
    c->failed = status != RPC_OK;
    if (c->failed)
        sk_fail(c->err, "%s", message ? message : "the call failed");
    for (size_t i = 0; s && i < s->n_details; i++) {
        BfrtProto__Error *e =
            bfrt_proto__error__unpack(NULL, s->details[i]->value.len, s->details[i]->value.data);
        if (e && *e->message)
            sk_fail(c->err, "%s", e->message);
        if (e)
            bfrt_proto__error__free_unpacked(e, NULL);
    }
    if (s)
        google__rpc__status__free_unpacked(s, NULL);
}

static const char *local_metadata(const void *call, const char *name) {
    (void)call, (void)name;
    return NULL;
}

static int local_call(void *aux, const char *method, const uint8_t *bytes, size_t length,
                      void (*message)(void *aux, const uint8_t *bytes, size_t length),
                      void *message_aux, struct sk_error *err) {
    static const struct brt_carrier carrier = {
        .send = local_send, .give = local_give, .end = local_end, .metadata = local_metadata};
    struct local_call own = {.message = message, .aux = message_aux, .err = err};
    const struct brt_call call = {.carrier = &carrier, .call = &own};
    if (strcmp(method, "Read") == 0)
        brt_read(aux, &call, bytes, length);
    else
        brt_get_config(aux, &call, bytes, length);
    return own.failed ? 1 : 0;
}

struct twin_caller twin_local(struct brt *b) {
    return (struct twin_caller){.call = local_call, .aux = b};
}
