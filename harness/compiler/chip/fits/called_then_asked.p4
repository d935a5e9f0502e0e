// SPDX-License-Identifier: Apache-2.0
// fits: 2
// A condition on what an action that the control calls has computed.
#include "../limits/common.p4"

INGRESS {
    action difference() {
        md.v = hdr.num.e - hdr.num.f;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        difference();
        if (md.v == 0) {
            hdr.num.a = 1;
        }
    }
}

MAIN
