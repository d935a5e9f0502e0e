// SPDX-License-Identifier: Apache-2.0
//
// A range whose low end is known when the control is made.
#include "../golden/frame.p4i"

control Inner(inout bit<8> v)(bit<8> low) {
    action add() { v = v + 1; }
    table t {
        key = { v : range; }
        actions = { add; NoAction; }
        const entries = {
            low .. 3 : add();
        }
    }
    apply {
        t.apply();
    }
}

control Ingress(inout headers_t hdr, inout md_t md) {
    Inner(3) fits;
    Inner(4) empty;
    apply {
        fits.apply(hdr.num.a);
        empty.apply(hdr.num.b);
    }
}

MAIN
