/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h: one end of a conversation over UDP, for the frames of all protocols.
 */
#ifndef SILKEN_HOSTS_CORE_ENDPOINT_H
#define SILKEN_HOSTS_CORE_ENDPOINT_H

#include <stdint.h>

/* Numbers are in host order. */
struct sk_endpoint {
    uint8_t mac[6];
    uint16_t port; /* UDP port */
    uint32_t ip;
};

#endif
