// SPDX-License-Identifier: Apache-2.0
// refused: select-width
// A parser state compares 32 bits: an address has 48.
#define OWN_INGRESS_PARSER
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start { // here
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
#ifdef OVER
        transition select(hdr.ethernet.dst) {
#else
        transition select(hdr.ethernet.dst[31:0]) {
#endif
            5       : number;
            default : accept;
        }
    }
    state number {
        pkt.extract(hdr.num);
        transition accept;
    }
}

INGRESS {
    apply {}
}

MAIN
