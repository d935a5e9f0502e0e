// SPDX-License-Identifier: Apache-2.0
//
// log: Open vSwitch's logging and the socket by which `ovs-appctl -t SOCKET vlog/set tor:dbg` and
// the like change its levels while the switch runs. All on the control thread.
#ifndef SILKEN_CONTROL_TOR_LOG_H
#define SILKEN_CONTROL_TOR_LOG_H

#include "base/error.h"

struct tor_log;

// 'levels' as ovs-appctl's vlog/set takes them: "tor:dbg", "console:warn", "file:off". 0, or
// negative with a sentence.
int tor_log_set(const char *levels, struct sk_error *err);
// Null with a sentence; a socket that a dead process left is replaced.
struct tor_log *tor_log_open(const char *path, struct sk_error *err);
void tor_log_turn(struct tor_log *log);  // null allowed; never waits
void tor_log_close(struct tor_log *log); // null allowed

#endif
