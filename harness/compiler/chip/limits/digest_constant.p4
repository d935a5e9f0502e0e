// SPDX-License-Identifier: Apache-2.0
// refused: deparser-constant with
// A digest's fields come from others; a zero is padding inside of a byte.
#define OWN_INGRESS_DEPARSER
#include "common.p4"

struct seen_t {
    bit<3>  zero;
    bit<5>  low;
    bit<8>  kind;
    bit<32> e;
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<seen_t>() seen;
    apply {
        if (dprsr.digest_type == 1) {
#ifdef OVER
            seen.pack({ 0, hdr.num.a[4:0], 0, hdr.num.e }); // here
#else
            seen.pack({ 0, hdr.num.a[4:0], hdr.num.b, hdr.num.e });
#endif
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.digest_type = 1;
    }
}

MAIN
