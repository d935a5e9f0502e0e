// SPDX-License-Identifier: Apache-2.0
//
// Checksums of a parser over parts of bytes, and over odd and even numbers of bytes by different ways.
#include "../../../stf/lang/frame.p4i"

header first_h {
    bit<4>  kind;
    bit<4>  rest;
}
header more_h {
    bit<8>  a;
}
header last_h {
    bit<16> b;
}
struct headers_t {
    first_h first;
    more_h  more;
    last_h  last;
}
struct metadata_t {
    bool wrong;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() part;
    Checksum() uneven;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.first);
        part.add(hdr.first.kind);
        uneven.add({hdr.first.kind, hdr.first.rest});
        transition select(hdr.first.kind) {
            0 : last;
            default : more;
        }
    }
    state more {
        pkt.extract(hdr.more);
        uneven.add(hdr.more.a);
        transition last;
    }
    state last {
        pkt.extract(hdr.last);
        uneven.add(hdr.last.b);
        md.wrong = uneven.verify();
        transition accept;
    }
}

INGRESS { apply { ig_tm_md.ucast_egress_port = 1; } }

DEPARSER(pkt.emit(hdr);)
MAIN
