// SPDX-License-Identifier: Apache-2.0
// refused: mirror-selector
// Which packet an ingress mirrors is read off mirror_type.
#define OWN_METADATA
#define OWN_INGRESS_DEPARSER
#include "headers.p4"

struct md_t {
    MirrorId_t session;
    bit<8>     kind;
}
#include "common.p4"

header mirror_h {
    bit<32> e;
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
#ifdef OVER
        if (md.kind == 1) {
#else
        if (dprsr.mirror_type == 1) {
#endif
            mirror.emit<mirror_h>(md.session, { hdr.num.e }); // here
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.mirror_type = 1;
        md.kind = 1;
        md.session = 5;
    }
}

MAIN
