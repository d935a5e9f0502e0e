// SPDX-License-Identifier: Apache-2.0
// refused: parser-checksums
// Checksums that a parser verifies on one way: three, of two units.
#define OWN_INGRESS_PARSER
#include "common.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    Checksum() one;
    Checksum() two;
    Checksum() three;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        one.add({ hdr.num.a, hdr.num.b, hdr.num.c });
        two.add({ hdr.num.c, hdr.num.d });
#ifdef OVER
        three.add({ hdr.num.e, hdr.num.f });
#endif
        transition more;
    }
    state more {
        pkt.extract(hdr.more);
        one.add(hdr.more);
        two.add({ hdr.more.c, hdr.more.d });
        md.x[0:0] = (bit<1>)one.verify();
        md.y[0:0] = (bit<1>)two.verify();
#ifdef OVER
        three.add({ hdr.more.e, hdr.more.f });
        md.z[0:0] = (bit<1>)three.verify(); // here
#endif
        transition accept;
    }
}

INGRESS {
    apply {
        if (md.x == 1 || md.y == 1 || md.z == 1) {
            dprsr.drop_ctl = 1;
        }
    }
}

MAIN
