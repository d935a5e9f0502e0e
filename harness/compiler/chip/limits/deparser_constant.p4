// SPDX-License-Identifier: Apache-2.0
// refused: deparser-constant session
// What a deparser sends beside the packet are fields, and zeros.
#define OWN_METADATA
#define OWN_INGRESS_DEPARSER
#include "headers.p4"

struct md_t {
    MirrorId_t session;
}
#include "common.p4"

header mirror_h {
    bit<8>  kind;
    bit<32> e;
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
#ifdef OVER
            mirror.emit<mirror_h>(5, { 0, hdr.num.e }); // here
#else
            mirror.emit<mirror_h>(md.session, { 0, hdr.num.e });
#endif
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.mirror_type = 1;
        md.session = 5;
    }
}

MAIN
