// SPDX-License-Identifier: Apache-2.0
//
// Egress parsers that do not extract the egress's intrinsic metadata: the chip's compiler has none put before packets
// then. The one here begins again with its first state; with EMPTY it does nothing, and packets stay as they are.
#include <core.p4>
#include <tna.p4>

header tag_h {
    bit<8> more;
    bit<8> value;
}
struct headers_t { tag_h[4] tags; }
struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply { tm.ucast_egress_port = 1; }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t intr) {
    state start {
#ifndef EMPTY
        pkt.extract(hdr.tags.next);
        transition select(hdr.tags.last.more) {
            1 : start;
            default : accept;
        }
#else
        transition accept;
#endif
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {
#ifndef EMPTY
        if (hdr.tags[1].isValid())
            hdr.tags[1].value = 0x77;
#endif
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
