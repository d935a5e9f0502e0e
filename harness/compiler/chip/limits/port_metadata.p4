// SPDX-License-Identifier: Apache-2.0
// refused: port-metadata takes 9 bytes
// A port has 64 bits. Here are 46, and with one more nine bytes, since every member has whole ones.
#define OWN_METADATA
#define OWN_INGRESS_PARSER
#include "headers.p4"

struct port_t {
    bit<1>  trusted;
    bit<9>  vrf;
    bit<16> weight;
    bit<20> label;
#ifdef OVER
    bit<1>  last;
#endif
}

struct md_t {
    port_t port;
}
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        md.port = port_metadata_unpack<port_t>(pkt); // here
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        transition accept;
    }
}

INGRESS {
    apply {
        hdr.num.c = md.port.weight;
        hdr.num.d = 7w0 ++ md.port.vrf;
        hdr.num.e = 12w0 ++ md.port.label;
        hdr.num.a = 7w0 ++ md.port.trusted;
#ifdef OVER
        hdr.num.b = 7w0 ++ md.port.last;
#endif
    }
}

MAIN
