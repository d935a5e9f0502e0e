/* SPDX-License-Identifier: Apache-2.0
 *
 * own_field: deparsers that select by fields of the program's own what they send elsewhere, whatever the
 * types of the intrinsic metadata say.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header order_h {
    bit<8> first;  // of the first pass: 1 and 2 mirrors, 3 none, 4 resubmits
    bit<8> type;   // of the intrinsic metadata, for all three
    bit<8> learn;  // 5: a digest
    bit<8> second; // of the egress: 6 and 7 mirrors, 1 is a true bit
}

header mark_h {
    bit<8> mark;
}

header again_h { // resubmit data
    bit<8> mark;
}

struct headers_t {
    again_h    again;
    ethernet_h ethernet;
    order_h    order;
}

struct metadata_t {
    bit<16> kind;
    bit<8>  again;
    bool    wanted;
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
        pkt.extract(hdr.again);
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
        if (hdr.order.type != 0) {
            ig_dprsr_md.mirror_type = hdr.order.type[2:0];
            ig_dprsr_md.digest_type = hdr.order.type[2:0];
            ig_dprsr_md.resubmit_type = hdr.order.type[2:0];
        }
        if (ig_intr_md.resubmit_flag == 0) {
            if (hdr.order.first[7:2] == 0) {
                md.kind = (bit<16>)hdr.order.first;
            }
            md.again = hdr.order.first;
        }
    }
}

DEPARSER_IN(IngressDeparser) {
    Mirror() one;
    Mirror() two;
    Digest<learnt_t>() learn;
    Resubmit() again;

    apply {
        if (md.kind == 1) {
            one.emit<mark_h>(5, {1});
        } else if (md.kind == 2) {
            two.emit<mark_h>(6, {2});
        }
        if (hdr.order.learn == 5) {
            learn.pack({hdr.ethernet.src_addr});
        }
        if (md.again == 4) {
            again.emit<again_h>({0xff});
        }
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(eg_intr_md.egress_port) {
            3 : packet;
            default : accept;
        }
    }
    state packet {
        transition select(pkt.lookahead<bit<8>>()) {
            0xff : marked;
            default : plain;
        }
    }
    state marked {
        pkt.extract(hdr.again);
        transition plain;
    }
    state plain {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.order);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {
        if (hdr.order.isValid() && hdr.order.second == 1) {
            md.wanted = true;
        }
    }
}

DEPARSER_OUT(EgressDeparser) {
    Mirror() wanted;

    apply {
        if (md.wanted) {
            wanted.emit<mark_h>(7, {7});
        }
        pkt.emit(hdr);
    }
}

MAIN
