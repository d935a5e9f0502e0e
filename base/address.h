/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h: addresses as text.
 */
#ifndef SILKEN_BASE_ADDRESS_H
#define SILKEN_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "02:00:00:00:01:00", "10.0.0.1" (into host order). Returns whether it is that; NULL is not. */
bool sk_mac_parse(const char *text, uint8_t mac[6]);
bool sk_ip_parse(const char *text, uint32_t *ip);

#endif
