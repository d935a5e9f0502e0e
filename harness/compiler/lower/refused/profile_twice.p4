// SPDX-License-Identifier: Apache-2.0
//
// Two tables of one action profile that a packet may hit both.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    ActionProfile(16) members;

    action one(bit<8> v) { hdr.num.a = v; }

    table left {
        key = { hdr.num.a : exact; }
        actions = { one; }
        implementation = members;
    }
    table right {
        key = { hdr.num.b : exact; }
        actions = { one; }
        implementation = members;
    }
    apply {
        if (left.apply().hit)
            right.apply();
    }
}

MAIN
