// SPDX-License-Identifier: Apache-2.0
// fits: 2
// Actions that the control calls are tables of their own: the second reads the sum that the first has computed, and
// is not joined with it to an instruction of three operands.
#include "../limits/common.p4"

INGRESS {
    action first() {
        md.v = hdr.num.e - hdr.num.f;
    }
    action second() {
        hdr.num.g = md.v + hdr.num.e;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        first();
        second();
    }
}

MAIN
