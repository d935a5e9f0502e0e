// SPDX-License-Identifier: Apache-2.0
//
// Ways through a parser that end with different headers in different places, and what becomes of the
// headers behind each: they stay, go, come, are written to where they are not. What becomes of a stack
// is known at run time only.
#include "frame.p4i"

header c_h {
    bit<8> c;
}
header k_h {
    bit<8> kind;
    bit<8> act;
    bit<8> x;
}
header a_h {
    bit<16> v;
}
header b_h {
    bit<24> v;
}
header d_h {
    bit<128> v;
}
header s_h {
    bit<8> more;
}
struct headers_t {
    c_h c;
    k_h k;
    s_h[2] s;
    a_h a;
    b_h b;
    d_h d;
}
struct metadata_t {
    bit<8> way;
}

PARSER(
    state parse {
        pkt.extract(hdr.k);
        md.way = 1;
        transition select(hdr.k.kind) {
            1 &&& 0xfd: parse_a; // 1 and 3
            2: parse_b;
            4: parse_stack;
            5: parse_ahead;
            6: parse_d;
            7: parse_k_again;
            default: accept;
        }
    }
    state parse_a {
        pkt.extract(hdr.a);
        md.way = 2;
        transition select(hdr.k.kind, hdr.a.v[15:8]) {
            (3, _): parse_b;
            (_, 0xbb): parse_b;
            default: accept;
        }
    }
    state parse_b {
        pkt.extract(hdr.b);
        md.way = md.way + 4;
        transition accept;
    }
    state parse_stack {
        pkt.extract(hdr.s.next);
        transition select(hdr.s.last.more) {
            1: parse_stack;
            default: parse_a;
        }
    }
    state parse_ahead {
        md.way = pkt.lookahead<bit<32>>()[7:0];
        transition parse_b;
    }
    state parse_d {
        pkt.extract(hdr.d);
        transition accept;
    }
    state parse_k_again {
        pkt.extract(hdr.k);
        transition select(hdr.k.kind) {
            7: parse_k_again;
            1: parse_a;
            default: accept;
        }
    }
)

INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.k.act == 1) {
            hdr.a.setInvalid();
        } else if (hdr.k.act == 2) {
            hdr.b.setInvalid();
        } else if (hdr.k.act == 3) {
            hdr.a.setValid();
            hdr.a.v = 0xa1a2;
        } else if (hdr.k.act == 4) {
            hdr.c.setValid();
            hdr.c.c = 0xcc;
        } else if (hdr.k.act == 5) {
            hdr.a.v = 0xdead;
            hdr.b.v = 0xdeadbe;
            hdr.d.v = 0xdeadbeefdeadbeefdeadbeefdeadbeef;
        } else if (hdr.k.act == 6) {
            hdr.k.x = hdr.a.v[7:0] | hdr.b.v[7:0] | hdr.d.v[7:0];
        } else if (hdr.k.act == 7) {
            hdr.k.setInvalid();
            hdr.c.setValid();
            hdr.c.c = md.way;
        } else if (hdr.k.act == 8) {
            hdr.a.setInvalid();
            hdr.b.setInvalid();
            hdr.k.x = md.way;
        } else if (hdr.k.act == 9) {
            hdr.b.setValid();
            hdr.d.setValid();
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
