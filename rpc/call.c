// SPDX-License-Identifier: Apache-2.0
//
// call: one call: its metadata, its messages in both directions, and its end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "rpc/rpc_impl.h"

#define HEADERS_MOST 8u

struct rpc_call *rpc_call_new(struct rpc_connection *c, int32_t stream) {
    struct rpc_call *call = calloc(1, sizeof *call);
    if (!call)
        abort();
    call->connection = c;
    call->stream = stream;
    call->deadline = call->timeout = UINT64_MAX;
    call->moved = c->server->now;
    c->called = true;
    call->told = true; // the service does not know the call until its method begins
    call->next = c->calls;
    if (c->calls)
        c->calls->previous = call;
    c->calls = call;
    return call;
}

// Lets the next flush look for frames of this call.
static void call_touch(struct rpc_call *call) {
    call->connection->dirty = call->connection->server->dirty = true;
}

static void call_tell_over(struct rpc_call *call) {
    if (call->told)
        return;
    call->told = true;
    if (!call->by_service)
        call->connection->server->counts.cancelled++;
    if (call->method && call->method->over)
        call->method->over(call, !call->by_service);
}

// ---- metadata ----

static bool call_is(const char *text, size_t length, const char *what) {
    return strlen(what) == length && memcmp(text, what, length) == 0;
}

// "application/grpc", also with a suffix: "+proto", "; charset=utf-8"
static bool call_is_grpc(const char *value, size_t length) {
    static const char type[] = "application/grpc";
    const size_t n = sizeof type - 1;
    return length >= n && memcmp(value, type, n) == 0 &&
           (length == n || value[n] == '+' || value[n] == ';');
}

static void call_keep(struct rpc_call *call, const char *name, size_t n, const uint8_t *value,
                      size_t length) {
    const bool binary = n > 4 && memcmp(name + n - 4, "-bin", 4) == 0;
    struct rpc_header *h = malloc(sizeof *h + n + 1 + length + 1);
    if (!h)
        abort();
    memcpy(h->name, name, n);
    h->name[n] = 0;
    h->value = h->name + n + 1;
    if (binary) {
        const uint8_t *comma = memchr(value, ',', length); // of several values, the first
        const ssize_t decoded =
            rpc_base64_decode(value, comma ? (size_t)(comma - value) : length, (uint8_t *)h->value);
        call->bad_base64 |= decoded < 0;
        h->length = decoded < 0 ? 0 : (size_t)decoded;
    } else {
        memcpy(h->value, value, length);
        h->length = length;
    }
    h->value[h->length] = 0;
    h->next = call->metadata;
    call->metadata = h;
}

void rpc_call_header(struct rpc_call *call, const char *name, size_t n, const uint8_t *value,
                     size_t length) {
    const char *text = (const char *)value;
    call->metadata_bytes += n + length + 32; // RFC 9113, 6.5.2
    if (call->metadata_bytes > RPC_METADATA)
        return;
    if (call_is(name, n, ":method")) {
        call->post = call_is(text, length, "POST");
    } else if (call_is(name, n, ":path")) {
        free(call->path);
        if (!(call->path = strndup(text, length)))
            abort();
    } else if (call_is(name, n, "content-type")) {
        call->grpc = call_is_grpc(text, length);
    } else if (call_is(name, n, "grpc-timeout")) {
        call->bad_timeout |= !rpc_timeout(value, length, &call->timeout);
    } else if (call_is(name, n, "grpc-encoding")) {
        call->compresses = !call_is(text, length, "identity");
    } else if (name[0] != ':' && !call_is(name, n, "te")) {
        call_keep(call, name, n, value, length);
    }
}

const char *rpc_metadata(const struct rpc_call *call, const char *name, size_t *length) {
    const struct rpc_header *found = NULL; // the list has the newest first
    for (const struct rpc_header *h = call->metadata; h; h = h->next)
        if (strcmp(h->name, name) == 0)
            found = h;
    if (found && length)
        *length = found->length;
    return found ? found->value : NULL;
}

// ---- the end ----

static nghttp2_nv call_header(const char *name, const char *value) {
    // nghttp2 copies both and changes neither
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static size_t call_head(nghttp2_nv head[HEADERS_MOST]) {
    head[0] = call_header(":status", "200");
    head[1] = call_header("content-type", "application/grpc");
    head[2] = call_header("grpc-accept-encoding", "identity");
    return 3;
}

// Fills 'to' and returns how many it has. 'number' holds the text of the status.
static size_t call_trailers(const struct rpc_call *call, nghttp2_nv *to, char number[12]) {
    size_t n = 0;
    snprintf(number, 12, "%d", (int)call->status);
    to[n++] = call_header("grpc-status", number);
    if (call->message)
        to[n++] = call_header("grpc-message", call->message);
    if (call->details)
        to[n++] = call_header("grpc-status-details-bin", call->details);
    return n;
}

// After nghttp2 has copied them. Their memory stays charged until the call is freed.
static void call_forget_details(struct rpc_call *call) {
    free(call->details);
    call->details = NULL;
}

// If no message was sent before, the whole response is one block of headers ("Trailers-Only").
static void call_submit_end(struct rpc_call *call) {
    nghttp2_session *session = call->connection->session;
    nghttp2_nv head[HEADERS_MOST];
    char number[12];
    if (call->answered) {
        if (call->deferred)
            nghttp2_session_resume_data(session, call->stream);
        call->deferred = false;
    } else {
        size_t n = call_head(head);
        n += call_trailers(call, head + n, number);
        call->answered = true;
        nghttp2_submit_response(session, call->stream, head, n, NULL);
        call_forget_details(call);
    }
    call_touch(call);
}

static void call_end(struct rpc_call *call, enum rpc_status status, const char *message,
                     bool by_service) {
    call->ended = true;
    call->by_service = by_service;
    call->status = status;
    if (call->queued == 0) // the trailers may have to wait for a window
        call->moved = call->connection->server->now;
    if (message && *message)
        call->message = rpc_percent_encode(message);
    call->connection->server->counts.failed += status != RPC_OK;
}

#define TRAILERS_BYTES 512u // of the trailers without message and details

// Does the client take trailers with this message and details of so many bytes of base64?
static bool call_has_room(const struct rpc_call *call, const char *message, size_t size) {
    const uint32_t taken = nghttp2_session_get_remote_settings(
        call->connection->session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE);
    const size_t most = taken < RPC_HEADERS ? taken : RPC_HEADERS;
    return size + 3 * (message ? strlen(message) : 0) + TRAILERS_BYTES <= most; // in %XX
}

void rpc_end(struct rpc_call *call, enum rpc_status status, const char *message,
             const uint8_t *details, size_t length) {
    char text[1600];
    const size_t size = rpc_base64_room(length);
    if (call->ended)
        return;
    if (details && (!call_has_room(call, message, size) || !rpc_take_memory(call, size))) {
        snprintf(text, sizeof text, "%.1500s (%zu bytes of details were left out)",
                 message ? message : "", length);
        message = text;
        details = NULL;
    }
    call_end(call, status, message, true);
    if (details) {
        call->details = rpc_base64_encode(details, length);
        call->details_bytes = size;
    }
    call_submit_end(call);
}

static void call_free_queued(struct rpc_server *s, struct rpc_queued *m) {
    rpc_give_memory(s, sizeof *m + m->length);
    free(m->given);
    free(m);
}

// Drops queued messages. A message of which a part is sent is dropped only with 'partial': without
// its rest the client could not tell where the trailers begin.
static void call_drop_queue(struct rpc_call *call, bool partial) {
    struct rpc_server *s = call->connection->server;
    struct rpc_queued **from = &call->first, *keep = call->first;
    if (keep && keep->sent > 0 && !partial)
        from = &keep->next;
    else
        keep = NULL;
    for (struct rpc_queued *m = *from, *next; m; m = next) {
        next = m->next;
        call->queued -= m->length - m->sent;
        call_free_queued(s, m);
    }
    *from = NULL;
    call->last = keep;
}

static void call_drop_input(struct rpc_call *call) {
    rpc_give_memory(call->connection->server, call->in_room);
    free(call->in);
    call->in = NULL;
    call->in_room = call->in_n = call->in_length = 0;
    call->n_prefix = 0;
}

static void call_drop_details(struct rpc_call *call) {
    rpc_give_memory(call->connection->server, call->details_bytes);
    call->details_bytes = 0;
    call_forget_details(call);
}

// Whether a window is full, so that trailers could not follow the DATA that nghttp2 has begun.
static bool call_is_blocked(const struct rpc_call *call) {
    nghttp2_session *session = call->connection->session;
    return call->answered && !call->deferred &&
           (nghttp2_session_get_stream_remote_window_size(session, call->stream) <= 0 ||
            nghttp2_session_get_remote_window_size(session) <= 0);
}

static void call_reset(struct rpc_call *call, uint32_t code) {
    nghttp2_submit_rst_stream(call->connection->session, NGHTTP2_FLAG_NONE, call->stream, code);
    call_touch(call);
}

// Ends a call by the server. The service is told when the stream is closed. With 'reset' the stream
// ends at once, without the rest of a partly sent message and without a status.
static void call_abort(struct rpc_call *call, enum rpc_status status, const char *message,
                       bool reset) {
    call_drop_queue(call, reset);
    call_drop_input(call);
    if (!call->ended)
        call_end(call, status, message, false);
    if (reset) {
        if (call->details)
            call_drop_details(call);
        call->by_service = false; // its reply does not arrive complete
        call_reset(call, NGHTTP2_CANCEL);
    } else {
        call_submit_end(call);
    }
}

void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *message) {
    // If the service has ended the call, its status must not follow a reply that was cut short.
    call_abort(call, status, message, call->ended || call_is_blocked(call));
    call_tell_over(call);
}

void rpc_call_evict(struct rpc_call *call) {
    call_abort(call, RPC_RESOURCE_EXHAUSTED, "its memory was needed for other calls",
               call->ended || call->queued > 0);
}

size_t rpc_call_holds(const struct rpc_call *call) {
    return call->in_room + call->queued + (call->details ? call->details_bytes : 0);
}

// A request that is not gRPC gets an HTTP status, since its client does not read grpc-status.
static void call_refuse_http(struct rpc_call *call, const char *status) {
    nghttp2_nv head[] = {call_header(":status", status)};
    call->ended = call->answered = true;
    call->connection->server->counts.failed++;
    nghttp2_submit_response(call->connection->session, call->stream, head, 1, NULL);
    call_touch(call);
}

// ---- the beginning ----

static const struct rpc_method *call_find(const struct rpc_method *methods, const char *path) {
    for (const struct rpc_method *m = methods; path && m->path; m++)
        if (strcmp(m->path, path) == 0)
            return m;
    return NULL;
}

// Returns null if the call is served, or else why not, and sets 'status'.
static const char *call_check(const struct rpc_call *call, const struct rpc_method *method,
                              enum rpc_status *status) {
    *status = RPC_RESOURCE_EXHAUSTED;
    if (call->metadata_bytes > RPC_METADATA)
        return "the metadata is larger than 16384 bytes";
    *status = RPC_UNIMPLEMENTED;
    if (!method)
        return "this server has no such method";
    *status = RPC_INTERNAL;
    if (call->bad_timeout)
        return "grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n";
    if (call->bad_base64)
        return "the value of a metadata name that ends in -bin is not base64";
    *status = RPC_DEADLINE_EXCEEDED;
    return call->timeout == 0 ? "the deadline has passed" : NULL;
}

void rpc_call_begin(struct rpc_call *call) {
    struct rpc_server *s = call->connection->server;
    enum rpc_status status;
    s->counts.calls++;
    call->connection->budget -= call->connection->budget > 0;
    if (!call->post || !call->grpc) {
        call_refuse_http(call, call->post ? "415" : "405");
        return;
    }
    const struct rpc_method *method = call_find(s->options.methods, call->path);
    const char *why = call_check(call, method, &status);
    if (why) {
        rpc_call_fail(call, status, why);
        return;
    }
    call->method = method;
    call->told = false;
    if (call->timeout < UINT64_MAX - s->now)
        call->deadline = s->now + call->timeout;
    if (call->deadline < s->look)
        s->look = call->deadline;
    if (call->method->begin)
        call->method->begin(call);
}

// ---- messages of the client ----

static void call_deliver(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    call->connection->budget -= call->connection->budget > 0;
    call->connection->credit += 2;
    if (call->method->message)
        call->method->message(call, bytes, length);
}

// The length in a prefix takes no memory: only the bytes that arrive do.
static void call_check_prefix(struct rpc_call *call) {
    const struct rpc_server *s = call->connection->server;
    const size_t length = get32(call->prefix + 1);
    char text[120];
    if (call->prefix[0] == 1 && call->compresses) {
        rpc_call_fail(call, RPC_UNIMPLEMENTED,
                      "compressed messages are not supported; send grpc-encoding: identity");
    } else if (call->prefix[0] == 1) {
        rpc_call_fail(call, RPC_INTERNAL, "a message is compressed, but grpc-encoding is identity");
    } else if (call->prefix[0] != 0) {
        rpc_call_fail(call, RPC_INTERNAL,
                      "the first byte of a message's prefix is neither 0 nor 1");
    } else if (length > s->options.message_bytes) {
        snprintf(text, sizeof text, "a message of %zu bytes is longer than the limit of %zu",
                 length, s->options.message_bytes);
        rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, text);
    }
    call->in_length = call->ended ? 0 : length;
}

// Makes room for 'more' bytes of the message. The room at most doubles, whatever length the client
// claims.
static bool call_make_room(struct rpc_call *call, size_t more) {
    size_t room = 2 * call->in_room > call->in_n + more ? 2 * call->in_room : call->in_n + more;
    room = room < call->in_length ? room : call->in_length;
    if (call->in_n + more <= call->in_room)
        return true;
    if (!rpc_take_memory(call, room - call->in_room)) {
        rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "no memory is left for a message");
        return false;
    }
    call->in_room = room;
    call->in = sk_resize(call->in, room, 1);
    return true;
}

// A message is complete: 'bytes' are 'in', or in the frame that came.
static void call_complete(struct rpc_call *call, const uint8_t *bytes) {
    if (call->method->stream_in) {
        call_deliver(call, bytes, call->in_length);
        call_drop_input(call);
    } else {
        call->in_held = true;
    }
}

// Takes bytes of a message after its prefix. Returns how many it took.
static size_t call_take(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    const size_t missing = call->in_length - call->in_n, n = length < missing ? length : missing;
    if (call->method->stream_in && call->in_n == 0 && n == call->in_length) {
        call_complete(call, bytes);
        return n;
    }
    if (n > 0 && !call_make_room(call, n))
        return length;
    if (n > 0)
        memcpy(call->in + call->in_n, bytes, n);
    call->in_n += n;
    if (call->in_n == call->in_length)
        call_complete(call, call->in);
    return n;
}

void rpc_call_data(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    call->moved = call->connection->server->now;
    while (!call->ended && length > 0) {
        if (call->in_held) {
            rpc_call_fail(call, RPC_UNIMPLEMENTED, "the method takes one message, but more came");
            break;
        }
        size_t n = RPC_PREFIX - call->n_prefix < length ? RPC_PREFIX - call->n_prefix : length;
        memcpy(call->prefix + call->n_prefix, bytes, n);
        call->n_prefix += (unsigned)n;
        bytes += n;
        length -= n;
        if (n > 0 && call->n_prefix == RPC_PREFIX)
            call_check_prefix(call);
        if (call->ended || call->n_prefix < RPC_PREFIX)
            break;
        n = call_take(call, bytes, length);
        bytes += n;
        length -= n;
    }
}

void rpc_call_close(struct rpc_call *call) {
    call->client_closed = true;
    // not idle: while its message is delivered, other calls must not evict it
    call->moved = call->connection->server->now;
    if (call->ended)
        return;
    if (call->n_prefix > 0 && !call->in_held) {
        rpc_call_fail(call, RPC_INTERNAL, "the client closed the call within a message");
        return;
    }
    if (!call->method->stream_in && !call->in_held) {
        rpc_call_fail(call, RPC_UNIMPLEMENTED, "the method takes one message, but none came");
        return;
    }
    if (call->in_held) {
        call_deliver(call, call->in ? call->in : call->prefix, call->in_length);
        call_drop_input(call);
        call->in_held = false;
    }
    if (!call->ended && call->method->closed)
        call->method->closed(call);
}

// ---- messages of the service ----

static size_t call_fill(struct rpc_call *call, uint8_t *out, size_t room) {
    struct rpc_server *s = call->connection->server;
    size_t n = 0;
    while (call->first && n < room) {
        struct rpc_queued *m = call->first;
        const bool at_given = m->given && m->sent >= RPC_PREFIX;
        const size_t end = m->given && !at_given ? RPC_PREFIX : m->length;
        const size_t left = end - m->sent, part = left < room - n ? left : room - n;
        if (part > 0)
            memcpy(out + n, at_given ? m->given + m->sent - RPC_PREFIX : m->bytes + m->sent, part);
        n += part;
        m->sent += part;
        if (m->sent < m->length)
            continue;
        call->first = m->next;
        call_free_queued(s, m);
    }
    call->queued -= n;
    return n;
}

// Fills a DATA frame for nghttp2. Returns its length, or NGHTTP2_ERR_DEFERRED.
static ssize_t call_source(nghttp2_session *session, int32_t stream, uint8_t *out, size_t room,
                           uint32_t *flags, nghttp2_data_source *source, void *aux) {
    struct rpc_call *call = source->ptr;
    struct rpc_connection *c = call->connection;
    nghttp2_nv trailers[HEADERS_MOST];
    char number[12];
    const size_t n = call_fill(call, out, room);
    (void)aux;
    if (n > 0) {
        call->moved = c->server->now;
        c->credit += 4; // the client will acknowledge it with WINDOW_UPDATE frames
    }
    c->with_room |= call->full && call->queued <= c->server->options.queue_bytes / 2;
    if (!call->first && call->ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, stream, trailers, call_trailers(call, trailers, number));
        call_forget_details(call);
        return (ssize_t)n;
    }
    if (n > 0)
        return (ssize_t)n;
    call->deferred = true;
    return NGHTTP2_ERR_DEFERRED;
}

static void call_answer(struct rpc_call *call) {
    nghttp2_data_provider source = {.source.ptr = call, .read_callback = call_source};
    nghttp2_nv head[HEADERS_MOST];
    const size_t n = call_head(head);
    nghttp2_session *session = call->connection->session;
    if (!call->answered)
        nghttp2_submit_response(session, call->stream, head, n, &source);
    else if (call->deferred)
        nghttp2_session_resume_data(session, call->stream);
    call->answered = true;
    call->deferred = false;
    call_touch(call);
}

// With room for 'copied' bytes after the prefix. Null: the call is over, or is ended.
static struct rpc_queued *call_queued(struct rpc_call *call, size_t length, size_t copied) {
    if (call->ended)
        return NULL;
    if (length > UINT32_MAX ||
        !rpc_take_memory(call, sizeof(struct rpc_queued) + RPC_PREFIX + length)) {
        call_drop_queue(call, false);
        call_end(call, RPC_RESOURCE_EXHAUSTED, "no memory is left for a reply", false);
        call_submit_end(call);
        return NULL;
    }
    struct rpc_queued *m = malloc(sizeof *m + RPC_PREFIX + copied);
    if (!m)
        abort();
    *m = (struct rpc_queued){.length = RPC_PREFIX + length};
    m->bytes[0] = 0; // not compressed
    put32(m->bytes + 1, (uint32_t)length);
    return m;
}

static bool call_queue(struct rpc_call *call, struct rpc_queued *m) {
    struct rpc_server *s = call->connection->server;
    if (call->first)
        call->last->next = m;
    else
        call->first = m;
    call->last = m;
    if (call->queued == 0)
        call->moved = s->now;
    call->queued += m->length;
    call_answer(call);
    call->full = call->queued >= s->options.queue_bytes;
    return !call->full;
}

bool rpc_send(struct rpc_call *call, const void *bytes, size_t length) {
    struct rpc_queued *m = call_queued(call, length, length);
    if (m && length > 0)
        memcpy(m->bytes + RPC_PREFIX, bytes, length);
    return m && call_queue(call, m);
}

bool rpc_give(struct rpc_call *call, uint8_t *bytes, size_t length) {
    struct rpc_queued *m = call_queued(call, length, 0);
    if (m && length > 0)
        m->given = bytes;
    else
        free(bytes);
    return m && call_queue(call, m);
}

void rpc_call_tell_room(struct rpc_call *call) {
    if (!call->full || call->queued > call->connection->server->options.queue_bytes / 2)
        return;
    call->full = false;
    if (!call->ended && call->method->room)
        call->method->room(call);
}

// ---- time ----

uint64_t rpc_call_look(struct rpc_call *call, uint64_t now) {
    const bool sends = !call->ended && call->method && !call->client_closed &&
                       (call->n_prefix > 0 || !call->method->stream_in);
    if (now >= call->deadline) {
        call->deadline = UINT64_MAX;
        rpc_call_fail(call, RPC_DEADLINE_EXCEEDED, "the deadline has passed");
        return UINT64_MAX;
    }
    if ((sends || call->ended || call->queued > 0) && now - call->moved >= RPC_STALLED_NS) {
        call->moved = now;
        rpc_call_fail(call, RPC_CANCELLED,
                      "the client has neither sent nor received anything for too long");
        return UINT64_MAX;
    }
    return call->deadline;
}

void rpc_call_free(struct rpc_call *call) {
    struct rpc_connection *c = call->connection;
    call->ended = true;
    call_drop_queue(call, true);
    call_drop_input(call);
    call_drop_details(call);
    call_tell_over(call); // may send on other calls, which must find nothing here to evict
    if (call->previous)
        call->previous->next = call->next;
    else
        c->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    c->active = c->server->now;
    for (struct rpc_header *h = call->metadata, *next; h; h = next) {
        next = h->next;
        free(h);
    }
    free(call->path);
    free(call->message);
    free(call);
}

// ---- what a service asks ----

void *rpc_aux(const struct rpc_call *call) {
    return call->connection->server->options.aux;
}

void *rpc_data(const struct rpc_call *call) {
    return call->data;
}

void rpc_set_data(struct rpc_call *call, void *data) {
    call->data = data;
}

uint64_t rpc_connection(const struct rpc_call *call) {
    return call->connection->number;
}

const char *rpc_peer(const struct rpc_call *call) {
    return call->connection->peer;
}
