// SPDX-License-Identifier: Apache-2.0
// Hashes that the control plane may change: those that are used at one place.
#include <core.p4>
#include <tna.p4>

header h_t {
    bit<32> a;
    bit<32> b;
    bit<16> c;
    bit<16> d;
    bit<64> whole;
    bit<32> parts;
    bit<16> xored;
    bit<16> twice;
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
    Hash<bit<64>>(HashAlgorithm_t.CRC64) whole;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) parts;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) xored;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) twice;

    apply {
        hdr.h.whole = whole.get({hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.d});
        hdr.h.parts = parts.get({hdr.h.a[15:0], 8w90, hdr.h.c ++ hdr.h.d});
        hdr.h.xored = xored.get(hdr.h.a);
        if (hdr.h.c == 0)
            hdr.h.twice = twice.get({hdr.h.a});
        else
            hdr.h.twice = twice.get({hdr.h.b});
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
    }
}

control IgDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                   in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
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
