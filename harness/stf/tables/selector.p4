/* SPDX-License-Identifier: Apache-2.0
 *
 * selector: action selectors, fair and resilient, of the new and the old form. The hash is the last
 * 16 bits of the selector keys, so a script knows which member a packet gets.
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
    bit<8>  run; // which action ran: 1 send, 2 stamp, 3 none of them
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
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) fair_hash;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) steady_hash;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc_hash;
    ActionProfile(64) members;
    ActionSelector(members, fair_hash, SelectorMode_t.FAIR, 6, 3) fair;
    ActionProfile(1024) steady_members;
    ActionSelector(steady_members, steady_hash, SelectorMode_t.RESILIENT, 200, 16) steady;
    ActionSelector(100, crc_hash, SelectorMode_t.FAIR) old;

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action stamp(PortId_t port, bit<48> smac) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.src_addr = smac;
    }

    action miss() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table fairly {
        key = {
            hdr.tag.kind : exact;
            hdr.tag.addr : selector;
            hdr.tag.low  : selector;
        }
        actions = { send; stamp; miss; }
        const default_action = miss();
        implementation = fair;
        size = 16;
    }

    table steadily {
        key = {
            hdr.tag.addr : lpm;
            hdr.tag.low  : selector;
        }
        actions = { send; }
        implementation = steady;
        size = 16;
    }

    table old_form {
        key = {
            hdr.tag.kind : ternary;
            hdr.tag.addr : selector;
        }
        actions = { send; miss; }
        default_action = miss();
        implementation = old;
    }

    apply {
        if (hdr.tag.kind[7:4] == 1) {
            switch (fairly.apply().action_run) {
                send    : { hdr.tag.run = 1; }
                stamp   : { hdr.tag.run = 2; }
                default : { hdr.tag.run = 3; }
            }
        } else if (hdr.tag.kind[7:4] == 2) {
            steadily.apply();
        } else {
            old_form.apply();
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
