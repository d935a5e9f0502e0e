/* SPDX-License-Identifier: Apache-2.0
 *
 * consumed: packets that a program takes in, beside those that it drops: by an action of a table, by one that
 * the control calls, by one that is followed by others.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

INGRESS {
    action send() {
        ig_tm_md.ucast_egress_port = hdr.ethernet.dst_addr[8:0];
    }

    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }

    @silken_consumes
    action take() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // Whether the packet ends is decided behind it.
    @silken_consumes
    action note() {
        ig_tm_md.ucast_egress_port = hdr.ethernet.dst_addr[8:0];
    }

    // Taken in, but for a copy.
    @silken_consumes
    action take_and_show() {
        ig_dprsr_md.drop_ctl = 1;
        ig_tm_md.copy_to_cpu = 1;
    }

    // Taken in, and not even copied.
    @silken_consumes
    action take_all() {
        ig_dprsr_md.drop_ctl = 3;
        ig_tm_md.copy_to_cpu = 1;
    }

    table fates {
        key = { hdr.ethernet.ether_type : exact; }
        actions = { send; discard; take; note; take_and_show; take_all; }
        const default_action = send;
        const entries = {
            0x8801: discard();
            0x8802: take();
            0x8803: note();
            0x8804: take_and_show();
            0x8805: take_all();
        }
        size = 8;
    }

    apply {
        if (hdr.ethernet.ether_type == 0x8806) {
            take();
        } else {
            fates.apply();
        }
        if (hdr.ethernet.src_addr[7:0] == 0xee) {
            discard();
        }
    }
}

INGRESS_DEPARSER
EMIT_ALL

EGRESS_PARSER {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

EGRESS {
    apply {
    }
}

EGRESS_DEPARSER
EMIT_ALL
MAIN
