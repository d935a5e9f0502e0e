// SPDX-License-Identifier: Apache-2.0
//
// server: accepts connections, gives each its turn, and enforces deadlines and limits.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/socket.h"
#include "rpc/rpc_impl.h"

#define EVENTS_A_TURN   64
#define ACCEPTED_A_TURN 16
#define LOOK_NS         UINT64_C(250000000) // between checks of deadlines
#define CONNECTIONS     64u
#define CALLS           128u
#define MEMORY_BYTES    (UINT64_C(256) << 20)
#define QUEUE_BYTES     (UINT64_C(4) << 20)

static struct rpc_call *rpcs_holds_most(const struct rpc_server *s, const struct rpc_call *but) {
    struct rpc_call *most = NULL;
    for (size_t i = 0; i < s->n; i++)
        for (struct rpc_call *call = s->list[i]->calls; call; call = call->next)
            if (call != but && s->now - call->moved >= RPC_IDLE_NS && rpc_call_holds(call) > 0 &&
                (!most || rpc_call_holds(call) > rpc_call_holds(most)))
                most = call;
    return most;
}

bool rpc_take_memory(struct rpc_call *call, size_t bytes) {
    struct rpc_server *s = call->connection->server;
    if (bytes > s->options.memory_bytes)
        return false;
    while (bytes > s->options.memory_bytes - s->memory) {
        struct rpc_call *other = rpcs_holds_most(s, call);
        const size_t before = s->memory;
        if (other)
            rpc_call_evict(other);
        if (s->memory == before)
            return false;
    }
    s->memory += bytes;
    return true;
}

void rpc_give_memory(struct rpc_server *s, size_t bytes) {
    s->memory -= bytes;
}

// ---- connections ----

static void rpcs_drop(struct rpc_connection *c) {
    struct rpc_server *s = c->server;
    const int fd = c->fd;
    const uint64_t tell = c->called && s->options.gone && !s->closing ? c->number : 0;
    s->list[c->index] = s->list[--s->n];
    s->list[c->index]->index = c->index;
    rpc_connection_free(c);
    close(fd);
    if (tell)
        s->options.gone(s->options.aux, tell);
}

// The oldest connection that has not sent its settings; if all have, the one without calls for
// longest.
static struct rpc_connection *rpcs_least_missed(const struct rpc_server *s) {
    struct rpc_connection *stranger = NULL, *idle = NULL;
    for (size_t i = 0; i < s->n; i++) {
        struct rpc_connection *c = s->list[i];
        if (!c->greeted && (!stranger || c->since < stranger->since))
            stranger = c;
        if (c->greeted && !s->options.keeps_idle && !c->calls &&
            s->now - c->active >= RPC_IDLE_NS && (!idle || c->active < idle->active))
            idle = c;
    }
    return stranger ? stranger : idle;
}

static bool rpcs_make_room(struct rpc_server *s) {
    struct rpc_connection *c = s->n < s->options.connections ? NULL : rpcs_least_missed(s);
    if (c) {
        rpc_connection_terminate(c, NGHTTP2_NO_ERROR);
        if (c->secured && !c->blocked)
            rpc_connection_flush(c);
        s->counts.disconnected++;
        rpcs_drop(c);
    }
    return s->n < s->options.connections;
}

static void rpcs_watch(struct rpc_connection *c) {
    const uint32_t events = c->blocked ? EPOLLOUT : EPOLLIN;
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (events != c->events)
        epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &event);
    c->events = events;
}

void rpc_adopt(struct rpc_server *s, int fd, const char *peer) {
    struct rpc_connection *c = calloc(1, sizeof *c);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (!c)
        abort();
    c->server = s;
    c->fd = fd;
    c->since = c->moved = c->active = s->now;
    c->events = EPOLLIN;
    strncpy(c->peer, peer, sizeof c->peer - 1);
    c->index = s->n;
    s->list[s->n++] = c;
    c->number = ++s->counts.connections;
    if (s->tls)
        c->tls = rpc_tls_start(s->tls, fd);
    if ((s->tls && !c->tls) || !rpc_connection_start(c) ||
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event))
        rpcs_drop(c);
}

// With 'deaf' the listening socket is not watched: without a free descriptor it would stay ready.
static void rpcs_hear(struct rpc_server *s, bool deaf) {
    struct epoll_event event = {.events = deaf ? 0 : EPOLLIN};
    if (deaf != s->deaf)
        epoll_ctl(s->epoll, EPOLL_CTL_MOD, s->fd, &event);
    s->deaf = deaf;
}

static void rpcs_accept(struct rpc_server *s) {
    char peer[RPC_PEER];
    for (unsigned i = 0; i < ACCEPTED_A_TURN; i++) {
        const int fd = rpc_accept(s->fd, peer);
        if (fd < 0) {
            rpcs_hear(s, errno != EAGAIN && errno != EINTR && errno != ECONNABORTED);
            return;
        }
        if (rpcs_make_room(s)) {
            rpc_adopt(s, fd, peer);
        } else {
            s->counts.connections++;
            s->counts.disconnected++;
            close(fd);
        }
    }
}

// ---- time ----

static bool rpcs_is_late(const struct rpc_connection *c, uint64_t now) {
    if (c->parting)
        return now - c->since >= RPC_PARTING_NS;
    return (!c->greeted && now - c->since >= RPC_HANDSHAKE_NS) ||
           (c->blocked && now - c->moved >= RPC_BLOCKED_NS);
}

static void rpcs_look(struct rpc_server *s) {
    uint64_t next = s->now + LOOK_NS;
    for (size_t i = s->n; i-- > 0;) {
        struct rpc_connection *c = s->list[i];
        if (rpcs_is_late(c, s->now)) {
            s->counts.disconnected += !c->parting;
            rpcs_drop(c);
            continue;
        }
        for (struct rpc_call *call = c->calls; call; call = call->next) {
            const uint64_t due = rpc_call_look(call, s->now);
            next = due < next ? due : next;
        }
    }
    rpcs_hear(s, false);
    s->look = next;
}

// ---- the whole ----

// Returns whether a client waits to be accepted.
static bool rpcs_events(struct rpc_server *s) {
    struct epoll_event events[EVENTS_A_TURN];
    bool comes = false;
    const int n = epoll_wait(s->epoll, events, EVENTS_A_TURN, 0);
    for (int i = 0; i < n; i++) {
        struct rpc_connection *c = events[i].data.ptr;
        if (!c) {
            comes = true;
            continue;
        }
        c->readable |= (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        if (events[i].events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
            c->blocked = false;
            c->readable |= !c->secured; // to continue the handshake
        }
    }
    return comes;
}

static bool rpcs_flush(struct rpc_connection *c) {
    if (!c->secured || c->blocked || c->parting)
        return true;
    return (!c->dirty && !nghttp2_session_want_write(c->session)) || rpc_connection_flush(c);
}

void rpc_poll(struct rpc_server *s, uint64_t now_ns) {
    s->now = now_ns - s->away;
    s->dirty = s->more = false;
    const uint64_t began = sk_clock_now();
    const bool comes = rpcs_events(s);
    // From the end: dropping one moves the last, which had its turn, into its place.
    for (size_t i = s->n; i-- > 0;)
        if (rpc_connection_has_input(s->list[i]) && !rpc_connection_receive(s->list[i]))
            rpcs_drop(s->list[i]);
    // While a service works on one message, no client can go on, and none is late for that.
    const uint64_t took = sk_clock_now() - began;
    s->away += took >= LOOK_NS ? took : 0;
    if (comes)
        rpcs_accept(s);
    if ((s->n > 0 || s->deaf) && s->look > s->now + LOOK_NS)
        s->look = s->now + LOOK_NS;
    if (s->now >= s->look)
        rpcs_look(s);
    s->dirty = false; // set again by what services send below, when they are told of room
    for (size_t i = s->n; i-- > 0;) {
        struct rpc_connection *c = s->list[i];
        if (!rpcs_flush(c)) {
            rpcs_drop(c);
            continue;
        }
        rpcs_watch(c);
        s->more |=
            rpc_connection_has_input(c) || (c->dirty && !c->blocked && !c->parting && c->secured);
    }
    if (s->n == 0 && !s->deaf)
        s->look = UINT64_MAX;
}

uint64_t rpc_due(const struct rpc_server *s) {
    if (s->dirty || s->more)
        return 0;
    return s->look == UINT64_MAX ? s->look : s->look + s->away;
}

int rpc_fd(const struct rpc_server *s) {
    return s->epoll;
}

uint16_t rpc_port(const struct rpc_server *s) {
    return sk_listen_port(s->fd);
}

struct rpc_counts rpc_counts(const struct rpc_server *s) {
    struct rpc_counts counts = s->counts;
    counts.open = s->n;
    counts.memory = s->memory;
    for (size_t i = 0; i < s->n; i++)
        for (const struct rpc_call *call = s->list[i]->calls; call; call = call->next)
            counts.open_calls++;
    return counts;
}

static void rpcs_defaults(struct rpc_options *o) {
    o->connections = o->connections ? o->connections : CONNECTIONS;
    o->calls = o->calls ? o->calls : CALLS;
    o->memory_bytes = o->memory_bytes ? o->memory_bytes : MEMORY_BYTES;
    if (o->message_bytes == 0 || o->message_bytes > o->memory_bytes)
        o->message_bytes = o->memory_bytes;
    o->queue_bytes = o->queue_bytes ? o->queue_bytes : QUEUE_BYTES;
}

static int rpcs_setup(struct rpc_server *s, struct sk_error *err) {
    struct epoll_event event = {.events = EPOLLIN};
    if (!s->options.certificate && (s->options.key || s->options.client_authority))
        return sk_fail(err, "a gRPC server with a key or a client authority also needs a "
                            "certificate");
    if (s->options.certificate && !(s->tls = rpc_tls_open(&s->options, err)))
        return -1;
    if (rpc_connection_setup(s, err) || (s->fd = rpc_listen(s->options.address, &s->file, err)) < 0)
        return -1;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->fd, &event))
        return sk_fail(err, "cannot watch the connections of a gRPC server: %s", strerror(errno));
    return 0;
}

struct rpc_server *rpc_open(const struct rpc_options *options, struct sk_error *err) {
    struct rpc_server *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->options = *options;
    s->fd = s->epoll = -1;
    s->look = UINT64_MAX;
    rpcs_defaults(&s->options);
    if (!(s->list = calloc(s->options.connections, sizeof(struct rpc_connection *))))
        abort();
    if (rpcs_setup(s, err)) {
        rpc_close(s);
        return NULL;
    }
    return s;
}

void rpc_close(struct rpc_server *s) {
    if (!s)
        return;
    s->closing = true;
    while (s->n > 0) {
        struct rpc_connection *c = s->list[s->n - 1];
        rpc_connection_terminate(c, NGHTTP2_NO_ERROR);
        if (c->secured && !c->blocked && !c->parting)
            rpc_connection_flush(c);
        rpcs_drop(c);
    }
    if (s->fd >= 0 && s->file.path[0])
        sk_unlisten_unix(s->fd, &s->file);
    else if (s->fd >= 0)
        close(s->fd);
    if (s->epoll >= 0)
        close(s->epoll);
    SSL_CTX_free(s->tls);
    nghttp2_session_callbacks_del(s->callbacks);
    nghttp2_option_del(s->http);
    free(s->list);
    free(s);
}
