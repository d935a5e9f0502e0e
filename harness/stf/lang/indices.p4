// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen at run time by an index that is narrower than the array, signed, or wider than any
// number of elements: what is read, written, extracted, made valid and handed to functions.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<32> r;
}
header item_h { bit<8> v; }
header_union either_u { item_h x; item_h y; }
struct pair_t { bit<8> f; bit<8> g; }
struct headers_t {
    t_h         t;
    item_h[5]   s;
    either_u[3] u;
}
struct metadata_t { bit<1> k; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        md.k = hdr.t.a[0:0];
        transition select(hdr.t.op) {
            0xf0    : chosen;
            0xf1    : assigned;
            default : row;
        }
    }
    state row {
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        transition accept;
    }
    state chosen { // one element, the first or the second
        pkt.extract(hdr.s[md.k]);
        pkt.extract(hdr.s[4]);
        transition accept;
    }
    state assigned {
        hdr.s[2].setValid();
        hdr.s[2].v = 0x22;
        hdr.s[md.k].setValid();
        hdr.s[md.k].v = 0x11;
        transition accept;
    }
)

void double(inout bit<8> x, inout bit<1> i) {
    i = i + 1;
    x = x * 2;
}
void fill(out pair_t p) {
    p = {0x77, 0x88};
}
bit<32> sum(in bit<8> a, in bit<8> b, in bit<8> c, in bit<8> d) {
    return a ++ b ++ c ++ d;
}

INGRESS {
    Register<bit<8>, bit<1>>(5) narrow;
    RegisterAction<bit<8>, bit<1>, bit<8>>(narrow) count = {
        void apply(inout bit<8> v, out bit<8> rv) {
            v = v + 1;
            rv = v;
        }
    };
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) {
            hdr.s[md.k].v = 0xaa;
        } else if (hdr.t.op == 1) {
            hdr.s[hdr.t.a[1:0]].v += 1;
        } else if (hdr.t.op == 2) {
            pair_t[5] q;
            q[0] = {1, 2};
            q[1] = {3, 4};
            q[2] = {5, 6};
            q[3] = {7, 8};
            q[4] = {9, 10};
            q[hdr.t.a[1:0]].g = hdr.t.b;
            q[md.k].f = 0xcc;
            hdr.t.r = sum(q[0].g, q[2].f, q[4].g, q[hdr.t.a[1:0]].g);
        } else if (hdr.t.op == 3) { // rows of columns
            bit<8>[3][2] m;
            m[0][0] = 1;
            m[0][1] = 2;
            m[0][2] = 3;
            m[1][0] = 4;
            m[1][1] = 5;
            m[1][2] = 6;
            m[md.k][hdr.t.b[0:0]] |= 0x40;
            hdr.t.r = sum(m[0][0], m[0][1], m[0][2], m[1][0]);
        } else if (hdr.t.op == 4) {
            hdr.s[md.k].setInvalid();
        } else if (hdr.t.op == 5) {
            hdr.s[2].setInvalid();
            hdr.t.r = (bit<32>)(bit<1>)hdr.s[md.k].isValid();
        } else if (hdr.t.op == 6) { // below 0 is nowhere
            int<2> i = (int<2>)hdr.t.a[1:0];
            hdr.s[i].v = 0xbb;
        } else if (hdr.t.op == 7) { // the place is that of the index before the call
            double(hdr.s[md.k].v, md.k);
            hdr.t.r = (bit<32>)md.k;
        } else if (hdr.t.op == 8) {
            hdr.s[md.k] = hdr.s[hdr.t.b[1:0]];
        } else if (hdr.t.op == 9) {
            hdr.s.push_front(1);
            hdr.s[md.k].setValid();
            hdr.s[md.k].v = 0xee;
            hdr.s.pop_front(2);
        } else if (hdr.t.op == 10) {
            hdr.s[hdr.t.a[1:0]].v[3:0] = 0xf;
        } else if (hdr.t.op == 11) {
            hdr.t.b = count.execute(md.k);
        } else if (hdr.t.op == 12) { // more bits than a number of elements ever has
            bit<8>[3][2] m;
            m[0][0] = 1;
            m[0][1] = 2;
            m[0][2] = 3;
            m[1][0] = 4;
            m[1][1] = 5;
            m[1][2] = 6;
            m[hdr.t.a ++ 32w0 ++ hdr.t.b][md.k] = 0x40;
            hdr.t.r = sum(m[0][0], m[0][1], m[0][2], m[1][1]);
        } else if (hdr.t.op == 13) {
            hdr.u[0].x.setValid();
            hdr.u[0].x.v = 0x10;
            hdr.u[2].x.setValid();
            hdr.u[2].x.v = 0x12;
            hdr.u[md.k].y.setValid();
            hdr.u[md.k].y.v = 0x20;
        } else if (hdr.t.op == 14) {
            pair_t[3] q;
            q[0] = {1, 2};
            q[1] = {3, 4};
            q[2] = {5, 6};
            fill(q[md.k]);
            hdr.t.r = sum(q[0].f, q[1].f, q[2].f, q[2].g);
        }
    }
}

DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.s); pkt.emit(hdr.u);)
MAIN
