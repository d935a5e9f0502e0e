/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of RoCEv2 that are copied, of which egress changes much or little: harness/pipeline/switch/test_roce_crcs.c. The destination
 * address says where they go, the opcode what egress does to the copy for one port of the group. */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<8>  how;   // 0: to a port, 1: to a group, 2: to a group past egress
    bit<24> _rest;
    bit<16> where;
    bit<48> src_addr;
    bit<16> ether_type;
}
header ipv4_h {
    bit<16> _version;
    bit<16> total_len;
    bit<32> _fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}
header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}
header bth_h {
    bit<8>  opcode;
    bit<24> _flags;
    bit<8>  _reserved;
    bit<24> dst_qp;
    bit<32> psn;
}
header reth_h {
    bit<128> all;
}
struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
    bth_h      bth;
    reth_h     reth;
}
struct metadata_t {
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        if (hdr.ethernet.how == 0) {
            ig_tm_md.ucast_egress_port = hdr.ethernet.where[8:0];
        } else {
            ig_tm_md.mcast_grp_a = hdr.ethernet.where;
        }
        if (hdr.ethernet.how == 2) {
            ig_tm_md.bypass_egress = 1;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            17: parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
#ifdef LITTLE
        transition accept;
    }
#else
        transition select(hdr.udp.dst_port) {
            4791: parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.opcode) {
            0x2a: parse_reth;
            default: accept;
        }
    }

    state parse_reth {
        pkt.extract(hdr.reth);
        transition accept;
    }
#endif
}

// Ports 1 and 130 are in one group, 2 and 387 in the other.
control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        if (hdr.udp.isValid()) {
            hdr.ipv4.dst_addr = 23w10 ++ eg_intr_md.egress_port;
            hdr.udp.src_port = (bit<16>)eg_intr_md.egress_port;
#ifndef LITTLE
            if (hdr.bth.isValid()) {
                hdr.bth.psn = hdr.bth.psn + (bit<32>)eg_intr_md.egress_port;
                if (hdr.bth.opcode == 0x2b && eg_intr_md.egress_port[1:0] == 2) {
                    hdr.ipv4.total_len = hdr.ipv4.total_len - 2; // two bytes more of Ethernet's padding
                }
                if (hdr.reth.isValid() && eg_intr_md.egress_port[1:0] == 2) {
                    hdr.reth.setInvalid();
                    hdr.ipv4.total_len = hdr.ipv4.total_len - 16;
                }
                if (hdr.bth.opcode == 0x29 && eg_intr_md.egress_port[1:0] == 2) {
                    hdr.udp.dst_port = 4792; // no RoCE any more
                }
            }
#endif
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

@silken_invariant_crc
Switch(pipe) main;
