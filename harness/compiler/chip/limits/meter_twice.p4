// SPDX-License-Identifier: Apache-2.0
// refused: meter-once
// A meter that two statements ask for one packet; the twin asks on ways that exclude each other.
#include "common.p4"

INGRESS {
    Meter<bit<8>>(256, MeterType_t.BYTES) meter;
    apply {
        if (hdr.num.c == 1) {
            md.x = meter.execute(hdr.num.a);
#ifdef OVER
        }
        if (hdr.num.d == 2) {
#else
        } else if (hdr.num.d == 2) {
#endif
            hdr.num.b = meter.execute(hdr.num.a); // here
        }
        hdr.num.e[7:0] = md.x;
    }
}

MAIN
