// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A chain without a table: thirteen statements, each of which needs the result of the one before it.
#include "common.p4"

INGRESS {
    apply {
        hdr.num.e = hdr.num.e + hdr.num.f;
        hdr.num.e = hdr.num.e ^ hdr.num.g;
        hdr.num.e = hdr.num.e + hdr.num.h;
        hdr.num.e = hdr.num.e ^ hdr.num.f;
        hdr.num.e = hdr.num.e + hdr.num.g;
        hdr.num.e = hdr.num.e ^ hdr.num.h;
        hdr.num.e = hdr.num.e + hdr.num.f;
        hdr.num.e = hdr.num.e ^ hdr.num.g;
        hdr.num.e = hdr.num.e + hdr.num.h;
        hdr.num.e = hdr.num.e ^ hdr.num.f;
        hdr.num.e = hdr.num.e + hdr.num.g;
        hdr.num.e = hdr.num.e ^ hdr.num.h;
#ifdef OVER
        hdr.num.e = hdr.num.e + hdr.num.f; // here
#endif
    }
}

MAIN
