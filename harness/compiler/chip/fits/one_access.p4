// SPDX-License-Identifier: Apache-2.0
// fits: 2
// A read and a write of one cell are one access: in an action in either order, elsewhere if the write follows at once.
#include "../limits/common.p4"

INGRESS {
    Register<bit<8>, bit<8>>(256) counted;
    Register<bit<8>, bit<8>>(256) stored;
    Register<bit<8>, bit<8>>(256) moved;
    Register<bit<8>, bit<8>>(256) plain;

    action count() {
        hdr.ethernet.dst[7:0] = counted.read(hdr.num.a);
        counted.write(hdr.num.a, 1);
    }
    action store() {
        stored.write(hdr.num.a, hdr.num.b);
        md.x = stored.read(hdr.num.a);
    }
    action move() {
        bit<8> v = moved.read(hdr.num.a);
        moved.write(hdr.num.a, v + hdr.num.b);
        md.y = v;
    }
    table counts {
        key = { hdr.num.c : exact; }
        actions = { count; NoAction; }
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        counts.apply();
        store();
        move();
        if (hdr.num.d == 4) {
            hdr.ethernet.dst[15:8] = plain.read(hdr.num.a);
            plain.write(hdr.num.a, 3);
        }
        hdr.ethernet.src[7:0] = md.x;
        hdr.ethernet.src[15:8] = md.y;
    }
}

MAIN
