// SPDX-License-Identifier: Apache-2.0
// refused: phv
// Headers of more bytes than a gress has containers for, though never more in one packet than its deparser emits.
#include "headers.p4"

header long_h {
    bit<1024> first;
    bit<1024> second;
#ifdef OVER
    bit<512>  third;
#endif
}
struct headers_t {
    ethernet_h ethernet;
    long_h     num;
#ifdef OVER
    long_h     other;
#endif
}
#define OWN_HEADERS
#define OWN_INGRESS_PARSER
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
#ifdef OVER
        transition select(hdr.ethernet.type) {
            1:       parse_other;
            default: parse_num;
        }
    }
    state parse_other {
        pkt.extract(hdr.other);
        transition accept;
    }
    state parse_num {
#endif
        pkt.extract(hdr.num);
        transition accept;
    }
}

INGRESS { // here
    apply {
        hdr.ethernet.type = 5;
    }
}

MAIN
