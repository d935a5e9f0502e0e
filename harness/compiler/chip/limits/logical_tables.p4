// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Tables without any dependency on each other: 16 in a stage, 192 in all. One more does not fit.
#include "common.p4"

#define TABLE(n)                                                                                   \
    table t##n {                                                                                   \
        key = { hdr.num.a : exact; }                                                               \
        actions = { NoAction; drop; }                                                              \
        const default_action = NoAction;                                                           \
        size = 16;                                                                                 \
    }
#define APPLY(n) t##n.apply();

INGRESS {
    action drop() { invalidate(tm.ucast_egress_port); }
    TIMES_64(TABLE, 0)
    TIMES_64(TABLE, 1)
    TIMES_64(TABLE, 2)
    TABLE(3) // here
    apply {
        TIMES_64(APPLY, 0)
        TIMES_64(APPLY, 1)
        TIMES_64(APPLY, 2)
#ifdef OVER
        APPLY(3)
#endif
    }
}

MAIN
