// SPDX-License-Identifier: Apache-2.0
// refused: action-operation
// A comparison as a value: an ALU has no such instruction. The twin writes the value under a condition.
#include "common.p4"

INGRESS {
    action compare() {
#ifdef OVER
        hdr.num.a[0:0] = (bit<1>)(hdr.num.b == hdr.num.a); // here
#else
        hdr.num.a[0:0] = 1;
#endif
    }
    apply {
        if (hdr.num.c == 3) {
            compare();
        }
    }
}

MAIN
