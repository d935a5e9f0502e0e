/* SPDX-License-Identifier: Apache-2.0
 *
 * checksums: a translator of addresses: verifies IPv4 headers, writes another source address and
 * port, and brings the checksums of IPv4, TCP and UDP up to date without looking at the payload. A
 * header of odd fields shows where bytes stand in a word.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> total_len;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header tcp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq_no;
    bit<32> ack_no;
    bit<16> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header odd_h {
    bit<8>  a;
    bit<16> b;
    bit<8>  c;
    bit<24> d;
    bit<8>  e;
    bit<16> checksum;
    bit<16> other;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    tcp_h      tcp;
    udp_h      udp;
    odd_h      odd;
}

struct metadata_t {
    bool    wrong;
    bool    odd_wrong;
    bool    update_udp;
    bit<16> residual;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_sum;
    Checksum() tcp_sum;
    Checksum() udp_sum;
    Checksum() odd_sum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.wrong = false;
        md.odd_wrong = false;
        md.update_udp = false;
        md.residual = 0;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800 : ipv4;
            0x9000 : odd;
            default : accept;
        }
    }
    state ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_sum.add(hdr.ipv4);
        md.wrong = ipv4_sum.verify();
        tcp_sum.subtract({hdr.ipv4.src_addr});
        udp_sum.subtract({hdr.ipv4.src_addr});
        transition select(hdr.ipv4.protocol) {
            6 : tcp;
            17 : udp;
            default : accept;
        }
    }
    state tcp {
        pkt.extract(hdr.tcp);
        tcp_sum.subtract({hdr.tcp.checksum});
        tcp_sum.subtract({hdr.tcp.src_port});
        tcp_sum.subtract_all_and_deposit(md.residual);
        transition accept;
    }
    state udp {
        pkt.extract(hdr.udp);
        udp_sum.subtract({hdr.udp.checksum, hdr.udp.src_port});
        udp_sum.subtract_all_and_deposit(md.residual);
        transition accept;
    }
    // the checksum covers all of the header but 'other'; a, b and c are bytes 0, 1-2 and 3
    state odd {
        pkt.extract(hdr.odd);
        odd_sum.add({hdr.odd.a, hdr.odd.b, hdr.odd.c});
        odd_sum.add({hdr.odd.d, hdr.odd.e, hdr.odd.checksum});
        md.odd_wrong = odd_sum.verify();
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action translate(bit<32> addr, bit<16> port) {
        hdr.ipv4.src_addr = addr;
        hdr.tcp.src_port = port;
        hdr.udp.src_port = port;
    }

    table translations {
        key = { hdr.ipv4.src_addr : exact; }
        actions = { translate; NoAction; }
        size = 16;
    }

    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        if (md.wrong || md.odd_wrong) {
            ig_tm_md.ucast_egress_port = 2;
        } else if (hdr.ipv4.isValid()) {
            translations.apply();
            if (hdr.udp.isValid() && hdr.udp.checksum != 0) {
                md.update_udp = true;
            }
        } else if (hdr.odd.isValid()) {
            hdr.odd.b = hdr.odd.other;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_sum;
    Checksum() tcp_sum;
    Checksum() udp_sum;
    Checksum() odd_sum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_sum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol,
                hdr.ipv4.src_addr, hdr.ipv4.dst_addr
            });
        }
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = tcp_sum.update({hdr.ipv4.src_addr, hdr.tcp.src_port, md.residual});
        }
        if (md.update_udp) {
            hdr.udp.checksum = udp_sum.update(
                {hdr.ipv4.src_addr, hdr.udp.src_port, md.residual}, true);
        }
        // the port of a header that is not there is no part of the sum
        if (hdr.odd.isValid()) {
            hdr.odd.checksum = odd_sum.update({
                hdr.odd.a, hdr.odd.b, hdr.odd.c, hdr.odd.d, hdr.odd.e, hdr.udp.src_port
            });
        }
        pkt.emit(hdr);
    }
}

struct none_t {}

parser EgressParser(packet_in pkt, out none_t hdr, out none_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
