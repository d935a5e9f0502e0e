// SPDX-License-Identifier: Apache-2.0
// refused: deparser-checksums
// Checksums that a deparser computes: the two gresses have six units together.
#include "headers.p4"

header sum_h {
    bit<32> value;
    bit<16> sum;
}
struct headers_t {
    ethernet_h ethernet;
    num_h      num;
    sum_h[8]   sums;
}
#define OWN_HEADERS
#define OWN_INGRESS_DEPARSER
#include "common.p4"

#define UPDATE(n) hdr.sums[n].sum = sum_##n.update({ hdr.sums[n].value });
control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() sum_0;
    Checksum() sum_1;
    Checksum() sum_2;
    Checksum() sum_3;
    Checksum() sum_4;
    Checksum() sum_5;
    Checksum() sum_6;
    apply {
        UPDATE(0)
        UPDATE(1)
        UPDATE(2)
        UPDATE(3)
        UPDATE(4)
        UPDATE(5)
#ifdef OVER
        UPDATE(6) // here
#endif
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        hdr.sums[0].setValid();
        hdr.sums[1].setValid();
        hdr.sums[2].setValid();
        hdr.sums[3].setValid();
        hdr.sums[4].setValid();
        hdr.sums[5].setValid();
        hdr.sums[6].setValid();
        hdr.sums[0].value = hdr.num.e;
        hdr.sums[1].value = hdr.num.e;
        hdr.sums[2].value = hdr.num.e;
        hdr.sums[3].value = hdr.num.e;
        hdr.sums[4].value = hdr.num.e;
        hdr.sums[5].value = hdr.num.e;
        hdr.sums[6].value = hdr.num.e;
    }
}

MAIN
