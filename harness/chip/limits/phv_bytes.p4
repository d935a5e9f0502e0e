// SPDX-License-Identifier: Apache-2.0
// refused: phv
// Headers of one byte have a container of 8 bits each, with a validity of its own.
#include "headers.p4"

#ifdef OVER
#define COUNT 120
#else
#define COUNT 40
#endif

header byte_h {
    bit<1> last;
    bit<7> value;
}
struct headers_t { // here
    ethernet_h    ethernet;
    byte_h[COUNT] bytes;
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
        transition byte;
    }
    state byte {
        pkt.extract(hdr.bytes.next);
        transition select(hdr.bytes.last.last) {
            0       : byte;
            default : accept;
        }
    }
}

INGRESS {
    apply {}
}

MAIN
