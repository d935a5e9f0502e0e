/* SPDX-License-Identifier: Apache-2.0
 *
 * l2: a first program of one's own. An Ethernet switch in a page: the destination address is looked
 * up in a table that the control plane fills; an unknown address goes to a multicast group; each
 * host's packets are counted. It runs on Silken and is compiled for a Tofino unchanged.
 */
#include <core.p4>
#include <tna.p4>

typedef bit<48> mac_addr_t;

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {}

const MulticastGroupId_t FLOOD_GROUP = 1;

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) sent;

    action send(PortId_t port) {
        sent.count();
        ig_tm_md.ucast_egress_port = port;
    }

    action drop() {
        sent.count();
        ig_dprsr_md.drop_ctl = 1;
    }

    action flood() {
        sent.count();
        ig_tm_md.mcast_grp_a = FLOOD_GROUP;
        // A copy does not go back to where the packet came from: the group's member for a port
        // carries that port as its exclusion id.
        ig_tm_md.level1_exclusion_id = 7w0 ++ ig_intr_md.ingress_port;
    }

    table forward {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            drop;
            flood;
        }
        const default_action = flood();
        counters = sent;
        size = 1024;
    }

    apply {
        forward.apply();
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

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
