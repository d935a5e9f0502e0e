// SPDX-License-Identifier: Apache-2.0
//
// wanted_impl: how the objects of wanted.h are written.
#ifndef SILKEN_CONTROL_TOR_WANTED_IMPL_H
#define SILKEN_CONTROL_TOR_WANTED_IMPL_H

#include "control/tor/wanted.h"

// In the order in which they are written; things refer to kinds before their own.
enum tor_kind {
    TOR_KIND_SESSION,
    TOR_KIND_METER,
    TOR_KIND_LAG,
    TOR_KIND_NODE,
    TOR_KIND_MCAST,
    TOR_KIND_PRUNE,
    TOR_KIND_MEMBER,
    TOR_KIND_GROUP,
    TOR_KIND_ENTRY,
    TOR_KINDS
};
enum tor_kind tor_kind_of(const char *object); // aborts when it is none

// 'as' null: removes it. 'fresh': it is not there yet. 0 or a negative code with a sentence.
int tor_write(struct sk_switch *sw, enum tor_kind kind, const char *object, const char *as,
              bool fresh, struct sk_error *err);

#endif
