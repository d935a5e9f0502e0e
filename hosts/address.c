/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/address.h"

#include <stdio.h>

static bool parse_mac(const char *text, uint8_t mac[6]) {
    unsigned part[6];
    char rest;

    if (!text || sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &part[0], &part[1], &part[2], &part[3],
                        &part[4], &part[5], &rest) != 6) {
        return false;
    }
    for (int i = 0; i < 6; i++) {
        mac[i] = (uint8_t)part[i];
    }
    return true;
}

static bool parse_ip(const char *text, uint32_t *ip) {
    unsigned part[4];
    char rest;

    if (!text ||
        sscanf(text, "%3u.%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &part[3], &rest) != 4) {
        return false;
    }
    *ip = 0;
    for (int i = 0; i < 4; i++) {
        if (part[i] > 255) {
            return false;
        }
        *ip = *ip << 8 | part[i];
    }
    return true;
}

bool sk_endpoint_parse(struct sk_endpoint *e, const char *mac, const char *ip, uint16_t port) {
    e->port = port;
    return parse_mac(mac, e->mac) && parse_ip(ip, &e->ip);
}
