/* SPDX-License-Identifier: Apache-2.0
 *
 * parsers.p4: parsers and deparsers of the ToR.
 */

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: parse_cpu;
            RECIRCULATE: parse_cpu;
            default: parse_ethernet;
        }
    }

    state parse_cpu {
        pkt.extract(hdr.cpu);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.VLAN: parse_vlan;
            ether_type_t.IPV4: parse_ipv4;
            ether_type_t.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        md.tag = hdr.vlan.vid;
        transition select(hdr.vlan.ether_type) {
            ether_type_t.IPV4: parse_ipv4;
            ether_type_t.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        md.ip_error = (bit<1>)ipv4_checksum.verify();
        md.protocol = hdr.ipv4.protocol;
        md.ip_length = hdr.ipv4.total_len;
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, ip_protocol_t.TCP): parse_tcp;
            (5, 0, ip_protocol_t.UDP): parse_udp;
            (_, 0, ip_protocol_t.UDP): parse_options;
            (5, 0, ip_protocol_t.ICMP): parse_icmp;
            default: accept;
        }
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        md.protocol = hdr.ipv6.next_header;
        md.ip_length = hdr.ipv6.payload_len;
        transition select(hdr.ipv6.next_header) {
            ip_protocol_t.TCP: parse_tcp;
            ip_protocol_t.UDP: parse_ports;
            ip_protocol_t.ICMPV6: parse_icmp;
            ip_protocol_t.HOP_BY_HOP: parse_hop_by_hop;
            default: accept;
        }
    }

    // Eight bytes with a router alert are in front of what hosts and routers say about groups. They stay in
    // the payload: type and code of the ICMPv6 behind them are all that is looked at.
    state parse_hop_by_hop {
        transition select(pkt.lookahead<bit<16>>()) {
            0x3a00: parse_alert;    // ICMPv6 follows
            default: accept;
        }
    }

    state parse_alert {
        md.protocol = (bit<8>)ip_protocol_t.ICMPV6;
        md.src_port = pkt.lookahead<bit<80>>()[15:0];
        transition accept;
    }

    state parse_udp {
        pkt.extract(hdr.ports);
        md.src_port = hdr.ports.src;
        md.dst_port = hdr.ports.dst;
        BEHIND_UDP
    }

    state parse_options {
        BEHIND_OPTIONS
    }

    INGRESS_STATES

    // Type and code. Not the checksum behind them: packets of two hosts then would go by ever other members of a group.
    state parse_icmp {
        md.src_port = pkt.lookahead<bit<16>>();
        transition accept;
    }

    state parse_tcp {
        md.tcp_flags = pkt.lookahead<bit<112>>()[7:0];
        transition parse_ports;
    }

    state parse_ports {
        pkt.extract(hdr.ports);
        md.src_port = hdr.ports.src;
        md.dst_port = hdr.ports.dst;
        transition accept;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
    Digest<learned_t>() learned;
    Mirror() mirror;

    apply {
        if (md.rewritten == 1)
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        if (ig_dprsr_md.digest_type == 1)
            learned.pack({md.vid, hdr.ethernet.src_addr, md.interface});
        if (ig_dprsr_md.mirror_type == 1)
            mirror.emit<mirror_h>(md.session, {md.mirror});
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
        pkt.emit(hdr.ports);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            kind_t.MIRROR: parse_mirror;
            OTHER_KINDS
            default: parse_bridge;
        }
    }

    // Goes out as it came in.
    state parse_mirror {
        pkt.advance(8);
        md.is_mirror = 1;
        transition accept;
    }

    state parse_bridge {
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.VLAN: parse_vlan;
            ether_type_t.IPV4: look_at_ipv4;
            ether_type_t.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ether_type_t.IPV4: look_at_ipv4;
            ether_type_t.IPV6: parse_ipv6;
            default: accept;
        }
    }

    // The deparser adds up headers without options only; others are not marked.
    state look_at_ipv4 {
        transition select(pkt.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        BEHIND_EGRESS_IPV4
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition accept;
    }

    EGRESS_STATES
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;
    Mirror() mirror;
    AddedDeparser() added;

    apply {
        if (md.marked == 1)
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        if (eg_dprsr_md.mirror_type == 1)
            mirror.emit<mirror_h>(md.session, {md.mirror});
        pkt.emit(hdr.cpu);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
        added.apply(pkt, hdr.added, md.added, eg_dprsr_md);
    }
}
