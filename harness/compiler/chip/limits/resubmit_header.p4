// SPDX-License-Identifier: Apache-2.0
// refused: compile at most 64
// What a resubmitted packet brings along: 9 bytes, of at most 8.
#define OWN_INGRESS_DEPARSER
#include "common.p4"

header again_h {
    bit<32> first;
    bit<32> second;
#ifdef OVER
    bit<8>  third;
#endif
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Resubmit() again;
    apply {
        if (dprsr.resubmit_type == 1) {
#ifdef OVER
            again.emit<again_h>({ md.v, md.w, md.x }); // here
#else
            again.emit<again_h>({ md.v, md.w });
#endif
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.resubmit_type = 1;
        md.v = hdr.num.e;
        md.w = hdr.num.f;
        md.x = hdr.num.a;
    }
}

MAIN
