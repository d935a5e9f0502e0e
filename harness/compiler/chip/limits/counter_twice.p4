// SPDX-License-Identifier: Apache-2.0
// refused: counter-once
// A counter in two tables that one packet comes to.
#include "common.p4"

INGRESS {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) counter;
    action count_a() { counter.count(hdr.num.a); }
    action count_b() { counter.count(hdr.num.b); } // here
    table t {
        key = { hdr.num.c : exact; }
        actions = { count_a; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    table u {
        key = { hdr.num.d : exact; }
        actions = { count_b; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
#ifdef OVER
        t.apply();
        u.apply();
#else
        if (hdr.num.a == 1) {
            t.apply();
        } else {
            u.apply();
        }
#endif
    }
}

MAIN
