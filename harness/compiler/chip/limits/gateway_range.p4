// SPDX-License-Identifier: Apache-2.0
// refused: gateway-width
// Order against a constant goes by 12 bits; against a power of two, or from the top down to one, by a mask.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        if (hdr.num.c < 1000) { // here
#else
        if (hdr.num.c < 1024 && hdr.num.d >= 0xc000) {
#endif
            hdr.num.a = 1;
        }
    }
}

MAIN
