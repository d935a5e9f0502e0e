// SPDX-License-Identifier: Apache-2.0
// fits: 2
// A random number that is masked where it is drawn is not joined with what reads it: that would be of three operands.
#include "../limits/common.p4"

INGRESS {
    Random<bit<32>>() dice;
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        bit<32> drawn = dice.get() & ~hdr.num.f;
        hdr.num.e = hdr.num.e | drawn;
    }
}

MAIN
