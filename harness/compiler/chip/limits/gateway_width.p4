// SPDX-License-Identifier: Apache-2.0
// refused: gateway-width
// A condition on more bits than a gateway takes: 48 and 16, of 44.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        if (hdr.ethernet.dst == 5 && hdr.num.c == 2) { // here
#else
        if (hdr.ethernet.type == 5 && hdr.num.c == 2) {
#endif
            hdr.num.a = 1;
        }
    }
}

MAIN
