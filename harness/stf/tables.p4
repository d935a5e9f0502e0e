/* SPDX-License-Identifier: Apache-2.0
 *
 * tables: one table of each match kind, chosen by the EtherType, a register, a counter, a value set
 * and port metadata: what packet scripts can set and check.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header fields_h {
    bit<8>  small;
    bit<16> middle;
    bit<32> wide;
}

header seen_h {
    bit<16> count;
    bit<16> label;
}

struct headers_t {
    ethernet_h ethernet;
    fields_h   fields;
    seen_h     seen;
}

struct port_label_t {
    bit<16> label;
    bit<48> unused;
}

struct metadata_t {
    port_label_t port;
    bit<1>       known;
}

struct pair_t {
    int<16> low;
    int<16> high;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(4) types;

    state start {
        pkt.extract(ig_intr_md);
        md.port = port_metadata_unpack<port_label_t>(pkt);
        pkt.extract(hdr.ethernet);
        md.known = 0;
        transition select(hdr.ethernet.ether_type) {
            types : known;
            0x9001 &&& 0xfff0 : fields;
            default : accept;
        }
    }
    state known {
        md.known = 1;
        transition accept;
    }
    state fields {
        pkt.extract(hdr.fields);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) received;
    Register<bit<16>, bit<9>>(512, 0) counts;
    RegisterAction<bit<16>, bit<9>, bit<16>>(counts) count_up = {
        void apply(inout bit<16> cell, out bit<16> now) {
            cell = cell + 1;
            now = cell;
        }
    };

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table exact_one {
        key = { hdr.fields.small : exact; }
        actions = { send; drop; }
        default_action = drop();
        size = 16;
    }

    table ternary_one {
        key = {
            hdr.fields.middle : ternary;
            hdr.fields.small  : exact;
        }
        actions = { send; drop; }
        default_action = drop();
        size = 16;
    }

    table lpm_one {
        key = { hdr.fields.wide : lpm; }
        actions = { send; drop; }
        default_action = drop();
        size = 16;
    }

    table range_one {
        key = { hdr.fields.middle : range; }
        actions = { send; drop; }
        default_action = drop();
        size = 16;
    }

    table known_types {
        key = { md.known : exact; }
        actions = { send; drop; }
        default_action = drop();
        size = 2;
    }

    apply {
        received.count(ig_intr_md.ingress_port);
        hdr.seen.setValid();
        hdr.seen.label = md.port.label;
        hdr.seen.count = count_up.execute(ig_intr_md.ingress_port);
        if (hdr.ethernet.ether_type == 0x9000) {
            exact_one.apply();
        } else if (hdr.ethernet.ether_type == 0x9001) {
            ternary_one.apply();
        } else if (hdr.ethernet.ether_type == 0x9002) {
            lpm_one.apply();
        } else if (hdr.ethernet.ether_type == 0x9003) {
            range_one.apply();
        } else {
            known_types.apply();
        }
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
