// SPDX-License-Identifier: Apache-2.0
//
// connection: turns HTTP/2 frames into calls and back, and limits what a client may cost.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "rpc/rpc_impl.h"

#define PIECE         4096u  // bytes given to nghttp2 at a time; the budget is checked between
#define TURN_BYTES    65536u // read from one connection in a turn
#define TURN_MESSAGES 64u
#define TURN_OUTPUT   8u        // times RPC_OUTPUT
#define STREAM_WINDOW (1 << 20) // bytes that a client may send before a WINDOW_UPDATE
#define WINDOW        (4 << 20)
#define CREDIT_MOST   10000 // frames that carry nothing: in a burst, and in each second
#define CREDIT_SECOND 500
#define RESET_COST    10 // in frames: a client made the server reset a stream
#define RESETS_ATONCE 1000
#define RESETS_SECOND 100

// ---- floods ----

// Frames that carry nothing cost the server as much as others. Each connection has a credit for
// them, which time and messages renew.
static void connection_charge(struct rpc_connection *c, int64_t cost) {
    const uint64_t passed = c->server->now - c->credit_at, each = 1000000000u / CREDIT_SECOND;
    c->credit += (int64_t)(passed / each);
    c->credit_at += passed / each * each;
    c->credit = (c->credit < CREDIT_MOST ? c->credit : CREDIT_MOST) - cost;
    if (c->credit < 0)
        rpc_connection_terminate(c, NGHTTP2_ENHANCE_YOUR_CALM);
}

// A frame's head is complete. Returns what the frame costs.
static int64_t connection_cost(struct rpc_connection *c) {
    c->skip = get32(c->head) >> 8;
    c->n_head = 0;
    return c->head[3] != NGHTTP2_HEADERS && (c->head[3] != NGHTTP2_DATA || c->skip == 0);
}

// Charges for frames of all kinds. nghttp2 does not report those that it ignores.
static void connection_charge_frames(struct rpc_connection *c, const uint8_t *bytes, size_t n) {
    int64_t cost = 0;
    while (n > 0) {
        const size_t most = c->skip > 0 ? c->skip : RPC_FRAME_HEAD - c->n_head;
        const size_t part = n < most ? n : most;
        if (c->skip > 0) {
            c->skip -= part;
        } else {
            memcpy(c->head + c->n_head, bytes, part);
            c->n_head += part;
            cost += c->n_head == RPC_FRAME_HEAD ? connection_cost(c) : 0;
        }
        bytes += part;
        n -= part;
    }
    if (cost > 0)
        connection_charge(c, cost);
}

// ---- frames to calls ----

static int connection_on_headers(nghttp2_session *session, const nghttp2_frame *frame, void *aux) {
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                             rpc_call_new(aux, frame->hd.stream_id));
    return 0;
}

static int connection_on_header(nghttp2_session *session, const nghttp2_frame *frame,
                                const uint8_t *name, size_t name_length, const uint8_t *value,
                                size_t length, uint8_t flags, void *aux) {
    struct rpc_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags, (void)aux;
    if (call && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        rpc_call_header(call, (const char *)name, name_length, value, length);
    return 0;
}

static int connection_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *aux) {
    struct rpc_connection *c = aux;
    if (frame->hd.type == NGHTTP2_SETTINGS)
        c->greeted = true;
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    struct rpc_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!call)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        rpc_call_begin(call);
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        rpc_call_close(call);
    return 0;
}

static int connection_on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                              const uint8_t *bytes, size_t length, void *aux) {
    struct rpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)flags, (void)aux;
    if (call)
        rpc_call_data(call, bytes, length);
    return 0;
}

static int connection_on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *aux) {
    struct rpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)code, (void)aux;
    if (call)
        rpc_call_free(call);
    return 0;
}

// After a response is complete, the client need not send the rest of its request (RFC 9113, 8.1).
static int connection_on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *aux) {
    struct rpc_connection *c = aux;
    const int32_t stream = frame->hd.stream_id;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
        nghttp2_session_get_stream_remote_close(session, stream) == 0)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_NO_ERROR);
    if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
        frame->rst_stream.error_code != NGHTTP2_CANCEL)
        connection_charge(c, RESET_COST);
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
        c->server->counts.disconnected++;
    return 0;
}

// If headers cannot be sent, the stream is reset, since the client would wait for them.
static int connection_on_unsent(nghttp2_session *session, const nghttp2_frame *frame, int error,
                                void *aux) {
    (void)error, (void)aux;
    if (frame->hd.type == NGHTTP2_HEADERS && error != NGHTTP2_ERR_STREAM_CLOSED &&
        error != NGHTTP2_ERR_STREAM_CLOSING)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                  NGHTTP2_INTERNAL_ERROR);
    return 0;
}

static void connection_callbacks(nghttp2_session_callbacks *cb) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, connection_on_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, connection_on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, connection_on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, connection_on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, connection_on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, connection_on_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(cb, connection_on_unsent);
}

int rpc_connection_setup(struct rpc_server *s, struct sk_error *err) {
    if (nghttp2_session_callbacks_new(&s->callbacks) || nghttp2_option_new(&s->http))
        return sk_fail(err, "not enough memory for an HTTP/2 server");
    connection_callbacks(s->callbacks);
    nghttp2_option_set_no_closed_streams(s->http, 1);
    nghttp2_option_set_stream_reset_rate_limit(s->http, RESETS_ATONCE, RESETS_SECOND);
    nghttp2_option_set_max_send_header_block_length(s->http, RPC_HEADERS);
    return 0;
}

bool rpc_connection_start(struct rpc_connection *c) {
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, c->server->options.calls},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, RPC_METADATA},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    c->credit = CREDIT_MOST;
    c->skip = NGHTTP2_CLIENT_MAGIC_LEN; // the preface precedes all frames
    c->credit_at = c->server->now;
    return nghttp2_session_server_new2(&c->session, c->server->callbacks, c, c->server->http) ==
               0 &&
           nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof settings / sizeof *settings) == 0 &&
           nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, WINDOW) == 0;
}

void rpc_connection_terminate(struct rpc_connection *c, uint32_t code) {
    nghttp2_session_terminate_session(c->session, code);
    c->dirty = c->server->dirty = true;
}

void rpc_connection_free(struct rpc_connection *c) {
    for (struct rpc_call *call = c->calls; call; call = call->next)
        call->ended = true; // callbacks of others may still try to send on it
    while (c->calls)
        rpc_call_free(c->calls);
    nghttp2_session_del(c->session);
    SSL_free(c->tls);
    free(c);
}

// ---- bytes ----

static ssize_t connection_read(struct rpc_connection *c, void *bytes, size_t room) {
    return c->tls ? rpc_tls_read(c->tls, bytes, room) : recv(c->fd, bytes, room, 0);
}

static ssize_t connection_write(struct rpc_connection *c, const void *bytes, size_t length) {
    return c->tls ? rpc_tls_write(c->tls, bytes, length) : send(c->fd, bytes, length, MSG_NOSIGNAL);
}

static bool connection_would_block(void) {
    return errno == EAGAIN || errno == EINTR;
}

// Reads more if 'in' is used up. 1: 'in' has bytes, 0: nothing came, -1: the connection is over.
static int connection_fill(struct rpc_connection *c) {
    if (c->in_at < c->in_n)
        return 1;
    if (!c->readable && !(c->tls && SSL_pending(c->tls) > 0))
        return 0;
    const ssize_t n = connection_read(c, c->in, sizeof c->in);
    c->in_at = 0;
    c->in_n = n > 0 ? (size_t)n : 0;
    if (n < (ssize_t)sizeof c->in)
        c->readable = false; // until epoll reports it again
    if (n > 0)
        return 1;
    return n < 0 && connection_would_block() ? 0 : -1;
}

bool rpc_connection_has_input(const struct rpc_connection *c) {
    return !c->blocked &&
           (c->in_at < c->in_n || c->readable || (c->tls && SSL_pending(c->tls) > 0));
}

// Does the TLS handshake. 1: done, 0: not yet, -1: the connection is over.
static int connection_secure(struct rpc_connection *c) {
    if (c->secured)
        return 1;
    const int rc = c->tls ? rpc_tls_handshake(c) : 1;
    c->secured = rc > 0;
    c->readable &= rc > 0; // until epoll reports it again
    c->server->counts.disconnected += rc < 0;
    return rc;
}

// Discards what comes after our end. Unread bytes would make the kernel send a reset, by which the
// client could lose our last frames.
static bool connection_drain(struct rpc_connection *c) {
    int rc = 1;
    for (unsigned i = 0; i < TURN_BYTES / RPC_INPUT && rc > 0; i++) {
        c->in_at = c->in_n;
        rc = connection_fill(c);
    }
    return rc >= 0;
}

// Gives nghttp2 a piece of the input. False when the connection is over.
static bool connection_piece(struct rpc_connection *c) {
    const size_t left = c->in_n - c->in_at, n = left < PIECE ? left : PIECE;
    const ssize_t taken = nghttp2_session_mem_recv(c->session, c->in + c->in_at, n);
    connection_charge_frames(c, c->in + c->in_at, n);
    c->in_at += n; // nghttp2 takes all of it or fails
    if (taken == NGHTTP2_ERR_FLOODED || taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
        rpc_connection_terminate(c, NGHTTP2_ENHANCE_YOUR_CALM); // limits of nghttp2's own
        return true;
    }
    if (taken < 0)
        c->server->counts.disconnected++;
    return taken >= 0;
}

bool rpc_connection_receive(struct rpc_connection *c) {
    const int secured = connection_secure(c);
    if (secured <= 0)
        return secured == 0;
    if (c->parting)
        return connection_drain(c);
    c->budget = TURN_MESSAGES;
    for (size_t n = 0; n < TURN_BYTES && c->budget > 0 && !c->blocked; n += PIECE) {
        const int rc = connection_fill(c);
        if (rc <= 0)
            return rc == 0;
        if (!connection_piece(c))
            return false;
    }
    return true;
}

static void connection_tell_rooms(struct rpc_connection *c) {
    c->with_room = false;
    for (struct rpc_call *call = c->calls; call; call = call->next)
        rpc_call_tell_room(call);
}

// Fills 'out' with frames. False if memory is short.
static bool connection_frames(struct rpc_connection *c) {
    const uint8_t *bytes;
    while (c->out_n < RPC_OUTPUT) {
        const ssize_t n = nghttp2_session_mem_send(c->session, &bytes);
        if (n <= 0)
            return n == 0;
        if ((size_t)n > sizeof c->out - c->out_n)
            abort(); // a frame has at most 16384 bytes of payload
        memcpy(c->out + c->out_n, bytes, (size_t)n);
        c->out_n += (size_t)n;
    }
    return true;
}

// Writes 'out' as far as the socket takes it. False when the connection is over.
static bool connection_write_out(struct rpc_connection *c) {
    while (c->out_at < c->out_n) {
        const ssize_t n = connection_write(c, c->out + c->out_at, c->out_n - c->out_at);
        if (n < 0) {
            c->blocked = connection_would_block();
            return c->blocked;
        }
        c->out_at += (size_t)n;
        c->moved = c->server->now;
    }
    c->out_at = c->out_n = 0;
    c->moved = c->server->now;
    return true;
}

static void connection_part(struct rpc_connection *c) {
    c->parting = true;
    c->since = c->server->now;
    if (c->tls)
        SSL_shutdown(c->tls);
    shutdown(c->fd, SHUT_WR);
}

bool rpc_connection_flush(struct rpc_connection *c) {
    c->dirty = false;
    for (unsigned i = 0; i < TURN_OUTPUT; i++) {
        if (!connection_frames(c) || !connection_write_out(c))
            return false;
        if (c->with_room)
            connection_tell_rooms(c);
        if (c->blocked) {
            c->dirty = true; // 'out' has a rest, which nghttp2 does not know of
            return true;
        }
        if (!nghttp2_session_want_write(c->session))
            break;
    }
    c->dirty = nghttp2_session_want_write(c->session) != 0;
    if (!c->dirty && !nghttp2_session_want_read(c->session))
        connection_part(c);
    return true;
}
