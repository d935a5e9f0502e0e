// SPDX-License-Identifier: Apache-2.0
//
// Shifts and products of which an operand has one known value, though it is a variable: what a
// function returns, a parameter, a local variable, in both branches of a condition or one after the
// other. And of zero, whatever the other operand is.
#include "frame.p4i"

header t_h {
    bit<8>  op;
    bit<8>  n;
    bit<16> a;
    bit<16> b;
}
struct headers_t { t_h t; }
struct metadata_t { bit<8> by; }

bit<8> four() {
    return 4;
}
bit<16> shifted(in bit<16> x, in bit<8> by) {
    return x << by;
}
bit<8> counted(inout bit<8> x) {
    x = x + 1;
    return x;
}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition accept;
    }
)

INGRESS {
    bit<8> distance = 12;
    bit<16> factor = 16;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) {
            hdr.t.b = hdr.t.a << four();
        } else if (hdr.t.op == 1) {
            bit<8> here = four();
            hdr.t.b = hdr.t.a >> (here + 4);
            here = 1;
            hdr.t.a = hdr.t.a >> here;
        } else if (hdr.t.op == 2) {
            hdr.t.b = shifted(hdr.t.a, 2) + shifted(hdr.t.b, distance);
        } else if (hdr.t.op == 3) {
            hdr.t.b = hdr.t.a * factor;
            hdr.t.a = hdr.t.a / factor;
        } else if (hdr.t.op == 4) {
            hdr.t.b = hdr.t.a % factor;
        } else if (hdr.t.op == 5) {
            hdr.t.a = 16w0 << counted(hdr.t.n);
            hdr.t.b = 16w0 >> hdr.t.n;
        } else if (hdr.t.op == 6) {
            hdr.t.b = 16w0 / hdr.t.a + 16w0 % hdr.t.a;
        } else if (hdr.t.op == 7) {
            md.by = 3;
            if (hdr.t.n == 0)
                hdr.t.b = hdr.t.a << md.by;
            else
                hdr.t.b = hdr.t.a >> md.by;
        } else {
            int<16> x = (int<16>)hdr.t.a;
            hdr.t.b = (bit<16>)(x >> four());
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
