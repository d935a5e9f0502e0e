// SPDX-License-Identifier: Apache-2.0
//
// Headers of variable size: extracted with a length from the packet, emitted, copied, compared,
// made invalid; in a stack; a length beyond the field's ends the parser as 'reject' does.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> len;  // bytes of the options
    bit<8> r;
}
header opt_h {
    bit<8>      n;
    varbit<104> data; // up to 13 bytes
}
header bare_h { varbit<32> data; }
struct headers_t {
    t_h      t;
    opt_h    o;
    opt_h    copy;
    bare_h   bare;
    opt_h[2] s;
}
struct metadata_t { bit<8> n; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.op) {
            8 .. 9  : parse_row;
            10      : parse_bare;
            11      : parse_fixed;
            default : parse_options;
        }
    }
    state parse_options {
        pkt.extract(hdr.o, (bit<32>)hdr.t.len * 8);
        hdr.t.r = 1;
        transition accept;
    }
    state parse_bare {
        pkt.extract(hdr.bare, (bit<32>)(hdr.t.len ++ 3w0));
        transition accept;
    }
    state parse_fixed {
        pkt.extract(hdr.o, 24);
        pkt.extract(hdr.copy, 32w0);
        transition accept;
    }
    state parse_row {
        pkt.extract(hdr.s.next, (bit<32>)pkt.lookahead<bit<8>>() << 3);
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
            hdr.copy = hdr.o;
            hdr.copy.n = 0xcc;
        } else if (hdr.t.op == 2) {
            hdr.copy = hdr.o;
            if (hdr.copy == hdr.o && hdr.copy.data == hdr.o.data) hdr.t.r = 0x77;
            hdr.copy.setInvalid();
        } else if (hdr.t.op == 3) {
            hdr.o.setInvalid();
        } else if (hdr.t.op == 4) { // data without an extraction is empty
            hdr.copy.setValid();
            hdr.copy.n = 0;
            if (hdr.copy.data != hdr.o.data) hdr.t.r = 0x33;
        } else if (hdr.t.op == 5) {
            hdr.copy.setValid();
            hdr.copy.n = 5;
            hdr.copy.data = hdr.o.data;
        } else if (hdr.t.op == 9) {
            hdr.s.pop_front(1);
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
