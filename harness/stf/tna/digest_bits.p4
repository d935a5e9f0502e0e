/* SPDX-License-Identifier: Apache-2.0
 *
 * digest_bits: digests of bits alone, without a struct around them. Their only field is f1.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
}
struct metadata_t {}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}
CONTROL_IN(Ingress) {
    apply {
        ig_tm_md.ucast_egress_port = 3;
        ig_dprsr_md.digest_type = hdr.ethernet.ether_type[2:0];
    }
}
DEPARSER_IN(IngressDeparser) {
    Digest<bit<48>>() address;
    Digest<bool>() is_group;

    apply {
        if (ig_dprsr_md.digest_type == 1)
            address.pack(hdr.ethernet.src_addr);
        if (ig_dprsr_md.digest_type == 2)
            is_group.pack(hdr.ethernet.dst_addr[40:40] == 1);
        pkt.emit(hdr);
    }
}
PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
CONTROL_OUT(Egress) {
    apply {}
}
DEPARSER_OUT(EgressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
