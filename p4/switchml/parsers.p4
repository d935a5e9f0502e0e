/* SPDX-License-Identifier: Apache-2.0
 *
 * parsers.p4: from bytes to headers and back, in both gresses.
 */
#ifndef SWITCHML_PARSERS_P4
#define SWITCHML_PARSERS_P4

#include "headers.p4"

// The pipes in the order in which a packet's elements go to them, and the port of each that leads back into
// its ingress. A program with other pipes beside ours says which is the first (p4/rack).
#ifndef FIRST_PIPE
#define FIRST_PIPE 0
#endif
const bit<2> PIPE_0 = FIRST_PIPE;
const bit<2> PIPE_1 = PIPE_0 + 1;
const bit<2> PIPE_2 = PIPE_0 + 2;
const bit<2> PIPE_3 = PIPE_0 + 3;
const PortId_t RECIRCULATE_PIPE_0 = PIPE_0 ++ 7w68;
const PortId_t RECIRCULATE_PIPE_1 = PIPE_1 ++ 7w68;
const PortId_t RECIRCULATE_PIPE_2 = PIPE_2 ++ 7w68;
const PortId_t RECIRCULATE_PIPE_3 = PIPE_3 ++ 7w68;
// Results without elements take another port of the pipe whose elements were the last, and so a pass of their own: a group
// of two copies the packet that completes a slot to both ports, and each copy knows by its port what it is to become.
const PortId_t BRIEF_PIPE_0 = PIPE_0 ++ 7w70;
const PortId_t BRIEF_PIPE_1 = PIPE_1 ++ 7w70;
const PortId_t BRIEF_PIPE_2 = PIPE_2 ++ 7w70;
const PortId_t BRIEF_PIPE_3 = PIPE_3 ++ 7w70;
const MulticastGroupId_t SPLIT_PIPE_0 = 14w0x3ffc ++ PIPE_0;
const MulticastGroupId_t SPLIT_PIPE_1 = 14w0x3ffc ++ PIPE_1;
const MulticastGroupId_t SPLIT_PIPE_3 = 14w0x3ffc ++ PIPE_3;

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.reason = drop_reason_t.NONE;
        md.bad_checksum = false;
        md.no_audience = false;
#ifdef WITH_LEVELS
        md.from_above = false;
#endif
#ifdef HALVES
        md.contributes = false;
        md.elements = false;
        md.wanted = false;
#endif
        transition select(ig_intr_md.ingress_port) {
            RECIRCULATE_PIPE_0: parse_bridge;
            RECIRCULATE_PIPE_1: parse_bridge;
            RECIRCULATE_PIPE_2: parse_bridge;
            RECIRCULATE_PIPE_3: parse_bridge;
#ifndef SUMS_ALONE
            BRIEF_PIPE_0: parse_brief;
            BRIEF_PIPE_1: parse_brief;
            BRIEF_PIPE_2: parse_brief;
            BRIEF_PIPE_3: parse_brief;
#endif
            default: parse_ethernet;
        }
    }

    // A packet on its second or later pass: all headers are known to be there.
    state parse_bridge {
        pkt.extract(hdr.bridge);
        transition select(hdr.bridge.op) {
            op_t.CONSUME: parse_again_consume;
#ifdef WITH_LEVELS
            op_t.RESULT: parse_again_result;
#endif
            op_t.READ_LOW: parse_again_low;
#ifndef HALVES
            op_t.READ_HIGH: parse_again_high;
#endif
            default: parse_again_any;
        }
    }

    // Where the operation decides what is in the packet, it is a constant.
    state parse_again_any {
        md.op = hdr.bridge.op;
        transition parse_again;
    }

#ifdef WITH_LEVELS
    state parse_again_result {
        md.op = op_t.RESULT;
        transition parse_again_elements;
    }
#endif

    state parse_again_consume {
        md.op = op_t.CONSUME;
        transition parse_again_elements;
    }

    state parse_again_elements {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
#ifdef WITH_ROCE
        transition select(hdr.udp.dst_port) {
            UDP_PORT_ROCE: parse_again_write_consume;
            default: parse_again_exponents;
        }
    }

    state parse_again_write_consume {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.opcode) {
            opcode_t.WRITE_FIRST: parse_first;
            opcode_t.WRITE_LAST_IMMEDIATE: parse_immediate;
            opcode_t.WRITE_ONLY: parse_first;
            opcode_t.WRITE_ONLY_IMMEDIATE: parse_only_immediate;
            default: parse_elements;
        }
    }

    state parse_again_exponents {
#endif
        pkt.extract(hdr.switchml);
        pkt.extract(hdr.exponents);
#ifdef HALVES
        transition parse_halves;
#elif defined(WITH_LEVELS)
        transition select(hdr.switchml.size) {
            packet_size_t.ELEMENTS_32: parse_high;
            default: parse_elements;
        }
#else
        transition select(hdr.switchml.msg_type, hdr.switchml.size) {
            (MSG_TYPE_EMPTY &&& MSG_TYPE_EMPTY_MASK, _): accept;
            (_, packet_size_t.ELEMENTS_32): parse_high;
            default: parse_elements;
        }
#endif
    }

    // A result grows from its end: the half that this pass reads goes in front of what has been read
    // so far, which stays behind the headers as payload.
    state parse_again_low {
        md.op = op_t.READ_LOW;
#ifdef HALVES
        hdr.results.setValid();
        md.elements = true;
#else
        hdr.low.setValid();
#endif
        transition parse_again;
    }

#ifndef HALVES
    state parse_again_high {
        md.op = op_t.READ_HIGH;
        hdr.high.setValid();
        transition parse_again;
    }
#endif

    state parse_again {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
#ifdef WITH_ROCE
        transition select(hdr.udp.dst_port) {
            UDP_PORT_ROCE: parse_again_write;
            default: parse_again_last;
        }
    }

    state parse_again_write {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.opcode) {
            opcode_t.WRITE_FIRST: parse_again_reth;
            opcode_t.WRITE_LAST_IMMEDIATE: parse_again_immediate;
            opcode_t.WRITE_ONLY: parse_again_reth;
            opcode_t.WRITE_ONLY_IMMEDIATE: parse_again_only_immediate;
            default: accept;
        }
    }

    state parse_again_reth {
        pkt.extract(hdr.reth);
        transition accept;
    }

    state parse_again_only_immediate {
        pkt.extract(hdr.reth);
        transition parse_again_immediate;
    }

    state parse_again_immediate {
        pkt.extract(hdr.immediate);
        pkt.extract(hdr.exponents);
        transition accept;
    }

    state parse_again_last {
#endif
        pkt.extract(hdr.switchml);
        pkt.extract(hdr.exponents);
        transition accept;
    }

#ifndef SUMS_ALONE
    // The second half of what the last pipe has added up is still there. It ends here, whatever the bridge header says is next.
    state parse_brief {
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.switchml);
        pkt.extract(hdr.exponents);
        md.op = op_t.READ_BRIEF;
        transition parse_high;
    }
#endif

    state parse_ethernet {
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
        // No options, not a fragment; the "don't fragment" bit may be set.
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                          hdr.ipv4.protocol) {
            (4, 5, 0 &&& 0b101, 0, IP_PROTOCOL_UDP): parse_udp;
            default: forward;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            UDP_PORT_SWITCHML &&& UDP_PORT_SWITCHML_MASK: parse_switchml;
#ifdef WITH_ROCE
            UDP_PORT_ROCE: parse_bth;
#endif
            default: forward;
        }
    }

#ifdef WITH_ROCE
    // All other RoCE is ordinary traffic, and so are writes of other lengths, which may end before our elements do. Whether a
    // write is for the switch its tables say.
    state parse_bth {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.opcode, hdr.udp.length) {
            (opcode_t.WRITE_FIRST, FIRST_UDP_256): parse_first_64;
            (opcode_t.WRITE_FIRST, FIRST_UDP_512): parse_first_128;
            (opcode_t.WRITE_FIRST, FIRST_UDP_1024): parse_first_256;
            (opcode_t.WRITE_MIDDLE, MIDDLE_UDP_256): parse_middle_64;
            (opcode_t.WRITE_MIDDLE, MIDDLE_UDP_512): parse_middle_128;
            (opcode_t.WRITE_MIDDLE, MIDDLE_UDP_1024): parse_middle_256;
            (opcode_t.WRITE_LAST, MIDDLE_UDP_256): parse_middle_64;
            (opcode_t.WRITE_LAST, MIDDLE_UDP_512): parse_middle_128;
            (opcode_t.WRITE_LAST, MIDDLE_UDP_1024): parse_middle_256;
            (opcode_t.WRITE_LAST_IMMEDIATE, LAST_UDP_256): parse_last_64;
            (opcode_t.WRITE_LAST_IMMEDIATE, LAST_UDP_512): parse_last_128;
            (opcode_t.WRITE_LAST_IMMEDIATE, LAST_UDP_1024): parse_last_256;
            (opcode_t.WRITE_ONLY, FIRST_UDP_256): parse_first_64;
            (opcode_t.WRITE_ONLY, FIRST_UDP_512): parse_first_128;
            (opcode_t.WRITE_ONLY, FIRST_UDP_1024): parse_first_256;
            (opcode_t.WRITE_ONLY_IMMEDIATE, ONLY_UDP_256): parse_only_64;
            (opcode_t.WRITE_ONLY_IMMEDIATE, ONLY_UDP_512): parse_only_128;
            (opcode_t.WRITE_ONLY_IMMEDIATE, ONLY_UDP_1024): parse_only_256;
            default: forward;
        }
    }

    state parse_first_64 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_64;
        transition parse_first;
    }

    state parse_first_128 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_128;
        transition parse_first;
    }

    state parse_first_256 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_256;
        transition parse_first;
    }

    state parse_middle_64 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_64;
        transition parse_elements;
    }

    state parse_middle_128 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_128;
        transition parse_elements;
    }

    state parse_middle_256 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_256;
        transition parse_elements;
    }

    state parse_last_64 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_64;
        transition parse_immediate;
    }

    state parse_last_128 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_128;
        transition parse_immediate;
    }

    state parse_last_256 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_256;
        transition parse_immediate;
    }

    state parse_only_64 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_64;
        transition parse_only_immediate;
    }

    state parse_only_128 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_128;
        transition parse_only_immediate;
    }

    state parse_only_256 {
        md.op = op_t.ARRIVE;
        md.size = packet_size_t.ELEMENTS_256;
        transition parse_only_immediate;
    }

    state parse_first {
        pkt.extract(hdr.reth);
        transition parse_elements;
    }

    state parse_only_immediate {
        pkt.extract(hdr.reth);
        transition parse_immediate;
    }

    state parse_immediate {
        pkt.extract(hdr.immediate);
        pkt.extract(hdr.exponents);
        transition parse_elements;
    }
#endif

    state parse_switchml {
        pkt.extract(hdr.switchml);
        pkt.extract(hdr.exponents);
        md.op = op_t.ARRIVE;
#ifdef HALVES
        transition parse_halves;
#elif defined(WITH_LEVELS)
        transition select(hdr.switchml.size) {
            packet_size_t.ELEMENTS_32: parse_high;
            default: parse_elements;
        }
#else
        transition select(hdr.switchml.msg_type, hdr.switchml.size) {
            (MSG_TYPE_EMPTY &&& MSG_TYPE_EMPTY_MASK, _): accept;
            (_, packet_size_t.ELEMENTS_32): parse_high;
            default: parse_elements;
        }
#endif
    }

#ifdef HALVES
    state parse_halves {
        pkt.extract(hdr.halves);
        hdr.results.setValid();
        md.contributes = true;
        md.elements = true;
        transition accept;
    }
#else

    // 32 elements make do with the half that the first pass can read back.
    state parse_high {
        pkt.extract(hdr.high);
        transition accept;
    }

    state parse_elements {
        pkt.extract(hdr.low);
        pkt.extract(hdr.high);
        transition accept;
    }
#endif

    state forward {
        md.op = op_t.FORWARD;
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.switchml);
#ifdef WITH_ROCE
        pkt.emit(hdr.bth);
        pkt.emit(hdr.reth);
        pkt.emit(hdr.immediate);
#endif
        pkt.emit(hdr.exponents);
#ifdef HALVES
        pkt.emit(hdr.results);
        pkt.emit(hdr.halves);
#else
        pkt.emit(hdr.low);
        pkt.emit(hdr.high);
#endif
    }
}

// Only results come through egress; everything else bypasses it. The SwitchML header and all behind
// it are payload here: they are right already.
parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
#ifdef WITH_ROCE
        transition select(hdr.udp.dst_port) {
            UDP_PORT_ROCE: parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.opcode) {
            opcode_t.WRITE_FIRST: parse_reth;
            opcode_t.WRITE_ONLY: parse_reth;
            opcode_t.WRITE_ONLY_IMMEDIATE: parse_reth;
            default: accept;
        }
    }

    state parse_reth {
        pkt.extract(hdr.reth);
#endif
        transition accept;
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.hdr_checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len,
            hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
            hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
#ifdef WITH_ROCE
        pkt.emit(hdr.bth);
        pkt.emit(hdr.reth);
#endif
    }
}

#endif
