// SPDX-License-Identifier: Apache-2.0
// refused: salu-comparison
// A comparison adds up one word of the memory, one field and a constant; here are two fields and a word.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value, out bit<32> rv) {
#ifdef OVER
            if (value - hdr.num.e - hdr.num.f == 0) { // here
#else
            if (value - hdr.num.e == 0) {
#endif
                rv = 1;
            }
        }
    };
    apply {
        hdr.num.g = update.execute(hdr.num.b);
    }
}

MAIN
