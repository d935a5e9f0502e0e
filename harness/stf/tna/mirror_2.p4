/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror_2: what a Tofino 2's deparsers say about mirrored copies and about the packet's length.
 *
 * Ingress counts 'hops' up and puts a byte in front that tells egress what comes: a packet (1) or a
 * copy (2, 3). Egress adds 16 to the hops, and writes the replication id and the queue.
 */
#include <core.p4>
#include <t2na.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header kind_h {
    bit<8> kind;
}

header op_h {
    bit<8>  op;
    bit<8>  hops;
    bit<8>  flags;    // io_select, multicast, deflect, port is valid, with length
    bit<8>  drop_ctl;
    bit<16> port;
    bit<8>  qid;
    bit<8>  cos;
    bit<16> hash;
    bit<16> length;
}

header left_h {
    bit<16> rid;
    bit<8>  qid;
    bit<8>  cos;
    bit<16> bytes;
}

struct headers_t {
    kind_h     kind;
    ethernet_h ethernet;
    op_h       op;
    left_h     left;
}

struct metadata_t {
    bit<8> kind;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.op);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 11;
        hdr.op.hops = hdr.op.hops + 1;
        hdr.kind.setValid();
        hdr.kind.kind = 1;
        md.kind = 2;
        ig_dprsr_md.drop_ctl = hdr.op.drop_ctl[2:0];
        if (hdr.op.op == 1) {
            ig_dprsr_md.mirror_type = 1;
            ig_dprsr_md.mirror_io_select = hdr.op.flags[0:0];
            ig_dprsr_md.mirror_multicast_ctrl = hdr.op.flags[1:1];
            ig_dprsr_md.mirror_deflect_on_drop = hdr.op.flags[2:2];
            if (hdr.op.flags[3:3] == 1) {
                ig_dprsr_md.mirror_egress_port = hdr.op.port[8:0];
            }
            ig_dprsr_md.mirror_qid = hdr.op.qid[6:0];
            ig_dprsr_md.mirror_ingress_cos = hdr.op.cos[2:0];
            ig_dprsr_md.mirror_hash = hdr.op.hash[12:0];
        }
        if (hdr.op.op == 3 && ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = 1;
        }
        if (hdr.op.op != 2 && hdr.op.flags[4:4] == 1) {
            ig_dprsr_md.mtu_trunc_len = hdr.op.length[13:0];
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;
    Resubmit() resubmit;
    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<kind_h>(7, {md.kind});
        }
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit();
        }
        pkt.emit(hdr);
    }
}

#ifdef AS_RECEIVED
@disable_egress_mirror_io_select_initialization
#endif
parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md,
                    out egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                    out egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.kind);
        transition select(hdr.kind.kind, pkt.lookahead<bit<8>>()) {
            (2, 1) : copied;  // of a packet that was deparsed
            (3, 1) : copied;
            default : body;
        }
    }
    state copied {
        pkt.advance(8);
        transition body;
    }
    state body {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.op);
        transition accept;
    }
}

control Choice(in op_h op, inout egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        if (op.flags[5:5] == 1) {
            dprsr.mirror_io_select = op.flags[0:0];
        }
        dprsr.mirror_egress_port = op.port[8:0];
        dprsr.adv_flow_ctl = 0;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Choice() choice;
    apply {
        md.kind = 3;
        hdr.op.hops = hdr.op.hops + 16;
        hdr.left.setValid();
        hdr.left.rid = eg_intr_md.egress_rid;
        hdr.left.qid = (bit<8>)eg_intr_md.egress_qid;
        hdr.left.cos = (bit<8>)eg_intr_md.egress_cos;
        hdr.left.bytes = eg_intr_md.pkt_length;
        if (hdr.kind.kind == 1 && hdr.op.op == 2) {
            eg_dprsr_md.mirror_type = 2;
            eg_dprsr_md.drop_ctl = hdr.op.drop_ctl[6:4];
            choice.apply(hdr.op, eg_dprsr_md);
            if (hdr.op.flags[4:4] == 1) {
                eg_dprsr_md.mtu_trunc_len = hdr.op.length[13:0];
            }
        }
        hdr.kind.setInvalid();
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror(2) mirror;
    apply {
        mirror.emit<kind_h>(8, {md.kind});
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
