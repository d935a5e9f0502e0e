// SPDX-License-Identifier: Apache-2.0
// fits: 1
// A part of a word that is shifted by a constant is a part of the word: neither an operand more in the addition, nor
// something that a gateway would have to compute.
#include "../limits/common.p4"

INGRESS {
    action add(bit<16> mask) {
        hdr.num.c = ((bit<16>)(hdr.num.e >> 8)) & mask;
        hdr.num.d = hdr.num.d + (bit<16>)(hdr.num.f >> 16);
        hdr.num.b = hdr.num.b + (bit<8>)(hdr.num.h ^ ((hdr.num.h >> 8) << 8));
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { add; NoAction; }
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        bit<48> address = hdr.ethernet.dst;
        bit<8> first = (bit<8>)(address >> 40);
        if ((first & 1) == 1) {
            hdr.num.g = 1;
        } else {
            t.apply();
        }
    }
}

MAIN
