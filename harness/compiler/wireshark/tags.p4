/* SPDX-License-Identifier: Apache-2.0
 *
 * tags: a parser with what dissectors must get right. Behind Ethernet and up to two VLAN tags: EtherType
 * 0x9001 leads to a stack of labels, of which each says whether another one follows; behind the last one the
 * parser looks ahead at four bits: 4 leads to a record with odd fields and options of variable length. EtherTypes
 * 0xa100 to 0xa10f lead to the record at once.
 */
#include <core.p4>
#include <tna.p4>

const bit<16> TYPE_LABELS = 0x9001;
const bit<16> TYPE_VLAN = 0x8100;
const bit<4>  RECORD = 4;

enum bit<3> colour_t {
    RED = 1,
    GREEN = 2,
    BLUE = 5
}

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header vlan_h {
    bit<3>  pcp;
    bit<1>  dei;
    bit<12> vid;
    bit<16> ether_type;
}

header label_h {
    bit<20> label;
    bit<3>  class;
    bit<1>  last;
    bit<8>  ttl;
}

header record_h {
    bit<4>     kind;
    bit<4>     words;      // of 32 bits, with the options: 12 at least
    colour_t   colour;
    int<5>     level;
    bit<48>    stamp;
    bit<37>    odd;        // not whole bytes
    bit<3>     spare;
    bit<128>   dst_addr;
    bit<16>    s0;
    bit<16>    s1;
    bit<16>    s2;
    bit<16>    s3;
    int<8>     t0;
    int<8>     t1;
    int<8>     t2;
    int<8>     t3;
    varbit<96> options;
}

struct headers_t {
    ethernet_h ethernet;
    vlan_h[2]  vlan;
    label_h[3] labels;
    record_h   record;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<PortId_t>(4) internal;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            internal: parse_labels;
            68: parse_labels;
            default: parse_ethernet;
        }
    }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_VLAN: parse_vlan;
            TYPE_LABELS: parse_labels;
            0xa100 &&& 0xfff0: parse_record;
            default: accept;
        }
    }
    state parse_vlan {
        pkt.extract(hdr.vlan.next);
        transition select(hdr.vlan.last.ether_type) {
            TYPE_VLAN: parse_vlan;
            TYPE_LABELS: parse_labels;
            default: accept;
        }
    }
    state parse_labels {
        pkt.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) {
            0: parse_labels;
            1: look;
        }
    }
    state look {
        transition select(pkt.lookahead<bit<4>>()) {
            RECORD: parse_record;
            15: reject;
            default: accept;
        }
    }
    state parse_record {
        bit<8> first = pkt.lookahead<bit<8>>();
        pkt.extract(hdr.record, (bit<32>)(((bit<16>)first[3:0] - 12) << 5));
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 1;
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
