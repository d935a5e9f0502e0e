/* SPDX-License-Identifier: Apache-2.0
 *
 * ports_2: a Tofino 2's ports. Packets go to 'port', which 'second' takes the place of; 'seen' is
 * where they came from. The lowest bit of 'flags' asks for a copy to the CPU, once.
 */
#include <core.p4>
#include <t2na.p4>

header way_h {
    bit<8>  flags;
    bit<16> port;
    bit<16> second;
    bit<16> seen;
}

struct headers_t {
    way_h way;
}

struct none_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out none_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.way);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout none_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = hdr.way.port[8:0];
        ig_tm_md.copy_to_cpu = hdr.way.flags[0:0];
        ig_tm_md.bypass_egress = 1;
        hdr.way.flags[0:0] = 0;
        hdr.way.port = hdr.way.second;
        hdr.way.seen = 7w0 ++ ig_intr_md.ingress_port;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in none_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out none_t hdr, out none_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
