// SPDX-License-Identifier: Apache-2.0
// fits: 2
// Making a header valid keeps its fields' bits: what an action has computed from them is still known after it, and is
// computed a second time, not read back.
#include "../limits/common.p4"

INGRESS {
    action send(bit<16> length) {
        hdr.num.c = length + hdr.more.d;
        hdr.more.setValid();
        md.z = hdr.num.c;
    }
    table t {
        key = { hdr.num.b : exact; }
        actions = { send; NoAction; }
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
        if (md.z == 5) {
            hdr.num.a = 7;
        }
    }
}

MAIN
