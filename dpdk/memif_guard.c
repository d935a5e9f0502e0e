// SPDX-License-Identifier: Apache-2.0
#define ALLOW_EXPERIMENTAL_API // of interrupt handles
#include "dpdk/memif_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_interrupts.h>

// ---- guards ----

static pthread_mutex_t handlers = PTHREAD_MUTEX_INITIALIZER; // held while one runs
static struct memif_guard *guards;                           // under it

void memif_guard_add(struct memif_guard *g) {
    pthread_mutex_lock(&handlers);
    g->next = guards;
    guards = g;
    pthread_mutex_unlock(&handlers);
}

void memif_guard_remove(struct memif_guard *g) {
    pthread_mutex_lock(&handlers);
    for (struct memif_guard **at = &guards; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    pthread_mutex_unlock(&handlers);
}

void memif_guard_stop_handlers(void) {
    pthread_mutex_lock(&handlers);
}

// ---- handlers ----

// A handler of memif as the driver knows it; what DPDK knows is wrapper() with this as argument.
struct handler {
    rte_intr_callback_fn fn;
    void *arg;
    int fd;
    rte_intr_unregister_callback_fn gone_fn;
    bool gone;  // unregistered while it was about to run: its argument's device may be closed
    bool ended; // it listens for nobody
    struct handler *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handler *list;

static void drop_closed(void);

static bool is_gone(const struct handler *h) {
    pthread_mutex_lock(&list_lock);
    bool gone = h->gone;
    pthread_mutex_unlock(&list_lock);
    return gone;
}

static void wrapper(void *aux) {
    const struct handler *h = aux;
    pthread_mutex_lock(&handlers);
    if (!is_gone(h)) {
        for (struct memif_guard *g = guards; g; g = g->next)
            memif_guard_hold(g);
        h->fn(h->arg);
        for (struct memif_guard *g = guards; g; g = g->next)
            memif_guard_release(g);
        drop_closed();
    }
    pthread_mutex_unlock(&handlers);
}

static struct handler *find(rte_intr_callback_fn fn, const void *arg) {
    pthread_mutex_lock(&list_lock);
    struct handler *h = list;
    while (h && (h->fn != fn || h->arg != arg || h->gone))
        h = h->next;
    pthread_mutex_unlock(&list_lock);
    return h;
}

static void forget(struct handler *h) {
    pthread_mutex_lock(&list_lock);
    for (struct handler **at = &list; *at; at = &(*at)->next)
        if (*at == h) {
            *at = h->next;
            break;
        }
    pthread_mutex_unlock(&list_lock);
    free(h);
}

static void wrapper_gone(struct rte_intr_handle *handle, void *aux) {
    struct handler *h = aux;
    if (h->gone_fn)
        h->gone_fn(handle, h->arg);
    forget(h);
}

static bool is_memif(rte_intr_callback_fn fn) {
    Dl_info where;
    void *at;
    memcpy(&at, &fn, sizeof at);
    return dladdr(at, &where) && where.dli_fname && strstr(where.dli_fname, "net_memif");
}

// ---- in DPDK's place ----

typedef int (*register_fn)(const struct rte_intr_handle *, rte_intr_callback_fn, void *);
typedef int (*pending_fn)(const struct rte_intr_handle *, rte_intr_callback_fn, void *,
                          rte_intr_unregister_callback_fn);

// DPDK's drivers find these functions in place of DPDK's own.
#define IN_PLACE_OF_DPDK __attribute__((visibility("default")))

static void *dpdk(const char *name) {
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        abort(); // we are linked with it
    return fn;
}

static register_fn dpdk_register(const char *name) {
    void *found = dpdk(name);
    register_fn fn;
    memcpy(&fn, &found, sizeof fn);
    return fn;
}

IN_PLACE_OF_DPDK int rte_intr_callback_register(const struct rte_intr_handle *handle,
                                                rte_intr_callback_fn fn, void *arg) {
    const register_fn next = dpdk_register("rte_intr_callback_register");
    struct handler *h = is_memif(fn) ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return next(handle, fn, arg);
    *h = (struct handler){.fn = fn, .arg = arg, .fd = rte_intr_fd_get(handle)};
    pthread_mutex_lock(&list_lock);
    h->next = list;
    list = h;
    pthread_mutex_unlock(&list_lock);
    int rc = next(handle, wrapper, h);
    if (rc < 0)
        forget(h);
    return rc;
}

// From DPDK, which knows handlers by their descriptors.
static int take_back(struct handler *h) {
    struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    int rc = -ENOMEM;
    if (handle && rte_intr_fd_set(handle, h->fd) == 0)
        rc = dpdk_register("rte_intr_callback_unregister")(handle, wrapper, h);
    rte_intr_instance_free(handle);
    return rc;
}

static struct handler *find_closed(void) {
    pthread_mutex_lock(&list_lock);
    struct handler *h = list;
    while (h && (h->gone || h->fd < 0 || fcntl(h->fd, F_GETFD) >= 0))
        h = h->next;
    pthread_mutex_unlock(&list_lock);
    return h;
}

// memif_listener_handler closes the descriptor of a peer to which it cannot say hello, and leaves its
// handler with DPDK.
static void drop_closed(void) {
    for (struct handler *h; (h = find_closed());) {
        take_back(h);
        forget(h);
    }
}

static struct handler *find_ended(void) {
    pthread_mutex_lock(&list_lock);
    struct handler *h = list;
    while (h && !h->ended)
        h = h->next;
    pthread_mutex_unlock(&list_lock);
    return h;
}

void memif_guard_go_on(void) {
    pthread_mutex_unlock(&handlers);
    for (struct handler *h; (h = find_ended());) {
        if (take_back(h) == -EAGAIN) { // it is being called, and sees that it is gone
            usleep(100);
            continue;
        }
        close(h->fd);
        forget(h);
    }
}

// Of abstract sockets the first byte is null.
static bool listens_at(int fd, const char *path) {
    struct sockaddr_un at = {0};
    socklen_t length = sizeof at;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens ||
        getsockname(fd, (struct sockaddr *)&at, &length) || at.sun_family != AF_UNIX)
        return false;
    const char *name = at.sun_path + (at.sun_path[0] == 0);
    return strncmp(name, path, sizeof at.sun_path - 1) == 0;
}

void memif_guard_end_listener(const char *path) {
    pthread_mutex_lock(&list_lock);
    for (struct handler *h = list; h; h = h->next)
        if (listens_at(h->fd, path))
            h->gone = h->ended = true;
    pthread_mutex_unlock(&list_lock);
}

static int unregister(const char *name, const struct rte_intr_handle *handle,
                      rte_intr_callback_fn fn, void *arg) {
    struct handler *h = find(fn, arg);
    if (!h)
        return dpdk_register(name)(handle, fn, arg);
    int rc = dpdk_register(name)(handle, wrapper, h);
    if (rc > 0)
        forget(h);
    return rc;
}

IN_PLACE_OF_DPDK int rte_intr_callback_unregister(const struct rte_intr_handle *handle,
                                                  rte_intr_callback_fn fn, void *arg) {
    return unregister("rte_intr_callback_unregister", handle, fn, arg);
}

IN_PLACE_OF_DPDK int rte_intr_callback_unregister_sync(const struct rte_intr_handle *handle,
                                                       rte_intr_callback_fn fn, void *arg) {
    return unregister("rte_intr_callback_unregister_sync", handle, fn, arg);
}

IN_PLACE_OF_DPDK int rte_intr_callback_unregister_pending(const struct rte_intr_handle *handle,
                                                          rte_intr_callback_fn fn, void *arg,
                                                          rte_intr_unregister_callback_fn gone_fn) {
    void *found = dpdk("rte_intr_callback_unregister_pending");
    pending_fn next;
    memcpy(&next, &found, sizeof next);
    struct handler *h = find(fn, arg);
    if (!h)
        return next(handle, fn, arg, gone_fn);
    pthread_mutex_lock(&list_lock);
    h->gone_fn = gone_fn;
    h->gone = true;
    pthread_mutex_unlock(&list_lock);
    int rc = next(handle, wrapper, h, wrapper_gone);
    if (rc < 0) {
        pthread_mutex_lock(&list_lock);
        h->gone = false;
        pthread_mutex_unlock(&list_lock);
    }
    return rc;
}
