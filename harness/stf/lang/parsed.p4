// SPDX-License-Identifier: Apache-2.0
//
// One register on two paths that ask for headers which no way through the parser gives a packet
// together: reached once.
#include "frame.p4i"

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
    Register<bit<32>, bit<8>>(256, 7) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) exchange = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.x.v;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.x.isValid()) {
            hdr.x.v = exchange.execute(hdr.x.a);
        }
        if (hdr.y.isValid()) {
            hdr.y.v = read.execute(hdr.y.b);
        }
    }
}
DEPARSER(pkt.emit(hdr);)
MAIN
