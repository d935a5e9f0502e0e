// SPDX-License-Identifier: Apache-2.0
// fits: 1 on tofino2
// Of a Tofino 2's containers no group is the egress's alone: an ingress may have more than 3,200 bits of them.
// The reference compiler places it in one stage of a Tofino 2.
#include "../limits/headers.p4"

#define FIELD(n)  bit<32> f##n;
#define HALF(n)   bit<16> h##n;
header words_h {
    TIMES_64(FIELD, 0)
}
header halves_h {
    TIMES_64(HALF, 0)
    TIMES_16(HALF, 1)
    TIMES_4(HALF, 2)
}
struct headers_t {
    ethernet_h ethernet;
    words_h    num;
    halves_h   halves;
}
#define OWN_HEADERS
#define OWN_INGRESS_PARSER
struct md_t {
    bit<8>  x;
}
#define OWN_METADATA
parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        pkt.extract(hdr.halves);
        transition accept;
    }
}
#include "../limits/common.p4"

#define SET(n)     hdr.num.f##n = 1;
#define SETHALF(n) hdr.halves.h##n = 1;
INGRESS {
    action set() {
        TIMES_64(SET, 0)
        TIMES_64(SETHALF, 0)
        TIMES_16(SETHALF, 1)
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        set();
    }
}

MAIN
