// SPDX-License-Identifier: Apache-2.0
// refused: header-bytes 9 bits
#define OWN_INGRESS_DEPARSER
#define OWN_METADATA
struct md_t {
    bit<9>  p;
    bit<16> z;
}
#include "common.p4"

header again_h {
#ifdef OVER
    bit<9>  port;
#else
    bit<16> port;
#endif
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Resubmit() again;
    apply {
        if (dprsr.resubmit_type == 1) {
#ifdef OVER
            again.emit<again_h>({ md.p }); // here
#else
            again.emit<again_h>({ md.z });
#endif
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.resubmit_type = 1;
        md.z = hdr.num.c;
        md.p = intr.ingress_port;
    }
}

MAIN
