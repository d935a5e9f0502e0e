// SPDX-License-Identifier: Apache-2.0
//
// By what a deparser cannot select: two fields, values that are no entry of its table, 0, a validity.
#define OWN_INGRESS_DEPARSER
#include "../golden/frame.p4i"

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
    Mirror(2) second;
    Resubmit() again;
    Digest<num_h>() digest;

    apply {
        if (md.x == 1) {
            mirror.emit(1); // taken
        }
        if (md.x == 2 || md.x == 3) {
            mirror.emit(1); // taken
        } else if (md.x == 4) {
            mirror.emit(1); // taken
        }
        if (md.y == 1) {
            mirror.emit(1); // another field
        }
        if (dprs.mirror_type == 1) {
            mirror.emit(1); // and the type
        }
        if (md.x == 2) {
            second.emit(1); // by a field and by the instance's type
        }
        if (md.x == 1) {
            if (md.flag) {
                again.emit(); // two fields
            }
        }
        if (hdr.num.isValid()) {
            again.emit();
        }
        if (md.x > 2) {
            again.emit();
        }
        if (md.x == md.y) {
            again.emit();
        }
        if (md.z == 8) {
            digest.pack(hdr.num);
        }
        if (md.z == 0) {
            digest.pack(hdr.num);
        }
        if (md.z != 1) {
            digest.pack(hdr.num);
        }
        if (md.z == 1) {
            digest.pack(hdr.num); // taken
        } else {
            digest.pack(hdr.num); // for 0, too
        }
        pkt.emit(hdr);
    }
}

MAIN
