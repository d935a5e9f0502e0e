// SPDX-License-Identifier: Apache-2.0
// refused: gateway-operation
// A condition that computes; the twin leaves that to the action before it.
#include "common.p4"

INGRESS {
    action sum(bit<32> more) {
        md.v = hdr.num.e + more;
    }
    table t {
        key = { hdr.num.b : exact; }
        actions = { sum; }
        size = 64;
    }
    apply {
        t.apply();
#ifdef OVER
        if (md.v + hdr.num.f == 5) { // here
#else
        if (md.v == 5) {
#endif
            hdr.num.a = 1;
        }
    }
}

MAIN
