// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Counters have four ALUs in each stage: 48 in all. One more does not fit.
#include "common.p4"

#define TABLE(n)                                                                                   \
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) c##n;                                     \
    action count_##n() { c##n.count(hdr.num.b); }                                                  \
    table t##n {                                                                                   \
        key = { hdr.num.a : exact; }                                                               \
        actions = { count_##n; @defaultonly NoAction; }                                            \
        const default_action = NoAction;                                                           \
        size = 16;                                                                                 \
    }
#define APPLY(n) t##n.apply();

INGRESS {
    TIMES_16(TABLE, 0)
    TIMES_16(TABLE, 1)
    TIMES_16(TABLE, 2)
    TABLE(300)
    apply {
        TIMES_16(APPLY, 0)
        TIMES_16(APPLY, 1)
        TIMES_16(APPLY, 2)
#ifdef OVER
        APPLY(300) // here
#endif
    }
}

MAIN
