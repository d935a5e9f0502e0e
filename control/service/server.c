// SPDX-License-Identifier: Apache-2.0
//
// server: connections of the job service. Each is a stranger until it has sent a good request, then
// a worker, and at last is told why it is over: it is closed when it has read that, or after
// PARTING_NS.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/address.h"
#include "base/socket.h"
#include "control/service/service.h"

#define BACKLOG         64
#define PROBES          2 // of a host that is silent
#define EVENTS_A_TURN   64
#define ACCEPTED_A_TURN 16
#define REPLIES         4096u                // bytes that wait for a client
#define PARTING_NS      UINT64_C(1000000000) // until a connection that was told the end is closed
#define LOOK_NS         UINT64_C(100000000)  // between two looks for connections that are late
#define KEPT_FREE       32u // connections that only tell others that there are too many

enum connection_state { CONNECTION_STRANGER, CONNECTION_WORKER, CONNECTION_PARTING };

struct connection {
    struct service *service;
    int fd;
    size_t index; // in the list
    enum connection_state state;
    uint64_t since;     // of the state
    bool wants_to_send; // epoll tells when it can
    bool half_closed;   // nothing more is sent
    bool lost;          // a reply did not fit: it does not read
    uint32_t from;      // its IPv4 address, host order; 0: it is another one
    size_t n, length;
    char in[SERVICE_LINE + 1], out[REPLIES];
};

struct service {
    int fd, epoll;
    char *token;
    unsigned silence;
    uint64_t now, looked;
    struct admission *admission;
    struct connection *list[SERVICE_CONNECTIONS];
    size_t n, n_strangers;
    uint64_t refused;
};

// ---- replies ----

// Takes a reference. What does not fit is not sent, and the connection is over.
static void svc_send(struct connection *c, json_t *message) {
    const size_t n = json_dumpb(message, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (c->length + n + 1 > sizeof c->out) {
        c->lost = true;
    } else {
        json_dumpb(message, c->out + c->length, n, JSON_COMPACT | JSON_ENSURE_ASCII);
        c->out[c->length + n] = '\n';
        c->length += n + 1;
    }
    json_decref(message);
}

static void svc_state(struct connection *c, enum connection_state state) {
    struct service *s = c->service;
    s->n_strangers += state == CONNECTION_STRANGER;
    s->n_strangers -= c->state == CONNECTION_STRANGER;
    c->state = state;
    c->since = s->now;
}

static void svc_part(struct connection *c, const char *why) {
    svc_send(c, json_pack("{s:s}", "error", why));
    svc_state(c, CONNECTION_PARTING);
}

static void svc_refuse(struct connection *c, const char *why) {
    c->service->refused++;
    svc_part(c, why);
}

// ---- what the admission says ----

static void svc_waits(void *owner, const struct admission_job *job) {
    struct connection *c = owner;
    if (c->length > 0)
        return; // it does not read what it was told before
    json_t *missing = json_array();
    for (uint32_t i = 0; i < job->workers; i++)
        if (!job->members[i].owner)
            json_array_append_new(missing, json_integer(i));
    svc_send(c, json_pack("{s:s, s:o}", "state", "waiting", "missing", missing));
}

static const char *svc_ip(uint32_t ip, char out[16]) {
    snprintf(out, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return out;
}

static void svc_admitted(void *owner, const struct admission_job *job, uint32_t rank) {
    const struct admission_member *m = &job->members[rank];
    const struct admission_place *p = &m->place;
    char ip[16], to_ip[16], mac[SK_MAC_TEXT], to_mac[SK_MAC_TEXT];
    const bool roce = m->request.roce.pairs > 0;
    json_t *reply = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:i, s:i, s:s, s:s, s:i}", "state",
        "admitted", "job", job->name, "rank", (int)rank, "workers", (int)job->workers, "number",
        (int)job->number, "slots", (int)job->slots, "elements", (int)job->elements, "worker_ip",
        svc_ip(m->request.ip, ip), "worker_mac", sk_mac_text(p->mac, mac), "worker_port",
        (int)job->port, "session_port", (int)job->session_port, "switch_ip",
        svc_ip(p->switch_ip, to_ip), "switch_mac", sk_mac_text(p->switch_mac, to_mac),
        "switch_port", roce ? (int)job->port : 0xbee0);
    if (roce) {
        json_object_set_new(reply, "queue_pair", json_integer(p->queue_pair));
        json_object_set_new(reply, "psn", json_integer(p->psn));
    }
    svc_send(owner, reply);
}

static void svc_over(void *owner, const char *why) {
    svc_part(owner, why);
}

// ---- connections ----

static void svc_drop(struct connection *c, const char *why) {
    struct service *s = c->service;
    const bool worker = c->state == CONNECTION_WORKER;
    s->n_strangers -= c->state == CONNECTION_STRANGER;
    s->refused += c->state == CONNECTION_STRANGER;
    s->list[c->index] = s->list[--s->n];
    s->list[c->index]->index = c->index;
    if (worker)
        admission_leave(s->admission, c, why, s->now);
    close(c->fd);
    free(c);
}

static void svc_watch(const struct service *s, int fd) {
    const int idle = s->silence > 3 ? (int)s->silence / 3 : 1, ms = (int)s->silence * 1000;
    sk_socket_watch(fd, idle, idle, PROBES);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

static uint32_t svc_from(const struct sockaddr_storage *a) {
    if (a->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr);
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)a)->sin6_addr;
    uint32_t low;
    memcpy(&low, &v6->s6_addr[12], sizeof low);
    return IN6_IS_ADDR_V4MAPPED(v6) ? ntohl(low) : 0;
}

static void svc_add(struct service *s, int fd, uint32_t from) {
    struct connection *c = calloc(1, sizeof *c);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (!c)
        abort();
    c->service = s;
    c->fd = fd;
    c->from = from;
    c->since = s->now;
    c->index = s->n;
    s->list[s->n++] = c;
    s->n_strangers++;
    svc_watch(s, fd);
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event)) {
        svc_drop(c, "it cannot be watched");
        return;
    }
    if (s->n > SERVICE_CONNECTIONS - KEPT_FREE)
        svc_refuse(c, "the service has too many connections");
}

static void svc_drop_oldest_stranger(struct service *s) {
    struct connection *oldest = NULL;
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i]->state == CONNECTION_STRANGER &&
            (!oldest || s->list[i]->since < oldest->since))
            oldest = s->list[i];
    if (oldest)
        svc_drop(oldest, "");
}

static void svc_accept(struct service *s) {
    for (unsigned i = 0; i < ACCEPTED_A_TURN; i++) {
        struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
        socklen_t size = sizeof from;
        const int fd =
            accept4(s->fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (s->n_strangers == SERVICE_STRANGERS)
            svc_drop_oldest_stranger(s);
        if (s->n == SERVICE_CONNECTIONS) {
            s->refused++;
            close(fd);
        } else {
            svc_add(s, fd, svc_from(&from));
        }
    }
}

// ---- lines ----

static void svc_hear_stranger(struct connection *c, size_t length) {
    struct service *s = c->service;
    struct admission_request r;
    struct sk_error err = {.text = ""};
    bool known;
    const int rc = service_request(c->in, length, s->token, c->from, &r, &known, &err);
    if (rc == 0)
        svc_state(c, CONNECTION_WORKER);
    if (rc || admission_join(s->admission, &r, c, s->now, &err))
        svc_refuse(c, err.text);
}

static void svc_hear_worker(struct connection *c, size_t length) {
    const bool leaves = service_is_leave(c->in, length);
    struct service *s = c->service;
    svc_state(c, CONNECTION_PARTING);
    admission_leave(s->admission, c, leaves ? NULL : "it said what the service does not understand",
                    s->now);
    if (!leaves)
        svc_send(c, json_pack("{s:s}", "error", "a worker can only say {\"leave\": true}"));
}

// All whole lines that are there, which are two at most: a request, and that it is over.
static void svc_hear(struct connection *c) {
    char *end;
    while (c->state != CONNECTION_PARTING && (end = memchr(c->in, '\n', c->n))) {
        const size_t length = (size_t)(end - c->in);
        if (c->state == CONNECTION_STRANGER)
            svc_hear_stranger(c, length);
        else
            svc_hear_worker(c, length);
        c->n -= length + 1;
        memmove(c->in, end + 1, c->n);
    }
    if (c->state == CONNECTION_STRANGER && c->n == sizeof c->in)
        svc_refuse(c, "a request is one line of at most 2048 bytes");
    else if (c->state == CONNECTION_WORKER && c->n == sizeof c->in)
        svc_hear_worker(c, c->n);
    if (c->state == CONNECTION_PARTING)
        c->n = 0;
}

// False when the connection is over.
static bool svc_receive(struct connection *c) {
    const ssize_t n = recv(c->fd, c->in + c->n, sizeof c->in - c->n, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->n += (size_t)n;
    if (n > 0)
        svc_hear(c);
    return n > 0;
}

// The same. One that was told the end is shut in our direction, and closed when the client does it,
// so that what is under way from it does not make its system forget what it was told.
static bool svc_write(struct connection *c) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    const ssize_t n = c->length ? send(c->fd, c->out, c->length, MSG_NOSIGNAL) : 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    if (n > 0) {
        c->length -= (size_t)n;
        memmove(c->out, c->out + n, c->length);
    }
    if (c->length == 0 && c->state == CONNECTION_PARTING && !c->half_closed) {
        c->half_closed = true;
        shutdown(c->fd, SHUT_WR);
    }
    if ((c->length > 0) != c->wants_to_send) {
        c->wants_to_send = c->length > 0;
        event.events |= c->wants_to_send ? EPOLLOUT : 0;
        epoll_ctl(c->service->epoll, EPOLL_CTL_MOD, c->fd, &event);
    }
    return true;
}

// ---- the whole ----

static bool svc_is_late(const struct connection *c, uint64_t now) {
    return (c->state == CONNECTION_STRANGER && now - c->since >= SERVICE_REQUEST_NS) ||
           (c->state == CONNECTION_PARTING && now - c->since >= PARTING_NS);
}

// What there is to send was written by any of the others' turns.
static void svc_write_all(struct service *s, bool late) {
    for (size_t i = s->n;
         i-- > 0;) { // dropping one moves the last, which had its turn, into its place
        if (i >= s->n)
            continue;
        struct connection *c = s->list[i];
        if (late && c->state == CONNECTION_STRANGER && svc_is_late(c, s->now))
            svc_refuse(c, "no request has come within 5 s");
        if (c->lost)
            svc_drop(c, "it does not read its replies");
        else if (late && svc_is_late(c, s->now))
            svc_drop(c, "");
        else if ((c->length > 0 && !c->wants_to_send) ||
                 (c->state == CONNECTION_PARTING && !c->half_closed && c->length == 0))
            if (!svc_write(c))
                svc_drop(c, "its connection was closed");
    }
}

void service_poll(struct service *s, uint64_t now_ns) {
    struct epoll_event events[EVENTS_A_TURN];
    bool comes = false;
    s->now = now_ns;
    const int n = epoll_wait(s->epoll, events, EVENTS_A_TURN, 0);
    for (int i = 0; i < n; i++) {
        struct connection *c = events[i].data.ptr;
        if (!c) {
            comes = true;
            continue;
        }
        const bool readable = events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR);
        if ((readable && !svc_receive(c)) || (events[i].events & EPOLLOUT && !svc_write(c)))
            svc_drop(c, "its connection was closed");
    }
    if (comes) // after all that events are about
        svc_accept(s);
    admission_run(s->admission, now_ns);
    const bool late = now_ns - s->looked >= LOOK_NS;
    if (late)
        s->looked = now_ns;
    svc_write_all(s, late);
}

struct service *service_open(const struct service_options *o, struct sk_error *err) {
    struct epoll_event event = {.events = EPOLLIN};
    struct admission_ops ops = o->jobs;
    const int fd = sk_listen(&o->listen, BACKLOG),
              epoll = fd < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        sk_fail(err, "cannot listen for workers of jobs: %s", strerror(errno));
        return NULL;
    }
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
        sk_fail(err, "cannot watch connections of workers: %s", strerror(errno));
        close(fd);
        if (epoll >= 0)
            close(epoll);
        return NULL;
    }
    struct service *s = calloc(1, sizeof *s);
    if (!s || !(s->token = strdup(o->token)))
        abort();
    s->fd = fd;
    s->epoll = epoll;
    s->silence = o->silence;
    ops.waits = svc_waits;
    ops.admitted = svc_admitted;
    ops.over = svc_over;
    s->admission = admission_new(&ops, o->aux, o->slots, o->wait_ns, o->grace_ns);
    return s;
}

int service_fd(const struct service *s) {
    return s->epoll;
}

uint16_t service_port(const struct service *s) {
    return sk_listen_port(s->fd);
}

struct admission *service_admission(struct service *s) {
    return s->admission;
}

struct service_counts service_counts(const struct service *s) {
    const struct admission_counts c = admission_counts(s->admission);
    return (struct service_counts){c.admitted, c.failed, s->refused, s->n, c.jobs};
}

void service_close(struct service *s) {
    if (!s)
        return;
    admission_free(s->admission);
    s->admission = NULL;
    for (size_t i = 0; i < s->n; i++) { // all were told
        svc_write(s->list[i]);
        close(s->list[i]->fd);
        free(s->list[i]);
    }
    close(s->epoll);
    close(s->fd);
    free(s->token);
    free(s);
}
