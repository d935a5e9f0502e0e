// SPDX-License-Identifier: Apache-2.0
#include "bench/grpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nghttp2/nghttp2.h>

#include "base/bytes.h"

#define PREFIX 5u // of a message: not compressed, its length
#define WINDOW 0x7fffffff

struct call {
    uint8_t *message; // with its prefix
    size_t length, sent;
};
struct grpc {
    int fd;
    nghttp2_session *session;
    unsigned running;
    uint64_t replied; // bytes of the last reply's messages
    uint8_t *reply;   // its DATA, one after the other
    size_t n_reply, cap_reply;
    bool keeps; // a reply is wanted
};

static void grpc_fail(const char *what, const char *why) __attribute__((noreturn));
static void grpc_fail(const char *what, const char *why) {
    fprintf(stderr, "bench: gRPC: %s: %s\n", what, why);
    exit(1);
}

// ---- nghttp2 asks ----

static ssize_t give(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
                    uint32_t *flags, nghttp2_data_source *source, void *aux) {
    struct call *c = source->ptr;
    const size_t left = c->length - c->sent, n = left < room ? left : room;
    (void)session, (void)stream, (void)aux;
    memcpy(to, c->message + c->sent, n);
    c->sent += n;
    if (c->sent == c->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t n, void *aux) {
    struct grpc *g = aux;
    (void)session, (void)flags, (void)stream;
    if (!g->keeps)
        return 0;
    g->replied += n;
    if (g->n_reply + n > g->cap_reply) {
        g->cap_reply = (g->n_reply + n) * 2;
        g->reply = realloc(g->reply, g->cap_reply);
        if (!g->reply)
            abort();
    }
    memcpy(g->reply + g->n_reply, bytes, n);
    g->n_reply += n;
    // messages before the last are let go
    while (g->n_reply >= PREFIX && g->n_reply > PREFIX + get32(g->reply + 1)) {
        const size_t first = PREFIX + get32(g->reply + 1);
        memmove(g->reply, g->reply + first, g->n_reply - first);
        g->n_reply -= first;
    }
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags,
                     void *aux) {
    (void)session, (void)frame, (void)n_name, (void)flags, (void)aux;
    if (strcmp((const char *)name, "grpc-status") == 0 && strcmp((const char *)value, "0") != 0)
        grpc_fail("a call failed with status", (const char *)value);
    (void)n_value;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *aux) {
    struct grpc *g = aux;
    struct call *c = nghttp2_session_get_stream_user_data(session, stream);
    if (error)
        grpc_fail("a stream ended", nghttp2_http2_strerror(error));
    free(c->message);
    free(c);
    g->running--;
    return 0;
}

// ---- the connection ----

static void flush(struct grpc *g) {
    const uint8_t *bytes;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(g->session, &bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            const ssize_t done = send(g->fd, bytes + at, (size_t)(n - at), MSG_NOSIGNAL);
            if (done < 0 && errno != EINTR)
                grpc_fail("the socket", strerror(errno));
            at += done > 0 ? done : 0;
        }
    if (n < 0)
        grpc_fail("HTTP/2", nghttp2_strerror((int)n));
}

static void take(struct grpc *g) {
    static uint8_t room[1 << 18];
    const ssize_t n = recv(g->fd, room, sizeof room, 0);
    if (n == 0 || (n < 0 && errno != EINTR))
        grpc_fail("the socket", n ? strerror(errno) : "closed");
    const ssize_t done = n > 0 ? nghttp2_session_mem_recv(g->session, room, (size_t)n) : 0;
    if (done < 0)
        grpc_fail("HTTP/2", nghttp2_strerror((int)done));
}

struct grpc *grpc_open(const char *unix_path) {
    struct grpc *g = calloc(1, sizeof *g);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    nghttp2_session_callbacks *callbacks;
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
                                               {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 18},
                                               {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    if (!g || nghttp2_session_callbacks_new(&callbacks))
        abort();
    snprintf(to.sun_path, sizeof to.sun_path, "%s", unix_path);
    g->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (g->fd < 0 || connect(g->fd, (struct sockaddr *)&to, sizeof to))
        grpc_fail(unix_path, strerror(errno));
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    if (nghttp2_session_client_new(&g->session, callbacks, g) ||
        nghttp2_submit_settings(g->session, 0, settings, sizeof settings / sizeof *settings) ||
        nghttp2_session_set_local_window_size(g->session, 0, 0, WINDOW))
        abort();
    nghttp2_session_callbacks_del(callbacks);
    flush(g);
    return g;
}

void grpc_close(struct grpc *g) {
    if (!g)
        return;
    nghttp2_session_del(g->session);
    close(g->fd);
    free(g->reply);
    free(g);
}

// ---- calls ----

static nghttp2_nv header(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

void grpc_start(struct grpc *g, const char *path, const void *bytes, size_t length) {
    struct call *c = calloc(1, sizeof *c);
    const nghttp2_nv headers[] = {
        header(":method", "POST"), header(":scheme", "http"),
        header(":path", path),     header(":authority", "bench"),
        header("te", "trailers"),  header("content-type", "application/grpc"),
    };
    if (!c || !(c->message = malloc(PREFIX + length)))
        abort();
    c->length = PREFIX + length;
    c->message[0] = 0;
    put32(c->message + 1, (uint32_t)length);
    memcpy(c->message + PREFIX, bytes, length);
    const nghttp2_data_provider body = {.source.ptr = c, .read_callback = give};
    if (nghttp2_submit_request(g->session, NULL, headers, sizeof headers / sizeof *headers, &body,
                               c) < 0)
        grpc_fail(path, "it cannot be called");
    g->running++;
    flush(g);
}

void grpc_wait(struct grpc *g, unsigned most) {
    while (g->running > most) {
        take(g);
        flush(g);
    }
}

const uint8_t *grpc_call(struct grpc *g, const char *path, const void *bytes, size_t length,
                         size_t *reply, uint64_t *all) {
    grpc_wait(g, 0);
    g->keeps = true;
    g->n_reply = 0;
    g->replied = 0;
    grpc_start(g, path, bytes, length);
    grpc_wait(g, 0);
    g->keeps = false;
    if (all)
        *all = g->replied;
    *reply = g->n_reply >= PREFIX ? g->n_reply - PREFIX : 0;
    return g->reply ? g->reply + PREFIX : (const uint8_t *)"";
}
