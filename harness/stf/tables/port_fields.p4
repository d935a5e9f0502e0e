/* SPDX-License-Identifier: Apache-2.0
 *
 * port_fields: what the control plane says of a port, unpacked into a struct and matched on.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct tag_t {
    bit<3>  level;
    bit<20> label;
}

struct port_t {
    bit<9>  vrf;
    bit<1>  trusted;
    tag_t   tag;
    int<16> weight;
    bit<8>  zone;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    port_t port;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        md.port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action hit(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action miss() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table by_port {
        key = {
            md.port.vrf     : exact;
            md.port.trusted : exact;
            md.port.zone    : exact;
        }
        actions = { hit; miss; }
        default_action = miss();
        size = 16;
    }
    apply {
        hdr.ethernet.dst_addr = 16w0 ++ 1w0 ++ md.port.tag.level ++ md.port.tag.label ++ md.port.zone;
        hdr.ethernet.src_addr = 32w0 ++ (bit<16>)md.port.weight;
        by_port.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
