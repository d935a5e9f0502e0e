// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Meters have four ALUs in each stage, 48 in all. One more does not fit.
#include "common.p4"

#define TABLE(n)                                                                                   \
    Meter<bit<8>>(256, MeterType_t.BYTES) m##n;                                                    \
    action meter_##n() { m##n.execute(hdr.num.b); }                                                \
    table t##n {                                                                                   \
        key = { hdr.num.a : exact; }                                                               \
        actions = { meter_##n; @defaultonly NoAction; }                                            \
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
