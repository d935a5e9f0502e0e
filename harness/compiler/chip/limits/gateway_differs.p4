// SPDX-License-Identifier: Apache-2.0
// refused: gateway-width
// A condition that holds where one of two fields differs: one row asks whether both are equal, 32 bits and 32, of 44.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        if (hdr.num.e != 0 || hdr.num.f != 0) { // here
#else
        if (hdr.num.e == 0 || hdr.num.f == 0) {
#endif
            hdr.num.a = 1;
        }
    }
}

MAIN
