// SPDX-License-Identifier: Apache-2.0
// refused: parser-depth
// A parser gets 1,023 times 16 bytes deep.
#define OWN_INGRESS_PARSER
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start { // here
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
#ifdef OVER
        pkt.advance(8 * 16 * 1023);
#else
        pkt.advance(8 * 16 * 200);
#endif
        pkt.extract(hdr.num);
        transition accept;
    }
}

INGRESS {
    apply {}
}

MAIN
