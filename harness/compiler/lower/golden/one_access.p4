// SPDX-License-Identifier: Apache-2.0
//
// A read and a write of one cell that are one access: in actions in either order, with a value computed between them;
// outside of actions one after the other.
#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<8>, bit<8>>(16) counted;
    Register<bit<8>, bit<8>>(16) stored;
    Register<bit<8>, bit<8>>(16) moved;
    Register<bit<16>, bit<8>>(256) sums;
    Register<bit<8>, bit<8>>(256) plain;
    Register<bit<8>, bit<8>>(256) part;
    action count() {
        hdr.num.b = counted.read(hdr.num.a & 15);
        counted.write(hdr.num.a & 15, hdr.num.b + 1);
    }
    action store() {
        stored.write(hdr.num.a & 15, hdr.num.b);
        md.y = stored.read(hdr.num.a & 15);
    }
    action move() {
        md.x = moved.read(hdr.num.a & 15);
        md.y = hdr.num.b + 1;
        moved.write(hdr.num.a & 15, md.y);
    }
    action add() {
        bit<16> v = sums.read(hdr.num.a);
        sums.write(hdr.num.a, v + hdr.num.c);
        md.z = v;
    }
    table t {
        key = { hdr.num.d : ternary; }
        actions = { count; store; move; NoAction; }
        const entries = {
            0 &&& 3 : count();
            1 &&& 3 : store();
            2 &&& 3 : move();
        }
    }
    apply {
        t.apply();
        add();
        if (hdr.num.s > 0) {
            hdr.num.b = plain.read(hdr.num.a);
            plain.write(hdr.num.a, hdr.num.b ^ 0x55);
        } else {
            hdr.eth.src[15:8] = part.read(hdr.num.a);
            part.write(hdr.num.a, 9);
        }
        hdr.eth.dst[7:0] = md.x;
        hdr.eth.dst[15:8] = md.y;
        hdr.eth.dst[31:16] = md.z;
    }
}

MAIN
