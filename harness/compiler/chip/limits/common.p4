// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder share. Each is over one limit of the chip with -D OVER and just inside of
// it without; it brings its Ingress, and a part that it has an OWN_ macro for.
#include "headers.p4"

#ifndef OWN_HEADERS
struct headers_t {
    ethernet_h ethernet;
    num_h      num;
    num_h      more;
}
#endif

#ifndef OWN_METADATA
struct md_t {
    bit<8>  x;
    bit<8>  y;
    bit<16> z;
    bit<32> v;
    bit<32> w;
}
#endif

#ifndef OWN_INGRESS_PARSER
parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        transition accept;
    }
}
#endif

#ifndef OWN_INGRESS_DEPARSER
control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}
#endif

#ifndef OWN_EGRESS
struct no_headers_t {}
struct no_metadata_t {}

parser EgressParser(packet_in pkt, out no_headers_t hdr, out no_metadata_t md,
                    out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control Egress(inout no_headers_t hdr, inout no_metadata_t md,
               in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout no_headers_t hdr, in no_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
#endif

#define INGRESS                                                                                    \
    control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,      \
                    in ingress_intrinsic_metadata_from_parser_t prsr,                              \
                    inout ingress_intrinsic_metadata_for_deparser_t dprsr,                         \
                    inout ingress_intrinsic_metadata_for_tm_t tm)

#define MAIN                                                                                       \
    Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),              \
             EgressDeparser()) pipe;                                                               \
    Switch(pipe) main;
