/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 1: a switch with VLANs, whose parser does not know tags yet. README.md says what to do.
 *
 * This file is a whole program. The later exercises leave parts that are always the same to ../common.
 */
#include <core.p4>
#include <tna.p4>

const bit<16> TYPE_TAG = 0x8100;
const bit<16> TYPE_SERVICE_TAG = 0x88a8;

// ---- headers: fields in the order of the wire, the most significant bit first ----

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type; // of what comes next: TYPE_TAG is a tag
}

header tag_h {
    bit<3>  priority;
    bit<1>  drop_eligible;
    bit<12> vlan;
    bit<16> ether_type; // of what comes after the tag
}

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}

struct metadata_t { // belongs to the packet while it is in ingress, and is not sent
    bit<12> vlan;
}

// ---- ingress parser: bytes to headers ----

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md); // the chip puts 16 bytes before each packet: these 8...
        pkt.advance(PORT_METADATA_SIZE); // ... and 8 that the control plane may set for each port
        md.vlan = 0;
        transition parse_ethernet;
    }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        // TODO 1: go on to a state that extracts hdr.tag if ether_type says that one follows.
        // TODO 3: a service tag has the same form.
        transition accept;
    }
}

// ---- ingress: headers and metadata to a decision ----

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table forward {
        key = {
            md.vlan               : exact;
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            drop;
        }
        const default_action = drop();
        size = 1024;
    }

    apply {
        if (hdr.tag.isValid()) {
            md.vlan = hdr.tag.vlan;
        } else {
            md.vlan = 1;
        }
        forward.apply();
    }
}

// ---- ingress deparser: headers to bytes; what the parser has not taken follows by itself ----

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        // TODO 2: what has been extracted and is not emitted is missing in the packet.
    }
}

// ---- egress: nothing to do here ----

struct egress_headers_t {}
struct egress_metadata_t {}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

// ---- the six blocks make a pipeline, the pipeline a switch ----

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
