// SPDX-License-Identifier: Apache-2.0
// refused: compile cannot multiply
// A product of two fields; the twin's factor is a power of two, so it is a shift.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        hdr.num.e = hdr.num.e * hdr.num.f; // here
#else
        hdr.num.e = hdr.num.e * 8;
#endif
    }
}

MAIN
