// SPDX-License-Identifier: Apache-2.0
#include "brt/brt_impl.h"

// ---- calls of the network ----

static const char *server_metadata(const void *call, const char *name) {
    size_t length;
    return rpc_metadata(call, name, &length);
}

static bool server_send(void *call, const void *bytes, size_t length) {
    return rpc_send(call, bytes, length);
}

static bool server_give(void *call, uint8_t *bytes, size_t length) {
    return rpc_give(call, bytes, length);
}

static void server_end(void *call, enum rpc_status status, const char *message,
                       const uint8_t *details, size_t details_length) {
    rpc_end(call, status, message, details, details_length);
}

const struct brt_carrier brt_network = {
    .send = server_send, .give = server_give, .end = server_end, .metadata = server_metadata};

static void server_write(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    brt_write(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void server_read(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    brt_read(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void server_set_config(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    brt_set_config(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void server_set_config_over(struct rpc_call *call, bool cancelled) {
    (void)cancelled;
    brt_set_config_over(rpc_aux(call), call);
}

static void server_get_config(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    brt_get_config(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void server_stream(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    brt_stream_message(rpc_aux(call), &(struct brt_call){&brt_network, call}, bytes, length);
}

static void server_stream_closed(struct rpc_call *call) {
    brt_stream_over(rpc_aux(call), call);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void server_stream_over(struct rpc_call *call, bool cancelled) {
    (void)cancelled;
    brt_stream_over(rpc_aux(call), call);
}

static void server_stream_room(struct rpc_call *call) {
    brt_stream_room(rpc_aux(call), call);
}

#define SERVICE "/bfrt_proto.BfRuntime/"
static const struct rpc_method methods[] = {
    {.path = SERVICE "Write", .message = server_write},
    {.path = SERVICE "Read", .message = server_read},
    {.path = SERVICE "SetForwardingPipelineConfig",
     .message = server_set_config,
     .over = server_set_config_over},
    {.path = SERVICE "GetForwardingPipelineConfig", .message = server_get_config},
    {.path = SERVICE "StreamChannel",
     .stream_in = true,
     .message = server_stream,
     .closed = server_stream_closed,
     .room = server_stream_room,
     .over = server_stream_over},
    {.path = NULL},
};

// ---- the socket ----

int brt_listen(struct brt *b, const struct brt_listen_options *options, struct sk_error *err) {
    b->server = rpc_open(&(struct rpc_options){.address = options->address,
                                               .methods = methods,
                                               .aux = b,
                                               .certificate = options->certificate,
                                               .key = options->key,
                                               .client_authority = options->client_authority},
                         err);
    return b->server ? 0 : -1;
}

int brt_fd(const struct brt *b) {
    return b->server ? rpc_fd(b->server) : -1;
}

uint64_t brt_due(const struct brt *b) {
    const uint64_t due = b->server ? rpc_due(b->server) : UINT64_MAX;
    const uint64_t soon = brt_snapshot_waits(b) && b->snapshots_due < due ? b->snapshots_due : due;
    return b->tells_ports && b->ports_due < soon ? b->ports_due : soon;
}

void brt_poll(struct brt *b, uint64_t now_ns) {
    if (b->server)
        rpc_poll(b->server, now_ns);
    brt_start_turn(b);
    brt_notify_ports(b, now_ns);
    brt_snapshot_turn(b, now_ns);
}

uint16_t brt_port(const struct brt *b) {
    return b->server ? rpc_port(b->server) : 0;
}

void brt_free(struct brt *b) {
    if (!b)
        return;
    rpc_close(b->server);
    brt_service_free(b);
}
