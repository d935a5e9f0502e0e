// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A chain of all kinds: a table's result is a condition, what depends on it an operand, that a key, and so on.
#include "common.p4"

#define LINK(n)                                                                                    \
    action set_##n(bit<16> z) { md.z = z; }                                                        \
    table t##n {                                                                                   \
        key = { hdr.num.f : exact; }                                                               \
        actions = { set_##n; @defaultonly NoAction; }                                              \
        const default_action = NoAction;                                                           \
        size = 256;                                                                                \
    }                                                                                              \
    action add_##n() { hdr.num.f = hdr.num.f + hdr.num.e; }

INGRESS {
    LINK(1)
    LINK(2)
    LINK(3)
    LINK(4)
    LINK(5)
    LINK(6)
    apply {
        t1.apply();
        if (md.z == 1) {
            add_1();
        }
        t2.apply();
        if (md.z == 2) {
            add_2();
        }
        t3.apply();
        if (md.z == 3) {
            add_3();
        }
        t4.apply();
        if (md.z == 4) {
            add_4();
        }
        t5.apply();
        if (md.z == 5) {
            add_5();
        }
        t6.apply();
        if (md.z == 6) {
            add_6();
        }
#ifdef OVER
        hdr.num.h = hdr.num.f ^ hdr.num.g; // here
#endif
    }
}

MAIN
