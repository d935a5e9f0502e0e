// SPDX-License-Identifier: Apache-2.0
//
// A parser counter loads the byte in which a narrower field lies, with its neighbours: what is not the field is
// rotated and masked away. The upper half of the first byte, with UPPER, or the lower half says how many units follow,
// which are taken off.
#include "frame.p4i"

header length_h {
    bit<3> upper;
    bit<1> odd;
    bit<4> lower;
}
header unit_h { bit<8> x; }
struct headers_t {
    length_h  length;
    unit_h[8] units;
}
struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intr) {
    ParserCounter() left;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
#ifdef AHEAD
        left.set(pkt.lookahead<length_h>().lower, 255, 0, 3w3, 0);
        pkt.extract(hdr.length);
#else
        pkt.extract(hdr.length);
#ifdef UPPER
        left.set(hdr.length.upper, 255, 5, 3w2, 0);
#else
        left.set(hdr.length.lower, 255, 0, 3w3, 0);
#endif
#endif
        transition next;
    }
    state next {
        transition select(left.is_zero()) {
            true : accept;
            false : one;
        }
    }
    state one {
        pkt.extract(hdr.units.next);
        left.decrement(1);
        transition next;
    }
}

INGRESS {
    apply { ig_tm_md.ucast_egress_port = 1; }
}

DEPARSER(pkt.emit(hdr.length);)
MAIN
