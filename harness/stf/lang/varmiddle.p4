// SPDX-License-Identifier: Apache-2.0
//
// A varbit field in the middle of its header: the fields behind it are extracted, changed, copied,
// compared and emitted behind however many bytes it has.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> len;
}
header mid_h {
    bit<8>      first;
    varbit<104> data; // up to 13 bytes
    bit<4>      a;
    bit<4>      b;
    bit<16>     last;
}
header front_h {
    varbit<24> data;
    bit<8>     n;
}
struct headers_t {
    t_h        t;
    mid_h      m;
    mid_h      copy;
    front_h[2] s;
}
struct metadata_t { bit<8> n; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.op) {
            8       : parse_row;
            default : parse_mid;
        }
    }
    state parse_mid {
        pkt.extract(hdr.m, (bit<32>)hdr.t.len * 8);
        transition accept;
    }
    state parse_row {
        pkt.extract(hdr.s.next, (bit<32>)hdr.t.len * 8);
        md.n = md.n + 1;
        transition select(md.n) {
            2 : accept;
            default : parse_row;
        }
    }
)

INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 1) {
            hdr.m.first = hdr.m.first + 1;
            hdr.m.b = hdr.m.a;
            hdr.m.last = hdr.m.last + 1;
        } else if (hdr.t.op == 2) {
            hdr.copy = hdr.m;
            hdr.copy.last = 0xcccc;
            if (hdr.copy == hdr.m) hdr.t.op = 0xee;
            hdr.copy.last = hdr.m.last;
            if (hdr.copy == hdr.m) hdr.t.len = 0x77;
        } else if (hdr.t.op == 3) {
            hdr.m.setInvalid();
        } else if (hdr.t.op == 4) {
            hdr.copy.setValid();
            hdr.copy.first = 1;
            hdr.copy.a = 2;
            hdr.copy.b = 3;
            hdr.copy.last = 4;
            hdr.copy.data = hdr.m.data;
            hdr.m.setInvalid();
        } else if (hdr.t.op == 8) {
            hdr.s[1].n = hdr.s[1].n + 1;
            hdr.s.pop_front(1);
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
