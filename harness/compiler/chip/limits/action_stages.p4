// SPDX-License-Identifier: Apache-2.0
// refused: action-stages
// An action whose second instruction needs what its first computes: two stages. The twin has an action for each.
#include "common.p4"

INGRESS {
    action first() { hdr.num.e = hdr.num.f + hdr.num.g; }
    action second() { hdr.num.h = hdr.num.e ^ hdr.num.g; }
    action both() {
        hdr.num.e = hdr.num.f + hdr.num.g;
        hdr.num.h = hdr.num.e ^ hdr.num.g; // here
    }
    table t {
        key = { hdr.num.a : exact; }
#ifdef OVER
        actions = { both; @defaultonly NoAction; }
#else
        actions = { first; second; @defaultonly NoAction; }
#endif
        const default_action = NoAction;
        size = 64;
    }
    apply {
        t.apply();
    }
}

MAIN
