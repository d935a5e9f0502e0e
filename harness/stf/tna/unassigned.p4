/* SPDX-License-Identifier: Apache-2.0
 *
 * unassigned: a deparser that compares types with other values, by != and in 'else'. A type that
 * nothing was assigned to sends nothing, whatever the comparison says of it.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header order_h {
    bit<8> set;   // 1 ingress mirror, 2 digest, 4 resubmit, 8 egress mirror
    bit<8> mirror;
    bit<8> digest;
    bit<8> resubmit;
    bit<8> egress;
    bit<8> again; // shown: it was resubmitted
}

header mirror_h {
    bit<8> mark;
}

header rest_h {
    bit<64> rest;
}

struct headers_t {
    order_h order;
    rest_h  rest;
}

struct learnt_t {
    bit<8> set;
    bit<8> other;
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
        md.mark = 0xaa;
        if (hdr.order.set[0:0] == 1) {
            ig_dprsr_md.mirror_type = hdr.order.mirror[2:0];
        }
        if (hdr.order.set[1:1] == 1) {
            ig_dprsr_md.digest_type = hdr.order.digest[2:0];
        }
        if (hdr.order.set[2:2] == 1 && ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = hdr.order.resubmit[2:0];
        }
        hdr.order.again = 7w0 ++ ig_intr_md.resubmit_flag;
        ig_tm_md.ucast_egress_port = 1;
    }
}

DEPARSER_IN(IngressDeparser) {
    Digest<learnt_t>() learnt;
    Digest<learnt_t>() others;
    Resubmit() again;
    Mirror() mirror;
    Mirror() second;
    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(3, {md.mark});
        } else {
            second.emit<mirror_h>(4, {md.mark});
        }
        if (ig_dprsr_md.digest_type != 2) {
            learnt.pack({hdr.order.set, 1});
        } else {
            others.pack({hdr.order.set, 2});
        }
        if (ig_dprsr_md.resubmit_type == 5) {
        } else {
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
        if (eg_intr_md.egress_port == 1 && hdr.order.set[3:3] == 1) {
            eg_dprsr_md.mirror_type = hdr.order.egress[2:0];
        }
    }
}

DEPARSER_OUT(EgressDeparser) {
    Mirror() mirror;
    apply {
        if (eg_dprsr_md.mirror_type != 6) {
            mirror.emit<mirror_h>(5, {md.mark});
        }
        pkt.emit(hdr);
    }
}

MAIN
