// SPDX-License-Identifier: Apache-2.0
//
// Externs called where the chip has no unit for them.
#define OWN_INGRESS_PARSER
#define OWN_INGRESS_DEPARSER
#include "../golden/frame.p4i"

Counter<bit<32>, bit<8>>(4, CounterType_t.PACKETS) counter;

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        counter.count(1);
        md.x = max(8w1, 8w2);
        pkt.extract(hdr.eth);
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    apply {
        hdr.num.c = hash.get(hdr.num.a);
        pkt.emit(hdr);
    }
}

control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Checksum() sum;
    Mirror() mirror;
    Resubmit() resubmit;
    Digest<num_h>() digest;
    MathUnit<bit<32>>(true, 0, 0, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }) math;
    apply {
        hdr.num.c = sum.update({ hdr.num.a });
        mirror.emit(1);
        resubmit.emit();
        digest.pack(hdr.num);
        hdr.num.d = math.execute(hdr.num.d);
    }
}

MAIN
