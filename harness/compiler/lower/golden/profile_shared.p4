// SPDX-License-Identifier: Apache-2.0
//
// Two tables of one action profile: the second is applied where the first read none of its memory.
#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    ActionProfile(16) members;

    action one(bit<8> v) { hdr.num.a = v; }

    table left {
        key = { hdr.num.a : exact; }
        actions = { one; NoAction; }
        implementation = members;
    }
    table right {
        key = { hdr.num.b : exact; }
        actions = { one; NoAction; }
        implementation = members;
    }
    apply {
        switch (left.apply().action_run) {
            NoAction: { right.apply(); }
            default: {}
        }
    }
}

MAIN
