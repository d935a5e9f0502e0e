// SPDX-License-Identifier: Apache-2.0
//
// fuzz_rpc: connections of clients to the gRPC server through socket pairs: frames, mostly right
// ones, and any bytes, in pieces; clients that do not read and that go; a service that answers now,
// later or too much, on the call it is told of or on another; and time. The service is told the end
// of each call once, nothing of it after that, and nothing while it is told something; no message
// is longer than the limit; when all connections are gone, no memory is held.
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "harness/control/tor/fuzz_input.h"
#include "rpc/rpc_impl.h"

#define CLIENTS 3u
#define STEPS   300u
#define LIVE    64u
#define MS      UINT64_C(1000000)
#define MESSAGE 5000u
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rpc_call *live[LIVE];
static unsigned n_live;

// What the service sends to other calls while it is told of one: at times a little more than all
// memory that is left, so that somebody must lose some.
static const uint8_t other_bytes[22000];
static unsigned busy; // with being told

static void send_to_other(unsigned which, size_t length) {
    struct rpc_call *call = n_live > 0 ? live[which / 8 % n_live] : NULL;
    const struct rpc_server *s = call ? call->connection->server : NULL;
    if (call)
        rpc_send(call, other_bytes, which & 4 ? s->options.memory_bytes - s->memory : length);
}

static unsigned find(const struct rpc_call *call) {
    unsigned i = 0;
    while (i < n_live && live[i] != call)
        i++;
    return i;
}

static void begin(struct rpc_call *call) {
    must(find(call) == n_live && n_live < LIVE && !rpc_data(call) && !busy);
    live[n_live++] = call;
    rpc_set_data(call, live);
    size_t n = 0;
    const char *value = rpc_metadata(call, "x-bin", &n);
    must(!value || value[n] == 0);
    must(*rpc_peer(call));
}

static void over(struct rpc_call *call, bool cancelled) {
    const unsigned i = find(call);
    (void)cancelled;
    must(i < n_live && rpc_data(call) == live && !busy);
    live[i] = live[--n_live];
    busy++;
    send_to_other(i, 2000);
    busy--;
}

static void message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    must(find(call) < n_live && length <= MESSAGE && !busy);
    const bool ends = length > 0 && bytes[0] & 1;
    busy++;
    if (length > 2 && bytes[2] & 1)
        send_to_other(bytes[2], (size_t)bytes[2] << 3);
    rpc_send(call, bytes, length);
    if (length > 1 && bytes[1] & 1)
        rpc_send(call, bytes, length);
    if (length > 3 && bytes[3] & 1 && live[bytes[3] % n_live] != call)
        rpc_end(live[bytes[3] % n_live], RPC_ABORTED, "by another", bytes, length);
    if (ends)
        rpc_end(call, (enum rpc_status)(bytes[0] >> 4), "100%\n", bytes, length);
    busy--;
}

static void closed(struct rpc_call *call) {
    must(find(call) < n_live && !busy);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void room(struct rpc_call *call) {
    must(find(call) < n_live && !busy);
    busy++;
    send_to_other(find(call) + 1, 1000);
    rpc_send(call, "room", 4);
    busy--;
}

static const struct rpc_method methods[] = {
    {"/a", false, begin, message, closed, over, room},
    {"/b", true, begin, message, closed, over, room},
    {"/c", true, begin, message, NULL, over, room},
    {NULL, false, NULL, NULL, NULL, NULL, NULL},
};

// ---- clients ----

struct rig {
    struct rpc_server *server;
    struct input in;
    int fd[CLIENTS];
    uint32_t stream[CLIENTS];
    uint64_t now;
};

static void put(struct rig *r, unsigned i, const uint8_t *bytes, size_t length) {
    if (r->fd[i] >= 0)
        (void)!send(r->fd[i], bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void put_frame(struct rig *r, unsigned i, uint8_t kind, uint8_t flags, uint32_t stream,
                      const uint8_t *payload, size_t length) {
    uint8_t frame[9 + 512];
    put32(frame, (uint32_t)length << 8 | kind);
    frame[4] = flags;
    put32(frame + 5, stream);
    if (length > 0)
        memcpy(frame + 9, payload, length);
    put(r, i, frame, 9 + length);
}

static void connect_client(struct rig *r, unsigned i) {
    static const uint8_t preface[] = PREFACE;
    int pair[2];
    if (r->fd[i] >= 0)
        close(r->fd[i]);
    r->fd[i] = -1;
    r->stream[i] = 1;
    if (r->server->n == r->server->options.connections ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
        return;
    const int small = 4096;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    rpc_adopt(r->server, pair[0], "fuzz");
    r->fd[i] = pair[1];
    if (byte(&r->in) % 16 == 0)
        return;
    const uint8_t settings[] = {0, 4, 0, 0, (uint8_t)byte(&r->in), 0};
    put(r, i, preface, sizeof preface - 1);
    put_frame(r, i, NGHTTP2_SETTINGS, 0, 0, settings, byte(&r->in) % 2 ? 6 : 0);
}

static size_t literal(uint8_t *to, const char *name, const char *value) {
    const size_t n = strlen(name), length = strlen(value);
    to[0] = 0;
    to[1] = (uint8_t)n;
    memcpy(to + 2, name, n);
    to[2 + n] = (uint8_t)length;
    memcpy(to + 3 + n, value, length);
    return 3 + n + length;
}

static void put_request(struct rig *r, unsigned i) {
    static const char *const paths[] = {"/a", "/b", "/c", "/d"};
    static const char *const timeouts[] = {"10m", "1S", "0n", "99999999H", "x"};
    static const char *const values[] = {"", "YWJj", "YWI=", "a", "\xff"};
    uint8_t block[400];
    const unsigned kind = byte(&r->in), more = byte(&r->in);
    size_t n = literal(block, ":method", kind < 250 ? "POST" : "GET");
    n += literal(block + n, ":scheme", "http");
    n += literal(block + n, ":path", paths[kind % 4]);
    n += literal(block + n, ":authority", "x"); // nghttp2 resets a request without one
    n += literal(block + n, "content-type", kind % 32 ? "application/grpc" : "text/plain");
    if (more & 1)
        n += literal(block + n, "grpc-timeout", timeouts[more / 2 % 5]);
    if (more & 16)
        n += literal(block + n, "x-bin", values[more / 32 % 5]);
    put_frame(r, i, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | (kind % 8 == 7), r->stream[i],
              block, n);
    r->stream[i] += 2;
}

// Most often the last that was begun.
static uint32_t some_stream(struct rig *r, unsigned i) {
    const unsigned which = byte(&r->in);
    const uint32_t back = which < 160 ? 0 : 2 * (which % 8);
    return r->stream[i] > back + 2 ? r->stream[i] - 2 - back : 1;
}

static void put_message(struct rig *r, unsigned i) {
    const unsigned flags = byte(&r->in), length = byte(&r->in), lie = byte(&r->in);
    uint8_t bytes[5 + 255] = {0};
    for (unsigned k = 0; k < length && k < 4; k++)
        bytes[5 + k] = (uint8_t)byte(&r->in);
    bytes[0] = lie == 255;
    put32(bytes + 1, lie > 240 ? lie << (lie & 15) : length);
    const size_t cut = flags & 2 ? (length + 5) / 2 : length + 5;
    const uint32_t stream = some_stream(r, i);
    put_frame(r, i, NGHTTP2_DATA, 0, stream, bytes, cut);
    put_frame(r, i, NGHTTP2_DATA, flags & 1, stream, bytes + cut, length + 5 - cut);
}

static void put_any(struct rig *r, unsigned i) {
    uint8_t bytes[64];
    const unsigned kind = byte(&r->in), flags = byte(&r->in), n = byte(&r->in) % sizeof bytes;
    const uint32_t stream = flags & 64 ? 0 : some_stream(r, i);
    for (unsigned k = 0; k < n; k++)
        bytes[k] = (uint8_t)byte(&r->in);
    if (kind < 11)
        put_frame(r, i, (uint8_t)kind, (uint8_t)flags, stream, bytes, n);
    else
        put(r, i, bytes, n);
}

static void put_window(struct rig *r, unsigned i) {
    uint8_t bytes[4] = {0, 0, (uint8_t)byte(&r->in), 1};
    put_frame(r, i, NGHTTP2_WINDOW_UPDATE, 0, some_stream(r, i), bytes, 4);
    put_frame(r, i, NGHTTP2_WINDOW_UPDATE, 0, 0, bytes, 4);
}

static void read_client(struct rig *r, unsigned i) {
    uint8_t bytes[65536];
    if (r->fd[i] >= 0)
        (void)!recv(r->fd[i], bytes, sizeof bytes, MSG_DONTWAIT);
}

// ---- the service, by itself ----

static void serve(struct rig *r) {
    const unsigned what = byte(&r->in);
    struct rpc_call *call = n_live > 0 ? live[what / 8 % n_live] : NULL;
    if (!call)
        return;
    if (what & 1)
        rpc_end(call, RPC_ABORTED, "over", other_bytes, what);
    else
        rpc_send(call, other_bytes, what & 2 ? 3000 : what);
}

static void step(struct rig *r) {
    const unsigned what = byte(&r->in), i = what / 16 % CLIENTS;
    switch (what % 16) {
    case 0:
        connect_client(r, i);
        break;
    case 1:
    case 2:
    case 3:
        put_request(r, i);
        break;
    case 4:
    case 5:
    case 6:
        put_message(r, i);
        break;
    case 7:
        put_any(r, i);
        break;
    case 8:
        put_window(r, i);
        break;
    case 9:
    case 10:
        serve(r);
        break;
    case 11:
        r->now += MS << byte(&r->in) % 16;
        break;
    case 12:
        read_client(r, i);
        break;
    case 13:
        put_frame(r, i, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, some_stream(r, i), NULL, 0);
        break;
    default:
        rpc_poll(r->server, r->now += MS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rig r = {.in = {data, size}, .fd = {-1, -1, -1}, .now = MS};
    struct rpc_options options = {.address = "127.0.0.1:0",
                                  .methods = methods,
                                  .message_bytes = MESSAGE,
                                  .memory_bytes = 1000 + 80 * (size_t)byte(&r.in),
                                  .queue_bytes = 2000,
                                  .connections = CLIENTS + 2,
                                  .calls = 10};
    r.server = rpc_open(&options, NULL);
    must(r.server);
    for (unsigned i = 0; i < CLIENTS; i++)
        connect_client(&r, i);
    for (unsigned i = 0; i < STEPS && r.in.left > 0; i++)
        step(&r);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (r.fd[i] >= 0)
            close(r.fd[i]);
    if (size % 2) { // otherwise rpc_close() ends them
        for (unsigned i = 0; i < 1000 && r.server->n > 0; i++)
            rpc_poll(r.server, r.now += 100 * MS);
        must(r.server->n == 0 && r.server->memory == 0 && n_live == 0);
    }
    rpc_close(r.server);
    must(n_live == 0);
    return 0;
}
