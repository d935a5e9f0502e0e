/* SPDX-License-Identifier: Apache-2.0
 *
 * cut: a program for a Tofino 2. Frames are cut to the length that they name, at port 9 in ingress and
 * elsewhere in egress.
 */
#define ARCHITECTURE
#include <t2na.p4>
#include "frame.p4i"

header wish_h {
    bit<16> length;
}

struct headers_t {
    ethernet_h ethernet;
    wish_h     wish;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.wish);
        transition accept;
    }
}

INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = hdr.ethernet.dst_addr[8:0];
        if (hdr.ethernet.dst_addr[8:0] == 9) {
            ig_dprsr_md.mtu_trunc_len = hdr.wish.length[13:0];
            ig_tm_md.bypass_egress = 1;
        }
    }
}

INGRESS_DEPARSER
EMIT_ALL

EGRESS_PARSER {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.wish);
        transition accept;
    }
}

EGRESS {
    apply {
        hdr.ethernet.src_addr = 32w0 ++ eg_intr_md.pkt_length;
        eg_dprsr_md.mtu_trunc_len = hdr.wish.length[13:0];
    }
}

EGRESS_DEPARSER
EMIT_ALL
MAIN
