// SPDX-License-Identifier: Apache-2.0
// refused: digest-size
// A digest of 48 bytes and its type: the learning filter takes 48 in all.
#include "headers.p4"

header long_h {
    bit<184> first;
    bit<192> second;
    bit<8>   third;
}
struct headers_t {
    ethernet_h ethernet;
    long_h     num;
}
#define OWN_HEADERS
#define OWN_INGRESS_DEPARSER
#include "common.p4"
struct digest_t {
    bit<184> first;
    bit<192> second;
#ifdef OVER
    bit<8>   third;
#endif
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<digest_t>() digest; // here
    apply {
        if (dprsr.digest_type == 1) {
#ifdef OVER
            digest.pack({ hdr.num.first, hdr.num.second, hdr.num.third });
#else
            digest.pack({ hdr.num.first, hdr.num.second });
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
