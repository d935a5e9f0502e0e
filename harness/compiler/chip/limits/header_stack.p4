// SPDX-License-Identifier: Apache-2.0
// refused: header-stack
// The elements of a header stack that are extracted one after another are bits of one container: 32.
#include "headers.p4"

#ifdef OVER
#define COUNT 33
#else
#define COUNT 32
#endif

header byte_h {
    bit<1> last;
    bit<7> value;
}
struct headers_t {
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
        pkt.extract(hdr.bytes.next); // here
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
