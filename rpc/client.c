// SPDX-License-Identifier: Apache-2.0
#include "rpc/client.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <nghttp2/nghttp2.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/socket.h"
#include "rpc/rpc_impl.h"

#define CLIENT_PREFIX 5u // of a message: not compressed, its length
#define CLIENT_WINDOW 0x7fffffff
#define CLIENT_UNIX   "unix:"

struct client_request {
    const uint8_t *bytes;
    uint8_t prefix[CLIENT_PREFIX];
    size_t length, sent; // the prefix included
};

struct rpc_client {
    int fd;
    SSL *tls; // null: none
    nghttp2_session *session;
    char *address;
    struct client_request request;
    int32_t stream;
    bool over, has_status, has_http, bad; // of the call; bad: 'err' has a sentence
    uint8_t *in;                          // of a message that is incomplete
    size_t n_in, room_in;
    uint8_t *details;
    size_t n_details;
    void (*message)(void *aux, const uint8_t *bytes, size_t length);
    void *aux;
    struct rpc_client_end *end;
    struct sk_error *err;
};

static int client_fail(struct rpc_client *c, const char *why) {
    if (!c->bad)
        sk_fail(c->err, "%s: %s", c->address, why);
    c->bad = true;
    return -1;
}

// ---- nghttp2 asks ----

static ssize_t client_give(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
                           uint32_t *flags, nghttp2_data_source *source, void *aux) {
    struct client_request *r = source->ptr;
    size_t n = 0;
    (void)session, (void)stream, (void)aux;
    while (n < room && r->sent < CLIENT_PREFIX)
        to[n++] = r->prefix[r->sent++];
    const size_t left = r->length - r->sent, part = left < room - n ? left : room - n;
    if (part)
        memcpy(to + n, r->bytes + (r->sent - CLIENT_PREFIX), part);
    r->sent += part;
    if (r->sent == r->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)(n + part);
}

// Complete messages at the beginning of what came.
static void client_messages(struct rpc_client *c) {
    size_t at = 0;
    while (c->n_in - at >= CLIENT_PREFIX) {
        const size_t length = get32(c->in + at + 1);
        if (c->in[at]) {
            client_fail(c, "a message of the reply is compressed");
            return;
        }
        if (length > RPC_CLIENT_MESSAGE) {
            client_fail(c, "a message of the reply has more than 1 GiB");
            return;
        }
        if (c->n_in - at - CLIENT_PREFIX < length)
            break;
        c->message(c->aux, c->in + at + CLIENT_PREFIX, length);
        at += CLIENT_PREFIX + length;
    }
    if (at)
        memmove(c->in, c->in + at, c->n_in - at);
    c->n_in -= at;
}

static int client_on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                          const uint8_t *bytes, size_t n, void *aux) {
    struct rpc_client *c = aux;
    (void)session, (void)flags;
    if (stream != c->stream || c->bad || n == 0)
        return 0;
    c->in = sk_grow_bytes(c->in, c->n_in, n, &c->room_in);
    memcpy(c->in + c->n_in, bytes, n);
    c->n_in += n;
    client_messages(c);
    return 0;
}

static int client_hex(uint8_t c) {
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

// A message as gRPC sends it: %XX is a byte.
static void client_take_message(struct rpc_client_end *end, const uint8_t *text, size_t n) {
    size_t to = 0;
    for (size_t i = 0; i < n && to + 1 < sizeof end->message; i++) {
        uint8_t byte = text[i];
        if (byte == '%' && i + 2 < n && client_hex(text[i + 1]) >= 0 &&
            client_hex(text[i + 2]) >= 0) {
            byte = (uint8_t)(client_hex(text[i + 1]) << 4 | client_hex(text[i + 2]));
            i += 2;
        }
        end->message[to++] = byte < ' ' || byte == 0x7f ? '?' : (char)byte;
    }
    end->message[to] = 0;
}

static void client_take_status(struct rpc_client *c, const uint8_t *text, size_t n) {
    unsigned value = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit(text[i]) || i == 2) {
            client_fail(c, "the call's status is not a number");
            return;
        }
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    c->end->status = value <= RPC_UNAUTHENTICATED ? (enum rpc_status)value : RPC_UNKNOWN;
    c->has_status = n > 0;
}

static void client_take_details(struct rpc_client *c, const uint8_t *text, size_t n) {
    if (n > RPC_CLIENT_DETAILS)
        return;
    free(c->details);
    c->details = malloc(n + 1);
    if (!c->details)
        abort();
    const ssize_t length = rpc_base64_decode(text, n, c->details);
    c->n_details = length > 0 ? (size_t)length : 0;
}

static int client_on_header(nghttp2_session *session, const nghttp2_frame *frame,
                            const uint8_t *name, size_t n_name, const uint8_t *value,
                            size_t n_value, uint8_t flags, void *aux) {
    struct rpc_client *c = aux;
    (void)session, (void)flags;
    if (frame->hd.stream_id != c->stream || c->bad)
        return 0;
#define CLIENT_IS(text) (n_name == sizeof text - 1 && memcmp(name, text, n_name) == 0)
    if (CLIENT_IS(":status"))
        c->has_http = n_value == 3 && memcmp(value, "200", 3) == 0;
    else if (CLIENT_IS("grpc-status"))
        client_take_status(c, value, n_value);
    else if (CLIENT_IS("grpc-message"))
        client_take_message(c->end, value, n_value);
    else if (CLIENT_IS("grpc-status-details-bin"))
        client_take_details(c, value, n_value);
#undef CLIENT_IS
    return 0;
}

static int client_on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *aux) {
    struct rpc_client *c = aux;
    (void)session;
    if (stream != c->stream)
        return 0;
    c->over = true;
    if (!c->has_status && !c->has_http)
        client_fail(c, error ? nghttp2_http2_strerror(error) : "this is not a gRPC server");
    else if (!c->has_status)
        client_fail(c, "the call ended without a status");
    else if (c->n_in)
        client_fail(c, "the reply ended within a message");
    return 0;
}

// ---- the connection ----

static ssize_t client_send(struct rpc_client *c, const uint8_t *bytes, size_t n) {
    return c->tls ? rpc_tls_write(c->tls, bytes, n) : send(c->fd, bytes, n, MSG_NOSIGNAL);
}

static ssize_t client_receive(struct rpc_client *c, uint8_t *room, size_t n) {
    return c->tls ? rpc_tls_read(c->tls, room, n) : recv(c->fd, room, n, 0);
}

// Why a call on the connection failed, of whose 'errno' this is.
static const char *client_why(const struct rpc_client *c, int error) {
    return c->tls && error == EIO ? rpc_tls_why() : strerror(error);
}

// What the server said before it closed a connection to which nothing can be written any more: a
// server of TLS 1.3 tells only now that it does not accept the client's certificate.
static int client_last_words(struct rpc_client *c, int error) {
    uint8_t room[256];
    ssize_t n = -1;
    if (c->tls)
        while ((n = rpc_tls_read(c->tls, room, sizeof room)) > 0)
            continue;
    const bool said = n < 0 && c->tls && errno == EIO;
    return client_fail(c, said ? rpc_tls_why() : strerror(error == EIO ? EPIPE : error));
}

static int client_flush(struct rpc_client *c) {
    const uint8_t *bytes;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(c->session, &bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            const ssize_t done = client_send(c, bytes + at, (size_t)(n - at));
            if (done < 0 && errno == EAGAIN)
                return client_fail(c, "it takes no request");
            if (done < 0 && errno != EINTR)
                return client_last_words(c, errno);
            at += done > 0 ? done : 0;
        }
    return n < 0 ? client_fail(c, nghttp2_strerror((int)n)) : 0;
}

static int client_take(struct rpc_client *c) {
    uint8_t room[1 << 16];
    const ssize_t n = client_receive(c, room, sizeof room);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0 && errno == EAGAIN)
        return client_fail(c, "it does not answer");
    if (n <= 0)
        return client_fail(c, n ? client_why(c, errno) : "it closed the connection");
    const ssize_t done = nghttp2_session_mem_recv(c->session, room, (size_t)n);
    return done < 0 ? client_fail(c, nghttp2_strerror((int)done)) : 0;
}

static int client_connect_unix(const char *address, struct sk_error *err) {
    static const struct sk_socket_kind kind = {"socket", "server"};
    struct sockaddr_un to;
    if (sk_unix_address(address + sizeof CLIENT_UNIX - 1, &kind, &to, err))
        return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    sk_fail(err, "cannot connect to %s: %s", address, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int client_connect_tcp(const char *address, struct sk_error *err) {
    char *host = sk_copy_text(address), *colon = strrchr(host, ':');
    struct addrinfo *list = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    int fd = -1;
    if (!colon || colon == host || !colon[1]) {
        sk_fail(err, "'%s' is not an address; use HOST:PORT or unix:PATH", address);
        free(host);
        return -1;
    }
    *colon = 0;
    const bool bracketed = host[0] == '[' && colon[-1] == ']';
    if (bracketed)
        colon[-1] = 0;
    const int failed = getaddrinfo(host + bracketed, colon + 1, &wanted, &list);
    for (const struct addrinfo *a = list; fd < 0 && a; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) == 0)
            continue;
        const int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    if (fd < 0)
        sk_fail(err, "cannot connect to %s: %s", address,
                failed ? gai_strerror(failed) : strerror(errno));
    if (list)
        freeaddrinfo(list);
    free(host);
    return fd;
}

static void client_begin(struct rpc_client *c) {
    nghttp2_session_callbacks *callbacks;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, CLIENT_WINDOW},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 18},
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    if (nghttp2_session_callbacks_new(&callbacks))
        abort();
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_on_data);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, client_on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, client_on_close);
    if (nghttp2_session_client_new(&c->session, callbacks, c) ||
        nghttp2_submit_settings(c->session, 0, settings, sizeof settings / sizeof *settings) ||
        nghttp2_session_set_local_window_size(c->session, 0, 0, CLIENT_WINDOW))
        abort();
    nghttp2_session_callbacks_del(callbacks);
}

// The host of an address, malloc'ed: "[::1]:50052" is of "::1".
static char *client_host(const char *address) {
    char *host = sk_copy_text(address), *colon = strrchr(host, ':');
    if (colon)
        *colon = 0;
    const size_t n = strlen(host);
    if (n > 1 && host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = 0;
        memmove(host, host + 1, n - 1);
    }
    return host;
}

struct rpc_client *rpc_client_open(const char *address, const struct rpc_client_tls *tls,
                                   struct sk_error *err) {
    const bool is_unix = strncmp(address, CLIENT_UNIX, sizeof CLIENT_UNIX - 1) == 0;
    if (tls && is_unix && !tls->name) {
        sk_fail(err, "%s has no host's name: which one does the server's certificate have?",
                address);
        return NULL;
    }
    const int fd = is_unix ? client_connect_unix(address, err) : client_connect_tcp(address, err);
    if (fd < 0)
        return NULL;
    char *host = client_host(address);
    struct rpc_client_tls named = tls ? *tls : (struct rpc_client_tls){.name = host};
    named.name = named.name ? named.name : host;
    struct rpc_client *c = rpc_client_of(fd, address, tls ? &named : NULL, err);
    free(host);
    return c;
}

struct rpc_client *rpc_client_of(int fd, const char *name, const struct rpc_client_tls *tls,
                                 struct sk_error *err) {
    const struct timeval silence = {.tv_sec = RPC_CLIENT_SILENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof silence);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
    SSL *secured = tls ? rpc_tls_connect(fd, name, tls, err) : NULL;
    if (tls && !secured) {
        close(fd);
        return NULL;
    }
    struct rpc_client *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->fd = fd;
    c->tls = secured;
    c->address = sk_copy_text(name);
    client_begin(c);
    return c;
}

void rpc_client_close(struct rpc_client *c) {
    if (!c)
        return;
    nghttp2_session_del(c->session);
    SSL_free(c->tls);
    close(c->fd);
    free(c->address);
    free(c->in);
    free(c->details);
    free(c);
}

// ---- calls ----

static nghttp2_nv client_header(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

int rpc_client_call(struct rpc_client *c, const char *path, const void *bytes, size_t length,
                    void (*message)(void *aux, const uint8_t *bytes, size_t length), void *aux,
                    struct rpc_client_end *end, struct sk_error *err) {
    const nghttp2_nv headers[] = {
        client_header(":method", "POST"), client_header(":scheme", c->tls ? "https" : "http"),
        client_header(":path", path),     client_header(":authority", "silken"),
        client_header("te", "trailers"),  client_header("content-type", "application/grpc"),
    };
    *end = (struct rpc_client_end){.status = RPC_UNKNOWN};
    c->err = err;
    if (c->bad)
        return sk_fail(err, "%s: the connection has failed", c->address);
    if (length > UINT32_MAX)
        return sk_fail(err, "%s: the request is too long", c->address);
    c->request = (struct client_request){.bytes = bytes, .length = CLIENT_PREFIX + length};
    put32(c->request.prefix + 1, (uint32_t)length);
    c->message = message;
    c->aux = aux;
    c->end = end;
    c->over = c->has_status = c->has_http = false;
    c->n_in = c->n_details = 0;
    const nghttp2_data_provider body = {.source.ptr = &c->request, .read_callback = client_give};
    c->stream = nghttp2_submit_request(c->session, NULL, headers, sizeof headers / sizeof *headers,
                                       &body, NULL);
    if (c->stream < 0)
        return client_fail(c, "it cannot be called");
    while (!c->over && !c->bad)
        if (client_flush(c) || client_take(c))
            break;
    end->details = c->n_details ? c->details : NULL;
    end->n_details = c->n_details;
    return c->bad ? -1 : 0;
}
