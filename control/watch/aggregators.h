// SPDX-License-Identifier: Apache-2.0
//
// aggregators: which jobs hold the aggregators of ATP (p4/atp), for programs with the same layout:
// a register "owner.owners" of pairs (fragment, time). The fragment's bits 30 to 24 are the job; 0
// means free. The time, in units of 65,536 ns, is that of the last packet that was added.
//
// There are 65,536 aggregators, so each call reads some of them; the results are those of the last
// complete round.
#ifndef SILKEN_CONTROL_WATCH_AGGREGATORS_H
#define SILKEN_CONTROL_WATCH_AGGREGATORS_H

#include <jansson.h>

#include "pipeline/switch/switch.h"

struct sk_aggregators;

struct sk_aggregators *sk_aggregators_new(void);
void sk_aggregators_free(struct sk_aggregators *a); // null allowed
// Looks at the next 'n', while the pipes pause; 'now': the switch's clock, ns. False: the program
// has none.
bool sk_aggregators_scan(struct sk_aggregators *a, struct sk_switch *sw, uint64_t now, uint32_t n);
// [{"name": "3", "kind": "atp", "held", "oldest_ms": since nothing was added to the one that waits
// longest, "pipe", "index": which that is}], a new reference; empty before all were looked at.
json_t *sk_aggregators_json(const struct sk_aggregators *a);

#endif
