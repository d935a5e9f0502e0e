/* SPDX-License-Identifier: Apache-2.0
 *
 * options: IPv4 with options of any length as one field. Port 1 gets packets as they are, port 2
 * without their options, port 3 with the first 4 bytes of them in the destination address.
 */
#include "frame.p4i"

header options_h {
    varbit<320> data;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    options_h  options;
    udp_h      udp;
}

struct metadata_t {
    bit<32> first;
}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.first = 0;
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) {
            0 &&& 0xc: reject;
            4: reject;
            5: udp;
            default: options;
        }
    }
    state options {
        md.first = pkt.lookahead<bit<32>>();
        pkt.extract(hdr.options, ((bit<32>)(hdr.ipv4.ihl - 5)) << 5);
        transition udp;
    }
    state udp {
        pkt.extract(hdr.udp);
        transition accept;
    }
}

INGRESS {
    apply {
        if (!hdr.udp.isValid()) {
            ig_dprsr_md.drop_ctl = 1;
        } else if (hdr.udp.dst_port == 2) {
            hdr.options.setInvalid();
            hdr.ipv4.total_len = hdr.ipv4.total_len - (((bit<16>)(hdr.ipv4.ihl - 5)) << 2);
            hdr.ipv4.ihl = 5;
        } else if (hdr.udp.dst_port == 3) {
            hdr.ipv4.dst_addr = md.first;
        }
        if (hdr.udp.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.udp.dst_port[8:0];
        }
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
