// SPDX-License-Identifier: Apache-2.0
//
// watch: "metrics", "page", "telemetry", "alarms" and "sampling" of a configuration.
#ifndef SILKEN_CONTROL_CONFIG_WATCH_H
#define SILKEN_CONTROL_CONFIG_WATCH_H

#include "control/config/config.h"
#include "base/json.h"

// config.c's: the members of the file that say how a switch is watched, into 'c'.
void sk_config_read_job_service(const struct sk_at *root, struct sk_config *c); // job_service.c
void sk_config_read_switchml_jobs(const struct sk_at *root, struct sk_config *c);
void sk_config_read_watch(const struct sk_at *root, struct sk_config *c);

#endif
