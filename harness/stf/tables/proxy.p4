/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy: exact tables that keep a hash in place of the key because a pragma says so.
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
    @pragma proxy_hash_width 32
    table long_hash {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { send; }
        size = 16;
    }
    @proxy_hash_width(1)
    @proxy_hash_algorithm("random")
    table short_hash {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { send; }
        size = 16;
    }
    apply {
        if (hdr.ethernet.ether_type == 1)
            long_hash.apply();
        else
            short_hash.apply();
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
