/* SPDX-License-Identifier: Apache-2.0
 *
 * flow_control: packets that tell a queue to wait or to go on (a Tofino 2's adv_flow_ctl), from either deparser, also
 * when they are dropped there. What leaves says how long it waited.
 */
#include <core.p4>
#include <t2na.p4>

enum bit<8> order_t {
    NOTHING = 0,
    INGRESS = 1,
    EGRESS = 2,
    INGRESS_DROP = 3,
    EGRESS_DROP = 4
}

header order_h {
    bit<16> port;
    bit<8>  qid;
    order_t order;
    bit<1>  qfc;
    bit<2>  pipe;
    bit<4>  group;
    bit<3>  unused;
    bit<7>  queue;
    bit<15> credit;
    bit<32> waited;
}

struct headers_t {
    order_h order;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
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
        ig_tm_md.ucast_egress_port = hdr.order.port[8:0];
        ig_tm_md.qid = (QueueId_t)hdr.order.qid;
        if (hdr.order.order == order_t.INGRESS || hdr.order.order == order_t.INGRESS_DROP) {
            ig_dprsr_md.adv_flow_ctl[31:31] = hdr.order.qfc;
            ig_dprsr_md.adv_flow_ctl[30:29] = hdr.order.pipe;
            ig_dprsr_md.adv_flow_ctl[28:25] = hdr.order.group;
            ig_dprsr_md.adv_flow_ctl[24:22] = 0;
            ig_dprsr_md.adv_flow_ctl[21:15] = hdr.order.queue;
            ig_dprsr_md.adv_flow_ctl[14:0] = hdr.order.credit;
        }
        if (hdr.order.order == order_t.INGRESS_DROP)
            ig_dprsr_md.drop_ctl = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    action tell(bit<1> drop) {
        eg_dprsr_md.adv_flow_ctl = hdr.order.qfc ++ hdr.order.pipe ++ hdr.order.group ++ 3w0 ++
                                   hdr.order.queue ++ hdr.order.credit;
        eg_dprsr_md.drop_ctl = (bit<3>)drop;
    }
    table orders {
        key = { hdr.order.order : exact; }
        actions = { tell; NoAction; }
        const default_action = NoAction();
        const entries = {
            order_t.EGRESS : tell(0);
            order_t.EGRESS_DROP : tell(1);
        }
    }
    apply {
        hdr.order.waited = eg_intr_md.deq_timedelta;
        orders.apply();
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
