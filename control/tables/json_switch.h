// SPDX-License-Identifier: Apache-2.0
//
// json_switch: reading things of a switch out of a JSON document (base/json.h): ports, LAGs,
// entries, groups.
#ifndef SILKEN_CONTROL_TABLES_JSON_SWITCH_H
#define SILKEN_CONTROL_TABLES_JSON_SWITCH_H

#include "base/json.h"
#include "control/tables/control.h"

uint16_t sk_at_port(const struct sk_at *at);
uint16_t *sk_at_ports(const struct sk_at *at, size_t *n); // no port twice
uint8_t *sk_at_lags(const struct sk_at *at, size_t *n);   // no LAG twice
// {"field": value, ...}
struct sk_named_value *sk_at_values(const struct sk_at *at, size_t *n);
int sk_at_pipe(const struct sk_at *at); // its member "pipe"; -1 when it has none
// An object with "table", "pipe" and, by 'parts', "key" and "priority", "action" and "args"; also
// as BF Runtime has it (bf_entry.h).
enum { SK_AT_KEY = 1, SK_AT_ACTION = 2, SK_AT_OP = 4 }; // SK_AT_OP: it also has "op"
void sk_at_entry(const struct sk_at *at, unsigned parts, struct sk_entry_spec *e);
// A group of a selector: "selector", "id", "pipe" and, with SK_AT_ACTION, "max_size" and "members":
// each a member's id, or {"member": 1, "up": false}.
void sk_at_group(const struct sk_at *at, unsigned parts, struct sk_group_spec *g);
// A member of a multicast group: a node's number, {"node": 1, "xid": 5} or {"ecmp": 1}.
struct sk_pre_member *sk_at_members(const struct sk_at *at, size_t *n);

#endif
