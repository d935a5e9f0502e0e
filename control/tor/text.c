// SPDX-License-Identifier: Apache-2.0
//
// text: addresses as text, and the sum that Internet protocols use.
#include <arpa/inet.h>
#include <string.h>

#include "base/address.h"
#include "control/tor/tor_impl.h"

const char *tor_mac_text(const uint8_t mac[6], char out[TOR_TEXT]) {
    return sk_mac_text(mac, out);
}

bool tor_is_ipv4(const struct in6_addr *address) {
    return IN6_IS_ADDR_V4MAPPED(address);
}

const char *tor_address_text(const struct in6_addr *address, char out[TOR_TEXT]) {
    if (tor_is_ipv4(address))
        inet_ntop(AF_INET, &address->s6_addr[12], out, TOR_TEXT);
    else
        inet_ntop(AF_INET6, address, out, TOR_TEXT);
    return out;
}

struct in6_addr tor_ipv4(uint32_t address) {
    struct in6_addr a = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    address = htonl(address);
    memcpy(&a.s6_addr[12], &address, sizeof address);
    return a;
}
