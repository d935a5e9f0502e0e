// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sk_mac_parse(const char *text, uint8_t mac[6]) {
    for (int i = 0; i < 6; i++) {
        unsigned part = 0, digits = 0;

        for (; text && digits < 2 && isxdigit((unsigned char)*text); text++, digits++) {
            part = part * 16 + (unsigned)(isdigit((unsigned char)*text)
                                              ? *text - '0'
                                              : tolower((unsigned char)*text) - 'a' + 10);
        }
        if (digits == 0 || *text != (i < 5 ? ':' : '\0'))
            return false;
        mac[i] = (uint8_t)part;
        text += i < 5;
    }
    return true;
}

bool sk_ip_parse(const char *text, uint32_t *ip) {
    struct in_addr address;

    if (!text || inet_pton(AF_INET, text, &address) != 1)
        return false;
    *ip = ntohl(address.s_addr);
    return true;
}

bool sk_socket_address(const char *text, struct sockaddr_storage *out) {
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    const unsigned long port = strtoul(colon + 1, &end, 10);
    const bool brackets = text[0] == '[' && colon > text && colon[-1] == ']';
    const size_t n = (size_t)(colon - text) - (brackets ? 2 : 0);
    if (*end || port > 65535 || n >= sizeof host)
        return false;
    memcpy(host, text + brackets, n);
    host[n] = 0;
    *out = (struct sockaddr_storage){0};
    if (brackets) {
        struct sockaddr_in6 *a = (struct sockaddr_in6 *)out;
        a->sin6_family = AF_INET6;
        a->sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host, &a->sin6_addr) == 1;
    }
    struct sockaddr_in *a = (struct sockaddr_in *)out;
    a->sin_family = AF_INET;
    a->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &a->sin_addr) == 1;
}

bool sk_socket_is_local(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

const char *sk_mac_text(const uint8_t mac[6], char out[SK_MAC_TEXT]) {
    snprintf(out, SK_MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
             mac[4], mac[5]);
    return out;
}
