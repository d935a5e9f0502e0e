// SPDX-License-Identifier: Apache-2.0
// refused: lookahead
// A state sees 32 bytes ahead.
#define OWN_INGRESS_PARSER
#include "common.p4"

header ahead_h {
    bit<240> skipped;
    bit<8>   near;
    bit<8>   almost;
    bit<8>   far;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition look;
    }
    state look { // here
#ifdef OVER
        transition select(pkt.lookahead<ahead_h>().far) {
#else
        transition select(pkt.lookahead<ahead_h>().almost) {
#endif
            5       : numbers;
            default : accept;
        }
    }
    state numbers {
        pkt.extract(hdr.num);
        transition accept;
    }
}

INGRESS {
    apply {}
}

MAIN
