// SPDX-License-Identifier: Apache-2.0
//
// A parser's checksum over fields that share bytes, one call each: what is summed are the bytes in which they lie.
#include <core.p4>
#include <tna.p4>

header part_h {
    bit<4>  version;
    bit<8>  qos;
    bit<20> flow;
    bit<16> sum;
}
header rest_h {
    bit<3>  a;
    bit<5>  b;
    bit<8>  c;
    bit<16> residual;
}
struct headers_t {
    part_h part;
    rest_h rest;
}
struct metadata_t {
    bool    wrong;
    bit<16> residual;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() sum;
    Checksum() rest;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.part);
        sum.add(hdr.part.version);
        sum.add(hdr.part.qos);
        sum.add(hdr.part.flow);
        sum.add(hdr.part.sum);
        md.wrong = sum.verify();
        pkt.extract(hdr.rest);
        rest.subtract(hdr.rest.a);
        rest.subtract(hdr.rest.b);
        rest.subtract(hdr.rest.c);
        md.residual = rest.get();
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        hdr.rest.residual = md.residual;
        ig_tm_md.ucast_egress_port = 1;
        if (md.wrong)
            ig_tm_md.ucast_egress_port = 2;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { pkt.emit(hdr); }
}

struct eg_headers_t {}
struct eg_metadata_t {}
parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
