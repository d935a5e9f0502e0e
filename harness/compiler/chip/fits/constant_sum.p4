// SPDX-License-Identifier: Apache-2.0
// fits: 1
// e + 14 + 8 is e + 22.
#include "../limits/common.p4"

INGRESS {
    action longer() {
        hdr.num.e = hdr.num.e + 14 + 8 - 2;
    }
    table who {
        key = { hdr.num.a : exact; }
        actions = { longer; NoAction; }
        default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        who.apply();
    }
}

MAIN
