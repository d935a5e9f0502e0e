/* SPDX-License-Identifier: Apache-2.0
 *
 * profile: action profiles: one of a table's own, one that two tables share, a default action that a
 * control plane may point at a member, entries of the program beside members.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header tag_h {
    bit<8>  kind;
    bit<8>  run; // which action ran: 1 send, 2 stamp, 3 drop, 4 nothing
    bit<16> low;
    bit<32> addr;
}

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    ActionProfile(4) own;
    ActionProfile(size = 1024) shared_profile;

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action stamp(PortId_t port, bit<48> smac) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.src_addr = smac;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table forward {
        key = {
            ig_intr_md.ingress_port : exact;
            hdr.tag.low             : ternary;
        }
        actions = { send; stamp; NoAction; }
        default_action = NoAction();
        implementation = own;
        size = 16;
    }

    table fixed {
        key = { hdr.tag.low : exact; }
        actions = { send; drop; }
        const entries = {
            1 : send(21);
            2 : drop();
        }
        const default_action = send(22);
        implementation = ActionProfile(16);
    }

    table first {
        key = { hdr.tag.addr : exact; }
        actions = { stamp; send; drop; }
        const default_action = drop();
        implementation = shared_profile;
        size = 64;
    }

    table second {
        key = { hdr.tag.addr : lpm; }
        actions = { send; stamp; drop; }
        const default_action = drop();
        implementation = shared_profile;
        size = 64;
    }

    apply {
        hdr.tag.run = 0;
        if (hdr.tag.kind == 1) {
            switch (forward.apply().action_run) {
                send     : { hdr.tag.run = 1; }
                stamp    : { hdr.tag.run = 2; }
                NoAction : { hdr.tag.run = 4; }
            }
        } else if (hdr.tag.kind == 2) {
            if (!first.apply().hit) {
                ig_dprsr_md.drop_ctl = 0;
                second.apply();
            }
        } else {
            fixed.apply();
        }
        ig_tm_md.bypass_egress = 1;
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
