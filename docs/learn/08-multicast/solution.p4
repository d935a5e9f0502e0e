/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 8, solved: channels with many receivers, each of which gets them in its own VLAN.
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
        ig_tm_md.mcast_grp_a = group;
        ig_tm_md.level1_exclusion_id = 7w0 ++ ig_intr_md.ingress_port;
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
    action in_vlan(bit<12> vlan) {
        hdr.tag.vlan = vlan;
    }
    action without_tag() {
        hdr.ethernet.ether_type = hdr.tag.ether_type;
        hdr.tag.setInvalid();
    }
    action as_it_is() {}
    table receivers {
        key = {
            eg_intr_md.egress_rid : exact;
        }
        actions = {
            in_vlan;
            without_tag;
            @defaultonly as_it_is;
        }
        const default_action = as_it_is();
        size = 1024;
    }

    apply {
        if (hdr.tag.isValid()) {
            receivers.apply();
        }
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
