// SPDX-License-Identifier: Apache-2.0
// refused: compile a mirror header
// What is put in front of a mirrored packet: 33 bytes, of at most 32.
#define OWN_METADATA
#define OWN_INGRESS_DEPARSER
#include "headers.p4"

struct md_t {
    MirrorId_t session;
    bit<8>     x;
}
#include "common.p4"

header mirror_h {
    bit<48> dst;
    bit<48> src;
    bit<32> e;
    bit<32> f;
    bit<32> g;
    bit<32> h;
    bit<16> c;
    bit<8>  a;
    bit<8>  b;
#ifdef OVER
    bit<8>  x;
#endif
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, { // here
                hdr.ethernet.dst, hdr.ethernet.src, hdr.num.e, hdr.num.f, hdr.num.g, hdr.num.h,
#ifdef OVER
                hdr.num.c, hdr.num.a, hdr.num.b, md.x
#else
                hdr.num.c, hdr.num.a, hdr.num.b
#endif
            });
        }
        pkt.emit(hdr);
    }
}

INGRESS {
    apply {
        dprsr.mirror_type = 1;
        md.session = 5;
        md.x = hdr.num.a;
    }
}

MAIN
