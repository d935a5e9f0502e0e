/* SPDX-License-Identifier: Apache-2.0
 *
 * innermost: a deparser whose conditions are nested, or chained by 'else'. The chip looks at the innermost one around
 * each emit() only, so both are sent where both hold.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header order_h {
    bit<8> what; // 1: mirror it, 2: resubmit it, 4 and 16: digests of it; 8: the answer's header is there
}

header mark_h {
    bit<8> mark;
}

header again_h { // resubmit data
    bit<8> mark;
}

struct headers_t {
    mark_h     answer;
    ethernet_h ethernet;
    order_h    order;
}

struct metadata_t {
    again_h again;
    bit<8>  mark;
}

struct learnt_t {
    bit<48> src_addr;
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            0 : first_pass;
            1 : second_pass;
        }
    }
    state first_pass {
        pkt.advance(PORT_METADATA_SIZE);
        transition packet;
    }
    state second_pass {
        pkt.extract(md.again);
        transition packet;
    }
    state packet {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.order);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    apply {
        ig_tm_md.ucast_egress_port = 3;
        md.mark = hdr.order.what;
        if (ig_intr_md.resubmit_flag == 1) {
            ig_tm_md.ucast_egress_port = 4;
        } else {
            md.again = {0xff};
            if (hdr.order.what[0:0] == 1) {
                ig_dprsr_md.mirror_type = 1;
            }
            if (hdr.order.what[1:1] == 1) {
                ig_dprsr_md.resubmit_type = 2;
            }
            if (hdr.order.what[2:2] == 1) {
                ig_dprsr_md.digest_type = 3;
            }
            if (hdr.order.what[4:4] == 1) {
                ig_dprsr_md.digest_type = 4;
            }
            if (hdr.order.what[3:3] == 1) {
                hdr.answer.setValid();
                hdr.answer.mark = 0xee;
            }
        }
    }
}

DEPARSER_IN(IngressDeparser) {
    Mirror() mirror;
    Digest<learnt_t>() learn;
    Digest<learnt_t>() other;
    Resubmit() again;

    apply {
        if (ig_dprsr_md.resubmit_type == 2) {
            again.emit(md.again);
        } else if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mark_h>(5, {md.mark});
        }
        if (ig_dprsr_md.mirror_type == 1) {
        } else if (ig_dprsr_md.digest_type == 3) {
            learn.pack({hdr.ethernet.src_addr});
        }
        if (hdr.answer.isValid()) {
            if (ig_dprsr_md.digest_type == 4) {
                other.pack({hdr.ethernet.src_addr});
            }
        }
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {}
}

DEPARSER_OUT(EgressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
