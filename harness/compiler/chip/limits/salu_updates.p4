// SPDX-License-Identifier: Apache-2.0
// refused: salu-updates
// Three ways to a new value of one word, which has two ALUs.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value) {
            if (value == 1) {
                value = hdr.num.e;
            } else if (hdr.num.e == 2) {
                value = value + 1;
#ifdef OVER
            } else {
                value = value - 1; // here
#endif
            }
        }
    };
    apply {
        update.execute(hdr.num.b);
    }
}

MAIN
