// SPDX-License-Identifier: Apache-2.0
// A digest of bits, without a struct.
#include <core.p4>
#include <tna.p4>

header h_t {
    bit<32> a;
    int<8>  b;
}
struct headers_t {
    h_t h;
}
struct md_t {}

parser IgParser(packet_in pkt, out headers_t hdr, out md_t md,
                out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.h);
        transition accept;
    }
}

control Ig(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t ig_intr_md,
           in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
           inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
           inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_dprsr_md.digest_type = 1;
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
    }
}

control IgDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                   in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Digest<bit<32>>() address;
    Digest<int<8>>() level;

    apply {
        if (ig_dprsr_md.digest_type == 1)
            address.pack(hdr.h.a);
        if (ig_dprsr_md.digest_type == 2)
            level.pack(hdr.h.b);
        pkt.emit(hdr);
    }
}

parser EgParser(packet_in pkt, out headers_t hdr, out md_t md,
                out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Eg(inout headers_t hdr, inout md_t md, in egress_intrinsic_metadata_t eg_intr_md,
           in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
           inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
           inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}
control EgDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                   in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) pipe;
Switch(pipe) main;
