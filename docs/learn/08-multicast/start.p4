/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 8: channels that are to have many receivers. README.md says what to do.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}

struct metadata_t {}

// ---- ingress: which group ----

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
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action to_group(MulticastGroupId_t group) {
        // TODO 1: ask the traffic manager for a copy for each member of the group ...
        // TODO 2: ... other than the one at the port that the packet came by.
    }
    table channels {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            to_group;
            drop;
        }
        const default_action = drop();
        size = 1024;
    }

    apply {
        channels.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

// ---- egress: each copy comes through here by itself ----

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_TAG : parse_tag;
            default  : accept;
        }
    }
    state parse_tag {
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    // TODO 3: a table 'receivers' by eg_intr_md.egress_rid, with the actions 'in_vlan', which changes the tag's VLAN, and
    // 'without_tag', which takes the tag off. A receiver without an entry gets the frame as it is.

    apply {
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
