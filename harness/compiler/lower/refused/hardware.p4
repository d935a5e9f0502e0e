// SPDX-License-Identifier: Apache-2.0
//
// What the chip's ALUs cannot do, and tables met twice.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    action mark() { md.x = 1; }
    table t {
        key = { hdr.num.a : exact; }
        actions = { mark; }
        default_action = mark;
    }
    table u {
        key = { hdr.num.a : exact; }
        actions = { mark; }
        default_action = mark;
    }
    table v {
        key = { hdr.num.a : exact; }
        actions = { mark; }
        default_action = mark;
    }
    apply {
        hdr.num.d = hdr.num.d * 3;
        hdr.num.d = hdr.num.d * hdr.num.d;
        hdr.num.d = hdr.num.d / 3;
        hdr.num.d = 64 / hdr.num.d;
        hdr.num.d = hdr.num.d % 10;
        hdr.num.d = hdr.num.d << hdr.num.a;
        hdr.num.d = 32w1 << hdr.num.a;
        hdr.num.d = hdr.num.d * 16 / 4 % 8 << 3;
        if (hdr.num.a == 1) {
            t.apply();
            u.apply();
        } else {
            t.apply();
        }
        if (hdr.num.a == 2) {
            u.apply();
        }
        switch (hdr.num.a) {
            7: { v.apply(); return; }
            8: { v.apply(); exit; }
            default: { }
        }
        if (hdr.num.a == 9) {
            v.apply();
        } else {
            hdr.num.b = 1;
        }
        v.apply();
        bit<32> by = 2;
        if (hdr.num.a == 10)
            by = 3;
        hdr.num.d = hdr.num.d << by;
        hdr.num.d = hdr.num.d * by;
    }
}

MAIN
