// SPDX-License-Identifier: Apache-2.0
//
// What a deparser cannot send: by other conditions than the type, or too much.
#define OWN_INGRESS_DEPARSER
#include "../golden/frame.p4i"

header long_h {
    bit<128> a;
    bit<128> b;
    bit<128> c;
    bit<8> d;
}

control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        dprs.mirror_type = 1;
        dprs.digest_type = 1;
        dprs.resubmit_type = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    Mirror() mirror;
    Resubmit() again;
    Digest<num_h>() digest;
    Digest<long_h>() too_long;
    Digest<error>() no_struct;

    apply {
        if (md.x == 1 && dprs.mirror_type == 1) {
            mirror.emit(1);
        }
        if (dprs.digest_type == 1) {
            again.emit();
        } else if (dprs.digest_type == 2 && md.x == 2) {
            digest.pack(hdr.num);
        }
        if (dprs.mirror_type == 1) {
            mirror.emit<long_h>(1, {1, 2, 3, 4});
            mirror.emit<md_t>(1, md);
        }
        pkt.emit(hdr);
    }
}

MAIN
