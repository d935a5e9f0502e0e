// SPDX-License-Identifier: Apache-2.0
//
// record: "record" of a configuration, and the configuration that is kept beside a recording.
#ifndef SILKEN_CONTROL_CONFIG_RECORD_H
#define SILKEN_CONTROL_CONFIG_RECORD_H

#include "control/config/config.h"
#include "base/json.h"

// Fails where a port is to be recorded (n 'ports', read from 'list') that the configuration has
// not. What it has are the 'n_all' ports of 'all'.
void sk_config_check_recorded(const struct sk_config_port *all, size_t n_all,
                              const struct sk_at *list, const uint16_t *ports, size_t n);
// config.c's: the member "record" of the file, if there is one, into c->record; after c->ports.
void sk_config_read_record(const struct sk_at *root, struct sk_config *c);
// config.c's: the whole file, still the configuration's.
json_t *sk_config_json(const struct sk_config *c);

// What a replay needs to begin as the switch did: the file with the program's path as given and the
// clock at which it was applied, without what only a running switch has. The caller frees it.
char *sk_config_for_replay(const struct sk_config *c, const char *program, uint64_t clock);

#endif
