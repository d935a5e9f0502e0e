// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p4rt/p4rt_impl.h"

struct p4rt *p4rt_new(struct brt *b, uint64_t device, const struct p4rt_host *host) {
    struct p4rt *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->b = b;
    p->device = device;
    p->host = *host;
    p->host.ports = NULL;
    p->n_ports = host->n_ports < SK_PORTS ? host->n_ports : SK_PORTS;
    for (size_t i = 0; i < p->n_ports; i++)
        p->ports[i] = host->ports[i];
    return p;
}

int p4rt_run_program(struct p4rt *p, const char *p4info, struct sk_error *err) {
    const struct brt_schema *schema = brt_program_schema(p->b);
    struct p4rt_info *before = p->info;
    p4rt_notes_clear(p);
    memset(p->told, 0, sizeof p->told);
    p->has_cookie = false;
    p->info = schema ? p4rt_info_new(schema, p4info, err) : NULL;
    p4rt_sets_keep(p->info, before);
    p4rt_info_free(before);
    if (!schema)
        sk_fail(err, "the program's tables cannot be described");
    return p->info ? 0 : -1;
}

void p4rt_free(struct p4rt *p) {
    if (!p)
        return;
    rpc_close(p->server);
    p4rt_info_free(p->info);
    p4rt_notes_clear(p);
    p4rt_watch_clear(p);
    for (unsigned i = 0; i < P4RT_ROLES; i++)
        free(p->roles[i].name);
    free(p);
}

// ---- failures ----

enum rpc_status p4rt_fail(struct sk_error *err, enum rpc_status status, const char *format, ...) {
    char text[sizeof err->text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    sk_fail(err, "%s", text);
    return status;
}

enum rpc_status p4rt_no_memory(struct sk_error *err) {
    return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "the request needs too much memory");
}

// ---- answers ----

void p4rt_end(const struct brt_call *c, enum rpc_status status, const char *sentence) {
    c->carrier->end(c->call, status, sentence, NULL, 0);
}

void p4rt_end_unread(struct p4rt *p, const struct brt_call *c) {
    if (brt_request_memory(p->b)->refused)
        p4rt_end(c, RPC_RESOURCE_EXHAUSTED, "the request needs too much memory");
    else
        p4rt_end(c, RPC_INTERNAL, "the request cannot be decoded");
    brt_memory_reuse(brt_request_memory(p->b));
}

void p4rt_capabilities(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes,
                       size_t length) {
    P4__V1__CapabilitiesResponse response = P4__V1__CAPABILITIES_RESPONSE__INIT;
    (void)p;
    (void)bytes;
    (void)length;
    response.p4runtime_api_version = (char *)"1.4.0";
    brt_send(c, &response.base);
    p4rt_end(c, RPC_OK, NULL);
}
