// SPDX-License-Identifier: Apache-2.0
//
// Headers that are copied field by field: as an argument of a control together with a field of
// theirs, assigned, to the header after them, to one that was not there, in other places than
// neighbours, with fields of parts of bytes.
#include "frame.p4i"

header op_h {
    bit<8> op;
}
header p_h {
    bit<4> a;
    bit<12> b;
    bit<8> c;
    bit<16> d;
    bit<32> e;
}
struct headers_t {
    op_h op;
    p_h x;
    p_h y;
    p_h z;
}
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.op);
        pkt.extract(hdr.x);
        pkt.extract(hdr.y);
        transition select(hdr.op.op) {
            0xff: zeros;
            default: accept;
        }
    }
    // What the parser writes, too, is not held back.
    state zeros {
        hdr.x = {0, 0, 0, 0, 0};
        hdr.y = {1, 1, 1, 1, 1};
        hdr.z = {2, 2, 2, 2, 2};
        transition accept;
    })

// The header and a field of it: copies out in the arguments' order.
control With(inout p_h h, inout bit<32> e) {
    apply {
        h.d = h.d + 1;
        h.e = 0x11111111;
        e = e + 1;
    }
}
control Whole(inout headers_t h) {
    apply {
        h.x.a = h.y.a;
        h.x.b = h.y.b;
        h.x.c = h.y.c;
        h.x.d = h.y.d;
        h.y.c = 0xcc;
    }
}
INGRESS {
    With() with;
    Whole() whole;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.op.op == 0) {
            with.apply(hdr.x, hdr.x.e);
        } else if (hdr.op.op == 1) {
            whole.apply(hdr);
        } else if (hdr.op.op == 2) { // one after the other, of what the first has written
            hdr.x = hdr.y;
            hdr.x.d = 0xdddd;
            hdr.z = hdr.x;
            hdr.y.setInvalid();
        } else if (hdr.op.op == 3) { // neighbours there, not here
            hdr.x.a = hdr.y.a;
            hdr.x.b = hdr.y.b;
            hdr.x.d = hdr.y.d;
            hdr.x.e = hdr.y.e;
        } else if (hdr.op.op == 4) { // exchanged
            p_h t = hdr.x;
            hdr.x = hdr.y;
            hdr.y = t;
        } else if (hdr.op.op == 5) { // what is invalid
            hdr.x = hdr.z;
        }
    }
}
DEPARSER(pkt.emit(hdr);)
MAIN
