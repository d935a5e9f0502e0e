// SPDX-License-Identifier: Apache-2.0
// fits: 1
// What chooses the smaller or the larger of two fields is an instruction, whichever way it is written.
#include "../limits/common.p4"

INGRESS {
    action smaller() {
        hdr.num.g = hdr.num.e <= hdr.num.f ? hdr.num.e : hdr.num.f;
        hdr.num.h = hdr.num.e > hdr.num.f ? hdr.num.e : hdr.num.f;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        smaller();
    }
}

MAIN
