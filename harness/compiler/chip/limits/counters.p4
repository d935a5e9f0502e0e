// SPDX-License-Identifier: Apache-2.0
// refused: table-size
// Counters of one table are in one stage, which has four statistics ALUs.
#include "common.p4"

#define COUNTER(n) Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) c##n;

INGRESS {
    COUNTER(1)
    COUNTER(2)
    COUNTER(3)
    COUNTER(4)
    COUNTER(5)
    action count() {
        c1.count(hdr.num.b);
        c2.count(hdr.num.b);
        c3.count(hdr.num.b);
        c4.count(hdr.num.b);
#ifdef OVER
        c5.count(hdr.num.b);
#endif
    }
    table t { // here
        key = { hdr.num.a : exact; }
        actions = { count; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    apply {
        t.apply();
    }
}

MAIN
