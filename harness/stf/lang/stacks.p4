// SPDX-License-Identifier: Apache-2.0
//
// 'next' and 'last' of header stacks as places: what is assigned, made valid or invalid, extracted and
// handed to functions through them. p4c only reads 'last'.
#include "frame.p4i"

header t_h { bit<8> op; bit<8> a; }
header item_h { bit<4> hi; bit<4> lo; }
header_union either_u { item_h x; t_h y; }
struct headers_t {
    t_h         t;
    item_h[3]   s;
    either_u[2] u;
}
struct metadata_t { bit<8> k; }

bit<4> swap(inout item_h i, in bit<4> v) {
    bit<4> old = i.hi;
    i.hi = i.lo;
    i.lo = v;
    return old;
}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.op) {
            0       : fields;
            1       : invalid;
            2       : made;
            3       : whole;
            4       : called;
            5       : unions;
            6       : full;
            7       : none;
            default : accept;
        }
    }
    state fields {
        pkt.extract(hdr.s.next);
        hdr.s.last.hi = 0xa;
        pkt.extract(hdr.s.next);
        hdr.s.last.lo = hdr.s.last.hi;
        hdr.s.last.hi = hdr.t.a[3:0];
        transition accept;
    }
    state invalid {
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        hdr.s.last.setInvalid();
        transition accept;
    }
    state made { // next does not move along
        pkt.extract(hdr.s.next);
        hdr.s.next.setValid();
        hdr.s.next.hi = 0xb;
        hdr.s.next.lo = 0xc;
        hdr.s.last.hi = (bit<4>)hdr.s.lastIndex;
        transition accept;
    }
    state whole {
        pkt.extract(hdr.s.next);
        hdr.s.next = hdr.s.last;
        hdr.s.last = { 0xd, 0xe };
        transition accept;
    }
    state called {
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        hdr.t.a = (bit<8>)swap(hdr.s.last, hdr.s.last.hi);
        transition accept;
    }
    state unions {
        pkt.extract(hdr.u.next.x);
        hdr.u.last.x.hi = 0xf;
        hdr.u.next.y.setValid();
        hdr.u.next.y.op = 0x55;
        hdr.u.next.y.a = 0x66;
        transition accept;
    }
    state full { // there is no next element: nothing is written
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        hdr.s.next.hi = 0x1;
        hdr.s.last.hi = 0x2;
        transition accept;
    }
    state none { // and here no last one
        hdr.s.last.setValid();
        hdr.s.last.hi = 0x3;
        transition accept;
    }
)

INGRESS { apply { ig_tm_md.ucast_egress_port = 1; } }
DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.s); pkt.emit(hdr.u);)
MAIN
