// SPDX-License-Identifier: Apache-2.0
// refused: gateway-operation
// Which of two fields is larger: a gateway compares fields with constants, and two fields for being equal.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        if (hdr.num.c < hdr.num.d) { // here
#else
        if (hdr.num.c == hdr.num.d) {
#endif
            hdr.num.a = 1;
        }
    }
}

MAIN
