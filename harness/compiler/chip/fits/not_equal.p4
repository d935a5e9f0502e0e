// SPDX-License-Identifier: Apache-2.0
// fits: 1
// A field that differs from two others: the rows of the gateway ask whether it is equal to one, 32 bits each, not 64.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.e != 0 && hdr.num.e != hdr.num.f) {
            hdr.num.a = 1;
        }
    }
}

MAIN
