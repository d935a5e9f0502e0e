/* SPDX-License-Identifier: Apache-2.0
 *
 * selector_action: members that the data plane takes up and down: SelectorAction, and a register given
 * to a selector. The hash is the 16 bits of 'low', the index is in 'addr'.
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
    bit<8>  run; // last bit: what the bit was; 3: a miss
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
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) large_hash;
    ActionProfile(64) members;
    ActionSelector(members, fair_hash, SelectorMode_t.FAIR, 6, 3) fair;
    ActionProfile(64) steady_members;
    Register<bit<1>, bit<32>>(1100) alive; // eight lines of 128, and a part of one
    ActionSelector(steady_members, steady_hash, SelectorMode_t.RESILIENT, alive, 120, 16) steady;
    ActionProfile(256) large_members;
    ActionSelector(large_members, large_hash, SelectorMode_t.FAIR, 200, 4) large;

    SelectorAction(fair) down = {
        void apply(inout bit<1> value, out bit<1> was) {
            was = value;
            value = 0;
        }
    };
    SelectorAction(fair) up = {
        void apply(inout bit<1> value) {
            value = 1;
        }
    };
    SelectorAction(large) large_down = {
        void apply(inout bit<1> value) {
            value = 0;
        }
    };
    RegisterAction<bit<1>, bit<32>, bit<1>>(alive) steady_down = {
        void apply(inout bit<1> value, out bit<1> was) {
            was = value;
            value = 0;
        }
    };

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action miss() {
        ig_tm_md.ucast_egress_port = 9;
        hdr.tag.run = 3;
    }

    table fairly {
        key = {
            hdr.tag.kind : exact;
            hdr.tag.low  : selector;
        }
        actions = { send; miss; }
        const default_action = miss();
        implementation = fair;
        size = 16;
    }

    table steadily {
        key = {
            hdr.tag.kind : exact;
            hdr.tag.low  : selector;
        }
        actions = { send; miss; }
        const default_action = miss();
        implementation = steady;
        size = 16;
    }

    table largely {
        key = {
            hdr.tag.kind : exact;
            hdr.tag.low  : selector;
        }
        actions = { send; miss; }
        const default_action = miss();
        implementation = large;
        size = 16;
    }

    action take_down() {
        hdr.tag.run[0:0] = down.execute(hdr.tag.addr);
    }

    action take_down_at(bit<32> index) {
        down.execute(index);
    }

    action take_up() {
        up.execute(hdr.tag.addr);
    }

    table fast_update {
        key = { hdr.tag.kind : exact; }
        actions = { take_down; take_down_at; take_up; NoAction; }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        ig_tm_md.ucast_egress_port = 8;
        if (hdr.tag.kind[7:4] == 1)
            fairly.apply();
        else if (hdr.tag.kind[7:4] == 2)
            fast_update.apply();
        else if (hdr.tag.kind[7:4] == 3)
            steadily.apply();
        else if (hdr.tag.kind[7:4] == 4)
            hdr.tag.run[0:0] = steady_down.execute(hdr.tag.addr);
        else if (hdr.tag.kind[7:4] == 5)
            largely.apply();
        else
            large_down.execute(hdr.tag.addr);
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
