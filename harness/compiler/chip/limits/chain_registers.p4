// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Thirteen registers, each read where the one before it points.
#include "common.p4"

#define LINK(n)                                                                                    \
    Register<bit<16>, bit<16>>(4096) cells_##n;                                                    \
    RegisterAction<bit<16>, bit<16>, bit<16>>(cells_##n) follow_##n = {                            \
        void apply(inout bit<16> value, out bit<16> rv) {                                          \
            rv = value;                                                                            \
        }                                                                                          \
    };

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
    LINK(13)
    apply {
        hdr.num.c = follow_1.execute(hdr.num.c);
        hdr.num.c = follow_2.execute(hdr.num.c);
        hdr.num.c = follow_3.execute(hdr.num.c);
        hdr.num.c = follow_4.execute(hdr.num.c);
        hdr.num.c = follow_5.execute(hdr.num.c);
        hdr.num.c = follow_6.execute(hdr.num.c);
        hdr.num.c = follow_7.execute(hdr.num.c);
        hdr.num.c = follow_8.execute(hdr.num.c);
        hdr.num.c = follow_9.execute(hdr.num.c);
        hdr.num.c = follow_10.execute(hdr.num.c);
        hdr.num.c = follow_11.execute(hdr.num.c);
        hdr.num.c = follow_12.execute(hdr.num.c);
#ifdef OVER
        hdr.num.c = follow_13.execute(hdr.num.c); // here
#endif
    }
}

MAIN
