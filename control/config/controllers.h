// SPDX-License-Identifier: Apache-2.0
//
// controllers: "bfrt" and "p4runtime" of a configuration: where controllers reach the switch.
#ifndef SILKEN_CONTROL_CONFIG_CONTROLLERS_H
#define SILKEN_CONTROL_CONFIG_CONTROLLERS_H

#include "base/json.h"
#include "control/config/config.h"

struct sk_config_controllers {
    const char *listen;                               // null: nothing listens
    const char *certificate, *key, *client_authority; // paths as written, or null
    bool programs; // clients may replace the program by one that they send: not beside P4Runtime
    uint64_t device_id; // of P4Runtime
};
// As long as the configuration.
struct sk_config_controllers sk_config_bfrt(const struct sk_config *c);
struct sk_config_controllers sk_config_p4runtime(const struct sk_config *c);
// What clients of P4Runtime call ports: how many, at most SK_PORTS; none: as the chip does.
struct sk_config_port_id {
    uint32_t id;
    uint16_t port;
};
size_t sk_config_p4runtime_ports(const struct sk_config *c, struct sk_config_port_id *out);
// config.c's: fails the document if it is not good.
void sk_config_check_controllers(const struct sk_at *root);

#endif
