/* SPDX-License-Identifier: Apache-2.0
 *
 * parsers.p4: from bytes to headers and back.
 */
#ifndef LIBRA_PARSERS_P4
#define LIBRA_PARSERS_P4

#include "headers.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.reason = drop_reason_t.NONE;
        md.bad_checksum = false;
        md.bad_place = false;
        transition parse_ethernet;
    }

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
            UDP_PORT_LIBRA: parse_libra;
            default: forward;
        }
    }

    state parse_libra {
        pkt.extract(hdr.libra);
        md.op = op_t.ARRIVE;
        transition parse_pair00;
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

// Nothing comes through egress.
parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}

#endif
