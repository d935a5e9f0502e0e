/* SPDX-License-Identifier: Apache-2.0
 *
 * twice: a control that stands twice in the program, so that short names of its objects mean two:
 * for harness/control/schema/test_schema.py.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    bit<12> vrf;
}

struct port_metadata_t {
    bit<12> vrf;
    bit<4>  unused;
    bit<48> mac;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        port_metadata_t port_md = port_metadata_unpack<port_metadata_t>(pkt);
        md.vrf = port_md.vrf;
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Part(inout headers_t hdr, in metadata_t md) {
    Register<bit<16>, bit<8>>(8) seen;
    RegisterAction<bit<16>, bit<8>, bit<16>>(seen) count = {
        void apply(inout bit<16> value) { value = value + 1; }
    };
    action note(bit<8> index) { count.execute(index); }
    table lookup {
        key = {
            md.vrf : exact;
            hdr.ethernet.ether_type : ternary;
        }
        actions = { note; NoAction; }
        size = 16;
    }
    apply { lookup.apply(); }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Part() first;
    Part() second;
    apply {
        first.apply(hdr, md);
        second.apply(hdr, md);
        ig_tm_md.ucast_egress_port = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { pkt.emit(hdr); }
}

struct eg_headers_t {}
struct eg_metadata_t {}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
