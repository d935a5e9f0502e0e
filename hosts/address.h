/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h: addresses as text; internal to hosts/.
 */
#ifndef SILKEN_HOSTS_ADDRESS_H
#define SILKEN_HOSTS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts/endpoint.h"

/* Reads "02:00:00:00:01:00" and "10.0.0.1". Returns whether both are that; NULL is not. */
bool sk_endpoint_parse(struct sk_endpoint *e, const char *mac, const char *ip, uint16_t port);

#endif
