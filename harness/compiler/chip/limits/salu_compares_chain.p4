// SPDX-License-Identifier: Apache-2.0
// refused: salu-comparisons
// A ladder of conditions on the register's value and one more for the result: three comparisons.
#include "common.p4"

INGRESS {
    Register<bit<16>, bit<8>>(256) cells;
    RegisterAction<bit<16>, bit<8>, bit<16>>(cells) step = {
        void apply(inout bit<16> value, out bit<16> rv) {
            if (value < 2) {
                value = 2;
            } else if (value < 5) {
                value = 5;
            }
#ifdef OVER
            if (value < 7) { // here
#else
            if (value < 2) {
#endif
                rv = 1;
            }
        }
    };
    apply {
        hdr.num.c = step.execute(hdr.num.b);
    }
}

MAIN
