// SPDX-License-Identifier: Apache-2.0
//
// A search of lanes that a stateful ALU cannot do.
#include <core.p4>
#include <t2na.p4>

struct headers_t {}
struct md_t {
    bit<1> flag;
    bit<8> n;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<128>, bit<8>>(16) wide;
    Register<bit<64>, bit<8>>(16) narrow;
    DirectRegister<bit<128>>() direct;

    MinMaxAction<bit<128>, bit<8>, bit<8>>(wide) assigns = {
        void apply(inout bit<128> value, out bit<8> rv) {
            rv = this.min8(value, 0xff);
            value = 1;
        }
    };
    MinMaxAction<bit<128>, bit<8>, bit<8>>(wide) twice = {
        void apply(inout bit<128> value, out bit<8> rv) {
            rv = this.min8(value, 0xff);
            if (rv == 0) {
                rv = this.max8(value, 0xff);
            }
        }
    };
    MinMaxAction<bit<128>, bit<8>, bit<8>>(wide) sometimes = {
        void apply(inout bit<128> value, out bit<8> rv) {
            bit<4> at;
            if (md.flag == 1) {
                rv = this.min8(value, 0xff, at, 1);
            }
        }
    };
    RegisterAction<bit<128>, bit<8>, bit<8>>(wide) elsewhere = {
        void apply(inout bit<128> value, out bit<8> rv) {
            rv = this.min8(128w7, 0xff);
        }
    };
    Register<bit<128>, bit<8>>(16) other;
    MinMaxAction2<bit<128>, bit<8>, bit<8>, bit<8>>(other) too_much = {
        void apply(inout bit<128> value, out bit<8> rv, out bit<8> at) {
            at = 0;
            rv = this.min8(value, 0xff, at[3:0], -256);
        }
    };
    RegisterAction<bit<64>, bit<8>, bit<8>>(narrow) half = {
        void apply(inout bit<64> value, out bit<8> rv) {
            rv = this.min8(value, 0xff);
        }
    };
    apply {
        bit<8> at;
        md.n = assigns.execute(0);
        md.n = twice.execute(1);
        md.n = sometimes.execute(2);
        md.n = elsewhere.execute(3);
        md.n = too_much.execute(4, at);
        md.n = half.execute(5);
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    apply {}
}

parser EgressParser(packet_in pkt, out headers_t hdr, out md_t md,
                    out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}
control Egress(inout headers_t hdr, inout md_t md, in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
