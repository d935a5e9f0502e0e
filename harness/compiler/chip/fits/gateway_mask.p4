// SPDX-License-Identifier: Apache-2.0
// fits: 1
// Of what is masked, a gateway compares the bits that the mask leaves: 32 + 1 + 1 here, not 96.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.e == 1 && hdr.num.f & 0x80000000 == 0 && hdr.num.g & 0x40 == 0x40) {
            hdr.num.a = 1;
        }
    }
}

MAIN
