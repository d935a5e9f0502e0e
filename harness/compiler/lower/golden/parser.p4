// SPDX-License-Identifier: Apache-2.0
//
// Parsers: sub-parsers with and without results, loops, value sets, checksums, keys of every kind.
#define OWN_HEADERS
#define OWN_INGRESS_PARSER
#define OWN_INGRESS_DEPARSER
#include <tna.p4>

header eth_h {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header tag_h {
    bit<3> pcp;
    bit<1> dei;
    bit<12> id;
    bit<16> type;
}

header ip_h {
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
}

header udp_h {
    bit<16> port;
    bit<16> checksum;
}

struct headers_t {
    eth_h eth;
    tag_h[2] tags;
    ip_h ip;
    udp_h udp;
}

struct md_t {
    bool wrong;
    bit<16> residual;
    bit<8> found;
}

struct ports_t {
    bit<16> port;
    bit<8> protocol;
}

parser Tags(packet_in pkt, inout headers_t hdr, out bit<16> type) {
    bit<8> count = 0;
    state start {
        pkt.extract(hdr.tags.next);
        type = hdr.tags.last.type;
        count = count + 1;
        transition select(type, hdr.tags.lastIndex) {
            (0x8100, 0) : start;
            default : accept;
        }
    }
}

parser Ip(packet_in pkt, out ip_h ip)(bit<8> wanted) {
    state start {
        pkt.extract(ip);
        transition select(ip.protocol == wanted) {
            true : accept;
            false : reject;
        }
    }
}

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t intr) {
    Tags() tags;
    Ip(17) ip;
    Checksum() ip_sum;
    Checksum() udp_sum;
    ParserPriority() priority;
    value_set<bit<16>>(4) types;
    @name("services") value_set<ports_t>(8) ports;
    bit<16> type;
    bool seen = false;

    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        priority.set(3);
        pkt.extract(hdr.eth);
        type = hdr.eth.type;
        transition select(type) {
            types : special;
            0x8100 &&& 0xf0ff : tagged;
            0x0800 : ipv4;
            16w0x600 .. 16w0x700 : accept;
        }
    }
    state tagged {
        tags.apply(pkt, hdr, type);
        seen = true;
        transition select(type) {
            0x0800 : ipv4;
            default : accept;
        }
    }
    state special {
        md.found = 1;
        transition ipv4;
    }
    state ipv4 {
        ip.apply(pkt, hdr.ip);
        ip_sum.add(hdr.ip);
        md.wrong = ip_sum.verify();
        pkt.extract(hdr.udp);
        udp_sum.subtract({ hdr.udp.checksum, hdr.ip.src });
        udp_sum.subtract_all_and_deposit(md.residual);
        transition select(hdr.udp.port, hdr.ip.protocol) {
            ports : known;
            (53, _) : known;
            (_, _) : accept;
        }
    }
    state known {
        md.found = 2;
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() ip_sum;
    Checksum() udp_sum;
    Resubmit() again;
    Resubmit(2) other;
    apply {
        hdr.ip.checksum = ip_sum.update({ hdr.ip.ttl ++ hdr.ip.protocol, hdr.ip.src });
        if (md.wrong) {
            hdr.udp.checksum = udp_sum.update({ hdr.ip.src, md.residual }, true);
        }
        if (dprsr.resubmit_type == 1) {
            again.emit(hdr.udp);
        }
        other.emit();
        pkt.emit(hdr.eth);
        pkt.emit(hdr.tags);
        pkt.emit(hdr.ip);
        pkt.emit(hdr.udp);
    }
}

#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        if (prsr.parser_err != PARSER_ERROR_OK) {
            dprsr.drop_ctl = 1;
        }
        if (md.found == 2) {
            dprsr.resubmit_type = 1;
        }
    }
}

MAIN
