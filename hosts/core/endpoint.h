// SPDX-License-Identifier: Apache-2.0
//
// endpoint.h: one end of a conversation over UDP, for the frames of all protocols.
#ifndef SILKEN_HOSTS_CORE_ENDPOINT_H
#define SILKEN_HOSTS_CORE_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

// Numbers are in host order.
struct sk_endpoint {
    uint8_t mac[6];
    uint16_t port; // UDP port
    uint32_t ip;
};

// Reads both addresses as text (base/address.h). Returns whether they are addresses; NULL is
// not.
bool sk_endpoint_parse(struct sk_endpoint *e, const char *mac, const char *ip, uint16_t port);

#endif
