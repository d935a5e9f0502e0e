// SPDX-License-Identifier: Apache-2.0
//
// A residual checksum whose last operand is an element of a stack that is known at run time only:
// the end of that element is where the rest of the packet begins.
#include <core.p4>
#include <tna.p4>

header start_h {
    bit<16> sum;
    bit<8> pairs;
    bit<8> pad;
}
header pair_h {
    bit<16> x;
    bit<16> y;
}
struct headers_t {
    start_h start;
    pair_h[4] pairs;
}
struct meta_t {
    bit<16> residual;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() old;
    ParserCounter() left;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.start);
        old.subtract({hdr.start.sum});
        left.set(hdr.start.pairs);
        transition more;
    }
    state more {
        transition select(left.is_zero()) {
            true: finish;
            false: pair;
        }
    }
    state pair {
        pkt.extract(hdr.pairs.next);
        old.subtract({hdr.pairs.last.x});
        left.decrement(1);
        transition more;
    }
    state finish {
        meta.residual = old.get();
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        if (hdr.pairs[0].isValid()) {
            hdr.pairs[0].x = 0x1234;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() sum;
    apply {
        hdr.start.sum = sum.update({hdr.pairs[0].x, hdr.pairs[1].x, hdr.pairs[2].x,
                                    hdr.pairs[3].x, meta.residual});
        pkt.emit(hdr);
    }
}

struct none_t {}
parser EgressParser(packet_in pkt, out none_t hdr, out none_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
