/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address.h"

#include <arpa/inet.h>
#include <ctype.h>

bool sk_mac_parse(const char *text, uint8_t mac[6]) {
    for (int i = 0; i < 6; i++) {
        unsigned part = 0, digits = 0;

        for (; text && digits < 2 && isxdigit((unsigned char)*text); text++, digits++) {
            part = part * 16 + (unsigned)(isdigit((unsigned char)*text)
                                              ? *text - '0'
                                              : tolower((unsigned char)*text) - 'a' + 10);
        }
        if (digits == 0 || *text != (i < 5 ? ':' : '\0')) {
            return false;
        }
        mac[i] = (uint8_t)part;
        text += i < 5;
    }
    return true;
}

bool sk_ip_parse(const char *text, uint32_t *ip) {
    struct in_addr address;

    if (!text || inet_pton(AF_INET, text, &address) != 1) {
        return false;
    }
    *ip = ntohl(address.s_addr);
    return true;
}
