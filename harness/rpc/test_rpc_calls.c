// SPDX-License-Identifier: Apache-2.0
//
// What one client costs others, and how calls end whose client does not read: connections of
// clients by socket pairs, frames made by hand, and a clock that the tests move.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "rpc/rpc_impl.h"

#define MS      UINT64_C(1000000)
#define STREAMS 256u
#define HUGE    0x7fffffffu // a window
#define MEMORY  20000u
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// ---- the service ----

static struct rpc_call *last; // that a message came for
static unsigned n_over, n_cancelled, n_messages;

// What the next message makes the service send, and to whom.
static struct {
    struct rpc_call *to; // null: the message's own call
    size_t length;
    unsigned times;
    size_t details;
    unsigned works_ms; // before
    bool ends;
} order;

static void on_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    static uint8_t text[1 << 20];
    unsigned sum = 0;
    n_messages++;
    last = call;
    usleep(order.works_ms * 1000);
    for (unsigned i = 0; i < order.times; i++)
        rpc_send(order.to ? order.to : call, text, order.length);
    for (size_t i = 0; i < length; i++) // they are valid until this returns
        sum += bytes[i];
    assert_int_equal(sum, length); // all are 1
    if (order.to)
        rpc_send(call, text, 1);
    if (order.ends)
        rpc_end(call, order.details ? RPC_ABORTED : RPC_OK, NULL, order.details ? text : NULL,
                order.details);
}

static void on_over(struct rpc_call *call, bool cancelled) {
    n_over++;
    n_cancelled += cancelled;
    last = last == call ? NULL : last;
}

static const struct rpc_method methods[] = {
    {.path = "/one", .message = on_message, .over = on_over},
    {.path = "/many", .stream_in = true, .message = on_message, .over = on_over},
    {.path = NULL},
};

// ---- a server and its clients ----

struct rig {
    struct rpc_server *server;
    uint64_t now;
};

static void turns(struct rig *r, uint64_t ms) {
    r->now += ms * MS;
    for (unsigned i = 0; i < 40; i++)
        rpc_poll(r->server, r->now);
}

static struct rig rig_open(size_t memory) {
    struct rpc_options options = {.address = "127.0.0.1:0",
                                  .methods = methods,
                                  .memory_bytes = memory,
                                  .queue_bytes = 1 << 30,
                                  .connections = 8};
    struct sk_error err;
    struct rig r = {.server = rpc_open(&options, &err), .now = 1000 * MS};
    assert_non_null(r.server);
    last = NULL;
    n_over = n_cancelled = n_messages = 0;
    memset(&order, 0, sizeof order);
    turns(&r, 0);
    return r;
}

struct stream {
    size_t data;
    bool ended;
    int status, reset; // -1: none
};

struct client {
    struct rig *rig;
    int fd;
    nghttp2_hd_inflater *inflater;
    struct stream streams[STREAMS];
    uint8_t *in;
    size_t n;
    bool closed; // by the server
};

static void put(struct client *c, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        const ssize_t n = send(c->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && c->closed)
            return;
        if (n < 0)
            turns(c->rig, 0);
        bytes += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
}

static void put_frame(struct client *c, uint8_t kind, uint8_t flags, uint32_t stream,
                      const uint8_t *payload, size_t length) {
    uint8_t head[9];
    put32(head, (uint32_t)length << 8 | kind);
    head[4] = flags;
    put32(head + 5, stream);
    put(c, head, sizeof head);
    put(c, payload, length);
}

static void put_window(struct client *c, uint32_t stream, uint32_t more) {
    uint8_t bytes[4];
    put32(bytes, more);
    put_frame(c, NGHTTP2_WINDOW_UPDATE, 0, stream, bytes, sizeof bytes);
}

// 'window': bytes that each stream may send to it.
static struct client client_open(struct rig *r, uint32_t window) {
    struct client c = {.rig = r};
    const int small = 4096;
    uint8_t settings[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    rpc_adopt(r->server, pair[0], "test");
    c.fd = pair[1];
    c.in = malloc(1 << 20);
    assert_int_equal(nghttp2_hd_inflate_new(&c.inflater), 0);
    for (unsigned i = 0; i < STREAMS; i++)
        c.streams[i].status = c.streams[i].reset = -1;
    put32(settings + 2, window);
    put(&c, (const uint8_t *)PREFACE, sizeof PREFACE - 1);
    put_frame(&c, NGHTTP2_SETTINGS, 0, 0, settings, sizeof settings);
    put_window(&c, 0, HUGE - 65535);
    turns(r, 0);
    return c;
}

static void client_headers(struct client *c, struct stream *s, const uint8_t *block, size_t n,
                           bool whole) {
    int flags;
    nghttp2_nv nv;
    ssize_t taken;
    do {
        taken = nghttp2_hd_inflate_hd2(c->inflater, &nv, &flags, block, n, whole);
        assert_true(taken >= 0);
        block += taken;
        n -= (size_t)taken;
        if (flags & NGHTTP2_HD_INFLATE_EMIT && nv.namelen == 11 &&
            memcmp(nv.name, "grpc-status", 11) == 0)
            s->status = atoi((const char *)nv.value);
    } while (n > 0 || flags & NGHTTP2_HD_INFLATE_EMIT);
    if (whole)
        nghttp2_hd_inflate_end_headers(c->inflater);
}

static void client_frame(struct client *c, const uint8_t *head, const uint8_t *payload, size_t n) {
    struct stream *s = &c->streams[get32(head + 5) / 2 % STREAMS];
    const uint8_t kind = head[3], flags = head[4];
    if (kind == NGHTTP2_DATA)
        s->data += n;
    if (kind == NGHTTP2_HEADERS || kind == NGHTTP2_CONTINUATION)
        client_headers(c, s, payload, n, flags & NGHTTP2_FLAG_END_HEADERS);
    if (kind == NGHTTP2_RST_STREAM)
        s->reset = (int)get32(payload);
    if (kind == NGHTTP2_DATA || kind == NGHTTP2_HEADERS)
        s->ended |= flags & NGHTTP2_FLAG_END_STREAM;
}

// Reads all that comes. The server has its turns meanwhile.
static void client_read(struct client *c) {
    for (unsigned idle = 0; idle < 3 && !c->closed;) {
        const ssize_t n = recv(c->fd, c->in + c->n, (1 << 20) - c->n, MSG_DONTWAIT);
        idle = n > 0 ? 0 : idle + 1;
        c->closed = n == 0;
        c->n += n > 0 ? (size_t)n : 0;
        size_t at = 0;
        while (c->n - at >= 9 && c->n - at - 9 >= get32(c->in + at) >> 8) {
            const size_t length = get32(c->in + at) >> 8;
            client_frame(c, c->in + at, c->in + at + 9, length);
            at += 9 + length;
        }
        memmove(c->in, c->in + at, c->n -= at);
        turns(c->rig, 0);
    }
}

static void client_close(struct client *c) {
    close(c->fd);
    nghttp2_hd_inflate_del(c->inflater);
    free(c->in);
}

static size_t literal(uint8_t *to, const char *name, const char *value, size_t length) {
    const size_t n = strlen(name);
    size_t at = 2 + n;
    to[0] = 0;
    to[1] = (uint8_t)n;
    memcpy(to + 2, name, n);
    if (length < 127) {
        to[at++] = (uint8_t)length;
    } else { // RFC 7541, 5.1
        size_t rest = length - 127;
        to[at++] = 127;
        for (; rest >= 128; rest >>= 7)
            to[at++] = (uint8_t)(rest | 128);
        to[at++] = (uint8_t)rest;
    }
    memcpy(to + at, value, length);
    return at + length;
}

static size_t request(uint8_t *block, const char *path, const char *timeout) {
    size_t n = literal(block, ":method", "POST", 4);
    n += literal(block + n, ":scheme", "http", 4);
    n += literal(block + n, ":path", path, strlen(path));
    n += literal(block + n, ":authority", "test", 4);
    n += literal(block + n, "content-type", "application/grpc", 16);
    return n + (timeout ? literal(block + n, "grpc-timeout", timeout, strlen(timeout)) : 0);
}

// The first 'length' bytes of a message of 'claims'.
static void put_message(struct client *c, uint32_t stream, size_t length, size_t claims, bool end) {
    static uint8_t bytes[RPC_PREFIX + MEMORY];
    memset(bytes + RPC_PREFIX, 1, length);
    bytes[0] = 0;
    put32(bytes + 1, (uint32_t)claims);
    put_frame(c, NGHTTP2_DATA, end, stream, bytes, RPC_PREFIX + length);
    turns(c->rig, 0);
}

static void put_headers(struct client *c, uint32_t stream, const char *path, const char *timeout) {
    uint8_t block[200];
    const size_t n = request(block, path, timeout);
    put_frame(c, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, block, n);
}

static void put_call(struct client *c, uint32_t stream, const char *path, const char *timeout) {
    put_headers(c, stream, path, timeout);
    put_message(c, stream, 1, 1, strcmp(path, "/one") == 0);
}

static void finish(struct rig *r) {
    turns(r, 5000);
    assert_int_equal(r->server->n, 0);
    assert_int_equal(r->server->memory, 0);
    rpc_close(r->server);
}

// ---- how calls end ----

static void the_end_of_a_reply_comes_to_one_that_reads_late(void **state) {
    (void)state;
    struct rig r = rig_open(1 << 20);
    struct client c = client_open(&r, HUGE);
    for (uint32_t stream = 1, length = 1000; length <= 60000; stream += 2, length += 7000) {
        order.length = length;
        order.times = 1;
        order.ends = true;
        put_call(&c, stream, "/one", NULL);
        client_read(&c);
        assert_int_equal(c.streams[stream / 2].data, RPC_PREFIX + length);
        assert_int_equal(c.streams[stream / 2].status, RPC_OK);
    }
    client_close(&c);
    finish(&r);
}

static void a_reply_that_is_cut_off_does_not_look_whole(void **state) {
    (void)state;
    struct rig r = rig_open(1 << 20);
    struct client c = client_open(&r, HUGE);
    order.length = 10000;
    order.times = 50;
    order.ends = true;
    put_call(&c, 1, "/one", "1S");
    turns(&r, 2000);
    client_read(&c);
    assert_true(c.streams[0].data < 50 * 10005);
    assert_int_equal(c.streams[0].status, -1);
    assert_int_equal(c.streams[0].reset, NGHTTP2_CANCEL);
    assert_int_equal(n_cancelled, 1);
    assert_int_equal(rpc_counts(r.server).cancelled, 1);
    client_close(&c);
    finish(&r);
}

static void a_message_that_is_begun_is_sent_before_the_status(void **state) {
    (void)state;
    struct rig r = rig_open(1 << 20);
    struct client c = client_open(&r, HUGE);
    order.length = 100000;
    order.times = 3;
    put_call(&c, 1, "/many", "1S");
    turns(&r, 2000);
    client_read(&c);
    assert_int_equal(c.streams[0].data % 100005, 0);
    assert_true(c.streams[0].data < 3 * 100005);
    assert_int_equal(c.streams[0].status, RPC_DEADLINE_EXCEEDED);
    client_close(&c);
    finish(&r);
}

// The window takes the message, and nothing after it: its trailers wait.
static void end_without_window(struct rig *r, struct client *c, const char *timeout) {
    order.length = 10;
    order.times = 1;
    put_call(c, 1, "/many", timeout);
    client_read(c);
    assert_int_equal(c->streams[0].data, 15);
    assert_int_equal(n_messages, 1);
    turns(r, 5000);
    rpc_end(last, RPC_OK, NULL, NULL, 0);
    client_read(c);
    assert_false(c->streams[0].ended);
    assert_int_equal(n_over, 0);
}

static void trailers_without_window_have_a_deadline(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, 15);
    end_without_window(&r, &c, "10S");
    turns(&r, 4900);
    assert_int_equal(n_over, 0);
    assert_true(rpc_due(r.server) <= r.now + 100 * MS);
    turns(&r, 200);
    client_read(&c);
    assert_int_equal(c.streams[0].reset, NGHTTP2_CANCEL);
    assert_int_equal(n_over, 1);
    client_close(&c);
    finish(&r);
}

static void trailers_without_window_do_not_wait_for_ever(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, 15);
    end_without_window(&r, &c, NULL);
    turns(&r, RPC_STALLED_NS / MS - 1000);
    client_read(&c);
    assert_int_equal(c.streams[0].reset, -1);
    turns(&r, 2000);
    client_read(&c);
    assert_int_equal(c.streams[0].reset, NGHTTP2_CANCEL);
    assert_int_equal(n_over, 1);
    client_close(&c);
    finish(&r);
}

static void trailers_come_with_a_late_window(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, 15);
    end_without_window(&r, &c, NULL);
    turns(&r, RPC_STALLED_NS / MS - 1000);
    put_window(&c, 1, 1);
    client_read(&c);
    assert_int_equal(c.streams[0].status, RPC_OK);
    assert_int_equal(n_cancelled, 0);
    client_close(&c);
    finish(&r);
}

static void calls_that_never_began_are_not_cancelled(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, HUGE);
    uint8_t block[200];
    const size_t n = request(block, "/one", NULL);
    put_call(&c, 1, "/nothing", NULL);
    put_headers(&c, 3, "/one", NULL);
    put_frame(&c, NGHTTP2_HEADERS, 0, 5, block, n); // its headers go on
    turns(&r, 0);
    client_close(&c);
    turns(&r, 0);
    assert_int_equal(rpc_counts(r.server).cancelled, 1); // stream 3
    assert_int_equal(n_over, 1);
    finish(&r);
}

// Neither the call nor the connection is late for the time in which a service worked.
static void a_client_may_be_slow_after_a_slow_service(void **state) {
    (void)state;
    struct rig r = rig_open(1 << 20);
    struct client c = client_open(&r, HUGE);
    order.length = 200000;
    order.times = 1;
    order.works_ms = 600;
    order.ends = true;
    put_call(&c, 1, "/one", NULL);
    turns(&r, RPC_BLOCKED_NS / MS + 300);
    assert_true(rpc_due(r.server) == 0 || rpc_due(r.server) > r.now);
    client_read(&c);
    assert_false(c.closed);
    assert_int_equal(c.streams[0].data, RPC_PREFIX + 200000);
    assert_int_equal(c.streams[0].status, RPC_OK);
    client_close(&c);
    finish(&r);
}

// ---- memory ----

// Its end comes long after its bytes: it was idle, and is not any more.
static void a_message_that_is_delivered_is_not_taken_from_its_reader(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, 0);
    put_call(&c, 1, "/many", NULL);
    order.to = last;
    order.length = 12000;
    order.times = 1;
    put_headers(&c, 3, "/one", NULL);
    put_message(&c, 3, 12000, 12000, false);
    turns(&r, 2000);
    put_frame(&c, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 3, NULL, 0);
    turns(&r, 0);
    assert_int_equal(n_messages, 2);
    put_window(&c, 3, 1000);
    client_read(&c);
    assert_int_equal(c.streams[1].data, RPC_PREFIX + 1);
    assert_int_equal(c.streams[1].status, -1);
    assert_int_equal(c.streams[0].status, RPC_RESOURCE_EXHAUSTED); // for it no memory was left
    client_close(&c);
    finish(&r);
}

static void a_claim_takes_nothing_from_others(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client slow = client_open(&r, 0), other = client_open(&r, HUGE);
    order.length = 3000;
    order.times = 1;
    put_call(&slow, 1, "/many", NULL);
    turns(&r, 2000);
    put_headers(&other, 1, "/many", NULL);
    put_message(&other, 1, 100, 19000, false);
    put_headers(&other, 3, "/many", NULL);
    put_message(&other, 3, 100, MEMORY + 1, false);
    client_read(&other);
    assert_int_equal(other.streams[1].status, RPC_RESOURCE_EXHAUSTED);
    assert_false(other.streams[0].ended);
    assert_true(r.server->memory < 3000 + 500);
    put_window(&slow, 1, 5000);
    client_read(&slow);
    assert_int_equal(slow.streams[0].data, RPC_PREFIX + 3000);
    client_close(&slow);
    client_close(&other);
    finish(&r);
}

static void more_than_all_memory_takes_nothing_from_others(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client slow = client_open(&r, 0), other = client_open(&r, HUGE);
    order.length = 3000;
    order.times = 1;
    put_call(&slow, 1, "/many", NULL);
    turns(&r, 2000);
    order.length = MEMORY + 1;
    put_call(&other, 1, "/one", NULL);
    client_read(&other);
    assert_int_equal(other.streams[0].status, RPC_RESOURCE_EXHAUSTED);
    put_window(&slow, 1, 5000);
    client_read(&slow);
    assert_int_equal(slow.streams[0].data, RPC_PREFIX + 3000);
    client_close(&slow);
    client_close(&other);
    finish(&r);
}

static void details_are_counted(void **state) {
    (void)state;
    struct rig r = rig_open(250000);
    struct client c = client_open(&r, HUGE);
    order.details = 60000;
    order.ends = true;
    for (uint32_t stream = 1; stream < 20; stream += 2) { // all come in one turn
        static const uint8_t message[] = {0, 0, 0, 0, 1, 1};
        put_headers(&c, stream, "/one", NULL);
        put_frame(&c, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, message, sizeof message);
    }
    turns(&r, 0);
    assert_int_equal(n_messages, 10);
    assert_in_range(r.server->memory, 2 * 80000, 250000); // as base64; one is on its way
    client_read(&c);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(c.streams[i].status, RPC_ABORTED);
    assert_int_equal(r.server->memory, 0);
    client_close(&c);
    finish(&r);
}

// Trailers that wait for a window hold details, which go when others need the memory.
static void details_that_wait_go_to_others(void **state) {
    (void)state;
    struct rig r = rig_open(250000);
    struct client slow = client_open(&r, 15), other = client_open(&r, HUGE);
    order.length = 10;
    order.times = 1;
    put_call(&slow, 1, "/many", NULL);
    client_read(&slow);
    static const uint8_t details[150000];
    rpc_end(last, RPC_ABORTED, NULL, details, sizeof details);
    assert_in_range(r.server->memory, 200000, 201000);
    turns(&r, 2000);
    order.length = 100000;
    order.ends = true;
    put_call(&other, 1, "/one", NULL);
    client_read(&other);
    assert_int_equal(other.streams[0].data, RPC_PREFIX + 100000);
    client_read(&slow);
    assert_int_equal(slow.streams[0].reset, NGHTTP2_CANCEL);
    client_close(&slow);
    client_close(&other);
    finish(&r);
}

// ---- floods ----

static void long_metadata_is_no_flood(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, HUGE);
    static uint8_t block[20000];
    static char value[12000];
    memset(value, 'x', sizeof value);
    size_t n = request(block, "/one", NULL);
    n += literal(block + n, "long", value, sizeof value);
    order.ends = true;
    for (uint32_t stream = 1; stream < 2 * 200; stream += 2) {
        const size_t first = stream % 4 == 1 ? n : 100;
        put_frame(&c, NGHTTP2_HEADERS, first == n ? NGHTTP2_FLAG_END_HEADERS : 0, stream, block,
                  first);
        if (first < n)
            put_frame(&c, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, stream, block + first,
                      n - first);
        put_message(&c, stream, 1, 1, true);
        client_read(&c);
        assert_false(c.closed);
        assert_int_equal(c.streams[stream / 2].status, RPC_OK);
    }
    client_close(&c);
    finish(&r);
}

static void a_message_in_frames_of_one_byte_is_no_flood(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, HUGE);
    static const uint8_t one[] = {1};
    order.ends = true;
    put_headers(&c, 1, "/one", NULL);
    put_message(&c, 1, 0, 15000, false);
    for (unsigned i = 0; i < 15000; i++)
        put_frame(&c, NGHTTP2_DATA, i == 14999, 1, one, 1);
    client_read(&c);
    assert_int_equal(c.streams[0].status, RPC_OK);
    client_close(&c);
    finish(&r);
}

// The server has ended the call; what the client had sent by then is no flood.
static void data_of_a_call_that_is_over_is_no_flood(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, HUGE);
    static const uint8_t bytes[16000];
    order.ends = true;
    put_call(&c, 1, "/many", NULL);
    client_read(&c);
    assert_int_equal(c.streams[0].reset, NGHTTP2_NO_ERROR);
    for (unsigned i = 0; i < 60; i++)
        put_frame(&c, NGHTTP2_DATA, 0, 1, bytes, sizeof bytes);
    client_read(&c);
    assert_false(c.closed);
    put_call(&c, 3, "/one", NULL);
    client_read(&c);
    assert_int_equal(c.streams[1].status, RPC_OK);
    client_close(&c);
    finish(&r);
}

// Beside a frame that carries something, too.
static void unknown_frames_are_a_flood(void **state) {
    (void)state;
    struct rig r = rig_open(MEMORY);
    struct client c = client_open(&r, HUGE);
    put_headers(&c, 1, "/many", NULL);
    put_message(&c, 1, 1, MEMORY, false);
    for (unsigned i = 0; i < 40 && !c.closed; i++) {
        static const uint8_t one[1];
        for (unsigned k = 0; k < 400; k++)
            put_frame(&c, 77, 0, 0, NULL, 0);
        put_frame(&c, NGHTTP2_DATA, 0, 1, one, 1);
        client_read(&c);
    }
    turns(&r, 2000);
    client_read(&c);
    assert_true(c.closed);
    client_close(&c);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_reply_comes_to_one_that_reads_late),
        cmocka_unit_test(a_reply_that_is_cut_off_does_not_look_whole),
        cmocka_unit_test(a_message_that_is_begun_is_sent_before_the_status),
        cmocka_unit_test(trailers_without_window_have_a_deadline),
        cmocka_unit_test(trailers_without_window_do_not_wait_for_ever),
        cmocka_unit_test(trailers_come_with_a_late_window),
        cmocka_unit_test(calls_that_never_began_are_not_cancelled),
        cmocka_unit_test(a_client_may_be_slow_after_a_slow_service),
        cmocka_unit_test(a_message_that_is_delivered_is_not_taken_from_its_reader),
        cmocka_unit_test(a_claim_takes_nothing_from_others),
        cmocka_unit_test(more_than_all_memory_takes_nothing_from_others),
        cmocka_unit_test(details_are_counted),
        cmocka_unit_test(details_that_wait_go_to_others),
        cmocka_unit_test(long_metadata_is_no_flood),
        cmocka_unit_test(a_message_in_frames_of_one_byte_is_no_flood),
        cmocka_unit_test(data_of_a_call_that_is_over_is_no_flood),
        cmocka_unit_test(unknown_frames_are_a_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
