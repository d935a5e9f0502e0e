// SPDX-License-Identifier: Apache-2.0
//
// Default values of parameters: of actions, called and in tables, functions, controls, parsers and
// their constructors; arguments by name past those that are left out.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<32> r;
}
struct pair_t { bit<8> x; bit<8> y; }
struct headers_t { t_h t; }
struct metadata_t { bit<8> k; }
const bit<8> SEVEN = 7;

bit<8> sum(in bit<8> x, in bit<8> y = SEVEN, in bit<8> z = 1) {
    return x + y + z;
}
bit<8> known(bit<8> x = 2 * SEVEN) {
    return x;
}
bit<16> both(in pair_t p = {0x12, 0x34}, in bool turn = false) {
    if (turn) return p.y ++ p.x;
    return p.x ++ p.y;
}
bit<8> first(in bit<8> x = 3, in bit<8> y) {
    return x << 4 | y;
}
control Add(inout bit<8> to, in bit<8> what = 0x10)(bit<8> more = 1, bool on = true) {
    apply { if (on) { to = to + what + more; } }
}
parser Sub(packet_in pkt, out bit<8> z, in bit<8> x = 5)(bit<8> y = 0x40) {
    state start {
        z = x + y;
        transition accept;
    }
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Sub() plain;
    Sub(0x50) given;
    Sub(y = 0x60) named;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.t);
        md.k = 0;
        transition select(hdr.t.op) {
            0xf0    : one;
            default : accept;
        }
    }
    state one {
        bit<8> x;
        bit<8> y;
        bit<8> z;
        plain.apply(pkt, x);
        given.apply(pkt, y, 6);
        named.apply(x = 7, z = z, pkt = pkt);
        hdr.t.r = x ++ y ++ z ++ 8w0;
        transition accept;
    }
}

INGRESS {
    Add() add;
    Add(2) add_2;
    Add(on = false) add_not;
    Add(on = true, more = 3) add_3;
    action set(bit<8> v, bit<8> w = 3) {
        hdr.t.b = v;
        hdr.t.r[7:0] = w;
    }
    action mixed(in bit<8> x = 0x71, bit<8> v = 4, bit<16> w = 0x505) {
        hdr.t.b = x;
        hdr.t.r = 8w0 ++ v ++ w;
    }
    action structured(pair_t p = {1, 2}) { hdr.t.r = 16w0 ++ p.x ++ p.y; }
    table t {
        key = { hdr.t.a : exact @name("a"); }
        actions = { set; mixed; structured; NoAction; }
        const entries = {
            1 : set(0x11);
            2 : set(0x22, 5);
            3 : set(w = 6, v = 0x33);
            4 : mixed();
            5 : mixed(w = 0x606);
            6 : structured();
            7 : structured({3, 4});
        }
        const default_action = set(0xff);
    }
    table runtime {
        key = { hdr.t.a : exact @name("a"); }
        actions = { set; mixed(hdr.t.op); @defaultonly NoAction; }
        default_action = mixed(x = hdr.t.op, v = 9);
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) {
            hdr.t.r = sum(1) ++ sum(1, 2) ++ sum(1, 2, 3) ++ sum(z = 9, x = 1);
        } else if (hdr.t.op == 1) {
            hdr.t.r = known() ++ known(3) ++ both();
        } else if (hdr.t.op == 2) {
            hdr.t.r = both(turn = true) ++ both({5, 6}, true);
        } else if (hdr.t.op == 3) {
            hdr.t.b = first(y = 4);
            hdr.t.a = first(1, 2);
        } else if (hdr.t.op == 4) {
            add.apply(hdr.t.b);
            add_2.apply(hdr.t.b, 0x20);
            add_not.apply(hdr.t.b);
            add_3.apply(what = 0x30, to = hdr.t.b);
        } else if (hdr.t.op == 5) {
            t.apply();
        } else if (hdr.t.op == 6) {
            runtime.apply();
        } else if (hdr.t.op == 7) {
            set(0x44);
            if (hdr.t.a == 1) set(0x45, 8);
            if (hdr.t.a == 2) mixed(v = 1);
            if (hdr.t.a == 3) structured();
        }
    }
}

DEPARSER(pkt.emit(hdr.t);)
MAIN
