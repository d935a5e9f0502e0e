// SPDX-License-Identifier: Apache-2.0
// refused: compile known at compile time
// A shift by a field; the twin shifts by a constant.
#include "common.p4"

INGRESS {
    apply {
#ifdef OVER
        hdr.num.e = hdr.num.e << hdr.num.a; // here
#else
        hdr.num.e = hdr.num.e << 5;
#endif
    }
}

MAIN
