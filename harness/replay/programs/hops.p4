/* SPDX-License-Identifier: Apache-2.0
 *
 * hops: source routing. A stack of labels, 0x0000 to 0x01ff the port to leave by, the last with its top
 * bit set. Each pass takes one; a label for port 68 makes the packet recirculate, so that a packet takes
 * several in one switch.
 */
#include "frame.p4i"

header hop_h {
    bit<1>  last;
    bit<6>  unused;
    bit<9>  port;
}

struct headers_t {
    ethernet_h ethernet;
    hop_h[6]   hops;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x9100: hop;
            default: accept;
        }
    }
    state hop {
        pkt.extract(hdr.hops.next);
        transition select(hdr.hops.last.last) {
            0: hop;
            default: accept;
        }
    }
}

INGRESS {
    apply {
        if (hdr.hops[0].isValid()) {
            ig_tm_md.ucast_egress_port = hdr.hops[0].port;
            if (hdr.hops[0].last == 1) {
                hdr.ethernet.ether_type = 0x9101;
            }
            hdr.hops.pop_front(1);
        }
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
