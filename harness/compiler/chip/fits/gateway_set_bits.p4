// SPDX-License-Identifier: Apache-2.0
// fits: 1
// A field with some bits set by a constant and compared: the other bits are compared.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if ((hdr.num.c | 0xfffe) == 0xffff) {
            hdr.num.a = 1;
        }
    }
}

MAIN
