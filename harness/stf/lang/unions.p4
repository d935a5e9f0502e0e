// SPDX-License-Identifier: Apache-2.0
//
// Header unions: one member at most is valid, in whatever way it became so; stacks of unions;
// assignment and comparison.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> kind;
    bit<8> r;
}
header a_h { bit<8> x; }
header b_h { bit<16> y; }
header c_h { bit<8> k; bit<24> z; }
header_union u_t {
    a_h a;
    b_h b;
    c_h c;
}
struct headers_t {
    t_h    t;
    u_t    u;
    u_t    v;
    u_t[3] s;
}
struct metadata_t { bit<8> n; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.kind) {
            0xa : parse_a;
            0xb : parse_b;
            0xc : parse_c;
            0xd : parse_row;
            0xe : parse_twice;
            default : accept;
        }
    }
    state parse_a { pkt.extract(hdr.u.a); transition accept; }
    state parse_b { pkt.extract(hdr.u.b); transition accept; }
    state parse_c { pkt.extract(hdr.u.c); transition accept; }
    state parse_twice { pkt.extract(hdr.u.a); pkt.extract(hdr.u.b); transition accept; }
    state parse_row {
        transition select(pkt.lookahead<bit<8>>()) {
            1 : row_a;
            2 : row_c;
            default : accept;
        }
    }
    state row_a { pkt.extract(hdr.s.next.a); transition parse_row; }
    state row_c {
        pkt.extract(hdr.s.next.c);
        md.n = md.n + hdr.s.last.c.k;
        transition parse_row;
    }
)

control Fill(inout u_t u) {
    apply { if (!u.isValid()) { u.c.setValid(); u.c = {7, 0x010203}; } }
}

INGRESS {
    Fill() fill;
    action swap(inout u_t x, inout u_t y) {
        u_t z = x;
        x = y;
        y = z;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        hdr.t.r = (bit<1>)hdr.u.isValid() ++ (bit<1>)hdr.v.isValid() ++ (bit<1>)hdr.u.a.isValid()
                  ++ (bit<1>)hdr.u.b.isValid() ++ (bit<1>)hdr.u.c.isValid() ++ 3w0;
        switch (hdr.t.op) {
            1: { hdr.u.b.setValid(); hdr.u.b.y = 0x1234; }
            2: { hdr.u.a = {0x55}; }
            3: { hdr.v = hdr.u; hdr.u.a.setInvalid(); }
            4: { a_h none; none.setInvalid(); hdr.u.a = none; }
            5: { hdr.v.c.setValid(); hdr.v.c = {9, 9}; swap(hdr.u, hdr.v); }
            6: { fill.apply(hdr.u); }
            7: { hdr.v = hdr.u; hdr.t.r = (bit<8>)(bit<1>)(hdr.u == hdr.v); }
            8: { hdr.v.a = {1}; hdr.t.r = (bit<8>)(bit<1>)(hdr.u == hdr.v);
                 hdr.v.a.setInvalid(); }
            9: { hdr.s[hdr.t.r[1:0]].a.setValid(); hdr.s[hdr.t.r[1:0]].a.x = 0x77; hdr.t.r = md.n; }
            10: { hdr.s.push_front(1); hdr.s[0].b = {0xabcd}; }
            11: { hdr.s.pop_front(1); }
            12: { u_t local; local.b = {0x4321}; hdr.u = local; }
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
