/* SPDX-License-Identifier: Apache-2.0
 *
 * validity: the fields with a validity of their own. They begin as not set, any assignment sets them,
 * of 0 too, and invalidate() unsets them. The packet's bytes say what is assigned and what is unset.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header order_h {
    bit<8>  set;    // 1 port 0, 2 group 0 as a, 4 group 0 as b, 8 digest, 16 resubmit, 32 egress mirror
    bit<8>  unset;  // the same of them unset afterwards
    bit<8>  is_set; // shown: 1 port, 2 group a, 4 group b
    bit<8>  zero;   // the type that is set: 0
}

header mirror_h {
    bit<8> mark;
}

header rest_h {
    bit<80> rest;
}

struct headers_t {
    order_h order;
    rest_h  rest;
}

struct learnt_t {
    bit<8> set;
    bit<8> unset;
}

struct metadata_t {
    bit<8> mark;
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.order);
        pkt.extract(hdr.rest);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    apply {
        if (hdr.order.set[0:0] == 1) {
            ig_tm_md.ucast_egress_port = 0;
        }
        if (hdr.order.set[1:1] == 1) {
            ig_tm_md.mcast_grp_a = 0;
        }
        if (hdr.order.set[2:2] == 1) {
            ig_tm_md.mcast_grp_b = 0;
        }
        if (hdr.order.set[3:3] == 1) {
            ig_dprsr_md.digest_type = 0;
        }
        if (hdr.order.set[4:4] == 1 && ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = 0;
        }
        if (hdr.order.unset[0:0] == 1) {
            invalidate(ig_tm_md.ucast_egress_port);
        }
        if (hdr.order.unset[1:1] == 1) {
            invalidate(ig_tm_md.mcast_grp_a);
        }
        if (hdr.order.unset[2:2] == 1) {
            invalidate(ig_tm_md.mcast_grp_b);
        }
        if (hdr.order.unset[3:3] == 1) {
            invalidate(ig_dprsr_md.digest_type);
        }
        if (hdr.order.unset[4:4] == 1) {
            invalidate(ig_dprsr_md.resubmit_type);
        }
        hdr.order.is_set = 0;
        if (is_validated(ig_tm_md.ucast_egress_port)) {
            hdr.order.is_set[0:0] = 1;
        }
        if (is_validated(ig_tm_md.mcast_grp_a)) {
            hdr.order.is_set[1:1] = 1;
        }
        if (is_validated(ig_tm_md.mcast_grp_b)) {
            hdr.order.is_set[2:2] = 1;
        }
        if (ig_intr_md.resubmit_flag == 1) {
            hdr.order.is_set[7:7] = 1;
        }
        ig_tm_md.copy_to_cpu = 1;
    }
}

DEPARSER_IN(IngressDeparser) {
    Digest<learnt_t>() learnt;
    Resubmit() again;
    apply {
        if (ig_dprsr_md.digest_type == 0) {
            learnt.pack({hdr.order.set, hdr.order.unset});
        }
        if (ig_dprsr_md.resubmit_type == 0) {
            again.emit();
        }
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.order);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {
        md.mark = 0xee;
        if (eg_intr_md.egress_port == 64) {
            if (hdr.order.set[5:5] == 1) {
                eg_dprsr_md.mirror_type = 0;
            }
            if (hdr.order.unset[5:5] == 1) {
                invalidate(eg_dprsr_md.mirror_type);
            }
        }
    }
}

DEPARSER_OUT(EgressDeparser) {
    Mirror() mirror;
    apply {
        if (eg_dprsr_md.mirror_type == 0) {
            mirror.emit<mirror_h>(3, {md.mark});
        }
        pkt.emit(hdr);
    }
}

MAIN
