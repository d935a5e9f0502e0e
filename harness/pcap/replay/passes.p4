/* SPDX-License-Identifier: Apache-2.0
 *
 * passes: the first pass takes a, counts it up and recirculates; the second, which takes nothing, puts b in
 * front; so does the third, which sends. What leaves is b, b, a and the rest.
 */
#include <core.p4>
#include <tna.p4>

header a_h {
    bit<8> x;
    bit<24> y;
}

header b_h {
    bit<16> z;
}

struct headers_t {
    a_h a;
    b_h b;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            68: accept;
            196: accept;
            default: first;
        }
    }

    state first {
        pkt.extract(hdr.a);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        if (hdr.a.isValid()) {
            hdr.a.x = hdr.a.x + 1;
            ig_tm_md.ucast_egress_port = 68;
        } else {
            hdr.b.setValid();
            if (ig_intr_md.ingress_port == 68) {
                hdr.b.z = 1;
                ig_tm_md.ucast_egress_port = 196;
            } else {
                hdr.b.z = 2;
                ig_tm_md.ucast_egress_port = 1;
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr.a);
        pkt.emit(hdr.b);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
