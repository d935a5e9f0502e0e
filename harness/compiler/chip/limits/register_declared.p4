// SPDX-License-Identifier: Apache-2.0
// refused: register-actions
// Five register actions of one register, of which one is executed: the others count, too.
#include "common.p4"

#define ACTION(name, n)                                                                            \
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) name = {                                       \
        void apply(inout bit<32> value, out bit<32> rv) {                                          \
            value = value + n;                                                                     \
            rv = value;                                                                            \
        }                                                                                          \
    };

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    ACTION(one, 1)
    ACTION(two, 2)
    ACTION(three, 3)
    ACTION(four, 4)
#ifdef OVER
    ACTION(five, 5) // here
#endif

    apply {
        tm.ucast_egress_port = intr.ingress_port;
        hdr.num.e = one.execute(hdr.num.b);
    }
}

MAIN
