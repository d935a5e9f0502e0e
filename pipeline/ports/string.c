// SPDX-License-Identifier: Apache-2.0
//
// string: what is wrong with a device's string, before a driver reads it. Drivers give the values
// of keys to the C library without a look: a key without a value ends the process.
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/ports/ports_impl.h"

#define LONGEST 1023u // of a string

const char *ports_said(const char *device, const char *key) {
    const size_t length = strlen(key);
    for (const char *at = device; (at = strchr(at, ','));) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

bool ports_said_interface(const char *device, char name[IF_NAMESIZE]) {
    const char *at = ports_said(device, "iface");
    const size_t length = at ? strcspn(at, ",") : 0;
    if (length == 0 || length >= IF_NAMESIZE)
        return false;
    memcpy(name, at, length);
    name[length] = '\0';
    return true;
}

bool ports_is_tap(const char *device) {
    const size_t length = strlen("net_tap");
    return strncmp(device, "net_tap", length) == 0 || strncmp(device, "eth_tap", length) == 0;
}

// Whether its "iface" is one that is there.
static bool takes_interface(const char *device) {
    return ports_is_af_packet(device) || ports_is_af_xdp(device);
}

// Of what is after a comma; lists of a network card's have commas of their own.
static size_t ports_string_length_of(const char *argument) {
    size_t i = 0;
    for (unsigned depth = 0; argument[i] && (depth > 0 || argument[i] != ','); i++)
        if (strchr("[(", argument[i]))
            depth++;
        else if (strchr("])", argument[i]) && depth > 0)
            depth--;
    return i;
}

// The first argument that is no key with a value, and its length; null: there is none.
static const char *incomplete(const char *device, size_t *length) {
    static const char alone[] = "persist"; // of a tap: the one key that has none
    const char *at = device + strcspn(device, ",");
    for (; *at; at += *length) {
        at++;
        *length = ports_string_length_of(at);
        const char *equals = memchr(at, '=', *length);
        if (ports_is_tap(device) && *length == strlen(alone) && memcmp(at, alone, *length) == 0)
            continue;
        // what net_failsafe is told: dev(0000:84:00.0)
        const char *bracket = memchr(at, '(', *length);
        if ((!bracket || bracket == at) && (!equals || equals == at || equals + 1 == at + *length))
            return at;
    }
    return NULL;
}

// What drivers take, as of DPDK 22.11. Some leave out what they do not know, and none says which
// one it was. net_ring has "internal", too, which is an address in our memory.
static const struct kind {
    const char *name, *keys;
} kinds[] = {
    {"net_tap", "iface mac remote persist"},
    {"eth_tap", "iface mac remote persist"},
    {"net_ring", "nodeaction"},
    {"net_null", "size copy no-rx"},
    {"net_pcap", "rx_pcap tx_pcap rx_iface rx_iface_in tx_iface iface phy_mac infinite_rx"},
    {"net_memif", "role id bsize rsize socket socket-abstract mac zero-copy secret"},
    {"net_af_packet", "iface qpairs qdisc_bypass blocksz framesz framecnt"},
    {"eth_af_packet", "iface qpairs qdisc_bypass blocksz framesz framecnt"},
    {"net_af_xdp", "iface start_queue queue_count shared_umem xdp_prog busy_budget force_copy"},
    {"net_vhost", "iface queues client iommu-support postcopy-support tso linear-buffer ext-buffer "
                  "legacy-ol-flags"},
    {"net_virtio_user",
     "path mac cq queue_size queues iface server mrg_rxbuf in_order packed_vq speed vectorized"},
};

static const struct kind *ports_string_kind_of(const char *device) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].name);
        if (strncmp(device, kinds[i].name, length) == 0 &&
            (device[length] < 'a' || device[length] > 'z'))
            return &kinds[i];
    }
    return NULL;
}

// Whether one of the words is this one.
static bool ports_string_has_word(const char *words, const char *word, size_t length) {
    for (; *words; words += strspn(words, " ")) {
        const size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return true;
        words += n;
    }
    return false;
}

// The first key that the device's kind does not know, and its length; null: there is none, or the
// kind is not known here.
static const char *unknown_key(const char *device, size_t *length, const struct kind **kind) {
    const char *at = device + strcspn(device, ",");
    *kind = ports_string_kind_of(device);
    for (size_t n = 0; *kind && *at; at += n) {
        at++;
        n = ports_string_length_of(at);
        *length = strcspn(at, "=,");
        if (!ports_string_has_word((*kind)->keys, at, *length))
            return at;
    }
    return NULL;
}

// The other port whose device is of the same kind on the same interface: one would take the other's
// frames, or both would have each; or null. A socket on a tap's interface is what the tap's other
// end is, and two af_xdp devices have queues of their own: the kernel sees to that.
static const struct dpdk_port *same_interface(const struct sk_ports *ports,
                                              const struct sk_port_spec *spec, const char *name) {
    const unsigned index = if_nametoindex(name);
    for (size_t i = 0; index && i < ports->n; i++)
        if (ports->list[i]->dev_port != spec->dev_port && ports->list[i]->if_index == index &&
            ports->list[i]->is_tap == ports_is_tap(spec->device) &&
            !(ports->list[i]->small && ports_is_af_xdp(spec->device)))
            return ports->list[i];
    return NULL;
}

static bool check_interface(const struct sk_ports *ports, const struct sk_port_spec *spec,
                            char *error, size_t size) {
    char name[IF_NAMESIZE];
    const char *said = ports_said(spec->device, "iface");
    const struct dpdk_port *other;
    if (!takes_interface(spec->device) && !(ports_is_tap(spec->device) && said))
        return true;
    if (!said)
        snprintf(error, size, "it does not name the interface (iface=eth1)");
    else if (!ports_said_interface(spec->device, name))
        snprintf(error, size, "the name of an interface has at most %d bytes", IF_NAMESIZE - 1);
    else if (takes_interface(spec->device) && !if_nametoindex(name))
        snprintf(error, size, "there is not an interface '%s'", name);
    else if ((other = same_interface(ports, spec, name)))
        snprintf(error, size, "interface '%s' is port %u's already", name, other->dev_port);
    else
        return true;
    return false;
}

bool ports_string_check(const struct sk_ports *ports, const struct sk_port_spec *spec, char *error,
                        size_t size) {
    const char *device = spec->device, *at;
    const size_t length = strlen(device);
    size_t n = 0;
    if (length > LONGEST) {
        snprintf(error, size, "port %u: a device's string of %zu bytes; it has at most %u",
                 spec->dev_port, length, LONGEST);
        return false;
    }
    const int before = snprintf(error, size, "port %u, device '%.160s': ", spec->dev_port, device);
    char *const rest = error + (before < (int)size ? before : (int)size - 1);
    size -= (size_t)(rest - error);
    if (device[0] != ',' &&
        (at = incomplete(device, &n))) { // one without a name is told of as that
        snprintf(rest, size, "'%.*s' is not KEY=VALUE", (int)n, at);
        return false;
    }
    const struct kind *kind;
    if ((at = unknown_key(device, &n, &kind))) {
        snprintf(rest, size, "%s has no '%.*s'; it has: %s", kind->name, (int)n, at, kind->keys);
        return false;
    }
    return check_interface(ports, spec, rest, size) && ports_af_packet_check(spec, rest, size);
}
