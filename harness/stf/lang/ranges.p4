// SPDX-License-Identifier: Apache-2.0
//
// Ranges of signed and unsigned numbers in selects and entries: below 0, up to 0, across it, all of
// them; several in one keyset; of one number; in loops.
#include "frame.p4i"

header t_h {
    bit<8> op;
    int<8> a;
    int<16> b;
    bit<8> c;
    bit<8> r;
    int<1> d;
    bit<7> e;
}
struct headers_t { t_h t; }
struct metadata_t {}
const int<8> LOW = -100;

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.op) {
            0x10    : across;
            0x11    : pairs;
            0x12    : others;
            default : accept;
        }
    }
    state across {
        transition select(hdr.t.a) {
            0                : first;
            -5 .. 5          : second;
            LOW .. -50       : third;
            -128 .. -101     : fourth;
            8s6 .. 127       : fifth;
            -128 .. 127      : sixth;
        }
    }
    state pairs {
        transition select(hdr.t.a, hdr.t.b, hdr.t.c) {
            (-1 .. 1, -300 .. 300, 7)       : first;
            (-1 .. 1, -300 .. 300, 0 .. 9)  : second;
            (_, -32768 .. 0, 0x80 .. 0xff)  : third;
            (-10 .. 10, _, _)               : fourth;
            default                         : fifth;
        }
    }
    state others {
        transition select(hdr.t.d, hdr.t.e) {
            (-1 .. 0, 0 .. 0)    : first;
            (-1 .. -1, 1 .. 127) : second;
            (0 .. 0, _)          : third;
        }
    }
    state first { hdr.t.r = 1; transition accept; }
    state second { hdr.t.r = 2; transition accept; }
    state third { hdr.t.r = 3; transition accept; }
    state fourth { hdr.t.r = 4; transition accept; }
    state fifth { hdr.t.r = 5; transition accept; }
    state sixth { hdr.t.r = 6; transition accept; }
)

INGRESS {
    action set(bit<8> v) { hdr.t.r = v; }
    table one {
        key = { hdr.t.a : range; }
        actions = { set; }
        const entries = {
            0          : set(0x11);
            -5 .. 5    : set(0x12);
            -100 .. -6 : set(0x13);
            -128 .. 0  : set(0x14);
            _          : set(0x15);
        }
        const default_action = set(0xff);
    }
    table two {
        key = { hdr.t.a : range; hdr.t.b : range; hdr.t.c : exact; }
        actions = { set; NoAction; }
        const entries = {
            (-1 .. 1, -300 .. 300, 7)   : set(0x21);
            (-128 .. 127, -300 .. 0, 7) : set(0x22);
            (5, -32768 .. 32767, 8)     : set(0x23);
        }
        const default_action = NoAction();
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) {
            one.apply();
        } else if (hdr.t.op == 1) {
            two.apply();
        } else if (hdr.t.op == 2) {
            for (int<8> i in -3 .. 3) {
                if (hdr.t.a == i) hdr.t.r = 0x31;
            }
        }
    }
}

DEPARSER(pkt.emit(hdr.t);)
MAIN
