// SPDX-License-Identifier: Apache-2.0
// refused: salu-slice
// A part of the register's value in a condition; the twin keeps the part that it asks for in a word of its own.
#include "common.p4"

#ifdef OVER
INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value) {
            if (value[15:8] == 3) { // here
                value = 0;
            }
        }
    };
#else
struct pair_t {
    bit<16> part;
    bit<16> rest;
}
INGRESS {
    Register<pair_t, bit<8>>(256) cells;
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) update = {
        void apply(inout pair_t value) {
            if (value.part == 3) {
                value.part = 0;
            }
        }
    };
#endif
    apply {
        update.execute(hdr.num.b);
    }
}

MAIN
