// SPDX-License-Identifier: Apache-2.0
//
// address.h: addresses as text.
#ifndef SILKEN_BASE_ADDRESS_H
#define SILKEN_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

// Reads "02:00:00:00:01:00", "10.0.0.1" (into host order). Returns whether it is that; NULL is
// not.
bool sk_mac_parse(const char *text, uint8_t mac[6]);
bool sk_ip_parse(const char *text, uint32_t *ip);

// Reads "127.0.0.1:9464" or "[::1]:9464". Returns whether it is that. Names are not resolved.
bool sk_socket_address(const char *text, struct sockaddr_storage *out);
bool sk_socket_is_local(const struct sockaddr_storage *address); // 127.0.0.0/8, ::1

#define SK_MAC_TEXT 18 // bytes of "02:00:00:00:01:00"

// Writes a MAC address as text, and returns it.
const char *sk_mac_text(const uint8_t mac[6], char out[SK_MAC_TEXT]);

#endif
