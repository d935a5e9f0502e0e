// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A chain of 13 additions, each of what the one before it computed.
#include "common.p4"

#define LINK(n)                                                                                    \
    action add_##n(bit<32> more) { hdr.num.e = hdr.num.e + more; }                                 \
    table t##n {                                                                                   \
        key = { hdr.num.c : exact; }                                                               \
        actions = { add_##n; @defaultonly NoAction; }                                              \
        const default_action = NoAction;                                                           \
        size = 256;                                                                                \
    }

INGRESS {
    LINK(1)
    LINK(2)
    LINK(3)
    LINK(4)
    LINK(5)
    LINK(6)
    LINK(7)
    LINK(8)
    LINK(9)
    LINK(10)
    LINK(11)
    LINK(12)
    LINK(13) // here
    apply {
        t1.apply();
        t2.apply();
        t3.apply();
        t4.apply();
        t5.apply();
        t6.apply();
        t7.apply();
        t8.apply();
        t9.apply();
        t10.apply();
        t11.apply();
        t12.apply();
#ifdef OVER
        t13.apply();
#endif
    }
}

MAIN
