// SPDX-License-Identifier: Apache-2.0
// refused: compile one address
// Two counters in an action at two indices: a table has one address for them.
#include "common.p4"

INGRESS {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) ones;
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) others;
    action count() {
        ones.count(hdr.num.a);
#ifdef OVER
        others.count(hdr.num.b); // here
#else
        others.count(hdr.num.a);
#endif
    }
    table t {
        key = { hdr.num.c : exact; }
        actions = { count; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        t.apply();
    }
}

MAIN
