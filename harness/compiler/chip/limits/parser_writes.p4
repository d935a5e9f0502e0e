// SPDX-License-Identifier: Apache-2.0
// refused: parser-writes
// A parser ors what it writes into a container to what is there: nothing, or a value with fewer bits.
#define OWN_INGRESS_PARSER
#include "headers.p4"

struct headers_t {
    ethernet_h ethernet;
    num_h      num;
}
#define OWN_HEADERS

struct md_t {
    bit<8> x;
    bit<8> y;
}
#define OWN_METADATA

#ifdef OVER
#define FIRST 2
#else
#define FIRST 1
#endif

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        md.x = FIRST;
        md.y = 0;
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x800: numbers;
            default: accept;
        }
    }
    state numbers {
        pkt.extract(hdr.num);
        md.x = 5; // here
        md.y = 4;
        transition accept;
    }
}
#include "common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (md.x == 5) {
            hdr.num.c = 1;
        }
        if (md.y == 4) {
            hdr.num.d = 1;
        }
    }
}

MAIN
