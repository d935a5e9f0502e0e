// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports/ports_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>

#include "pipeline/ports/eal.h"

#define MBUF_CACHE  128
#define INSIDE      4096u // packets that wait in the switch's queues
#define NOT_SHARING 8u    // of interfaces of the kernel's, and buffers for each that does
#define SHARED      160u
#define LAST_TRIES  100 // of sending at the end, a millisecond apart
// Buffers of a port that is added: as many as ports_memory() has for each
#define ADDED (2 * PORTS_DESCRIPTORS + SK_PORTS_QUEUE + (SK_PIPES + 1) * 2 * MBUF_CACHE)

// ---- opening ----

static struct dpdk_port *new_port(struct sk_ports *ports, const struct sk_port_spec *spec,
                                  char *error, size_t error_size) {
    if (!sk_port_exists(spec->dev_port) || ports->by_number[spec->dev_port]) {
        snprintf(error, error_size, "port %u %s", spec->dev_port,
                 sk_port_exists(spec->dev_port) ? "is given twice" : "is not a device port");
        return NULL;
    }
    struct dpdk_port *p = calloc(1, sizeof *p);
    if (!p || !(p->frame = malloc(SK_PORTS_FRAME)))
        abort();
    p->dev_port = spec->dev_port;
    p->pool = ports->pool;
    p->queues = 1;
    p->cut = UINT32_MAX;
    p->is_tap = ports_is_tap(spec->device);
    return p;
}

static bool open_inside(struct sk_ports *ports, struct dpdk_port *p,
                        const struct sk_port_spec *spec, char *error, size_t error_size) {
    if (ports->inside || spec->queues > 1)
        snprintf(error, error_size,
                 ports->inside ? "port %u: there can be only one inside port, and it exists already"
                               : "port %u: an inside port receives on one queue",
                 spec->dev_port);
    else if (!ports_inside_open(ports, p))
        snprintf(error, error_size, "port %u: not enough memory for its rings", spec->dev_port);
    p->mtu = spec->mtu;
    p->longest = p->longest_tagged = ports_longest(spec->mtu);
    return p->inside;
}

static void free_one(struct dpdk_port *p) {
    rte_mempool_free(p->small);
    free(p->frame);
    free(p);
}

// The kernel lets go of an interface's queue only some time after the last socket on it was closed,
// in a work queue of its own; until then an af_xdp port that is opened again finds it busy. The
// driver cannot try again with what it has: its counters of the rings have gone on.
#define BUSY_TRIES   20
#define BUSY_WAIT_US 10000
static void ports_open_give_back(struct dpdk_port *p) {
    struct rte_device *device = ports_device_close(p);
    if (device)
        rte_dev_remove(device);
    rte_mempool_free(p->small);
    p->small = NULL;
    usleep(BUSY_WAIT_US);
}

static bool ports_open_kernel(const struct sk_ports *ports, struct dpdk_port *p,
                              const struct sk_port_spec *spec, char *error, size_t error_size) {
    const bool many = ports->expected > PORTS_MANY || ports->n > PORTS_MANY;
    const struct af_packet_rings rings = ports_af_packet_rings(spec, ports->own_processors, many);
    return ports_kernel_open(p, spec, &rings, error, error_size);
}

// Its device, or its rings. False with a sentence, and 'p' is to be ended all the same.
static bool ports_open_port(struct sk_ports *ports, struct dpdk_port *p,
                            const struct sk_port_spec *spec, char *error, size_t error_size) {
    if (ports_is_inside(spec->device))
        return open_inside(ports, p, spec, error, error_size);
    if (!ports_string_check(ports, spec, error, error_size))
        return false;
    if (ports_is_memif(spec->device))
        return ports_memif_open(p, spec, error, error_size);
    if (ports_is_kernel(spec->device))
        return ports_open_kernel(ports, p, spec, error, error_size);
    for (unsigned tries = BUSY_TRIES;;) {
        p->attached =
            ports_eal_attach(spec, ports->own_processors, &p->id, &p->sockets, error, error_size);
        if (!p->attached || ports_configure(ports, p, spec, error, error_size))
            return p->attached;
        if (!p->busy || --tries == 0)
            return false;
        ports_open_give_back(p);
    }
}

static bool open_one(struct sk_ports *ports, const struct sk_port_spec *spec, char *error,
                     size_t error_size) {
    struct dpdk_port *p = new_port(ports, spec, error, error_size);
    if (!p)
        return false;
    ports->list[ports->n++] = p; // from here on it is closed with all others
    ports->by_number[spec->dev_port] = p;
    return ports_open_port(ports, p, spec, error, error_size);
}

// Enough for every port's receive ring, its device's and our own send queue. Interfaces of the
// kernel's by our own driver keep none, and of many few have full queues at a time: those beyond
// the first share what is there, and a frame for which there is no buffer waits in its ring.
uint32_t ports_memory(const struct sk_port_spec *specs, size_t n, uint32_t *buffers) {
    uint32_t sharing = 0;
    for (size_t i = 0; i < n; i++)
        sharing += ports_is_kernel(specs[i].device);
    sharing = sharing > NOT_SHARING ? sharing - NOT_SHARING : 0;
    const uint32_t all = ((uint32_t)n - sharing) * (2 * PORTS_DESCRIPTORS + SK_PORTS_QUEUE) +
                         sharing * SHARED + 4 * PORTS_BURST + (SK_PIPES + 1) * 2 * MBUF_CACHE +
                         INSIDE;
    if (buffers)
        *buffers = all;
    return all / 85 + 1; // a little less than 12,000 bytes each
}

static struct ports_pool *ports_open_make_pool(struct sk_ports *ports, uint32_t n, char *error,
                                               size_t error_size) {
    char name[RTE_MEMPOOL_NAMESIZE] = "silken"; // by which tests find it
    struct ports_pool *p = &ports->pools[ports->n_pools];
    if (ports->n_pools > 0)
        snprintf(name, sizeof name, "silken%u", (unsigned)ports->n_pools);
    p->pool =
        rte_pktmbuf_pool_create(name, n, MBUF_CACHE, PORTS_PACKET + PORTS_MIDDLE + PORTS_FRONT,
                                PORTS_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    if (!p->pool) {
        snprintf(error, error_size,
                 "not enough memory for %u packet buffers (%u MiB); see --memory", n, n / 85 + 1);
        return NULL;
    }
    rte_mempool_obj_iter(p->pool, ports_init_packet, NULL);
    p->used = true;
    ports->n_pools++;
    return p;
}

static bool make_first_pool(struct sk_ports *ports, const struct sk_port_spec *specs,
                            size_t n_ports, char *error, size_t error_size) {
    uint32_t n;
    ports_memory(specs, n_ports, &n);
    const struct ports_pool *p = ports_open_make_pool(ports, n, error, error_size);
    ports->pool = p ? p->pool : NULL;
    return p;
}

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size) {
    struct sk_ports *ports = calloc(1, sizeof *ports);
    if (!ports) {
        snprintf(error, error_size, "not enough memory for %zu ports", n);
        return NULL;
    }
    ports->own_processors = opt->own_processors;
    ports->expected = n;
    bool good = ports_eal_start(specs, n, opt, error, error_size) &&
                make_first_pool(ports, specs, n, error, error_size);
    for (size_t i = 0; good && i < n; i++)
        good = open_one(ports, &specs[i], error, error_size);
    if (!good) {
        sk_ports_close(ports);
        return NULL;
    }
    return ports;
}

// ---- with a switch ----

static void ports_open_join(struct sk_ports *ports, struct dpdk_port *p) {
    const unsigned core = sk_switch_core_of(ports->sw, sk_port_pipe(p->dev_port));
    p->core = sk_switch_core(ports->sw, core);
    ports->of_core[core][ports->n_of_core[core]++] = p;
    ports_sample_begin(ports, p);
    ports->buffers.queue[p->dev_port] = &p->queue;
    sk_switch_port_longest(ports->sw, p->dev_port, p->longest, p->longest_tagged);
}

void sk_ports_attach(struct sk_ports *ports, struct sk_switch *sw) {
    ports->sw = sw;
    ports->buffers = ports_buffers(ports);
    if (!sk_switch_use_buffers(sw, &ports->buffers))
        abort(); // out of memory
    for (size_t i = 0; i < ports->n; i++)
        ports_open_join(ports, ports->list[i]);
}

// ---- closing ----

static bool all_sent(struct sk_ports *ports) {
    bool done = true;
    for (size_t i = 0; i < ports->n; i++) {
        struct dpdk_port *p = ports->list[i];
        if (p->started)
            ports_flush(p);
        done &= ports_waiting(p) == 0 || !p->started || !ports_link_is_up(p);
    }
    return done;
}

static struct rte_device *close_port(struct sk_ports *ports, struct dpdk_port *p) {
    if (p->inside)
        ports_inside_close(ports, p);
    if (p->memif)
        ports_memif_close(p);
    if (p->kernel)
        ports_kernel_close(p);
    return p->attached ? ports_device_close(p) : NULL;
}

static void close_devices(struct sk_ports *ports) {
    for (size_t i = 0; i < ports->n; i++) {
        ports_lose_waiting(ports->list[i]);
        close_port(ports, ports->list[i]);
    }
}

// DPDK clears memory that it is given back, all of it, touched or not: of a process that ends, the
// kernel takes it.
static uint32_t ports_open_close_all(struct sk_ports *ports, bool gives_back) {
    uint32_t lost = 0;
    if (!ports)
        return 0;
    for (int i = 0; i < LAST_TRIES && !all_sent(ports); i++)
        usleep(1000);
    if (ports->sw && !sk_switch_use_buffers(ports->sw, NULL))
        abort(); // out of memory
    close_devices(ports);
    for (size_t i = 0; i < ports->n; i++)
        free_one(ports->list[i]);
    for (size_t i = 0; i < ports->n_pools; i++) {
        lost += rte_mempool_in_use_count(ports->pools[i].pool);
        if (gives_back)
            rte_mempool_free(ports->pools[i].pool);
    }
    for (unsigned c = 0; c < SK_PIPES; c++)
        free(ports->samplers[c]);
    free(ports);
    return lost;
}

uint32_t sk_ports_close(struct sk_ports *ports) {
    return ports_open_close_all(ports, true);
}

uint32_t sk_ports_end(struct sk_ports *ports) {
    return ports_open_close_all(ports, false);
}

// ---- while it runs ----

static struct ports_pool *take_pool(struct sk_ports *ports, char *error, size_t error_size) {
    for (size_t i = 1; i < ports->n_pools; i++)
        if (!ports->pools[i].used) {
            ports->pools[i].used = true;
            return &ports->pools[i];
        }
    return ports_open_make_pool(ports, ADDED, error, error_size);
}

static void give_pool(struct sk_ports *ports, const struct rte_mempool *pool) {
    for (size_t i = 1; i < ports->n_pools; i++)
        if (ports->pools[i].pool == pool)
            ports->pools[i].used = false;
}

// One that no core knows, or any more.
static void end_port(struct sk_ports *ports, struct dpdk_port *p) {
    struct rte_device *device = close_port(ports, p);
    if (device) // else its name stays taken
        rte_dev_remove(device);
    give_pool(ports, p->pool);
    free_one(p);
}

// False when there is no memory: new_port() gave it the first pool.
static bool find_pool(struct sk_ports *ports, struct dpdk_port *p, char *error, size_t error_size) {
    if (ports->left[p->dev_port].share)
        return true;
    const struct ports_pool *pool = take_pool(ports, error, error_size);
    p->pool = pool ? pool->pool : NULL;
    return pool;
}

// 'again': it is one that waits, or did not get as far.
static bool ports_open_add(struct sk_ports *ports, const struct sk_port_spec *spec, bool again,
                           const struct sk_ports_pause *pause, char *error, size_t error_size) {
    struct dpdk_port *p = new_port(ports, spec, error, error_size);
    if (!p)
        return false;
    struct ports_left *const left = &ports->left[p->dev_port];
    if (!find_pool(ports, p, error, error_size) ||
        !ports_open_port(ports, p, spec, error, error_size)) {
        end_port(ports, p);
        return false;
    }
    pause->pause(pause->aux);
    ports->list[ports->n++] = p;
    ports->by_number[spec->dev_port] = p;
    ports_open_join(ports, p);
    p->met = again; // then it is up when its link is
    p->disabled = again && left->disabled;
    sk_switch_port_up(ports->sw, p->dev_port, !again);
    pause->resume(pause->aux);
    *left = (struct ports_left){0};
    return true;
}

bool sk_ports_add(struct sk_ports *ports, const struct sk_port_spec *spec,
                  const struct sk_ports_pause *pause, char *error, size_t error_size) {
    return ports_open_add(ports, spec, false, pause, error, error_size);
}

static void ports_open_forget(struct dpdk_port **list, size_t *n, const struct dpdk_port *p) {
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (list[i] != p)
            list[kept++] = list[i];
    *n = kept;
}

static void ports_open_part(struct sk_ports *ports, struct dpdk_port *p) {
    const unsigned core = sk_switch_core_of(ports->sw, sk_port_pipe(p->dev_port));
    ports_open_forget(ports->of_core[core], &ports->n_of_core[core], p);
    ports_open_forget(ports->list, &ports->n, p);
    ports->by_number[p->dev_port] = NULL;
    ports->buffers.queue[p->dev_port] = NULL;
    ports_lose_waiting(p);
    sk_switch_port_longest(ports->sw, p->dev_port, SK_PORTS_FRAME, SK_PORTS_FRAME);
}

// Between two looks the port's core goes on sending.
static bool is_sent(struct dpdk_port *p, const struct sk_ports_pause *pause, int tries) {
    pause->pause(pause->aux);
    const bool sent = ports_waiting(p) == 0;
    pause->resume(pause->aux);
    if (!sent && tries > 0)
        usleep(1000);
    return sent;
}

bool sk_ports_remove(struct sk_ports *ports, uint16_t dev_port, const struct sk_ports_pause *pause,
                     char *error, size_t error_size) {
    struct dpdk_port *p = dev_port < SK_PORTS ? ports->by_number[dev_port] : NULL;
    if (!p && dev_port < SK_PORTS && ports->left[dev_port].waiting) {
        ports->left[dev_port].waiting = false;
        return true;
    }
    if (!p || p->inside) {
        snprintf(error, error_size,
                 p ? "port %u is inside this process and cannot be removed" : "there is no port %u",
                 dev_port);
        return false;
    }
    ports->left[dev_port] =
        (struct ports_left){.disabled = p->disabled, .share = p->pool == ports->pool};
    pause->pause(pause->aux);
    p->disabled = true;
    sk_switch_port_up(ports->sw, dev_port, false);
    pause->resume(pause->aux);
    for (int i = LAST_TRIES; i > 0 && !is_sent(p, pause, i); i--)
        ;
    pause->pause(pause->aux);
    ports_open_part(ports, p);
    pause->resume(pause->aux);
    end_port(ports, p);
    return true;
}

bool sk_ports_has(const struct sk_ports *ports, uint16_t dev_port) {
    return dev_port < SK_PORTS && ports->by_number[dev_port];
}

void sk_ports_wait(struct sk_ports *ports, uint16_t dev_port) {
    if (dev_port < SK_PORTS && !ports->by_number[dev_port])
        ports->left[dev_port].waiting = true;
}

bool sk_ports_reopen(struct sk_ports *ports, const struct sk_port_spec *spec,
                     const struct sk_ports_pause *pause, char *error, size_t error_size) {
    if (sk_ports_has(ports, spec->dev_port) &&
        !sk_ports_remove(ports, spec->dev_port, pause, error, error_size))
        return false;
    if (ports_open_add(ports, spec, true, pause, error, error_size))
        return true;
    sk_ports_wait(ports, spec->dev_port);
    return false;
}
