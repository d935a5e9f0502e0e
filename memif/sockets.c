// SPDX-License-Identifier: Apache-2.0
//
// sockets: the room's thread. It waits for all sockets, hands messages to sessions and does what
// these say. Everything here is under one lock, but for waiting; calls that may take long are none
// of these: closing a peer's descriptor has a thread of its own, and what is sent to a peer that
// does not read is dropped, with the peer.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "memif/memif_impl.h"

#define MILLISECOND UINT64_C(1000000)
#define AGAIN       (100 * MILLISECOND)   // between attempts of a client
#define PATIENCE    (10000 * MILLISECOND) // for a peer to connect
#define MOST_GUESTS 16u                   // of a listener, that have not said whom they want
#define MOST_FDS    253u                  // that the kernel sends with a message
#define MOST_EVENTS 1024u                 // sockets that are looked at in one go
#define BACKLOG     64

struct memif_listener {
    char name[MEMIF_SOCKET_NAME + 1];
    bool abstract;
    int fd;
    dev_t device; // of the socket's file
    ino_t inode;
    unsigned devices;
    struct memif_listener *next;
};
struct memif_peer {
    int fd;
    struct memif_session session;
    struct memif *device;            // null: not said yet
    struct memif_listener *listener; // null: we are the client
    uint64_t until;                  // it has to be connected; 0: it is
    struct ucred who;
    struct memif_peer *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static int wake = -1; // an eventfd of our own
static bool stop;
static struct memif *devices;
static struct memif_listener *listeners;
static struct memif_peer *peers;

void memif_sockets_wake(void) {
    eventfd_write(wake, 1);
}

// ---- peers ----

static struct memif_peer *memif_peer_new(int fd, struct memif_listener *listener,
                                         struct memif *device) {
    struct memif_peer *p = calloc(1, sizeof *p);
    socklen_t size = sizeof p->who;
    if (!p)
        return NULL;
    p->fd = fd;
    p->listener = listener;
    p->device = device;
    p->until = sk_clock_now() + PATIENCE;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &p->who, &size);
    p->next = peers;
    peers = p;
    return p;
}

static bool memif_peer_send(const struct memif_peer *p, const struct memif_reply *r) {
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)r->bytes, MEMIF_MESSAGE};
    struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};
    if (r->fd >= 0) {
        h.msg_control = control;
        h.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &r->fd, sizeof r->fd);
    }
    return sendmsg(p->fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == MEMIF_MESSAGE;
}

// 'goodbye': what the peer is told, or null.
static void memif_peer_end(struct memif_peer *p, const char *goodbye) {
    struct memif_reply reply;
    for (struct memif_peer **at = &peers; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    if (p->device) {
        memif_link_down(p->device);
        p->device->peer = NULL;
        p->device->next_try = sk_clock_now() + AGAIN;
    }
    if (goodbye) {
        memif_session_goodbye(goodbye, &reply);
        memif_peer_send(p, &reply);
    }
    memif_session_end(&p->session);
    memif_let_go(p->fd);
    free(p);
}

// Who is told what a peer did that has not said which device it wants: the first of its socket.
static struct memif *memif_peer_device(const struct memif_peer *p) {
    struct memif *m = p->device;
    for (struct memif *d = devices; d && !m; d = d->next)
        m = d->listener && d->listener == p->listener ? d : NULL;
    return m;
}

static void memif_peer_broke(struct memif_peer *p, const char *what) {
    struct memif *m = memif_peer_device(p);
    char goodbye[MEMIF_REASON];
    if (m) {
        atomic_fetch_add(&m->closed, 1);
        memif_say(m, sk_clock_now(), "memif: closed a peer (pid %d, uid %d%s%s): it %s",
                  (int)p->who.pid, (int)p->who.uid, p->session.peer[0] ? ", " : "", p->session.peer,
                  what);
    }
    snprintf(goodbye, sizeof goodbye, "the peer %.80s", what);
    memif_peer_end(p, goodbye);
}

// An ordinary end: said only when it is another than the last time.
static void memif_peer_left(struct memif_peer *p, const char *why) {
    struct memif *m = p->device;
    char what[128];
    if (m && atomic_load(&m->fault)) { // it went before we came to it
        memif_fault_text(m, what, sizeof what);
        memif_peer_broke(p, what);
        return;
    }
    if (m && why[0] && p->session.step != MEMIF_IS_UP && strcmp(m->last_said, why) != 0) {
        snprintf(m->last_said, sizeof m->last_said, "%s", why);
        memif_say(m, sk_clock_now(), "memif: the peer does not connect: %s", why);
    }
    memif_peer_end(p, NULL);
}

// ---- messages ----

// Descriptors that came with a message. What is no SCM_RIGHTS a peer cannot send.
static unsigned memif_descriptors(struct msghdr *h, int fds[MOST_FDS]) {
    unsigned n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t there = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < there && n < MOST_FDS; i++)
            memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return n;
}

static void memif_peer_is_up(struct memif_peer *p) {
    p->until = 0;
    p->device->last_said[0] = '\0';
    if (!memif_link_up(p->device, &p->session))
        memif_peer_end(p, "out of memory");
}

static void memif_peer_did(struct memif_peer *p, enum memif_result result,
                           const struct memif_reply *reply) {
    if (result == MEMIF_BROKEN) {
        memif_peer_broke(p, p->session.wrong);
    } else if (result == MEMIF_OVER) {
        char why[sizeof p->session.wrong];
        memcpy(why, p->session.wrong, sizeof why);
        if (p->device)
            memif_peer_left(p, why);
        else
            memif_peer_end(p, why);
    } else if (reply->there && !memif_peer_send(p, reply)) {
        memif_peer_left(p, "it does not read what it is sent");
    } else if (result == MEMIF_UP) {
        memif_peer_is_up(p);
    }
}

// For a session: the device that a client of this listener asks for. It is the peer's from here on.
static const struct memif_options *memif_find(void *aux, uint32_t id, const char **why) {
    struct memif_peer *p = aux;
    for (struct memif *m = devices; m; m = m->next) {
        if (m->listener != p->listener || m->o.id != id)
            continue;
        *why = "there is a peer already";
        return m->peer ? NULL : &m->o;
    }
    *why = "there is no device with this id";
    return NULL;
}

// After INIT, when the secret was right: the device has a peer.
static void memif_peer_settle(struct memif_peer *p) {
    for (struct memif *m = devices; m && !p->device; m = m->next)
        if (&m->o == p->session.o) {
            p->device = m;
            m->peer = p;
        }
}

// One message: others wait no longer for a peer that sends many.
static void memif_peer_hear(struct memif_peer *p) {
    uint8_t message[MEMIF_MESSAGE + 1];
    // room for as many descriptors as the kernel lets through: those that do not fit it would close
    // on this thread
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_FDS * sizeof(int))];
    struct iovec part = {message, sizeof message};
    struct msghdr h = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    struct memif_reply reply;
    int fds[MOST_FDS];
    const ssize_t n = recvmsg(p->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 && h.msg_controllen == 0) {
        memif_peer_left(p, "");
        return;
    }
    const size_t length = n < 0 ? 0 : h.msg_flags & MSG_TRUNC ? sizeof message : (size_t)n;
    const unsigned n_fds = n < 0 ? 0 : memif_descriptors(&h, fds);
    const enum memif_result result =
        memif_session_hear(&p->session, message, length, fds, n_fds, &reply);
    if (p->listener && p->session.o && !p->device)
        memif_peer_settle(p);
    memif_peer_did(p, result, &reply);
}

// ---- a server ----

static void memif_turn_out(const struct memif_listener *l) {
    struct memif_peer *oldest = NULL;
    unsigned n = 0;
    for (struct memif_peer *p = peers; p; p = p->next)
        if (p->listener == l && !p->device) {
            oldest = p;
            n++;
        }
    if (n >= MOST_GUESTS)
        memif_peer_end(oldest, "others are waiting");
}

static void memif_listener_accept(struct memif_listener *l) {
    struct memif_reply hello;
    const int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    memif_turn_out(l);
    struct memif_peer *p = memif_peer_new(fd, l, NULL);
    if (!p) {
        memif_let_go(fd);
        return;
    }
    memif_session_begin(&p->session, NULL, &hello);
    p->session.find = memif_find;
    p->session.aux = p;
    if (!memif_peer_send(p, &hello))
        memif_peer_end(p, NULL);
}

// ---- addresses ----

static socklen_t memif_address(const char *name, bool abstract, struct sockaddr_un *out) {
    const size_t n = strlen(name);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(out->sun_path + abstract, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
}

// Closes it, if it is open, and keeps errno. Returns -1.
static int memif_give_up(int fd) {
    const int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

static int memif_connect_to(const struct memif_options *o) {
    struct sockaddr_un address;
    const socklen_t size = memif_address(o->socket, o->abstract, &address);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, size) == 0)
        return fd;
    return memif_give_up(fd);
}

// A killed server leaves its socket's file behind. Removed when nobody listens there; other files
// are left alone.
static bool memif_remove_stale(const struct memif *m) {
    struct stat st;
    if (m->o.abstract || lstat(m->o.socket, &st) || !S_ISSOCK(st.st_mode))
        return false;
    const int fd = memif_connect_to(&m->o);
    const bool stale = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (!stale || unlink(m->o.socket))
        return false;
    char line[MEMIF_LINE];
    snprintf(line, sizeof line, "removed %s, at which no process listened", m->o.socket);
    if (m->o.say)
        m->o.say(m->o.aux, line);
    return true;
}

static int memif_bind(const struct memif *m) {
    struct sockaddr_un address;
    const socklen_t size = memif_address(m->o.socket, m->o.abstract, &address);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, size) == 0;
    if (!bound && fd >= 0 && errno == EADDRINUSE) {
        bound = memif_remove_stale(m) && bind(fd, (const struct sockaddr *)&address, size) == 0;
        errno = EADDRINUSE;
    }
    if (bound && listen(fd, BACKLOG) == 0)
        return fd;
    return memif_give_up(fd);
}

static bool memif_listen(struct memif *m, char *error, size_t error_size) {
    struct memif_listener *l = listeners;
    struct stat st = {0};
    while (l && (l->abstract != m->o.abstract || strcmp(l->name, m->o.socket) != 0))
        l = l->next;
    if (!l) {
        const int fd = memif_bind(m);
        if (fd < 0 || !(l = calloc(1, sizeof *l))) {
            snprintf(error, error_size,
                     errno == EADDRINUSE
                         ? "a process listens at %s already, or it is another file"
                         : "its socket cannot be made (is the folder there, and writable?): %s: %s",
                     m->o.socket, strerror(errno));
            if (fd >= 0)
                close(fd);
            return false;
        }
        *l = (struct memif_listener){.abstract = m->o.abstract, .fd = fd, .next = listeners};
        memcpy(l->name, m->o.socket, sizeof l->name);
        if (!l->abstract && stat(l->name, &st) == 0) {
            l->device = st.st_dev;
            l->inode = st.st_ino;
        }
        listeners = l;
    }
    l->devices++;
    m->listener = l;
    return true;
}

static void memif_listener_leave(struct memif_listener *l) {
    struct stat st;
    if (--l->devices > 0)
        return;
    for (struct memif_listener **at = &listeners; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    for (struct memif_peer *p = peers, *next; p; p = next) {
        next = p->next;
        if (p->listener == l)
            memif_peer_end(p, "the device was closed");
    }
    close(l->fd);
    if (!l->abstract && stat(l->name, &st) == 0 && st.st_dev == l->device && st.st_ino == l->inode)
        unlink(l->name);
    free(l);
}

// ---- a client ----

static bool memif_call(struct memif *m) {
    struct memif_reply none;
    const int fd = memif_connect_to(&m->o);
    m->next_try = sk_clock_now() + AGAIN;
    struct memif_peer *p = fd >= 0 ? memif_peer_new(fd, NULL, m) : NULL;
    if (!p) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    memif_session_begin(&p->session, &m->o, &none);
    m->peer = p;
    return true;
}

// ---- the thread ----

// So many peers left descriptors that cannot be closed that nobody else is let in.
static bool memif_is_busy(void) {
    return memif_closing() >= MEMIF_MOST_CLOSING;
}

static unsigned memif_watch(struct pollfd *events) {
    unsigned n = 0;
    events[n++] = (struct pollfd){.fd = wake, .events = POLLIN};
    for (const struct memif_listener *l = listeners; l && n < MOST_EVENTS && !memif_is_busy();
         l = l->next)
        events[n++] = (struct pollfd){.fd = l->fd, .events = POLLIN};
    for (const struct memif_peer *p = peers; p && n < MOST_EVENTS; p = p->next)
        events[n++] = (struct pollfd){.fd = p->fd, .events = POLLIN};
    return n;
}

// Between waiting and this the socket may have gone, and its number be another's: nothing is there
// to read then.
static void memif_look_at(int fd) {
    uint64_t rung;
    if (fd == wake) {
        eventfd_read(wake, &rung);
        return;
    }
    for (struct memif_listener *l = listeners; l; l = l->next)
        if (l->fd == fd) {
            memif_listener_accept(l);
            return;
        }
    for (struct memif_peer *p = peers; p; p = p->next)
        if (p->fd == fd) {
            memif_peer_hear(p);
            return;
        }
}

static void memif_check_faults(void) {
    char what[128];
    for (struct memif *m = devices; m; m = m->next)
        if (m->peer && atomic_load(&m->fault)) {
            memif_fault_text(m, what, sizeof what);
            memif_peer_broke(m->peer, what);
        }
}

// What is due. Returns when the next is.
static uint64_t memif_check_times(uint64_t now) {
    uint64_t next = now + (memif_is_busy() ? AGAIN : PATIENCE);
    for (struct memif_peer *p = peers, *after; p; p = after) {
        after = p->next;
        if (p->until && p->until <= now)
            memif_peer_broke(p, "did not connect within 10 seconds");
        else if (p->until && p->until < next)
            next = p->until;
    }
    for (struct memif *m = devices; m; m = m->next) {
        if (m->o.server || m->peer)
            continue;
        if (m->next_try <= now)
            memif_call(m);
        next = m->next_try < next ? m->next_try : next;
    }
    return next;
}

static void *memif_run(void *aux) {
    static struct pollfd events[MOST_EVENTS];
    (void)aux;
    pthread_mutex_lock(&lock);
    while (!stop) {
        const uint64_t now = sk_clock_now(), next = memif_check_times(now);
        const unsigned n = memif_watch(events);
        pthread_mutex_unlock(&lock);
        poll(events, n, (int)((next > now ? next - now : 0) / MILLISECOND) + 1);
        pthread_mutex_lock(&lock);
        for (unsigned i = 0; i < n; i++)
            if (events[i].revents)
                memif_look_at(events[i].fd);
        memif_check_faults();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

// Signals are for other threads.
static bool memif_start_thread(void) {
    sigset_t all, before;
    sigfillset(&all);
    stop = false;
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake < 0)
        return false;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool good = pthread_create(&thread, NULL, memif_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good)
        return true;
    close(wake);
    wake = -1;
    return false;
}

static void memif_end_thread(void) {
    pthread_join(thread, NULL);
    close(wake);
    wake = -1;
}

// ---- devices ----

static bool memif_is_taken(const struct memif *m, char *error, size_t error_size) {
    for (const struct memif *d = devices; d; d = d->next)
        if (d->o.server == m->o.server && d->o.id == m->o.id && d->o.abstract == m->o.abstract &&
            strcmp(d->o.socket, m->o.socket) == 0) {
            snprintf(error, error_size, "another device has id %u of the socket %s already",
                     m->o.id, m->o.socket);
            return true;
        }
    return false;
}

static bool memif_begin(struct memif *m, char *error, size_t error_size) {
    if (memif_is_taken(m, error, error_size))
        return false;
    if (m->o.server)
        return memif_listen(m, error, error_size);
    if (memif_call(m) || !m->o.must_connect)
        return true;
    snprintf(error, error_size, "no process listens at %s: %s", m->o.socket, strerror(errno));
    return false;
}

bool memif_sockets_add(struct memif *m, char *error, size_t error_size) {
    pthread_mutex_lock(&lock);
    const bool first = devices == NULL;
    bool good = memif_begin(m, error, error_size);
    if (good) {
        m->next = devices;
        devices = m;
    }
    if (good && first && !memif_start_thread()) {
        snprintf(error, error_size, "no thread for its sockets: %s", strerror(errno));
        devices = NULL;
        if (m->peer)
            memif_peer_end(m->peer, NULL);
        if (m->listener)
            memif_listener_leave(m->listener);
        good = false;
    }
    if (good)
        memif_sockets_wake();
    pthread_mutex_unlock(&lock);
    return good;
}

void memif_sockets_remove(struct memif *m) {
    pthread_mutex_lock(&lock);
    for (struct memif **at = &devices; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    if (m->peer)
        memif_peer_end(m->peer, "the device was closed");
    if (m->listener)
        memif_listener_leave(m->listener);
    const bool last = devices == NULL;
    stop = last;
    memif_sockets_wake();
    pthread_mutex_unlock(&lock);
    if (last)
        memif_end_thread();
}
