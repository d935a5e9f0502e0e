// SPDX-License-Identifier: Apache-2.0
// refused: compile in ingress and in egress
// A register of both gresses: they are different tables of a stage, and a register has one stage.
#define OWN_EGRESS
#include "common.p4"

Register<bit<32>, bit<8>>(256) cells;

INGRESS {
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    apply {
        count.execute(hdr.num.b);
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
#ifdef OVER
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) look = {
#else
    Register<bit<32>, bit<8>>(256) others;
    RegisterAction<bit<32>, bit<8>, bit<32>>(others) look = {
#endif
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };
    apply {
        hdr.num.e = look.execute(hdr.num.b); // here
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in no_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
