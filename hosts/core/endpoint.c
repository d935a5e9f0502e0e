// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/endpoint.h"

#include "base/address.h"

bool sk_endpoint_parse(struct sk_endpoint *e, const char *mac, const char *ip, uint16_t port) {
    e->port = port;
    return sk_mac_parse(mac, e->mac) && sk_ip_parse(ip, &e->ip);
}
