/* SPDX-License-Identifier: Apache-2.0
 *
 * nat: addresses and ports of UDP packets translated, checksums updated by what changed, without a look
 * at the payload.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
}

struct metadata_t {
    bit<16> rest; // of the sum: without the fields that change
    bool    has_checksum;
}

INGRESS_PARSER {
    Checksum() udp_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        udp_checksum.subtract({hdr.ipv4.src_addr});
        pkt.extract(hdr.udp);
        udp_checksum.subtract({hdr.udp.checksum});
        udp_checksum.subtract({hdr.udp.src_port});
        udp_checksum.subtract_all_and_deposit(md.rest);
        transition accept;
    }
}

INGRESS {
    action translate(bit<32> addr, bit<16> port) {
        hdr.ipv4.src_addr = addr;
        hdr.udp.src_port = port;
    }
    table outward {
        key = {
            hdr.ipv4.src_addr: exact;
            hdr.udp.src_port : exact;
        }
        actions = {
            translate;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = 256;
    }

    apply {
        md.has_checksum = hdr.udp.checksum != 0;
        outward.apply();
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER {
    Checksum() header_checksum;
    Checksum() udp_checksum;

    apply {
        hdr.ipv4.hdr_checksum = header_checksum.update(
            {hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len,
             hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
             hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        if (md.has_checksum) {
            hdr.udp.checksum = udp_checksum.update({hdr.ipv4.src_addr, hdr.udp.src_port, md.rest},
                                                   true);
        }
        pkt.emit(hdr);
    }
}

NO_EGRESS
MAIN
