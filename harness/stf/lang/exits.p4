// SPDX-License-Identifier: Apache-2.0
//
// 'exit' in actions of a control that is applied in several places, with results that go to
// different fields: all bodies end, and each gives its results to where this application says.
#include "frame.p4i"

header t_h {
    bit<8>  op;
    bit<8>  x;
    bit<8>  y;
    bit<8>  z;
    bit<8>  w;
}
struct headers_t { t_h t; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition accept;
    }
)

bit<8> plus(in bit<8> a, in bit<8> b) { return a + b; }

control Inner(inout bit<8> v, in bit<8> op, out bit<8> note) {
    action stop(bit<8> by) {
        v = plus(v, by);
        note = 0x77;
        if (op == 3) {
            exit;
            v = 0xee;
        }
        exit;
    }
    action on(bit<8> by) { v = v + by; }
    table choose {
        key = { op : exact; v : exact; }
        actions = { stop; on; }
        default_action = on(1);
    }
    apply {
        note = 0x11;
        if (choose.apply().hit) {
            v = v + 0x40;
        }
        note = 0x22;
    }
}

control Outer(inout bit<8> a, in bit<8> op, out bit<8> note) {
    Inner() inner;
    bit<8> mine;
    apply {
        mine = a;
        inner.apply(mine, op, note);
        mine = mine + 0x80;
        a = mine;
    }
}

INGRESS {
    Inner() inner;
    Outer() outer;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 1) {
            inner.apply(hdr.t.x, hdr.t.op, hdr.t.z);
        } else if (hdr.t.op < 0x10) {
            inner.apply(hdr.t.y, hdr.t.op, hdr.t.w);
        } else if (hdr.t.op == 0x10) {
            outer.apply(hdr.t.x, hdr.t.op, hdr.t.z);
        } else {
            outer.apply(hdr.t.y, hdr.t.op, hdr.t.w);
        }
        hdr.t.op = 0xff;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
