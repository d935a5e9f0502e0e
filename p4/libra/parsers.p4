/* SPDX-License-Identifier: Apache-2.0
 *
 * parsers.p4: from bytes to headers and back.
 */
#ifndef LIBRA_PARSERS_P4
#define LIBRA_PARSERS_P4

#include "headers.p4"

#define ACK_UDP_BYTES 24    // the length in an ack's UDP header
#define OTHER_SWITCHES 16
#define RECIRCULATION 68    // of each pipe: the port whose packets come back

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;
    // IPv4 addresses of other switches with this program: what is theirs only passes (several racks).
    value_set<bit<32>>(OTHER_SWITCHES) others;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.reason = drop_reason_t.NONE;
        md.bad_checksum = false;
        md.bad_place = false;
        md.acks = false;
        md.answered = false;
        md.rights = 0;
#ifdef LIBRA_INTEGERS
        transition parse_ethernet;
    }
#else
        transition select(ig_intr_md.ingress_port) {
            RECIRCULATION &&& 0x7f: parse_state;
            RETURN_PORTS
            default: parse_ethernet;
        }
    }

    RETURN_STATES

    // A later pass: it was looked at before.
    state parse_state {
        pkt.extract(hdr.state);
        pkt.extract(hdr.left);
        pkt.extract(hdr.record);
        pkt.extract(hdr.ticket);
        pkt.extract(hdr.last);
        pkt.extract(hdr.top);
        pkt.extract(hdr.was0);
        pkt.extract(hdr.was1);
        pkt.extract(hdr.sum0);
        pkt.extract(hdr.sum1);
        pkt.extract(hdr.log_x0);
        pkt.extract(hdr.log_x1);
        pkt.extract(hdr.log_y0);
        pkt.extract(hdr.log_y1);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.libra);
        md.op = op_t.STEP;
        transition select(hdr.state.turn) {
            turn_t.TWO: parse_turned_by_two;
            turn_t.THREE: parse_turned_by_three;
            default: parse_as_they_are;
        }
    }

    state parse_as_they_are {
        pkt.extract(hdr.pair00);
        pkt.extract(hdr.pair01);
        pkt.extract(hdr.pair02);
        pkt.extract(hdr.pair03);
        pkt.extract(hdr.pair04);
        pkt.extract(hdr.pair05);
        pkt.extract(hdr.pair06);
        pkt.extract(hdr.pair07);
        pkt.extract(hdr.pair08);
        pkt.extract(hdr.pair09);
        pkt.extract(hdr.pair10);
        pkt.extract(hdr.pair11);
        pkt.extract(hdr.pair12);
        pkt.extract(hdr.pair13);
        pkt.extract(hdr.pair14);
        pkt.extract(hdr.pair15);
        transition accept;
    }

    state parse_turned_by_two {
        pkt.extract(hdr.pair14);
        pkt.extract(hdr.pair15);
        pkt.extract(hdr.pair00);
        pkt.extract(hdr.pair01);
        pkt.extract(hdr.pair02);
        pkt.extract(hdr.pair03);
        pkt.extract(hdr.pair04);
        pkt.extract(hdr.pair05);
        pkt.extract(hdr.pair06);
        pkt.extract(hdr.pair07);
        pkt.extract(hdr.pair08);
        pkt.extract(hdr.pair09);
        pkt.extract(hdr.pair10);
        pkt.extract(hdr.pair11);
        pkt.extract(hdr.pair12);
        pkt.extract(hdr.pair13);
        transition accept;
    }

    state parse_turned_by_three {
        pkt.extract(hdr.pair13);
        pkt.extract(hdr.pair14);
        pkt.extract(hdr.pair15);
        pkt.extract(hdr.pair00);
        pkt.extract(hdr.pair01);
        pkt.extract(hdr.pair02);
        pkt.extract(hdr.pair03);
        pkt.extract(hdr.pair04);
        pkt.extract(hdr.pair05);
        pkt.extract(hdr.pair06);
        pkt.extract(hdr.pair07);
        pkt.extract(hdr.pair08);
        pkt.extract(hdr.pair09);
        pkt.extract(hdr.pair10);
        pkt.extract(hdr.pair11);
        pkt.extract(hdr.pair12);
        transition accept;
    }
#endif

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.IPV4: parse_ipv4;
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
            (4, 5, 0 &&& 0b101, 0, ip_protocol_t.UDP): parse_udp;
            default: forward;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            UDP_PORT_LIBRA: parse_destination;
            default: forward;
        }
    }

    state parse_destination {
        transition select(hdr.ipv4.dst_addr) {
            others: forward;
            default: parse_libra;
        }
    }

    state parse_libra {
        pkt.extract(hdr.libra);
        md.op = op_t.ARRIVE;
#ifdef LIBRA_INTEGERS
        transition select(hdr.libra.kind, hdr.udp.length) {
            (kind_t.ACK, ACK_UDP_BYTES): parse_ack;
            (kind_t.JOIN, ACK_UDP_BYTES): parse_ack;
            (kind_t.MOVED, ACK_UDP_BYTES): parse_ack;
            default: parse_pair00;
        }
    }
#else
        md.last = 7;
        transition select(hdr.libra.kind, hdr.udp.length) {
            (kind_t.PUSH_ANY, _): parse_any;
            (kind_t.PULL, _): parse_pull;
            (kind_t.COLLECT, _): parse_pull;
            (kind_t.ACK, ACK_UDP_BYTES): parse_ack;
            (kind_t.JOIN, ACK_UDP_BYTES): parse_ack;
            (kind_t.MOVED, ACK_UDP_BYTES): parse_ack;
            default: parse_pair00;
        }
    }

    // The eighth turn brings its pairs to the places where they were.
    state parse_pull {
        md.last = 8;
        transition parse_pair00;
    }

    // Pairs at any place.
    state parse_any {
        md.last = 15;
        transition parse_any00;
    }

    state parse_any00 {
        pkt.extract(hdr.pair00);
        transition select(hdr.pair00.index) {
            0 &&& 0xfff80000: parse_any01;
            default: wrong_place;
        }
    }

    state parse_any01 {
        pkt.extract(hdr.pair01);
        transition select(hdr.pair01.index) {
            0 &&& 0xfff80000: parse_any02;
            default: wrong_place;
        }
    }

    state parse_any02 {
        pkt.extract(hdr.pair02);
        transition select(hdr.pair02.index) {
            0 &&& 0xfff80000: parse_any03;
            default: wrong_place;
        }
    }

    state parse_any03 {
        pkt.extract(hdr.pair03);
        transition select(hdr.pair03.index) {
            0 &&& 0xfff80000: parse_any04;
            default: wrong_place;
        }
    }

    state parse_any04 {
        pkt.extract(hdr.pair04);
        transition select(hdr.pair04.index) {
            0 &&& 0xfff80000: parse_any05;
            default: wrong_place;
        }
    }

    state parse_any05 {
        pkt.extract(hdr.pair05);
        transition select(hdr.pair05.index) {
            0 &&& 0xfff80000: parse_any06;
            default: wrong_place;
        }
    }

    state parse_any06 {
        pkt.extract(hdr.pair06);
        transition select(hdr.pair06.index) {
            0 &&& 0xfff80000: parse_any07;
            default: wrong_place;
        }
    }

    state parse_any07 {
        pkt.extract(hdr.pair07);
        transition select(hdr.pair07.index) {
            0 &&& 0xfff80000: parse_any08;
            default: wrong_place;
        }
    }

    state parse_any08 {
        pkt.extract(hdr.pair08);
        transition select(hdr.pair08.index) {
            0 &&& 0xfff80000: parse_any09;
            default: wrong_place;
        }
    }

    state parse_any09 {
        pkt.extract(hdr.pair09);
        transition select(hdr.pair09.index) {
            0 &&& 0xfff80000: parse_any10;
            default: wrong_place;
        }
    }

    state parse_any10 {
        pkt.extract(hdr.pair10);
        transition select(hdr.pair10.index) {
            0 &&& 0xfff80000: parse_any11;
            default: wrong_place;
        }
    }

    state parse_any11 {
        pkt.extract(hdr.pair11);
        transition select(hdr.pair11.index) {
            0 &&& 0xfff80000: parse_any12;
            default: wrong_place;
        }
    }

    state parse_any12 {
        pkt.extract(hdr.pair12);
        transition select(hdr.pair12.index) {
            0 &&& 0xfff80000: parse_any13;
            default: wrong_place;
        }
    }

    state parse_any13 {
        pkt.extract(hdr.pair13);
        transition select(hdr.pair13.index) {
            0 &&& 0xfff80000: parse_any14;
            default: wrong_place;
        }
    }

    state parse_any14 {
        pkt.extract(hdr.pair14);
        transition select(hdr.pair14.index) {
            0 &&& 0xfff80000: parse_any15;
            default: wrong_place;
        }
    }

    state parse_any15 {
        pkt.extract(hdr.pair15);
        transition select(hdr.pair15.index) {
            0 &&& 0xfff80000: accept;
            default: wrong_place;
        }
    }
#endif

    // Without pairs.
    state parse_ack {
        md.acks = true;
        transition accept;
    }

    // The parser tells a wrong place, which costs no stage; the rest of the packet is then payload.
    state parse_pair00 {
        pkt.extract(hdr.pair00);
        transition select(hdr.pair00.index) {
            0 &&& 0xfff8000f: parse_pair01;
            default: wrong_place;
        }
    }

    state parse_pair01 {
        pkt.extract(hdr.pair01);
        transition select(hdr.pair01.index) {
            1 &&& 0xfff8000f: parse_pair02;
            default: wrong_place;
        }
    }

    state parse_pair02 {
        pkt.extract(hdr.pair02);
        transition select(hdr.pair02.index) {
            2 &&& 0xfff8000f: parse_pair03;
            default: wrong_place;
        }
    }

    state parse_pair03 {
        pkt.extract(hdr.pair03);
        transition select(hdr.pair03.index) {
            3 &&& 0xfff8000f: parse_pair04;
            default: wrong_place;
        }
    }

    state parse_pair04 {
        pkt.extract(hdr.pair04);
        transition select(hdr.pair04.index) {
            4 &&& 0xfff8000f: parse_pair05;
            default: wrong_place;
        }
    }

    state parse_pair05 {
        pkt.extract(hdr.pair05);
        transition select(hdr.pair05.index) {
            5 &&& 0xfff8000f: parse_pair06;
            default: wrong_place;
        }
    }

    state parse_pair06 {
        pkt.extract(hdr.pair06);
        transition select(hdr.pair06.index) {
            6 &&& 0xfff8000f: parse_pair07;
            default: wrong_place;
        }
    }

    state parse_pair07 {
        pkt.extract(hdr.pair07);
        transition select(hdr.pair07.index) {
            7 &&& 0xfff8000f: parse_pair08;
            default: wrong_place;
        }
    }

    state parse_pair08 {
        pkt.extract(hdr.pair08);
        transition select(hdr.pair08.index) {
            8 &&& 0xfff8000f: parse_pair09;
            default: wrong_place;
        }
    }

    state parse_pair09 {
        pkt.extract(hdr.pair09);
        transition select(hdr.pair09.index) {
            9 &&& 0xfff8000f: parse_pair10;
            default: wrong_place;
        }
    }

    state parse_pair10 {
        pkt.extract(hdr.pair10);
        transition select(hdr.pair10.index) {
            10 &&& 0xfff8000f: parse_pair11;
            default: wrong_place;
        }
    }

    state parse_pair11 {
        pkt.extract(hdr.pair11);
        transition select(hdr.pair11.index) {
            11 &&& 0xfff8000f: parse_pair12;
            default: wrong_place;
        }
    }

    state parse_pair12 {
        pkt.extract(hdr.pair12);
        transition select(hdr.pair12.index) {
            12 &&& 0xfff8000f: parse_pair13;
            default: wrong_place;
        }
    }

    state parse_pair13 {
        pkt.extract(hdr.pair13);
        transition select(hdr.pair13.index) {
            13 &&& 0xfff8000f: parse_pair14;
            default: wrong_place;
        }
    }

    state parse_pair14 {
        pkt.extract(hdr.pair14);
        transition select(hdr.pair14.index) {
            14 &&& 0xfff8000f: parse_pair15;
            default: wrong_place;
        }
    }

    state parse_pair15 {
        pkt.extract(hdr.pair15);
        transition select(hdr.pair15.index) {
            15 &&& 0xfff8000f: accept;
            default: wrong_place;
        }
    }

    state wrong_place {
        md.bad_place = true;
        transition accept;
    }

    state forward {
        md.op = op_t.FORWARD;
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (md.answered) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        }
#ifndef LIBRA_INTEGERS
        pkt.emit(hdr.state);
        pkt.emit(hdr.left);
        pkt.emit(hdr.record);
        pkt.emit(hdr.ticket);
        pkt.emit(hdr.last);
        pkt.emit(hdr.top);
        pkt.emit(hdr.was0);
        pkt.emit(hdr.was1);
        pkt.emit(hdr.sum0);
        pkt.emit(hdr.sum1);
        pkt.emit(hdr.log_x0);
        pkt.emit(hdr.log_x1);
        pkt.emit(hdr.log_y0);
        pkt.emit(hdr.log_y1);
#endif
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.libra);
        pkt.emit(hdr.pair00);
        pkt.emit(hdr.pair01);
        pkt.emit(hdr.pair02);
        pkt.emit(hdr.pair03);
        pkt.emit(hdr.pair04);
        pkt.emit(hdr.pair05);
        pkt.emit(hdr.pair06);
        pkt.emit(hdr.pair07);
        pkt.emit(hdr.pair08);
        pkt.emit(hdr.pair09);
        pkt.emit(hdr.pair10);
        pkt.emit(hdr.pair11);
        pkt.emit(hdr.pair12);
        pkt.emit(hdr.pair13);
        pkt.emit(hdr.pair14);
        pkt.emit(hdr.pair15);
    }
}

#ifdef LIBRA_INTEGERS
// Nothing comes through egress.
#else
// What has a state comes through egress, and it alone.
#endif
parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
#ifdef LIBRA_INTEGERS
        transition accept;
    }
#else
        md.reason = drop_reason_t.NONE;
        pkt.extract(hdr.state);
        pkt.extract(hdr.left);
        pkt.extract(hdr.record);
        pkt.extract(hdr.ticket);
        pkt.extract(hdr.last);
        pkt.extract(hdr.top);
        pkt.extract(hdr.was0);
        pkt.extract(hdr.was1);
        pkt.extract(hdr.sum0);
        pkt.extract(hdr.sum1);
        pkt.extract(hdr.log_x0);
        pkt.extract(hdr.log_x1);
        pkt.extract(hdr.log_y0);
        pkt.extract(hdr.log_y1);
        transition accept;
    }
#endif
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
#ifndef LIBRA_INTEGERS
        pkt.emit(hdr.state);
        pkt.emit(hdr.left);
        pkt.emit(hdr.record);
        pkt.emit(hdr.ticket);
        pkt.emit(hdr.last);
        pkt.emit(hdr.top);
        pkt.emit(hdr.was0);
        pkt.emit(hdr.was1);
        pkt.emit(hdr.sum0);
        pkt.emit(hdr.sum1);
        pkt.emit(hdr.log_x0);
        pkt.emit(hdr.log_x1);
        pkt.emit(hdr.log_y0);
        pkt.emit(hdr.log_y1);
#endif
    }
}

#endif
