// SPDX-License-Identifier: Apache-2.0
// fits: 1
// No unsigned number is below 0: the condition is dropped, and with it the difference.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.e - hdr.num.f < 0) {
            hdr.num.a = 1;
        }
    }
}

MAIN
