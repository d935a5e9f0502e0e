// SPDX-License-Identifier: Apache-2.0
// refused: compile has entries of 24 bits
// Entries of 24 bits: a stateful ALU has 8, 16 or 32 (and single bits).
#include "common.p4"

#ifdef OVER
#define WIDTH 24
#else
#define WIDTH 16
#endif

INGRESS {
    Register<bit<WIDTH>, bit<8>>(256) cells; // here
    RegisterAction<bit<WIDTH>, bit<8>, bit<WIDTH>>(cells) count = {
        void apply(inout bit<WIDTH> value, out bit<WIDTH> rv) {
            value = value + 1;
            rv = value;
        }
    };
    apply {
        hdr.num.e = (bit<32>)count.execute(hdr.num.b);
    }
}

MAIN
