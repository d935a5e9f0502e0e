// SPDX-License-Identifier: Apache-2.0
// refused: parser-rows
// Each way on from a state is a row of the parser's TCAM, which has 256.
#define OWN_INGRESS_PARSER
#include "common.p4"

#define CASE(n) 1##n : more;

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start { // here
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        transition select(hdr.num.c) {
            TIMES_64(CASE, 0)
            TIMES_64(CASE, 1)
            TIMES_64(CASE, 2)
#ifdef OVER
            TIMES_64(CASE, 3)
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
