// SPDX-License-Identifier: Apache-2.0
// refused: register-once
// A register at two places that one packet comes to; the twin's places exclude each other.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;

    action keep() { cells.write(hdr.num.a, hdr.num.f); }
    action look() { hdr.num.e = cells.read(hdr.num.b); } // here

    apply {
        if (hdr.num.c == 1) {
            keep();
#ifdef OVER
        }
        if (hdr.num.d == 2) {
#else
        } else if (hdr.num.d == 2) {
#endif
            look();
        }
    }
}

MAIN
