// SPDX-License-Identifier: Apache-2.0
// refused: stages
// The chain of 13 in the egress, which has the same 12 stages; the ingress beside it takes none of them away.
#define OWN_EGRESS
#include "common.p4"

#define LINK(n)                                                                                    \
    action set_##n(bit<16> c) { hdr.num.c = c; }                                                   \
    table t##n {                                                                                   \
        key = { hdr.num.c : exact; }                                                               \
        actions = { set_##n; @defaultonly NoAction; }                                              \
        const default_action = NoAction;                                                           \
        size = 256;                                                                                \
    }
#define LINKS LINK(1) LINK(2) LINK(3) LINK(4) LINK(5) LINK(6) LINK(7) LINK(8) LINK(9) LINK(10) LINK(11) LINK(12)

INGRESS {
    LINKS
    apply {
        t1.apply();
        t2.apply();
        t3.apply();
        t4.apply();
        t5.apply();
        t6.apply();
        t7.apply();
        t8.apply();
        t9.apply();
        t10.apply();
        t11.apply();
        t12.apply();
    }
}

struct no_metadata_t {}

parser EgressParser(packet_in pkt, out headers_t hdr, out no_metadata_t md,
                    out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout no_metadata_t md,
               in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    LINKS
    LINK(13) // here
    apply {
        t1.apply();
        t2.apply();
        t3.apply();
        t4.apply();
        t5.apply();
        t6.apply();
        t7.apply();
        t8.apply();
        t9.apply();
        t10.apply();
        t11.apply();
        t12.apply();
#ifdef OVER
        t13.apply();
#endif
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in no_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
