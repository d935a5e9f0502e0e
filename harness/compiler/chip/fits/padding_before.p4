// SPDX-License-Identifier: Apache-2.0
// fits: 3
// A field of 8 bits that is counted, emitted and added to one of 16 bits: what overflows goes into the @padding in
// front of it, so that both may be in containers of 16 bits.
#define OWN_HEADERS
#define OWN_INGRESS_PARSER
#define OWN_METADATA
#include "../limits/headers.p4"

header hop_h {
    @padding bit<8> nothing;
    bit<8>          hops;
}
struct headers_t {
    ethernet_h ethernet;
    num_h      num;
    hop_h      hop;
}
struct md_t {
    bit<16> x;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        pkt.extract(hdr.hop);
        transition accept;
    }
}
#include "../limits/common.p4"

INGRESS {
    action set(bit<16> x) {
        md.x = x;
    }
    action send(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    table t {
        key = { hdr.num.e : exact; }
        actions = { set; }
        size = 1024;
    }
    table u {
        key = { md.x : exact; }
        actions = { send; }
        size = 1024;
    }
    apply {
        t.apply();
        md.x = md.x + (bit<16>)hdr.hop.hops;
        u.apply();
        hdr.hop.hops = hdr.hop.hops + 1;
    }
}

MAIN
