// SPDX-License-Identifier: Apache-2.0
//
// Loops whose rounds cannot be counted here: a switch has none.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    apply {
        for (bit<8> i = 0; i < hdr.num.a; i = i + 1) {
            md.x = md.x + 1;
        }
        for (bit<16> i = 0; i < 2000; i = i + 1) {
            md.x = md.x + 1;
        }
        for (bit<8> i in 8w0 .. hdr.num.a) {
            md.x = md.x + i;
        }
        for (bit<8> i = 0; i != 8; i = i + md.x) {
            md.x = md.x + 1;
        }
        for (bit<8> i in 8w0 .. 8w3) {
            md.x[hdr.num.a +: 2] = 3;
        }
        hdr.num.s = hdr.num.s;
    }
}

MAIN
