// SPDX-License-Identifier: Apache-2.0
//
// ports: the ports of a configuration; with "tor" the CPU port is one of them.
#ifndef SILKEN_CONTROL_CONFIG_PORTS_H
#define SILKEN_CONTROL_CONFIG_PORTS_H

#include "control/config/config.h"
#include "base/json.h"
#include "control/tables/json_switch.h"

// Reads "ports" of 'root'; after "pipes" and "cpu_port". A fault fails root's document.
void sk_config_read_ports(const struct sk_at *root, struct sk_config *c);
// One port, also of a request, without a look at its keys; and whether it can be beside 'others'
// and in one of so many pipes. A fault fails at's document.
void sk_config_read_port(const struct sk_at *at, struct sk_config_port *p);
void sk_config_check_port(const struct sk_at *at, const struct sk_config_port *p,
                          const struct sk_config_port *others, size_t n, unsigned pipes);
// 'p' has metadata. 0, or negative with a sentence and nothing changed.
int sk_config_set_metadata(struct sk_switch *sw, const struct sk_config_port *p,
                           struct sk_error *err);
// Ports up, with their metadata. 0, or -1 with a sentence.
int sk_config_apply_ports(const struct sk_config *c, struct sk_switch *sw, struct sk_error *err);

#endif
