/* SPDX-License-Identifier: Apache-2.0
 *
 * parsers.p4: from bytes to headers and back, in both gresses.
 */
#ifndef ATP_PARSERS_P4
#define ATP_PARSERS_P4

#include "headers.p4"

const PortId_t RECIRCULATE_PIPE_0 = 68;
const PortId_t RECIRCULATE_PIPE_1 = 196;
const PortId_t RECIRCULATE_PIPE_2 = 324;
const PortId_t RECIRCULATE_PIPE_3 = 452;

#define HALF_BITS 992

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        md.reason = drop_reason_t.NONE;
        md.bad_checksum = false;
        md.owner = 0;
        md.seen = 0;
        md.leaves = false;
        md.ecn = 0;
        md.other_session = 0;
        transition select(ig_intr_md.resubmit_flag, ig_intr_md.ingress_port) {
            (1, _): parse_resubmitted;
            (0, RECIRCULATE_PIPE_0): parse_recirculated;
            (0, RECIRCULATE_PIPE_1): parse_recirculated;
            (0, RECIRCULATE_PIPE_2): parse_recirculated;
            (0, RECIRCULATE_PIPE_3): parse_recirculated;
            default: parse_port;
        }
    }

    // The packet as it came, with what the first pass says about it: the first half of the values is
    // in its aggregator, and the packet ends here.
    state parse_resubmitted {
        pkt.extract(hdr.bridge);
        md.op = hdr.bridge.op;
        md.lane = hdr.bridge.lane;
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.atp);
        pkt.advance(HALF_BITS);
        pkt.extract(hdr.values);
        transition accept;
    }

    state parse_recirculated {
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.bridge);
        md.op = hdr.bridge.op;
        md.lane = hdr.bridge.lane;
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.atp);
        transition select(hdr.bridge.op) {
            op_t.RELAY: parse_values;
            default: parse_done;
        }
    }

    state parse_done {
        pkt.extract(hdr.done);
        pkt.extract(hdr.values);
        transition accept;
    }

    state parse_port {
        md.lane = lane_op_t.NONE;
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: forward;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        md.bad_checksum = ipv4_checksum.verify();   // true when it is wrong
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                          hdr.ipv4.protocol) {
            (4, 5, 0 &&& 0b101, 0, IP_PROTOCOL_UDP): parse_udp;
            default: forward;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            UDP_PORT_ATP: parse_atp;
            default: forward;
        }
    }

    state parse_atp {
        pkt.extract(hdr.atp);
        md.op = op_t.RELAY;
        transition parse_values;
    }

    state parse_values {
        pkt.extract(hdr.values);
        pkt.extract(hdr.rest);
        transition accept;
    }

    state forward {
        md.op = op_t.FORWARD;
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == RESUBMIT_SECOND_PASS) {
            resubmit.emit(hdr.bridge);
        }
        pkt.emit(hdr);
    }
}

// Only ATP packets that leave come through egress; all others bypass it. The values are payload.
parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.atp);
        transition accept;
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.atp);
    }
}

#endif
