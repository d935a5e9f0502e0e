// SPDX-License-Identifier: Apache-2.0
// fits: 2
// Tables that write slices of one field which do not overlap stand side by side; one that matches the field comes after.
#include "../limits/common.p4"

INGRESS {
    action low(bit<8> part) {
        md.z[7:0] = part;
    }
    action high(bit<8> part) {
        md.z[15:8] = part;
    }
    action found(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    table first {
        key = { hdr.num.a : exact; }
        actions = { low; }
    }
    table second {
        key = { hdr.num.b : exact; }
        actions = { high; }
    }
    table third {
        key = { md.z : exact; }
        actions = { found; }
    }
    apply {
        first.apply();
        second.apply();
        third.apply();
    }
}

MAIN
