// SPDX-License-Identifier: Apache-2.0
// fits: 1
// Two fields are swapped by a local: the instructions of an action run at once, and each reads what was there before.
#include "../limits/common.p4"

INGRESS {
    action swap() {
        bit<48> other = hdr.ethernet.src;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = other;
    }
    table who {
        key = { hdr.num.a : exact; }
        actions = { swap; NoAction; }
        default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        who.apply();
    }
}

MAIN
