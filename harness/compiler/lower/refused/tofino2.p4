// SPDX-License-Identifier: Apache-2.0
//
// What a Tofino 2 has more of and is not covered: each use is refused where it stands.
#include <core.p4>
#include <t2na.p4>

struct headers_t {}
struct md_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        transition accept;
    }
}

control Aside(inout ingress_intrinsic_metadata_for_deparser_t md) {
    apply {
        md.pktgen = 1;
        md.pktgen_length = 0;
    }
}

control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Aside() aside;
    Register<bit<32>, bit<8>>(16) queue;
    RegisterAction<bit<32>, bit<8>, bit<32>>(queue) ends = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
        void overflow(inout bit<32> value, out bit<32> rv) {
            rv = 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(queue) again = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = this.address();
        }
        void overflow(inout bit<32> value, out bit<32> rv) {
            rv = 2;
        }
    };
    Register<bit<32>, bit<8>>(16) learned;
    LearnAction<bit<32>, bit<8>, bit<8>, bit<32>>(learned) learn = {
        void apply(inout bit<32> value, in bit<8> digest, in bool is_new, out bit<32> rv) {
            rv = value;
        }
    };
    apply {
        bit<32> n = 0;
        if (intr.ingress_port == 1) {
            n = n + ends.enqueue();
        } else if (intr.ingress_port == 2) {
            n = n + ends.pop();
        } else if (intr.ingress_port == 3) {
            ends.sweep();
        } else {
            n = n + again.execute(1);
        }
        n = n + learn.execute(2);
        queue.clear(0);
        tm.qid = (bit<7>)n;
        dprs.mirror_io_select = 1;
        bit<1> flag = 0;
        if (n == 7) {
            flag = 1;
        }
        dprs.mtu_trunc_err_f = flag;
        dprs.mirror_coalesce_length = 0;
        aside.apply(dprs);
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
