// SPDX-License-Identifier: Apache-2.0
// refused: salu-comparisons
// Three comparisons in a register action, which has two comparators.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 3 && hdr.num.e != 5) {
                value = value + 1;
            }
#ifdef OVER
            if (hdr.num.f == 7) { // here
#else
            if (value > 3) {
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
