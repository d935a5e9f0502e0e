/* SPDX-License-Identifier: Apache-2.0
 *
 * router: IPv4 routes by longest prefix, an access list with masks and ranges, lifetimes, and header
 * checksums that are checked and updated.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
}

struct metadata_t {
    bool bad_checksum;
}

INGRESS_PARSER {
    Checksum() header_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.bad_checksum = false;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        pkt.extract(hdr.ipv4);
        header_checksum.add(hdr.ipv4);
        md.bad_checksum = header_checksum.verify();
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): udp;
            default: accept;
        }
    }
    state udp {
        pkt.extract(hdr.udp);
        transition accept;
    }
}

INGRESS {
    action route(PortId_t port, bit<48> src, bit<48> dst) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.src_addr = src;
        hdr.ethernet.dst_addr = dst;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action no_route() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            route;
            no_route;
        }
        const default_action = no_route();
        size = 1024;
    }

    action permit() {}
    action deny() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action mark(bit<8> tos) {
        hdr.ipv4.tos = tos;
    }
    table rules {
        key = {
            hdr.ipv4.src_addr: ternary;
            hdr.ipv4.protocol: ternary;
            hdr.udp.dst_port : range;
        }
        actions = {
            permit;
            deny;
            mark;
        }
        const default_action = permit();
        size = 64;
    }

    apply {
        if (!hdr.ipv4.isValid() || md.bad_checksum || hdr.ipv4.ttl == 0 || hdr.ipv4.ttl == 1) {
            ig_dprsr_md.drop_ctl = 1;
        } else {
            routes.apply();
            rules.apply();
        }
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER {
    Checksum() header_checksum;

    apply {
        hdr.ipv4.hdr_checksum = header_checksum.update(
            {hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len,
             hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
             hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        pkt.emit(hdr);
    }
}

NO_EGRESS
MAIN
