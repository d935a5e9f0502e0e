// SPDX-License-Identifier: Apache-2.0
//
// Actions of several controls that the control plane knows by one name: each table has its own.
#include "../lang/frame.p4i"

header t_h { bit<8> op; bit<8> a; bit<8> b; }
struct headers_t { t_h t; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition accept;
    }
)

control Inner(inout headers_t hdr) {
    @name(".mark") action mark() { hdr.t.b = 0xbb; }
    action set(bit<8> v) { hdr.t.b = v; }
    table second {
        key = { hdr.t.op : exact @name("op"); }
        actions = { mark; set; }
        size = 16;
    }
    apply { second.apply(); }
}

INGRESS {
    @name(".mark") action mark() { hdr.t.a = 0xaa; }
    action set(bit<8> v) { hdr.t.a = v; }
    table first {
        key = { hdr.t.op : exact @name("op"); }
        actions = { mark; set; }
        size = 16;
    }
    Inner() inner;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        first.apply();
        inner.apply(hdr);
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
