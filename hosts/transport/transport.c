// SPDX-License-Identifier: Apache-2.0
#include "hosts/transport/transport.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the interface, with its counters --------------------------------------------------------

static uint64_t transport_bytes_of(const struct sk_frame *frames, size_t n) {
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += frames[i].len;
    return bytes;
}

size_t sk_transport_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    return t->ops->lend(t, frames, n < SK_BURST ? n : SK_BURST);
}

size_t sk_transport_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    size_t taken = t->ops->post(t, frames, n);

    t->stats.tx_frames += taken;
    t->stats.tx_bytes += transport_bytes_of(frames, taken);
    t->stats.tx_full += n - taken;
    return taken;
}

size_t sk_transport_send(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct sk_frame room[SK_BURST];
    size_t burst = n < SK_BURST ? n : SK_BURST;
    size_t lent = sk_transport_lend(t, room, burst), i = 0, taken;

    for (; i < lent && frames[i].len <= SK_MAX_FRAME; i++) {
        room[i].len = frames[i].len;
        memcpy(room[i].data, frames[i].data, frames[i].len);
    }
    taken = i > 0 ? sk_transport_post(t, room, i) : 0;
    t->stats.tx_full += burst - i;
    return taken;
}

size_t sk_transport_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    size_t got = t->ops->recv(t, frames, n < SK_BURST ? n : SK_BURST);

    t->stats.rx_frames += got;
    t->stats.rx_bytes += transport_bytes_of(frames, got);
    return got;
}

void sk_transport_wait(struct sk_transport *t, uint64_t timeout) {
    t->ops->wait(t, timeout);
}

void sk_transport_close(struct sk_transport *t) {
    if (t)
        t->ops->close(t);
}

// ---- device strings --------------------------------------------------------------------------

// If 'text' begins with 'prefix', the rest of it, else NULL.
static const char *behind(const char *text, const char *prefix) {
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

static bool parse_probability(const char *text, double *p, const char **end) {
    char *stop;

    *p = strtod(text, &stop);
    *end = stop;
    return stop != text && *p >= 0 && *p <= 1;
}

// key=value of a fault; sets '*end' after it.
static bool parse_fault(const char *text, struct sk_faults *f, const char **end) {
    const char *value;
    char *stop;

    if ((value = behind(text, "seed="))) {
        f->seed = strtoull(value, &stop, 10);
        *end = stop;
        return stop != value;
    }
    if ((value = behind(text, "drop=")))
        return parse_probability(value, &f->drop, end);
    if ((value = behind(text, "duplicate=")))
        return parse_probability(value, &f->duplicate, end);
    if ((value = behind(text, "reorder=")))
        return parse_probability(value, &f->reorder, end);
    return false;
}

// "key=value,...:device": fills '*f' and returns the device, or NULL.
static const char *parse_faults(const char *text, struct sk_faults *f) {
    *f = (struct sk_faults){.seed = 1};
    for (;;) {
        if (!parse_fault(text, f, &text))
            return NULL;
        if (*text == ':')
            return text + 1;
        if (*text++ != ',')
            return NULL;
    }
}

static int open_faulty(struct sk_transport **t, const char *text, int cpu,
                       const struct sk_transport_station *station, char *why, size_t why_cap) {
    struct sk_transport *inner;
    struct sk_faults faults;
    const char *device = parse_faults(text, &faults);
    int rc;

    if (!device) {
        snprintf(why, why_cap,
                 "faulty:%s: expected faulty:KEY=VALUE,...:DEVICE with keys seed, drop, duplicate, "
                 "reorder and probabilities from 0 to 1",
                 text);
        return SILKEN_ERR_INVALID;
    }
    rc = sk_transport_open_at(&inner, device, cpu, station, why, why_cap);
    return rc ? rc : sk_transport_faulty_open(t, inner, &faults);
}

const char *sk_transport_udp_address(const char *device) {
    const char *rest = device;
    struct sk_faults faults;

    while (rest && behind(rest, "faulty:"))
        rest = parse_faults(behind(rest, "faulty:"), &faults);
    return rest ? behind(rest, "udp:") : NULL;
}

const char *sk_transport_roce_device(const char *device) {
    return behind(device, "roce:");
}

// An interface's name, or a device of frames.
static int open_roce(struct sk_transport **t, const char *device, int cpu, char *why,
                     size_t why_cap) {
    if (!strchr(device, ':') && !behind(device, "net_"))
        return sk_transport_afpacket_open(t, device, why, why_cap);
    if (sk_transport_udp_address(device) || behind(device, "roce:")) {
        snprintf(why, why_cap,
                 "roce:%s: expected an interface or a device of frames, such as roce:eth1", device);
        return SILKEN_ERR_INVALID;
    }
    return sk_transport_open_at(t, device, cpu, NULL, why, why_cap);
}

int sk_transport_open(struct sk_transport **t, const char *device, int cpu, char *why,
                      size_t why_cap) {
    return sk_transport_open_at(t, device, cpu, NULL, why, why_cap);
}

int sk_transport_open_at(struct sk_transport **t, const char *device, int cpu,
                         const struct sk_transport_station *station, char *why, size_t why_cap) {
    const char *rest;

    if ((rest = behind(device, "faulty:")))
        return open_faulty(t, rest, cpu, station, why, why_cap);
    if ((rest = behind(device, "udp:")))
        return sk_transport_udp_open(t, rest, station, why, why_cap);
    if ((rest = behind(device, "afpacket:")))
        return sk_transport_afpacket_open(t, rest, why, why_cap);
    if ((rest = sk_transport_roce_device(device)))
        return open_roce(t, rest, cpu, why, why_cap);
    rest = behind(device, "dpdk:");
    if (rest || behind(device, "net_")) {
        rest = rest ? rest : device;
        return behind(rest, "net_memif") ? sk_transport_memif_open(t, rest, why, why_cap)
                                         : sk_transport_module_open(t, rest, cpu, why, why_cap);
    }
    snprintf(why, why_cap,
             "%s: a device starts with udp:, afpacket:, roce:, dpdk:, net_ or faulty:", device);
    return SILKEN_ERR_INVALID;
}
