// SPDX-License-Identifier: Apache-2.0
//
// rights: "requests" of a configuration: what requests of the control socket may have of the switch's rights.
#ifndef SILKEN_CONTROL_CONFIG_RIGHTS_H
#define SILKEN_CONTROL_CONFIG_RIGHTS_H

#include "control/config/config.h"
#include "base/json.h"

// When nothing is said, of a compilation.
#define SK_COMPILE_SECONDS 600u
#define SK_COMPILE_MEMORY  4096u // MiB

// config.c's: the member "requests" of the file into c->requests.
void sk_config_read_requests(const struct sk_at *root, struct sk_config *c);

#endif
