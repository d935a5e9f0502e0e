// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Registers, meters and selectors share four ALUs in each stage: 48 in all. One register more does not fit.
#include "common.p4"

#define TABLE(n)                                                                                   \
    Register<bit<32>, bit<8>>(256) r##n;                                                           \
    RegisterAction<bit<32>, bit<8>, bit<32>>(r##n) add_##n = {                                     \
        void apply(inout bit<32> value) {                                                          \
            value = value + 1;                                                                     \
        }                                                                                          \
    };                                                                                             \
    action count_##n() { add_##n.execute(hdr.num.b); }                                             \
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
