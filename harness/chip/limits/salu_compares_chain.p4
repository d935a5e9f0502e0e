// SPDX-License-Identifier: Apache-2.0
// refused: salu-comparisons
// A ladder of three ranges needs three comparisons, one of two ranges two.
#include "common.p4"

INGRESS {
    Register<bit<16>, bit<8>>(256) cells;
    RegisterAction<bit<16>, bit<8>, bit<16>>(cells) step = {
        void apply(inout bit<16> value) {
            if (value < 2) {
                value = 2;
            } else if (value < 5) {
                value = 5;
#ifdef OVER
            } else if (value < 7) { // here
                value = 7;
#endif
            }
        }
    };
    apply {
        step.execute(hdr.num.b);
    }
}

MAIN
