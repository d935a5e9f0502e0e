// SPDX-License-Identifier: Apache-2.0
//
// One register on two paths that ask for headers which the parser may give a packet together, or of
// which the control has made one valid itself.
#include "../../../stf/lang/frame.p4i"

header op_h {
    bit<8> op;
}
header a_h {
    bit<8> a;
    bit<32> v;
}
header b_h {
    bit<8> b;
    bit<32> v;
}
header c_h {
    bit<8> c;
}
struct headers_t {
    op_h op;
    c_h z;
    a_h x;
    b_h y;
}
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.op);
        transition select(hdr.op.op) {
            1: parse_x;
            2: parse_y;
            3: parse_z;
            default: accept;
        }
    }
    state parse_x {
        pkt.extract(hdr.x);
        transition accept;
    }
    state parse_y {
        pkt.extract(hdr.y);
        transition accept;
    }
    state parse_z {
        pkt.extract(hdr.z);
        transition select(hdr.z.c) {
            1: parse_x;
            default: accept;
        }
    })

INGRESS {
    Register<bit<32>, bit<8>>(256) together;
    Register<bit<32>, bit<8>>(256) added;
    Register<bit<32>, bit<8>>(256) absent;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.z.isValid()) {
            together.write(1, 1);
        }
        if (hdr.x.isValid()) {
            together.write(2, 1);
            absent.write(1, 1);
        }
        if (!hdr.y.isValid()) {
            absent.write(2, 1);
        }
        if (hdr.x.isValid()) {
            added.write(1, 1);
            hdr.y.setValid();
            hdr.y.b = 1;
            hdr.y.v = 1;
        }
        if (hdr.y.isValid()) {
            added.write(2, 1);
        }
    }
}
DEPARSER(pkt.emit(hdr);)
MAIN
