// SPDX-License-Identifier: Apache-2.0
//
// An instance that is applied in several places by the same words, which mean something else in each: variables and
// constants of blocks that have the same name, and a variable of a control that is itself applied twice.
#include "frame.p4i"

header t_h {
    bit<8> way;
    bit<8> key;
    bit<8> out1;
    bit<8> out2;
}
struct headers_t { t_h t; }
struct metadata_t { bit<8> n; }

PARSER(state parse { pkt.extract(hdr.t); transition accept; })

control Finder(in bit<8> wanted, in bit<8> other, out bit<8> found) {
    Register<bit<8>, bit<1>>(2) asked;
    RegisterAction<bit<8>, bit<1>, bit<8>>(asked) ask = {
        void apply(inout bit<8> v, out bit<8> rv) { v = v + 1; rv = v; }
    };
    action hit(bit<8> value) { found = value + ask.execute(0); }
    action miss() { found = other; }
    table finds {
        key = { wanted : exact; }
        actions = { hit; miss; }
        const default_action = miss();
        const entries = { 1 : hit(0x10); 2 : hit(0x20); }
    }
    apply { finds.apply(); }
}

control Around(in bit<8> key, out bit<8> found)(bit<8> other) {
    Finder() finder;
    apply {
        bit<8> mine = key;
        bit<8> result;
        finder.apply(mine, other, result);
        found = result;
    }
}

INGRESS {
    Finder() finder;
    Around(0x66) around;
    apply {
        hdr.t.out1 = 0;
        if (hdr.t.way == 0) {
            bit<8> key = hdr.t.key;
            bit<8> found;
            const bit<8> other = 0x77;
            finder.apply(key, other, found);
            hdr.t.out1 = found;
        } else if (hdr.t.way == 1) {
            bit<8> key = hdr.t.key + 1;
            bit<8> found;
            const bit<8> other = 0x88;
            finder.apply(key, other, found);
            hdr.t.out2 = found;
        } else if (hdr.t.way == 2) {
            around.apply(hdr.t.key, hdr.t.out1);
        } else {
            bit<8> found;
            around.apply(hdr.t.way, found);
            hdr.t.out2 = found;
        }
        ig_tm_md.ucast_egress_port = 1;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
