// SPDX-License-Identifier: Apache-2.0
//
// Headers, structs and stacks as values.
#define OWN_HEADERS
#include <tna.p4>

header tag_h {
    bit<8> id;
    bit<8> next;
}

struct pair_t {
    bit<8> a;
    bit<8> b;
}

header nested_h {
    pair_t p;
    bit<16> rest;
}

struct headers_t {
    tag_h one;
    tag_h two;
    nested_h nested;
    tag_h[3] tags;
}

struct md_t {
    pair_t p;
    pair_t q;
    bit<8> i;
    bool same;
}

#define OWN_INGRESS_PARSER
parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    tag_h ahead;
    state start {
        pkt.extract(intr);
        md.p = port_metadata_unpack<pair_t>(pkt);
        ahead = pkt.lookahead<tag_h>();
        transition select(ahead.id, pkt.lookahead<bit<16>>()[7:0]) {
            (1, 2) : one;
            (3 .. 7, _) : tags;
            (8 &&& 0xc, 9) : nested;
            default : accept;
        }
    }
    state one {
        pkt.extract(hdr.one);
        transition tags;
    }
    state tags {
        pkt.extract(hdr.tags.next);
        md.i = hdr.tags.last.id;
        transition select(hdr.tags.last.next) {
            0 : accept;
            1 : reject;
            _ : tags;
        }
    }
    state nested {
        pkt.extract(hdr.nested);
        pkt.extract<tag_h>(_);
        transition accept;
    }
}

#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    tag_h local;
    apply {
        hdr.one = hdr.two;
        hdr.one = { 1, 2 };
        hdr.two = { next = 5, id = hdr.one.id };
        md.p = { md.p.b, md.p.a };
        md.q = md.p;
        hdr.nested.p = md.q;
        md.same = md.p == md.q && hdr.one == hdr.two;
        hdr.one.setValid();
        hdr.two.setInvalid();
        invalidate(hdr.nested);
        if (hdr.one.isValid() && !hdr.tags[2].isValid()) {
            hdr.tags.push_front(1);
            hdr.tags[0] = { 7, 7 };
        } else {
            hdr.tags.pop_front(2);
        }
        local = hdr.tags[1];
        hdr.tags[md.i].id = 4;
        md.i = hdr.tags[md.i].next;
        hdr.two = (tag_h){#};
    }
}

MAIN
