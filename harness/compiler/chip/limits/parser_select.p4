// SPDX-License-Identifier: Apache-2.0
// refused: select-registers
// A parser state compares 32 bits: here are 40.
#define OWN_INGRESS_PARSER
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start { // here
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
#ifdef OVER
        transition select(hdr.num.e, hdr.num.a) {
            (5, 6)  : more;
#else
        transition select(hdr.num.e) {
            5       : more;
#endif
            default : accept;
        }
    }
    state more {
        pkt.extract(hdr.more);
        transition accept;
    }
}

INGRESS {
    apply {}
}

MAIN
