// SPDX-License-Identifier: Apache-2.0
//
// A read and a write of one cell that are one access: in actions of tables and called ones, in either
// order, and outside of actions, where the write follows the read at once.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> i;
    bit<8> a;
    bit<8> b;
}
struct headers_t { t_h t; }
struct metadata_t { bit<8> x; }

PARSER(state parse { pkt.extract(hdr.t); transition accept; })

INGRESS {
    Register<bit<1>, bit<8>>(256) seen;
    Register<bit<8>, bit<8>>(256) counted;
    Register<bit<8>, bit<8>>(256) stored;
    Register<bit<8>, bit<8>>(256) moved;
    Register<bit<8>, bit<8>>(256, 0x40) added;
    Register<bit<8>, bit<8>>(256, 7) plain;
    Register<bit<8>, bit<8>>(256, 1) branch;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) copy;

    action mark() {
        bit<8> cell = copy.get({ hdr.t.i });
        bit<1> before = seen.read(cell);
        seen.write(cell, 1);
        hdr.t.b = 7w0 ++ before;
    }
    action count() {
        hdr.t.b = counted.read(hdr.t.i);
        counted.write(hdr.t.i, hdr.t.b + 1);
    }
    action store() {
        stored.write(hdr.t.i, hdr.t.a);
        hdr.t.b = stored.read(hdr.t.i);
    }
    action move() {
        hdr.t.b = moved.read(hdr.t.i);
        md.x = hdr.t.a + 1;
        moved.write(hdr.t.i, md.x);
    }
    action add() {
        bit<8> v = added.read(hdr.t.i);
        added.write(hdr.t.i, v + hdr.t.a);
        hdr.t.b = v + hdr.t.a;
    }
    table marks {
        key = { hdr.t.op : exact; }
        actions = { mark; NoAction; }
        const entries = { 0 : mark(); }
    }
    table counts {
        key = { hdr.t.op : exact; }
        actions = { count; NoAction; }
        const entries = { 1 : count(); }
    }
    table stores {
        key = { hdr.t.op : exact; }
        actions = { store; NoAction; }
        const entries = { 2 : store(); }
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        marks.apply();
        counts.apply();
        stores.apply();
        if (hdr.t.op == 3) {
            move();
        } else if (hdr.t.op == 4) {
            add();
        } else if (hdr.t.op == 5) {
            hdr.t.b = plain.read(hdr.t.i);
            plain.write(hdr.t.i, hdr.t.b + 2);
        } else if (hdr.t.op == 6) {
            if (hdr.t.a == 1) {
                hdr.t.b = branch.read(hdr.t.i);
                branch.write(hdr.t.i, 9);
            } else {
                hdr.t.b = branch.read(hdr.t.i);
            }
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
