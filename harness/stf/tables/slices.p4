/* SPDX-License-Identifier: Apache-2.0
 *
 * slices: keys that are slices of fields, in every kind of match.
 */
#include <core.p4>
#include <tna.p4>
header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}
struct headers_t { ethernet_h ethernet; }
struct metadata_t {}
parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start { pkt.extract(ig_intr_md); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.ethernet); transition accept; }
}
control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(PortId_t port) { ig_tm_md.ucast_egress_port = port; }
    action miss() { ig_dprsr_md.drop_ctl = 1; }
    table one_ternary {
        key = { hdr.ethernet.dst_addr[16:7] : ternary; ig_intr_md.ingress_port : exact; }
        actions = { send; miss; }
        default_action = miss();
        size = 16;
    }
    table two_exact {
        key = { hdr.ethernet.dst_addr[47:40] : exact; hdr.ethernet.dst_addr[10:1] : exact; }
        actions = { send; miss; }
        default_action = miss();
        size = 16;
    }
    table one_lpm {
        key = { hdr.ethernet.src_addr[39:8] : lpm; }
        actions = { send; miss; }
        default_action = miss();
        size = 16;
    }
    table one_range {
        key = { hdr.ethernet.src_addr[19:4] : range; }
        actions = { send; miss; }
        default_action = miss();
        size = 16;
    }
    apply {
        if (hdr.ethernet.ether_type == 1)
            one_ternary.apply();
        else if (hdr.ethernet.ether_type == 2)
            two_exact.apply();
        else if (hdr.ethernet.ether_type == 3)
            one_lpm.apply();
        else
            one_range.apply();
    }
}
control D(packet_out pkt, inout headers_t hdr, in metadata_t md,
          in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) { apply { pkt.emit(hdr); } }
parser EP(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start { pkt.extract(eg_intr_md); transition accept; }
}
control E(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) { apply {} }
control ED(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) { apply {} }
Pipeline(IngressParser(), Ingress(), D(), EP(), E(), ED()) pipe;
Switch(pipe) main;
