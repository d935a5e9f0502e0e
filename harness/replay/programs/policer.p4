/* SPDX-License-Identifier: Apache-2.0
 *
 * policer: each port's packets are metered; the colour is written into the frame, red ones are dropped.
 */
#include "frame.p4i"

header mark_h {
    bit<8> color;
}

struct headers_t {
    ethernet_h ethernet;
    mark_h     mark;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.mark);
        transition accept;
    }
}

INGRESS {
    Meter<bit<4>>(16, MeterType_t.PACKETS) by_packets;
    Meter<bit<4>>(16, MeterType_t.BYTES) by_bytes;

    apply {
        if (hdr.ethernet.ether_type == 0x9001) {
            hdr.mark.color = by_packets.execute(ig_intr_md.ingress_port[3:0]);
        } else {
            hdr.mark.color = by_bytes.execute(ig_intr_md.ingress_port[3:0]);
        }
        if (hdr.mark.color == 3) {
            ig_dprsr_md.drop_ctl = 1;
        }
        ig_tm_md.ucast_egress_port = 9;
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
