// SPDX-License-Identifier: Apache-2.0
// refused: compile cannot divide
// A division; the twin's divisor is a power of two, so it is a shift.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        hdr.num.e = hdr.num.e / 10; // here
#else
        hdr.num.e = hdr.num.e / 8;
#endif
    }
}

MAIN
