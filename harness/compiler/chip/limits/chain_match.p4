// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A chain of 13 tables, each with what the one before it wrote as its key.
#include "common.p4"

#define LINK(n)                                                                                    \
    action set_##n(bit<16> z) { md.z = z; }                                                        \
    table t##n {                                                                                   \
        key = { md.z : exact; }                                                                    \
        actions = { set_##n; }                                                                     \
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
    action set_last(bit<16> z) { hdr.num.c = z; }
    table last { // here
        key = { md.z : exact; }
        actions = { set_last; }
        size = 256;
    }
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
#ifdef OVER
        t12.apply();
#endif
        last.apply();
    }
}

MAIN
