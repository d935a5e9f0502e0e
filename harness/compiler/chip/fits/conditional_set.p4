// SPDX-License-Identifier: Apache-2.0
// fits: 1
// A value that action data chooses or leaves as it is: one instruction, with a constant or with action data.
#include "../limits/common.p4"

INGRESS {
    action choose(bool yes, bool also, bit<16> value) {
        hdr.ethernet.type = yes ? 16w5 : hdr.ethernet.type;
        hdr.num.d = also ? value : hdr.num.c;
    }
    table chosen {
        key = { hdr.ethernet.dst : exact; }
        actions = { choose; NoAction; }
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        chosen.apply();
    }
}

MAIN
