/* SPDX-License-Identifier: Apache-2.0
 *
 * wishes: packets that say what is to be done with them between ingress and egress. A copy that a
 * mirror made leaves with a header in front that shows what its egress was told.
 */
#include "frame.p4i"

const bit<8> BRIDGED = 1;
const bit<8> FROM_INGRESS = 2;
const bit<8> FROM_EGRESS = 3;

// what the ingress does; several may be asked for
#define FORWARD  0  // to 'port'
#define MIRROR   1  // to 'session', with a header
#define DROP     2
#define RESUBMIT 3  // once
#define DIGEST   4  // of type 1
#define GROUP    5  // to group 'port'
#define BARE     6  // mirror without a header
#define LEARN    7  // digest of type 2
// what the egress does
#define E_MIRROR   0
#define E_DROP     1
#define E_NO_COPY  2  // drop_ctl bit 2

header order_h {
    bit<8>  ingress;
    bit<8>  egress;
    bit<16> port;
    bit<16> session;
    bit<16> egress_session;
    bit<8>  color;
    bit<8>  qid;
}

header bridge_h {
    bit<8> kind;
}

header mirror_h {
    bit<8>  kind;
    bit<16> tag;
}

header shown_h {
    bit<8>  kind;
    bit<16> tag;
    bit<16> port;
    bit<16> rid;
    bit<8>  rid_first;
    bit<8>  qid;
    bit<8>  cos;
    bit<16> pkt_length;
}

header again_h {
    bit<64> data;
}

struct seen_t {
    bit<48> addr;
    bit<9>  port;
    bit<7>  rest;
}

struct more_t {
    bit<16> session;
    int<8>  color;
}

struct headers_t {
    shown_h    shown;
    bridge_h   bridge;
    mirror_h   mirror;
    ethernet_h ethernet;
    order_h    order;
}

struct metadata_t {
    bit<10> session;
    bit<8>  kind;
    bit<16> tag;
    bit<9>  port;
    again_h again;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1 : resubmitted;
            default : fresh;
        }
    }
    state resubmitted {
        pkt.extract(md.again);
        transition rest;
    }
    state fresh {
        pkt.advance(PORT_METADATA_SIZE);
        transition rest;
    }
    state rest {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        md.session = hdr.order.session[9:0];
        md.kind = FROM_INGRESS;
        md.tag = 0xaaaa;
        md.port = ig_intr_md.ingress_port;
        ig_tm_md.packet_color = hdr.order.color[1:0];
        ig_tm_md.qid = hdr.order.qid[4:0];
        ig_tm_md.deflect_on_drop = hdr.order.qid[7:7];
        hdr.bridge.setValid();
        hdr.bridge.kind = BRIDGED;
        if (hdr.order.ingress[FORWARD:FORWARD] == 1) {
            ig_tm_md.ucast_egress_port = hdr.order.port[8:0];
        }
        if (hdr.order.ingress[GROUP:GROUP] == 1) {
            ig_tm_md.mcast_grp_a = hdr.order.port;
        }
        if (hdr.order.ingress[MIRROR:MIRROR] == 1) {
            ig_dprsr_md.mirror_type = 1;
        } else if (hdr.order.ingress[BARE:BARE] == 1) {
            ig_dprsr_md.mirror_type = 2;
        }
        if (hdr.order.ingress[DROP:DROP] == 1) {
            ig_dprsr_md.drop_ctl = 1;
        }
        if (hdr.order.ingress[RESUBMIT:RESUBMIT] == 1 && ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = 2;
        }
        if (hdr.order.ingress[DIGEST:DIGEST] == 1) {
            ig_dprsr_md.digest_type = 1;
        }
        if (hdr.order.ingress[LEARN:LEARN] == 1) {
            ig_dprsr_md.digest_type = 2;
        }
        hdr.ethernet.src_addr = 0xeeeeeeeeeeee; // a copy as received does not show it
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;
    Mirror(2) bare;
    Resubmit(2) again;
    Digest<seen_t>() seen;
    @name("learnt") Digest<more_t>(2) more;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {md.kind, md.tag});
        }
        bare.emit(md.session);
        again.emit();
        if (ig_dprsr_md.digest_type == 1) {
            seen.pack({hdr.ethernet.dst_addr, md.port, 0});
        }
        more.pack({hdr.order.session, (int<8>)hdr.order.color});
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            BRIDGED : bridged;
            FROM_INGRESS : mirrored;
            FROM_EGRESS : mirrored;
            default : accept; // a mirror without a header: as it came
        }
    }
    state bridged {
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.order);
        transition accept;
    }
    state mirrored {
        pkt.extract(hdr.mirror);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.bridge.setInvalid();
        if (hdr.order.isValid()) {
            md.session = hdr.order.egress_session[9:0];
            md.kind = FROM_EGRESS;
            md.tag = 0xbbbb;
            if (hdr.order.egress[E_MIRROR:E_MIRROR] == 1) {
                eg_dprsr_md.mirror_type = 0;
            }
            eg_dprsr_md.drop_ctl = hdr.order.egress[E_NO_COPY:E_NO_COPY] ++ 1w0 ++
                                   hdr.order.egress[E_DROP:E_DROP];
        }
        if (hdr.mirror.isValid()) {
            hdr.shown.setValid();
            hdr.shown.kind = hdr.mirror.kind;
            hdr.shown.tag = hdr.mirror.tag;
            hdr.shown.port = 7w0 ++ eg_intr_md.egress_port;
            hdr.shown.rid = eg_intr_md.egress_rid;
            hdr.shown.rid_first = 7w0 ++ eg_intr_md.egress_rid_first;
            hdr.shown.qid = 3w0 ++ eg_intr_md.egress_qid;
            hdr.shown.cos = 5w0 ++ eg_intr_md.egress_cos;
            hdr.shown.pkt_length = eg_intr_md.pkt_length;
            hdr.mirror.setInvalid();
        }
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;

    apply {
        if (eg_dprsr_md.mirror_type == 0) {
            mirror.emit<mirror_h>(md.session, {md.kind, md.tag});
        }
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
