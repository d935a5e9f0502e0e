// SPDX-License-Identifier: Apache-2.0
//
// Hashes and parser counters that no Tofino computes.
#define OWN_INGRESS_PARSER
#include "../golden/frame.p4i"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    ParserCounter() counter;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.eth);
        pkt.extract(hdr.num);
        counter.set(hdr.num.c);
        counter.set(hdr.num.a, 15, 8, 7, 0);
        counter.increment(hdr.num.b);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout md_t md) {
    @symmetric("hdr.num.a", "hdr.num.c")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) unequal;
    @symmetric("hdr.num.a", "hdr.num.x")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) absent;
    @symmetric("hdr.num.a", "hdr.num.b")
    @symmetric("hdr.num.b", "hdr.num.a")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) twice;
    @symmetric("hdr.num.a", "hdr.num.b")
    Hash<bit<16>>(HashAlgorithm_t.XOR16) no_crc;
    @symmetric("hdr.num.a")
    Hash<bit<16>>(HashAlgorithm_t.CRC16) single;
    CRCPolynomial<bit<72>>(0x1021, false, false, false, 0, 0) long_one;
    apply {
        md.z = unequal.get({hdr.num.a, hdr.num.b, hdr.num.c});
        md.z = absent.get({hdr.num.a, hdr.num.b});
        md.z = twice.get({hdr.num.a, hdr.num.b});
        md.z = no_crc.get({hdr.num.a, hdr.num.b});
        md.z = single.get({hdr.num.a, hdr.num.b});
    }
}

MAIN
