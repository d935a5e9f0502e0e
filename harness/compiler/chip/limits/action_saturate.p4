// SPDX-License-Identifier: Apache-2.0
// refused: action-operation
// Saturation happens at a container's width: 8, 16 or 32 bits, not 12.
#include "headers.p4"

#ifdef OVER
#define WIDTH 12
#else
#define WIDTH 16
#endif

header sums_h {
    bit<WIDTH>        a;
    bit<(24 - WIDTH)> beside_a;
    bit<WIDTH>        b;
    bit<(24 - WIDTH)> beside_b;
}
struct headers_t {
    ethernet_h ethernet;
    sums_h     num;
}
#define OWN_HEADERS
#include "common.p4"

INGRESS {
    action sum() {
        hdr.num.a = hdr.num.a |+| hdr.num.b; // here
    }
    apply {
        sum();
    }
}

MAIN
