// SPDX-License-Identifier: Apache-2.0
// refused: compile put one into a table of its own
// A direct counter and a counter of its own size in one table, which has one address for both.
#include "common.p4"

INGRESS {
    DirectCounter<bit<32>>(CounterType_t.PACKETS) of_entries;
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) others;
    action count() {
        of_entries.count();
#ifdef OVER
        others.count(hdr.num.b); // here
#endif
    }
    table t {
        key = { hdr.num.c : exact; }
        actions = { count; @defaultonly NoAction; }
        const default_action = NoAction;
        counters = of_entries;
        size = 64;
    }
    apply {
        t.apply();
#ifndef OVER
        others.count(hdr.num.b);
#endif
    }
}

MAIN
