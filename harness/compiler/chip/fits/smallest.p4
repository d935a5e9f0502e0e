// SPDX-License-Identifier: Apache-2.0
// fits: 2
// min() is a function: its result is not put into what reads it.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        md.v = min(hdr.num.e, hdr.num.f);
        hdr.num.g = min(md.v, hdr.num.g);
    }
}

MAIN
