// SPDX-License-Identifier: Apache-2.0
//
// rpc_echo ADDRESS [KEY=VALUE...]: a service upon rpc/rpc.h for tests and measurements. Prints the
// port that it listens on, and ends when its input does. Keys: certificate, key, authority (files);
// message, memory, queue (bytes); connections, calls, keeps_idle; speed (time goes so many times
// faster).
//
//     /test.Echo/Unary     the message
//     /test.Echo/Bidi      each message
//     /test.Echo/Collect   stream to one: how many messages and bytes came
//     /test.Echo/Stream    "COUNT SIZE": so many messages of SIZE bytes, the first 4 a number
//     /test.Echo/Push      the same at once, however full the queue is
//     /test.Echo/Fail      "STATUS|SENTENCE|DETAILS"
//     /test.Echo/Wait      no answer
//     /test.Echo/Early     stream to one: ends at the first message, with NOT_FOUND
//     /test.Echo/Metadata  the value of the metadata that the message names
//     /test.Echo/Peer      who calls
//     /test.Echo/Counts    counts of the server and of this service, as JSON
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "rpc/rpc.h"

#define NS_A_MS  UINT64_C(1000000)
#define NEVER_MS 1000

static struct rpc_server *server;
static uint64_t speed = 1;
static unsigned over, cancelled, lost, waiting, gone;

struct stream {
    uint32_t next, count;
    size_t size;
};

static void echo_over(struct rpc_call *call, bool was_cancelled) {
    over++;
    cancelled += was_cancelled;
    free(rpc_data(call));
}

static void echo_unary(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    rpc_send(call, bytes, length);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void echo_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    lost += !rpc_send(call, bytes, length);
}

static void echo_closed(struct rpc_call *call) {
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

// ---- stream to one ----

static void collect_begin(struct rpc_call *call) {
    rpc_set_data(call, calloc(2, sizeof(size_t)));
}

static void collect_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    size_t *total = rpc_data(call);
    (void)bytes;
    total[0]++;
    total[1] += length;
}

static void collect_closed(struct rpc_call *call) {
    const size_t *total = rpc_data(call);
    char text[64];
    rpc_send(call, text, (size_t)snprintf(text, sizeof text, "%zu %zu", total[0], total[1]));
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void early_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    rpc_end(call, RPC_NOT_FOUND, "enough", NULL, 0);
}

// ---- one to stream ----

static struct stream *stream_new(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    struct stream *s = calloc(1, sizeof *s);
    char text[64];
    if (!s)
        abort();
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), (const char *)bytes);
    if (sscanf(text, "%u %zu", &s->count, &s->size) != 2 || s->size < 4 || s->size > 1u << 30)
        rpc_end(call, RPC_INVALID_ARGUMENT, "COUNT SIZE", NULL, 0);
    rpc_set_data(call, s);
    return s;
}

static void stream_go(struct rpc_call *call, bool all) {
    struct stream *s = rpc_data(call);
    uint8_t *bytes = calloc(1, s->size < 4 ? 4 : s->size);
    bool room = true;
    if (!bytes)
        abort();
    while (s->next < s->count && (room || all)) {
        put32(bytes, s->next++);
        room = rpc_send(call, bytes, s->size);
        lost += !room;
    }
    free(bytes);
    if (s->next == s->count)
        rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void stream_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    stream_new(call, bytes, length);
    stream_go(call, false);
}

static void stream_room(struct rpc_call *call) {
    stream_go(call, false);
}

static void push_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    stream_new(call, bytes, length);
    stream_go(call, true);
}

// ---- one to one ----

static void fail_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    const uint8_t *end = bytes + length, *sentence = memchr(bytes, '|', length),
                  *details =
                      sentence ? memchr(sentence + 1, '|', (size_t)(end - sentence) - 1) : NULL;
    if (!details) {
        rpc_end(call, RPC_INVALID_ARGUMENT, "STATUS|SENTENCE|DETAILS", NULL, 0);
        return;
    }
    char *text = strndup((const char *)sentence + 1, (size_t)(details - sentence) - 1);
    details++;
    rpc_end(call, (enum rpc_status)atoi((const char *)bytes), text, details < end ? details : NULL,
            (size_t)(end - details));
    free(text);
}

static void wait_begin(struct rpc_call *call) {
    (void)call;
    waiting++;
}

static void wait_over(struct rpc_call *call, bool was_cancelled) {
    waiting--;
    echo_over(call, was_cancelled);
}

static void metadata_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    char *name = strndup((const char *)bytes, length);
    size_t n = 0;
    const char *value = name ? rpc_metadata(call, name, &n) : NULL;
    if (value) {
        rpc_send(call, value, n);
        rpc_end(call, RPC_OK, NULL, NULL, 0);
    } else {
        rpc_end(call, RPC_NOT_FOUND, "no such metadata", NULL, 0);
    }
    free(name);
}

static void peer_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    rpc_send(call, rpc_peer(call), strlen(rpc_peer(call)));
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void counts_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    const struct rpc_counts c = rpc_counts(server);
    char text[400];
    (void)bytes, (void)length;
    const int n = snprintf(text, sizeof text,
                           "{\"calls\": %llu, \"failed\": %llu, \"cancelled\": %llu, "
                           "\"connections\": %llu, \"disconnected\": %llu, \"open\": %zu, "
                           "\"open_calls\": %zu, \"memory\": %zu, \"waiting\": %u, "
                           "\"over\": %u, \"over_cancelled\": %u, \"lost\": %u, \"gone\": %u}",
                           (unsigned long long)c.calls, (unsigned long long)c.failed,
                           (unsigned long long)c.cancelled, (unsigned long long)c.connections,
                           (unsigned long long)c.disconnected, c.open, c.open_calls, c.memory,
                           waiting, over, cancelled, lost, gone);
    rpc_send(call, text, (size_t)n);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static const struct rpc_method methods[] = {
    {.path = "/test.Echo/Unary", .message = echo_unary, .over = echo_over},
    {.path = "/test.Echo/Bidi",
     .stream_in = true,
     .message = echo_message,
     .closed = echo_closed,
     .over = echo_over},
    {.path = "/test.Echo/Collect",
     .stream_in = true,
     .begin = collect_begin,
     .message = collect_message,
     .closed = collect_closed,
     .over = echo_over},
    {.path = "/test.Echo/Stream",
     .message = stream_message,
     .room = stream_room,
     .over = echo_over},
    {.path = "/test.Echo/Push", .message = push_message, .over = echo_over},
    {.path = "/test.Echo/Fail", .message = fail_message, .over = echo_over},
    {.path = "/test.Echo/Wait", .begin = wait_begin, .over = wait_over},
    {.path = "/test.Echo/Early", .stream_in = true, .message = early_message, .over = echo_over},
    {.path = "/test.Echo/Metadata", .message = metadata_message, .over = echo_over},
    {.path = "/test.Echo/Peer", .message = peer_message, .over = echo_over},
    {.path = "/test.Echo/Counts", .message = counts_message},
    {.path = NULL},
};

static void echo_gone(void *aux, uint64_t connection) {
    (void)aux;
    if (connection == 0 || connection > rpc_counts(server).connections)
        abort();
    gone++;
}

static bool echo_option(struct rpc_options *o, char *argument) {
    char *value = strchr(argument, '=');
    if (!value)
        return false;
    *value++ = 0;
    const unsigned long long number = strtoull(value, NULL, 0);
    const struct {
        const char *name;
        const char **text;
        size_t *bytes;
        unsigned *count;
    } options[] = {
        {"certificate", &o->certificate, NULL, NULL},    {"key", &o->key, NULL, NULL},
        {"authority", &o->client_authority, NULL, NULL}, {"message", NULL, &o->message_bytes, NULL},
        {"memory", NULL, &o->memory_bytes, NULL},        {"queue", NULL, &o->queue_bytes, NULL},
        {"connections", NULL, NULL, &o->connections},    {"calls", NULL, NULL, &o->calls},
    };
    if (strcmp(argument, "speed") == 0)
        speed = number;
    if (strcmp(argument, "keeps_idle") == 0)
        o->keeps_idle = number != 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(argument, options[i].name) != 0)
            continue;
        if (options[i].text)
            *options[i].text = value;
        if (options[i].bytes)
            *options[i].bytes = (size_t)number;
        if (options[i].count)
            *options[i].count = (unsigned)number;
        return true;
    }
    return strcmp(argument, "speed") == 0 || strcmp(argument, "keeps_idle") == 0;
}

static int echo_wait_ms(uint64_t now) {
    const uint64_t due = rpc_due(server);
    if (due <= now)
        return 0;
    const uint64_t ms = (due - now) / speed / NS_A_MS + 1;
    return ms < NEVER_MS ? (int)ms : NEVER_MS;
}

static void echo_serve(void) {
    struct pollfd wait[2] = {{.fd = 0, .events = POLLIN}, {.fd = rpc_fd(server), .events = POLLIN}};
    const uint64_t start = sk_clock_now();
    char byte;
    for (;;) {
        const uint64_t now = start + (sk_clock_now() - start) * speed;
        rpc_poll(server, now);
        if (poll(wait, 2, echo_wait_ms(now)) < 0)
            return;
        if (wait[0].revents && read(0, &byte, 1) <= 0)
            return;
    }
}

int main(int argc, char **argv) {
    struct rpc_options options = {
        .methods = methods, .gone = echo_gone, .address = argc > 1 ? argv[1] : ""};
    struct sk_error err = {.text = ""};
    for (int i = 2; i < argc; i++) {
        if (!echo_option(&options, argv[i])) {
            fprintf(stderr, "rpc_echo: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    server = rpc_open(&options, &err);
    if (!server) {
        fprintf(stderr, "rpc_echo: %s\n", err.text);
        return 1;
    }
    printf("%u\n", rpc_port(server));
    fflush(stdout);
    echo_serve();
    rpc_close(server);
    return 0;
}
