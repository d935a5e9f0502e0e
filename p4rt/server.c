// SPDX-License-Identifier: Apache-2.0
#include "p4rt/p4rt_impl.h"

static void p4rt_serve(struct rpc_call *call, const uint8_t *bytes, size_t length,
                       p4rt_call_fn *serve) {
    serve(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void p4rt_serve_write(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_write);
}

static void p4rt_serve_read(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_read);
}

static void p4rt_serve_set_config(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_set_config);
}

static void p4rt_serve_get_config(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_get_config);
}

static void p4rt_serve_capabilities(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_capabilities);
}

static void p4rt_serve_stream(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    p4rt_serve(call, bytes, length, p4rt_stream_message);
}

static void p4rt_serve_closed(struct rpc_call *call) {
    p4rt_stream_over(rpc_aux(call), call);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void p4rt_serve_over(struct rpc_call *call, bool cancelled) {
    (void)cancelled;
    p4rt_stream_over(rpc_aux(call), call);
}

static void p4rt_serve_room(struct rpc_call *call) {
    p4rt_stream_room(rpc_aux(call), call);
}

#define P4RT_SERVICE "/p4.v1.P4Runtime/"
static const struct rpc_method p4rt_methods[] = {
    {.path = P4RT_SERVICE "Write", .message = p4rt_serve_write},
    {.path = P4RT_SERVICE "Read", .message = p4rt_serve_read},
    {.path = P4RT_SERVICE "SetForwardingPipelineConfig", .message = p4rt_serve_set_config},
    {.path = P4RT_SERVICE "GetForwardingPipelineConfig", .message = p4rt_serve_get_config},
    {.path = P4RT_SERVICE "Capabilities", .message = p4rt_serve_capabilities},
    {.path = P4RT_SERVICE "StreamChannel",
     .stream_in = true,
     .message = p4rt_serve_stream,
     .closed = p4rt_serve_closed,
     .room = p4rt_serve_room,
     .over = p4rt_serve_over},
    {.path = NULL},
};

int p4rt_listen(struct p4rt *p, const struct brt_listen_options *options, struct sk_error *err) {
    p->server = rpc_open(&(struct rpc_options){.address = options->address,
                                               .methods = p4rt_methods,
                                               .aux = p,
                                               .certificate = options->certificate,
                                               .key = options->key,
                                               .client_authority = options->client_authority},
                         err);
    return p->server ? 0 : -1;
}

int p4rt_fd(const struct p4rt *p) {
    return p->server ? rpc_fd(p->server) : -1;
}

uint64_t p4rt_due(const struct p4rt *p) {
    const uint64_t due = p->server ? rpc_due(p->server) : UINT64_MAX;
    return p->n_watches && p->watch_due < due ? p->watch_due : due;
}

void p4rt_poll(struct p4rt *p, uint64_t now_ns) {
    p4rt_watch_poll(p, now_ns);
    if (p->server)
        rpc_poll(p->server, now_ns);
}

uint16_t p4rt_port(const struct p4rt *p) {
    return p->server ? rpc_port(p->server) : 0;
}
