/* SPDX-License-Identifier: Apache-2.0
 *
 * tunnel: frames from some ports are carried in VXLAN, VXLAN for this switch is unpacked.
 */
#include "frame.p4i"

const bit<16> VXLAN_PORT = 4789;

header vxlan_h {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved2;
}

struct headers_t {
    ethernet_h outer_ethernet;
    ipv4_h     outer_ipv4;
    udp_h      outer_udp;
    vxlan_h    vxlan;
    ethernet_h ethernet;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            0 &&& 0x1f0: inside;  // ports 0 to 15
            default: outside;
        }
    }
    state inside {
        pkt.extract(hdr.ethernet);
        transition accept;
    }
    state outside {
        pkt.extract(hdr.outer_ethernet);
        transition select(hdr.outer_ethernet.ether_type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        pkt.extract(hdr.outer_ipv4);
        transition select(hdr.outer_ipv4.protocol) {
            17: udp;
            default: accept;
        }
    }
    state udp {
        pkt.extract(hdr.outer_udp);
        transition select(hdr.outer_udp.dst_port) {
            VXLAN_PORT: vxlan;
            default: accept;
        }
    }
    state vxlan {
        pkt.extract(hdr.vxlan);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

INGRESS {
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action local(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
        hdr.outer_ethernet.setInvalid();
        hdr.outer_ipv4.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.vxlan.setInvalid();
    }
    // the outer lengths are written in egress, which knows how many bytes came
    action carry(PortId_t port, bit<24> vni, bit<32> peer) {
        ig_tm_md.ucast_egress_port = port;
        hdr.outer_ethernet.setValid();
        hdr.outer_ethernet.dst_addr = 0x020000000a01;
        hdr.outer_ethernet.src_addr = 0x020000000a00;
        hdr.outer_ethernet.ether_type = 0x0800;
        hdr.outer_ipv4.setValid();
        hdr.outer_ipv4.version = 4;
        hdr.outer_ipv4.ihl = 5;
        hdr.outer_ipv4.tos = 0;
        hdr.outer_ipv4.total_len = 0;
        hdr.outer_ipv4.identification = 0;
        hdr.outer_ipv4.flags = 2;
        hdr.outer_ipv4.frag_offset = 0;
        hdr.outer_ipv4.ttl = 64;
        hdr.outer_ipv4.protocol = 17;
        hdr.outer_ipv4.hdr_checksum = 0;
        hdr.outer_ipv4.src_addr = 0xc0000201;
        hdr.outer_ipv4.dst_addr = peer;
        hdr.outer_udp.setValid();
        hdr.outer_udp.src_port = 50000;
        hdr.outer_udp.dst_port = VXLAN_PORT;
        hdr.outer_udp.length = 0;
        hdr.outer_udp.checksum = 0;
        hdr.vxlan.setValid();
        hdr.vxlan.flags = 8;
        hdr.vxlan.reserved = 0;
        hdr.vxlan.vni = vni;
        hdr.vxlan.reserved2 = 0;
    }
    table places {
        key = {
            hdr.vxlan.isValid()  : exact @name("arrived");
            hdr.vxlan.vni        : ternary;
            hdr.ethernet.dst_addr: ternary;
        }
        actions = {
            local;
            carry;
            discard;
        }
        const default_action = discard();
        size = 64;
    }

    apply {
        if (hdr.ethernet.isValid()) {
            places.apply();
        } else {
            discard();
        }
    }
}

INGRESS_DEPARSER
EMIT_ALL

EGRESS_PARSER {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.outer_ethernet);
        pkt.extract(hdr.outer_ipv4);
        pkt.extract(hdr.outer_udp);
        transition accept;
    }
}

EGRESS {
    apply {
        // what came, without its check sequence, and 36 or 16 bytes of headers
        hdr.outer_ipv4.total_len = eg_intr_md.pkt_length + 32;
        hdr.outer_udp.length = eg_intr_md.pkt_length + 12;
    }
}

EGRESS_DEPARSER {
    Checksum() header_checksum;

    apply {
        hdr.outer_ipv4.hdr_checksum = header_checksum.update(
            {hdr.outer_ipv4.version, hdr.outer_ipv4.ihl, hdr.outer_ipv4.tos,
             hdr.outer_ipv4.total_len, hdr.outer_ipv4.identification, hdr.outer_ipv4.flags,
             hdr.outer_ipv4.frag_offset, hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol,
             hdr.outer_ipv4.src_addr, hdr.outer_ipv4.dst_addr});
        pkt.emit(hdr);
    }
}

MAIN
