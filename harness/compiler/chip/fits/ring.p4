// SPDX-License-Identifier: Apache-2.0
// fits: 1
// Fields move on by one place, in one action, the last by way of a local.
#include "../limits/common.p4"

INGRESS {
    action turn() {
        bit<32> last = hdr.num.e;
        hdr.num.e = hdr.num.f;
        hdr.num.f = hdr.num.g;
        hdr.num.g = last;
    }
    table who {
        key = { hdr.num.a : exact; }
        actions = { turn; NoAction; }
        default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        who.apply();
    }
}

MAIN
