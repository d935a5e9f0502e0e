// SPDX-License-Identifier: Apache-2.0
//
// daemon: "daemon" of a configuration.
#ifndef SILKEN_CONTROL_CONFIG_DAEMON_H
#define SILKEN_CONTROL_CONFIG_DAEMON_H

#include "control/config/config.h"
#include "base/json.h"

// config.c's: the member "daemon" of the file into c->daemon.
void sk_config_read_daemon(const struct sk_at *root, struct sk_config *c);

#endif
