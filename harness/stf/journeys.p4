/* SPDX-License-Identifier: Apache-2.0
 *
 * journeys: ways through a switch that a packet asks for itself. Ethernet, then an operation, a
 * number of passes, an argument and a trace byte, which counts ingress passes in its upper nibble and
 * egress passes in its lower one.
 */
#include <core.p4>
#include <tna.p4>

const bit<8> FORWARD = 0;   // to port argument
const bit<8> AROUND = 1;    // as often as the number says through port 68 of its pipe, then forward
const bit<8> BYPASS = 2;    // forward without egress
const bit<8> RESUBMIT = 3;  // once, then to the port the resubmit data say
const bit<8> TWICE = 4;     // resubmit each time
const bit<8> TO_CPU = 5;    // forward, and a copy to the CPU
const bit<8> GROUP = 6;     // to group argument
const bit<8> BOTH = 7;      // to group argument and group argument + 1, excluding passes at level 1
const bit<8> DIE = 8;       // in egress
const bit<8> DROP_BUT_CPU = 9;
const bit<8> SHOW = 10;     // forward, with the egress metadata in front

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header order_h {
    bit<8>  op;
    bit<8>  passes;
    bit<16> argument;
    bit<4>  ingress;
    bit<4>  egress;
}

header data_h {
    bit<16> port;
    bit<48> unused;
}

struct headers_t {
    egress_intrinsic_metadata_t shown;
    ethernet_h ethernet;
    order_h    order;
}

struct metadata_t {
    data_h data;
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
        pkt.extract(md.data);
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
    action forward() {
        ig_tm_md.ucast_egress_port = hdr.order.argument[8:0];
    }

    action around() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port[8:7] ++ 7w68;
        hdr.order.passes = hdr.order.passes - 1;
    }

    action resubmit() {
        md.data.setValid();
        md.data.port = hdr.order.argument;
        md.data.unused = 0;
        ig_dprsr_md.resubmit_type = 1;
    }

    apply {
        hdr.order.ingress = hdr.order.ingress + 1;
        if (hdr.order.op == AROUND && hdr.order.passes != 0) {
            around();
        } else if (hdr.order.op == BYPASS) {
            forward();
            ig_tm_md.bypass_egress = 1;
        } else if (hdr.order.op == TWICE) {
            resubmit();
        } else if (hdr.order.op == RESUBMIT && ig_intr_md.resubmit_flag == 0) {
            resubmit();
        } else if (hdr.order.op == RESUBMIT) {
            ig_tm_md.ucast_egress_port = md.data.port[8:0];
        } else if (hdr.order.op == TO_CPU) {
            forward();
            ig_tm_md.copy_to_cpu = 1;
        } else if (hdr.order.op == DROP_BUT_CPU) {
            forward();
            ig_tm_md.copy_to_cpu = 1;
            ig_dprsr_md.drop_ctl = 1;
        } else if (hdr.order.op == GROUP) {
            ig_tm_md.mcast_grp_a = hdr.order.argument;
            ig_tm_md.level2_exclusion_id = 7;
            ig_tm_md.rid = 8w0 ++ hdr.order.passes;
        } else if (hdr.order.op == BOTH) {
            ig_tm_md.mcast_grp_a = hdr.order.argument;
            ig_tm_md.mcast_grp_b = hdr.order.argument + 1;
            ig_tm_md.level1_exclusion_id = 8w0 ++ hdr.order.passes;
        } else {
            forward();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() again;

    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            again.emit(md.data);
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.order.egress = hdr.order.egress + 1;
        if (hdr.order.op == DIE) {
            eg_dprsr_md.drop_ctl = 1;
        } else if (hdr.order.op == SHOW || hdr.order.op == GROUP || hdr.order.op == TO_CPU) {
            hdr.shown.setValid();
            hdr.shown.egress_port = eg_intr_md.egress_port;
            hdr.shown.egress_rid = eg_intr_md.egress_rid;
            hdr.shown.egress_rid_first = eg_intr_md.egress_rid_first;
            hdr.shown.pkt_length = eg_intr_md.pkt_length;
        }
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
