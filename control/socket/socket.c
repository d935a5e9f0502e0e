// SPDX-License-Identifier: Apache-2.0
#include "control/socket/socket.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/socket.h"
#include "control/socket/recording.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define READ_CHUNK 65536
#define BACKLOG    8

struct buffer {
    char *bytes;
    size_t length, room;
};

struct peer {
    int fd;
    struct buffer in, out;
    size_t written; // of out
    bool ended;     // sends no more
    bool listens;   // wants events
    bool records;   // what is recorded, it started
    int pass;       // a descriptor to go with the next byte; -1: none
    uint64_t number;
    uint64_t since; // its last request, or its coming: a number of the server's 'steps'
};

struct sk_server {
    int fd;
    struct sk_socket_file file;
    struct peer peers[SK_SOCKET_CLIENTS];
    size_t n_peers;
    bool deserted;  // the peer that records went away
    uint64_t came;  // clients so far
    uint64_t *left; // the numbers of n_left that went and nobody was told of
    size_t n_left, left_room;
    uint64_t requests, refused;
    uint64_t steps; // clients that came, requests that were answered
};

static void socket_append(struct buffer *b, const char *bytes, size_t n) {
    if (n == 0)
        return;
    b->bytes = sk_grow_bytes(b->bytes, b->length, n, &b->room);
    memcpy(b->bytes + b->length, bytes, n);
    b->length += n;
}

static void remove_front(struct buffer *b, size_t n) {
    memmove(b->bytes, b->bytes + n, b->length - n);
    b->length -= n;
}

static const struct sk_socket_kind socket_kind = {"control socket", "switch"};

// ---- server ----

struct sk_server *sk_server_open(const char *path, struct sk_error *err) {
    struct sk_socket_file file;
    const int fd = sk_listen_unix(path, &socket_kind, BACKLOG, &file, err);
    if (fd < 0)
        return NULL;
    struct sk_server *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->fd = fd;
    s->file = file;
    return s;
}

static void drop_peer(struct sk_server *s, size_t i) {
    s->deserted |= s->peers[i].records;
    s->left = sk_grow(s->left, s->n_left, &s->left_room, sizeof *s->left);
    s->left[s->n_left++] = s->peers[i].number;
    close(s->peers[i].fd);
    free(s->peers[i].in.bytes);
    free(s->peers[i].out.bytes);
    s->peers[i] = s->peers[--s->n_peers];
}

// Is there something to do for a peer besides what poll() tells?
static bool has_work(const struct peer *p) {
    return p->out.length == 0 && p->in.length > 0 && memchr(p->in.bytes, '\n', p->in.length);
}

// It waits for something, or something that it wants goes on. Half a request is not enough, or
// nobody would have to send the other half; but what came since it was read may be a whole one.
static bool is_busy(const struct peer *p) {
    char byte;
    return p->listens || p->records || p->out.length > 0 || has_work(p) ||
           recv(p->fd, &byte, 1, MSG_PEEK) > 0;
}

// The one that has asked nothing for longest goes. False when all are busy.
static bool socket_make_room(struct sk_server *s) {
    size_t oldest = s->n_peers;
    for (size_t i = 0; i < s->n_peers; i++)
        if ((oldest == s->n_peers || s->peers[i].since < s->peers[oldest].since) &&
            !is_busy(&s->peers[i]))
            oldest = i;
    if (oldest == s->n_peers)
        return false;
    drop_peer(s, oldest);
    return true;
}

static void accept_peer(struct sk_server *s) {
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (s->n_peers == SK_SOCKET_CLIENTS && !socket_make_room(s)) {
        static const char full[] = "{\"ok\": false, \"error\": \"too many clients\"}\n";
        ssize_t ignored = send(fd, full, sizeof full - 1, MSG_NOSIGNAL);
        (void)ignored;
        close(fd);
        return;
    }
    s->peers[s->n_peers++] =
        (struct peer){.fd = fd, .pass = -1, .number = ++s->came, .since = s->steps++};
}

// False when the peer is to be dropped.
static bool read_peer(struct peer *p) {
    char chunk[READ_CHUNK];
    ssize_t n = recv(p->fd, chunk, sizeof chunk, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    p->ended |= n == 0;
    socket_append(&p->in, chunk, (size_t)n);
    return true;
}

// A control message with one descriptor.
union passed {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool write_peer(struct peer *p) {
    struct iovec bytes = {p->out.bytes + p->written, p->out.length - p->written};
    union passed control = {.bytes = {0}};
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (p->pass >= 0) {
        memcpy(CMSG_DATA(&control.head), &p->pass, sizeof p->pass);
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(sizeof(int));
    }
    ssize_t n = sendmsg(p->fd, &m, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    p->pass = -1;
    p->written += (size_t)n;
    if (p->written == p->out.length)
        p->written = p->out.length = 0;
    return true;
}

static void socket_answer(struct sk_server *s, struct peer *p, const struct sk_service *service,
                          size_t length) {
    struct sk_service own = *service;
    own.subscribe = &p->listens;
    own.records = &p->records;
    own.pass = &p->pass;
    if (own.list)
        own.list(own.aux, &own.ports, &own.n_ports);
    if (own.asks)
        own.asks(own.aux, p->number);
    json_t *reply = sk_request(&own, p->in.bytes, length);
    s->requests++;
    p->since = s->steps++;
    s->refused += !json_is_true(json_object_get(reply, "ok"));
    char *text = json_dumps(reply, JSON_COMPACT);
    json_decref(reply);
    if (!text)
        abort();
    socket_append(&p->out, text, strlen(text));
    socket_append(&p->out, "\n", 1);
    free(text);
    remove_front(&p->in, length + 1);
}

// One request, when a whole one is there and the reply before it has been read.
static bool serve_peer(struct sk_server *s, struct peer *p, const struct sk_service *service) {
    const char *end = p->in.length ? memchr(p->in.bytes, '\n', p->in.length) : NULL;
    const size_t length = end ? (size_t)(end - p->in.bytes) : p->in.length;
    if (length > SK_SOCKET_LINE)
        return false;
    if (end && p->out.length == 0)
        socket_answer(s, p, service, length);
    if (p->out.length > 0 && !write_peer(p))
        return false;
    return !(p->ended && p->out.length == 0 &&
             !memchr(p->in.length ? p->in.bytes : "", '\n', p->in.length));
}

static void tell_who_left(struct sk_server *s, const struct sk_service *service) {
    for (size_t i = 0; service->left && i < s->n_left; i++)
        service->left(service->aux, s->left[i]);
    s->n_left = 0;
}

// What a client started to record ends with it.
static void end_deserted(struct sk_server *s, const struct sk_service *service) {
    if (!s->deserted)
        return;
    s->deserted = false;
    if (service->pause)
        service->pause(service->aux);
    sk_recording_stop(service->recording);
    if (service->resume)
        service->resume(service->aux);
}

size_t sk_server_fds(const struct sk_server *s, struct pollfd fds[SK_SERVER_FDS]) {
    const size_t n = s->n_peers;
    for (size_t i = 0; i < n; i++) {
        const struct peer *p = &s->peers[i];
        // one that does not read its replies is not read from
        const bool more = !p->ended && p->in.length <= SK_SOCKET_LINE;
        // one that can be answered is as good as one that can be written to
        const bool write = p->out.length > 0 || has_work(p);
        fds[i] = (struct pollfd){.fd = p->fd,
                                 .events = (short)((more ? POLLIN : 0) | (write ? POLLOUT : 0))};
    }
    fds[n] = (struct pollfd){.fd = s->fd, .events = POLLIN};
    return n + 1;
}

bool sk_server_poll(struct sk_server *s, const struct sk_service *service) {
    end_deserted(s, service);
    tell_who_left(s, service);
    struct pollfd fds[SK_SERVER_FDS];
    const size_t n = sk_server_fds(s, fds) - 1;
    if (poll(fds, n + 1, 0) <= 0)
        return false;
    for (size_t i = n; i-- > 0;) { // from the end: dropping one moves the last into its place
        struct peer *p = &s->peers[i];
        bool alive = !(fds[i].revents & (POLLERR | POLLNVAL)) &&
                     (!(fds[i].revents & POLLIN) || read_peer(p));
        bool gone = fds[i].revents & POLLHUP && !(fds[i].revents & POLLIN) && !has_work(p);
        if (!alive || gone || !serve_peer(s, p, service))
            drop_peer(s, i);
    }
    if (fds[n].revents & POLLIN)
        accept_peer(s);
    tell_who_left(s, service);
    return true;
}

struct sk_server_counts sk_server_counts(const struct sk_server *s) {
    return (struct sk_server_counts){s->requests, s->refused, s->n_peers};
}

bool sk_server_has_listeners(const struct sk_server *s) {
    for (size_t i = 0; i < s->n_peers; i++)
        if (s->peers[i].listens)
            return true;
    return false;
}

void sk_server_publish(struct sk_server *s, json_t *event) {
    char *text = json_dumps(event, JSON_COMPACT);
    json_decref(event);
    if (!text)
        abort();
    for (size_t i = s->n_peers; i-- > 0;) {
        struct peer *p = &s->peers[i];
        if (p->listens && p->out.length > SK_SOCKET_LINE) {
            drop_peer(s, i); // it does not read
        } else if (p->listens) {
            socket_append(&p->out, text, strlen(text));
            socket_append(&p->out, "\n", 1);
        }
    }
    free(text);
}

const char *sk_server_path(const struct sk_server *s) {
    return s->file.path;
}

void sk_server_close(struct sk_server *s) {
    if (!s)
        return;
    while (s->n_peers > 0)
        drop_peer(s, 0);
    sk_unlisten_unix(s->fd, &s->file);
    free(s->left);
    free(s);
}

// ---- client ----

struct sk_client {
    int fd;
    int passed; // a descriptor that came; -1: none
    unsigned seconds;
    bool late; // an answer did not come in time
    struct buffer in;
};

static void fail_late(struct sk_error *err, unsigned seconds) {
    sk_fail(err, "the switch did not answer within %u second%s; it is stopped or overloaded",
            seconds, seconds == 1 ? "" : "s");
}

struct sk_client *sk_client_open(const char *path, struct sk_error *err) {
    return sk_client_open_within(path, SK_CLIENT_SECONDS, err);
}

struct sk_client *sk_client_open_within(const char *path, unsigned seconds, struct sk_error *err) {
    struct sockaddr_un address;
    if (sk_unix_address(path, &socket_kind, &address, err))
        return NULL;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval most = {.tv_sec = seconds}; // of connect() and send()
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) ||
        connect(fd, (struct sockaddr *)&address, sizeof address)) {
        if (errno == ECONNREFUSED || errno == ENOENT)
            sk_fail(err, "no switch listens at %s", path);
        else if (errno == EAGAIN)
            fail_late(err, seconds);
        else
            sk_fail(err, "cannot connect to %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct sk_client *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->fd = fd;
    c->passed = -1;
    c->seconds = seconds;
    return c;
}

static bool socket_send_all(struct sk_client *c, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            c->late = errno == EAGAIN;
            return false;
        }
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static ssize_t socket_receive(struct sk_client *c, char *chunk, size_t size) {
    struct iovec bytes = {chunk, size};
    union passed control;
    struct msghdr m = {.msg_iov = &bytes,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        if (c->passed >= 0)
            close(c->passed);
        memcpy(&c->passed, CMSG_DATA(head), sizeof c->passed);
    }
    return n;
}

#define FOR_EVER UINT64_MAX

// Whether something came by then. An interrupted wait goes on.
static bool wait_for_bytes(struct sk_client *c, uint64_t until) {
    for (;;) {
        struct pollfd fd = {.fd = c->fd, .events = POLLIN};
        const uint64_t now = sk_clock_now(), left = until > now ? until - now : 0;
        const int rc = poll(&fd, 1, until == FOR_EVER ? -1 : (int)((left + 999999) / 1000000));
        if (rc > 0)
            return true;
        c->late = rc == 0;
        if (rc == 0 || errno != EINTR)
            return false;
    }
}

// The next line, without its end; null when the switch went away, or nothing came by 'until'.
static char *socket_read_line(struct sk_client *c, uint64_t until) {
    size_t searched = 0;
    for (;;) {
        char *end = c->in.length > searched
                        ? memchr(c->in.bytes + searched, '\n', c->in.length - searched)
                        : NULL;
        if (end) {
            char *line = strndup(c->in.bytes, (size_t)(end - c->in.bytes));
            remove_front(&c->in, (size_t)(end - c->in.bytes) + 1);
            return line;
        }
        searched = c->in.length;
        if (!wait_for_bytes(c, until))
            return NULL;
        char chunk[READ_CHUNK];
        ssize_t n = socket_receive(c, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR))
            return NULL;
        socket_append(&c->in, chunk, n > 0 ? (size_t)n : 0);
    }
}

// Texts of lines that the switch itself writes; their parts were looked at when they came into it.
static bool client_has_lines(const char *key) {
    return key && (strcmp(key, "packets") == 0 || strcmp(key, "state") == 0);
}

static void client_make_string_printable(json_t *value, bool lines) {
    char *text = strdup(json_string_value(value));
    if (!text)
        abort();
    for (char *c = text; *c; c++) {
        if (((unsigned char)*c < 0x20 && !(lines && (*c == '\n' || *c == '\t'))) || *c == 0x7f)
            *c = '?';
        if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] < 0xa0) // U+0080 to U+009f
            c[0] = c[1] = '?';
    }
    json_string_set(value, text);
    free(text);
}

// What a program, a file or the network put into a switch's reply is shown to people: no control
// characters.
static void client_make_printable(json_t *value, const char *key) {
    const char *name;
    json_t *member;
    size_t i;
    if (json_is_string(value))
        client_make_string_printable(value, client_has_lines(key));
    json_object_foreach(value, name, member) {
        client_make_printable(member, name);
    }
    json_array_foreach(value, i, member) {
        client_make_printable(member, key);
    }
}

static json_t *unpack_reply(json_t *reply, struct sk_error *err) {
    json_t *result = json_object_get(reply, "result");
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (json_is_true(json_object_get(reply, "ok")) && result)
        return json_incref(result);
    sk_fail(err, "%s", error ? error : "the switch's reply is invalid");
    return NULL;
}

json_t *sk_client_call(struct sk_client *c, json_t *request, struct sk_error *err) {
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!text) {
        sk_fail(err, "the request is not UTF-8 text");
        return NULL;
    }
    const uint64_t until = sk_clock_now() + c->seconds * UINT64_C(1000000000);
    bool sent = !c->late && socket_send_all(c, text, strlen(text)) && socket_send_all(c, "\n", 1);
    free(text);
    char *line = sent ? socket_read_line(c, until) : NULL;
    if (!line && c->late) {
        fail_late(err, c->seconds);
        return NULL;
    }
    if (!line) {
        sk_fail(err, "the switch closed the connection");
        return NULL;
    }
    json_t *reply = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    free(line);
    client_make_printable(reply, NULL);
    json_t *result = unpack_reply(reply, err);
    json_decref(reply);
    return result;
}

json_t *sk_client_event(struct sk_client *c, struct sk_error *err) {
    char *line = socket_read_line(c, FOR_EVER);
    json_t *event = line ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!event)
        sk_fail(err, line ? "the switch's event is invalid" : "the switch closed the connection");
    client_make_printable(event, NULL);
    free(line);
    return event;
}

int sk_client_passed(struct sk_client *c) {
    int fd = c->passed;
    c->passed = -1;
    return fd;
}

bool sk_client_is_alone(const struct sk_client *c) {
    struct pollfd fd = {.fd = c->fd, .events = POLLIN};
    char byte;
    return poll(&fd, 1, 0) > 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

void sk_client_close(struct sk_client *c) {
    if (!c)
        return;
    if (c->passed >= 0)
        close(c->passed);
    close(c->fd);
    free(c->in.bytes);
    free(c);
}
