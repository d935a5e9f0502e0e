// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports/ports_impl.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include "base/socket.h"

#define AF_PACKET_HEAD 80u // of an af_packet ring's frame, at most
#define AF_PACKET_KEPT                                                                             \
    66u // of one received: what is after it is the packet, as far as there is room

// Of an interface of the kernel's: drivers that sit on one say that theirs is up as long as they
// run.
static bool kernel_link(const struct dpdk_port *p) {
    struct ifreq r = {0};
    if (!if_indextoname(p->if_index, r.ifr_name))
        return false; // it was deleted
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &r) == 0 && r.ifr_flags & IFF_UP &&
                    r.ifr_flags & IFF_RUNNING;
    if (fd >= 0)
        close(fd);
    return up;
}

bool ports_link_is_up(const struct dpdk_port *p) {
    struct rte_eth_link link = {0};
    if (p->inside)
        return true;
    if (p->memif)
        return ports_memif_link(p->memif);
    if (p->kernel)
        return ports_kernel_link(p->kernel);
    if (p->if_index > 0 && !kernel_link(p))
        return false;
    return rte_eth_link_get_nowait(p->id, &link) == 0 && link.link_status;
}

// Drivers of sockets say -1 for whatever went wrong with theirs.
static bool is_socket(const char *device) {
    return strncmp(device, "net_vhost", strlen("net_vhost")) == 0 ||
           strncmp(device, "net_virtio_user", strlen("net_virtio_user")) == 0;
}

static bool ports_device_fail(const struct sk_port_spec *spec, const char *what, int rc,
                              char *error, size_t error_size) {
    if (rc == -1 && is_socket(spec->device)) {
        snprintf(error, error_size,
                 "port %u, device '%s': cannot %s: its socket cannot be created (does the folder "
                 "exist, and is it writable?), or, for a client, no server listens there",
                 spec->dev_port, spec->device, what);
        return false;
    }
    snprintf(error, error_size, "port %u, device '%s': cannot %s: %s", spec->dev_port, spec->device,
             what, rte_strerror(rc < 0 ? -rc : rc));
    return false;
}

// A vhost-user port that listens: its driver makes no socket where a switch that was killed has
// left one.
static bool ports_device_make_room(const struct sk_port_spec *spec, char *error,
                                   size_t error_size) {
    static const struct sk_socket_kind kind = {"socket", "process"};
    const char *path = ports_said(spec->device, "iface"),
               *client = ports_said(spec->device, "client");
    const size_t length = path ? strcspn(path, ",") : 0;
    struct sockaddr_un a;
    struct sk_error err;
    char name[sizeof a.sun_path];
    if (strncmp(spec->device, "net_vhost", strlen("net_vhost")) != 0 || length == 0 ||
        length >= sizeof name || (client && *client == '1'))
        return true; // or the driver says what is wrong
    memcpy(name, path, length);
    name[length] = '\0';
    if (sk_unix_address(name, &kind, &a, &err) == 0 && sk_unix_remove_stale(&a, &kind, &err) == 0)
        return true;
    snprintf(error, error_size, "port %u, device '%s': %s", spec->dev_port, spec->device, err.text);
    return false;
}

// ---- queues ----

static bool check_queues(const struct dpdk_port *p, const struct rte_eth_dev_info *info,
                         const struct sk_port_spec *spec, char *error, size_t error_size) {
    if (p->queues <= info->max_rx_queues)
        return true;
    snprintf(error, error_size,
             "port %u, device '%s': %u queues, and the device has %u to receive on; for a virtual "
             "device, its string gives the number",
             spec->dev_port, spec->device, p->queues, info->max_rx_queues);
    return false;
}

// Several queues of a NIC get flows by a hash; other devices' peers choose the queue.
static struct rte_eth_conf ports_device_configuration(const struct dpdk_port *p,
                                                      const struct rte_eth_dev_info *info) {
    const uint64_t hashed = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
    struct rte_eth_conf conf = {0};
    if (p->queues > 1 && (info->flow_type_rss_offloads & hashed)) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & hashed;
    }
    return conf;
}

bool ports_is_af_xdp(const char *device) {
    return strncmp(device, "net_af_xdp", strlen("net_af_xdp")) == 0;
}

static bool make_small_pool(struct dpdk_port *p) {
    char name[RTE_MEMPOOL_NAMESIZE];
    snprintf(name, sizeof name, "silken_small%u", p->dev_port);
    p->small = rte_pktmbuf_pool_create(name, PORTS_SMALL, 0, 0,
                                       PORTS_SMALL_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    return p->small;
}

static int ports_device_set_up(struct sk_ports *ports, struct dpdk_port *p,
                               const struct rte_eth_dev_info *info) {
    struct rte_mempool *pool = p->small ? p->small : ports->pool;
    const struct rte_eth_conf conf = ports_device_configuration(p, info);
    uint16_t rx = PORTS_DESCRIPTORS, tx = PORTS_DESCRIPTORS;
    // drivers that pair queues want as many to send on
    uint16_t sending = p->queues <= info->max_tx_queues ? p->queues : 1;
    int rc = rte_eth_dev_configure(p->id, p->queues, sending, &conf);
    if (rc == 0)
        rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
    for (uint16_t q = 0; rc == 0 && q < p->queues; q++)
        rc = rte_eth_rx_queue_setup(p->id, q, rx, SOCKET_ID_ANY, NULL, pool);
    for (uint16_t q = 0; rc == 0 && q < sending; q++)
        rc = rte_eth_tx_queue_setup(p->id, q, tx, SOCKET_ID_ANY, NULL);
    return rc;
}

// ---- MTU ----

uint32_t ports_interface_mtu(const char *name) {
    struct ifreq r = {0};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool known = fd >= 0 && ioctl(fd, SIOCGIFMTU, &r) == 0;
    if (fd >= 0)
        close(fd);
    return known && r.ifr_mtu > 0 ? (uint32_t)r.ifr_mtu : 0;
}

// Of the kernel's interface that the device is bound to; 0: none.
static uint32_t kernel_mtu(const struct rte_eth_dev_info *info) {
    char name[IF_NAMESIZE];
    return info->if_index > 0 && if_indextoname(info->if_index, name) ? ports_interface_mtu(name)
                                                                      : 0;
}

int ports_set_interface_mtu(const char *name, uint32_t mtu) {
    struct ifreq r = {.ifr_mtu = (int)mtu};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int rc = fd >= 0 && ioctl(fd, SIOCSIFMTU, &r) == 0 ? 0 : -errno;
    if (fd >= 0)
        close(fd);
    return rc;
}

static int set_kernel_mtu(const struct rte_eth_dev_info *info, uint32_t mtu) {
    char name[IF_NAMESIZE];
    return if_indextoname(info->if_index, name) ? ports_set_interface_mtu(name, mtu) : -ENODEV;
}

// Devices without an MTU of their own (pcap, ring, vhost) take what they are given; the port
// then has the one it is asked for.
static int set_mtu(struct dpdk_port *p, const struct rte_eth_dev_info *info,
                   const struct sk_port_spec *spec) {
    uint32_t frame = ports_af_packet_frame(spec);
    if (spec->mtu == 0)
        return 0;
    if (frame > 0 && spec->mtu + PORTS_ETHERNET + AF_PACKET_HEAD > frame)
        return -EMSGSIZE;
    int rc = rte_eth_dev_set_mtu(p->id, (uint16_t)spec->mtu);
    // DPDK takes af_packet for a device that cannot have more than 1500
    if (rc == -EINVAL && frame > 0)
        rc = set_kernel_mtu(info, spec->mtu);
    return rc == -ENOTSUP ? 0 : rc;
}

static void learn_limits(struct dpdk_port *p, const struct rte_eth_dev_info *info,
                         const struct sk_port_spec *spec) {
    uint16_t set = 0;
    uint32_t kernel = kernel_mtu(info);
    bool of_device = info->device && rte_dev_bus(info->device) &&
                     strcmp(rte_bus_name(rte_dev_bus(info->device)), "vdev") != 0;
    uint32_t frame = ports_af_packet_frame(spec);
    p->mtu = spec->mtu ? spec->mtu : kernel;
    if (p->mtu == 0 && of_device && rte_eth_dev_get_mtu(p->id, &set) == 0)
        p->mtu = set;
    p->longest = SK_PORTS_FRAME;
    if (frame > 0)
        p->cut = frame - AF_PACKET_KEPT;
    if (frame > 0 && frame - AF_PACKET_HEAD < p->longest)
        p->longest = frame - AF_PACKET_HEAD;
    if (p->small)
        p->longest = PORTS_SMALL_ROOM;
    // a ring has more room after a frame than the kernel wants there
    const bool roomy = frame > 0 && p->longest + PORTS_VLAN <= SK_PORTS_FRAME;
    p->longest_tagged = p->longest + (roomy ? PORTS_VLAN : 0);
    if (p->mtu == 0)
        return;
    // the kernel sends a frame longer than the MTU only when a tag of 802.1Q makes it so
    const uint32_t tagged = p->mtu + PORTS_ETHERNET + PORTS_VLAN;
    const uint32_t longest = kernel ? tagged - PORTS_VLAN : tagged;
    p->longest = longest < p->longest ? longest : p->longest;
    p->longest_tagged = tagged < p->longest_tagged ? tagged : p->longest_tagged;
}

uint32_t ports_longest(uint32_t mtu) {
    const uint32_t longest = mtu + PORTS_ETHERNET + PORTS_VLAN;
    return mtu && longest < SK_PORTS_FRAME ? longest : SK_PORTS_FRAME;
}

static bool mtu_failed(const struct sk_port_spec *spec, int rc, char *error, size_t error_size) {
    if (rc == -EINVAL) {
        snprintf(error, error_size,
                 "port %u, device '%s': cannot set its MTU to %u: the device does not support that",
                 spec->dev_port, spec->device, spec->mtu);
        return false;
    }
    if (rc != -EMSGSIZE)
        return ports_device_fail(spec, "set its MTU", rc, error, error_size);
    snprintf(error, error_size,
             "port %u, device '%s': cannot set its MTU to %u: the frames of its rings are of %u "
             "bytes, %u of them for the kernel (framesz in its string)",
             spec->dev_port, spec->device, spec->mtu, ports_af_packet_frame(spec), AF_PACKET_HEAD);
    return false;
}

// ---- the whole ----

// What waits in its queues, so many frames at most of each: others may go on sending. An af_packet
// device's rings hold 2,048 when nothing else is said, a net_ring device's 1,024.
#define WAITING_MOST 4096u
static void throw_waiting_away(const struct dpdk_port *p) {
    struct rte_mbuf *frames[PORTS_BURST];
    for (uint16_t q = 0; q < p->queues; q++)
        for (unsigned n = 0, got = 1; got > 0 && n < WAITING_MOST; n += got) {
            got = rte_eth_rx_burst(p->id, q, frames, PORTS_BURST);
            rte_pktmbuf_free_bulk(frames, got);
        }
}

// From when it makes its socket to when it binds it to the interface, net_af_packet receives what
// comes in by any interface of the machine, other ports of the switch among them: that is thrown
// away, with what has come in since.
static void drop_strangers(struct dpdk_port *p, const struct rte_eth_dev_info *info) {
    if (!info->driver_name || strcmp(info->driver_name, "net_af_packet") != 0)
        return;
    throw_waiting_away(p);
    ports_af_packet_dropped(&p->sockets);
    p->sockets.dropped = 0;
}

bool ports_configure(struct sk_ports *ports, struct dpdk_port *p, const struct sk_port_spec *spec,
                     char *error, size_t error_size) {
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(p->id, &info);
    p->queues = (uint16_t)(spec->queues ? spec->queues : 1);
    if (rc == 0 && !check_queues(p, &info, spec, error, error_size))
        return false;
    struct ports_xdp before;
    if (rc == 0 && !ports_device_make_room(spec, error, error_size))
        return false;
    if (rc == 0 && ports_is_af_xdp(spec->device) && !make_small_pool(p))
        rc = -ENOMEM;
    if (p->small)
        ports_xdp_find(&before, NULL);
    if (rc == 0)
        rc = ports_device_set_up(ports, p, &info);
    if (p->small)
        ports_xdp_find(&p->xdp, &before);
    p->busy = p->small && rc == -EINVAL;
    if (rc)
        return ports_device_fail(spec, "configure it", rc, error, error_size);
    if ((rc = set_mtu(p, &info, spec)))
        return mtu_failed(spec, rc, error, error_size);
    p->plain = true;
    rc = rte_eth_dev_start(p->id);
    if (rc)
        return ports_device_fail(spec, "start it", rc, error, error_size);
    p->started = true;
    p->if_index = info.if_index;
    if (!if_indextoname(p->if_index, p->interface))
        p->interface[0] = '\0';
    else if (ports_is_af_packet(spec->device))
        ports_stop_merging(p->dev_port, p->interface);
    drop_strangers(p, &info);
    learn_limits(p, &info, spec);
    // a switch takes frames for others; devices that take all anyway do not know the call
    rc = spec->not_promiscuous ? rte_eth_promiscuous_disable(p->id)
                               : rte_eth_promiscuous_enable(p->id);
    return rc == 0 || rc == -ENOTSUP ||
           ports_device_fail(spec, "receive all frames", rc, error, error_size);
}

struct rte_device *ports_device_close(struct dpdk_port *p) {
    struct rte_eth_dev_info info;
    struct rte_device *device = rte_eth_dev_info_get(p->id, &info) == 0 ? info.device : NULL;
    // A net_ring device frees its ring, and not the buffers in it: ours, which it was sent and
    // would have given back. Other drivers keep none, or free them.
    if (p->started)
        throw_waiting_away(p);
    if (p->started)
        rte_eth_dev_stop(p->id);
    rte_eth_dev_close(p->id);
    ports_xdp_close(&p->xdp);
    p->started = p->attached = false;
    p->sockets.n = 0;
    return device;
}

// ---- links ----

bool sk_ports_enable(struct sk_ports *ports, uint16_t dev_port, bool enabled) {
    struct dpdk_port *p = dev_port < SK_PORTS ? ports->by_number[dev_port] : NULL;
    if (!p && dev_port < SK_PORTS && ports->left[dev_port].waiting) {
        ports->left[dev_port].disabled = !enabled;
        return true;
    }
    if (!p)
        return false;
    p->disabled = !enabled;
    // one whose link never was up is, since it was opened; a link that is down is seen here, though
    // it is told with the others, also when it is up again by then
    const bool linked = p->linked && ports_link_is_up(p);
    p->fell |= p->linked && !linked;
    sk_switch_port_up(ports->sw, dev_port, enabled && (linked || !p->met));
    return true;
}

bool sk_ports_links_changed(const struct sk_ports *ports) {
    for (size_t i = 0; i < ports->n; i++)
        if (ports->list[i]->fell || ports_link_is_up(ports->list[i]) != ports->list[i]->linked)
            return true;
    return false;
}

void sk_ports_follow_links(struct sk_ports *ports, void (*fn)(void *aux, uint16_t port, bool up),
                           void *aux) {
    for (size_t i = 0; i < ports->n; i++) {
        struct dpdk_port *p = ports->list[i];
        bool up = ports_link_is_up(p);
        if (up == p->linked && !p->fell)
            continue;
        if (fn && up && p->fell)
            fn(aux, p->dev_port, false);
        p->fell = false;
        sk_switch_port_up(ports->sw, p->dev_port, up && !p->disabled);
        p->linked = up;
        p->met |= up;
        if (fn)
            fn(aux, p->dev_port, up);
    }
}

bool sk_ports_interface_is_gone(const struct sk_ports *ports, uint16_t dev_port) {
    char name[IF_NAMESIZE];
    const struct dpdk_port *p = dev_port < SK_PORTS ? ports->by_number[dev_port] : NULL;
    return p && p->if_index > 0 && !if_indextoname(p->if_index, name);
}

bool sk_ports_interface_is_back(const struct sk_ports *ports, uint16_t dev_port) {
    char name[IF_NAMESIZE];
    const struct dpdk_port *p = dev_port < SK_PORTS ? ports->by_number[dev_port] : NULL;
    return p && !p->linked && p->interface[0] && !p->is_tap && !if_indextoname(p->if_index, name) &&
           if_nametoindex(p->interface) > 0;
}

// ---- what devices know ----

bool sk_ports_device(const struct sk_ports *ports, uint16_t dev_port, struct sk_port_device *out) {
    struct dpdk_port *p = dev_port < SK_PORTS ? ports->by_number[dev_port] : NULL;
    struct rte_eth_dev_info info;
    struct rte_eth_link link = {0};
    struct rte_eth_stats stats = {0};
    if (!p)
        return false;
    *out = (struct sk_port_device){
        .mtu = p->mtu, .longest = p->longest, .queues = p->queues, .waiting = ports_waiting(p)};
    if (p->inside) {
        snprintf(out->driver, sizeof out->driver, "%s", SK_PORTS_INSIDE);
        out->link = out->promiscuous = true;
        out->missed = ports_inside_refused(p->inside);
        return true;
    }
    if (p->memif) {
        ports_memif_about(p->memif, out);
        return true;
    }
    if (p->kernel) {
        ports_kernel_about(p->kernel, out);
        out->missed = ports_af_packet_dropped(&p->sockets);
        return true;
    }
    out->promiscuous = rte_eth_promiscuous_get(p->id) == 1;
    if (rte_eth_dev_info_get(p->id, &info) == 0 && info.driver_name)
        snprintf(out->driver, sizeof out->driver, "%s", info.driver_name);
    out->link = ports_link_is_up(p);
    if (rte_eth_link_get_nowait(p->id, &link) == 0) {
        bool known = link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
        out->speed_mbps = known ? link.link_speed : 0;
    }
    if (rte_eth_stats_get(p->id, &stats) == 0) {
        out->missed = stats.imissed + stats.rx_nombuf + ports_af_packet_dropped(&p->sockets);
        out->rx_errors = stats.ierrors;
        out->tx_errors = stats.oerrors;
    }
    return true;
}

bool sk_ports_link(const struct sk_ports *ports, uint16_t dev_port) {
    return dev_port < SK_PORTS && ports->by_number[dev_port] &&
           ports_link_is_up(ports->by_number[dev_port]);
}
