// SPDX-License-Identifier: Apache-2.0
// refused: compile a mirror header
// What is put in front of a mirrored packet: 33 bytes, of at most 32.
#define OWN_INGRESS_DEPARSER
#include "common.p4"

header mirror_h {
    bit<248> first;
    bit<8>   second;
#ifdef OVER
    bit<8>   third;
#endif
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
#ifdef OVER
            mirror.emit<mirror_h>(5, { 1, hdr.num.a, hdr.num.b }); // here
#else
            mirror.emit<mirror_h>(5, { 1, hdr.num.a });
#endif
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.mirror_type = 1;
    }
}

MAIN
