// SPDX-License-Identifier: Apache-2.0
// fits: 3
// What is copied into a header that the control makes valid, and is not written afterwards, is no instruction: the
// header's fields are in the same containers, and the copies wait for nothing.
#define OWN_HEADERS
#define OWN_INGRESS_DEPARSER
#include "../limits/headers.p4"

header bridge_h {
    bit<32> sum;
    bit<16> kind;
}

struct headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    num_h      num;
}
#include "../limits/common.p4"

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

INGRESS {
    action first() { md.v = hdr.num.e + hdr.num.f; }
    action second() { md.v = md.v + hdr.num.g; }
    action third() { md.v = md.v - hdr.num.h; }
    action populate() {
        hdr.bridge.setValid();
        hdr.bridge.sum = md.v;
        hdr.bridge.kind = md.z;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        md.z = hdr.num.c;
        first();
        second();
        third();
        populate();
    }
}

MAIN
