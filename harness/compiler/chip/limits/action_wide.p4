// SPDX-License-Identifier: Apache-2.0
// refused: action-operation
// A sum of 128 bits: two containers carry from one to the other, 64 bits are the most.
#include "headers.p4"

#ifdef OVER
#define WIDTH 128
#else
#define WIDTH 64
#endif

header wide_h {
    bit<WIDTH> a;
    bit<WIDTH> b;
}
struct headers_t {
    ethernet_h ethernet;
    wide_h     num;
}
#define OWN_HEADERS
#include "common.p4"

INGRESS {
    action sum() {
        hdr.num.a = hdr.num.a + hdr.num.b; // here
    }
    apply {
        sum();
    }
}

MAIN
