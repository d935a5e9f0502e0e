// SPDX-License-Identifier: Apache-2.0
//
// A stack moved in the parser: the next element to extract moves along.
#include "frame.p4i"

header t_h { bit<8> op; bit<8> n; }
header item_h { bit<8> v; }
struct headers_t {
    t_h       t;
    item_h[3] s;
}
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        transition select(hdr.t.op) {
            1 : push;
            2 : pop;
            3 : push_far;
            4 : pop_all;
            default : last;
        }
    }
    state push {
        hdr.s.push_front(1);
        hdr.t.n = (bit<8>)hdr.s.lastIndex;
        transition accept;
    }
    state push_far {
        hdr.s.push_front(2);
        hdr.t.n = (bit<8>)hdr.s.lastIndex;
        transition accept;
    }
    state pop { hdr.s.pop_front(1); transition last; }
    state pop_all { hdr.s.pop_front(5); transition last; }
    state last {
        pkt.extract(hdr.s.next);
        hdr.t.n = (bit<8>)hdr.s.lastIndex;
        transition accept;
    }
)

INGRESS {
    apply { ig_tm_md.ucast_egress_port = 1; }
}

DEPARSER(pkt.emit(hdr);)
MAIN
