// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/station.h"

#include <stdio.h>

#include "base/address.h"
#include "hosts/transport/transport.h"

static bool station_mac_or_none(const char *text, uint8_t mac[6]) {
    return !text || sk_mac_parse(text, mac);
}

// The worker's address: as given, or the device's, or the system's choice.
static int station_own_ip(struct sk_station *s, const char *given, const char *device, char *why,
                          size_t why_cap) {
    uint32_t ip;

    if (!given && !*device) {
        if (!sk_udp_local_ip(s->fabric.ip, &s->worker.ip)) {
            snprintf(why, why_cap, "this host has no route to the switch's IP address");
            return SILKEN_ERR_INVALID;
        }
        return 0;
    }
    if (!sk_ip_parse(given ? given : device, &s->worker.ip) ||
        (*device && (!sk_ip_parse(device, &ip) || ip != s->worker.ip))) {
        snprintf(why, why_cap,
                 "the worker's IP address and that of device udp:%s must be one "
                 "address like 10.0.0.1",
                 device);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

static int station_of_sockets(struct sk_station *s, const struct silken_config *f,
                              const struct silken_lane *lane, const char *device, char *why,
                              size_t why_cap) {
    if (!sk_ip_parse(f->switch_ip, &s->fabric.ip) ||
        !station_mac_or_none(f->switch_mac, s->fabric.mac) ||
        !station_mac_or_none(lane->worker_mac, s->worker.mac)) {
        snprintf(
            why, why_cap,
            "the switch's IP address must be like 10.0.0.254, and MAC addresses, where they are "
            "given, like 02:00:00:00:01:00");
        return SILKEN_ERR_INVALID;
    }
    return station_own_ip(s, lane->worker_ip, device, why, why_cap);
}

int sk_station_resolve(struct sk_station *s, const struct silken_config *f, uint32_t i,
                       const struct silken_lane *lane, char *why, size_t why_cap) {
    const char *device =
        lane->device && !lane->transport ? sk_transport_udp_address(lane->device) : NULL;

    *s = (struct sk_station){.worker = {.port = lane->worker_port},
                             .fabric = {.port = f->switch_port}};
    if (sk_station_is_shared(f))
        s->fabric.port = (uint16_t)(f->switch_port + i);
    if (device)
        return station_of_sockets(s, f, lane, device, why, why_cap);
    if (!sk_endpoint_parse(&s->worker, lane->worker_mac, lane->worker_ip, lane->worker_port) ||
        !sk_endpoint_parse(&s->fabric, f->switch_mac, f->switch_ip, f->switch_port)) {
        snprintf(why, why_cap,
                 "addresses of worker and switch must be like 02:00:00:00:01:00 and "
                 "10.0.0.1");
        return SILKEN_ERR_INVALID;
    }
    return 0;
}
