/* SPDX-License-Identifier: Apache-2.0
 *
 * crossing: packets that say where they want to go, for test_replay_threads.py. Each pipe numbers what
 * passes its ingress and its egress and writes numbers and times into the packets: what is done in
 * another order, or at another time, gives other bytes.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header order_h {
    bit<1>  forward;
    bit<1>  copies;
    bit<1>  mirror;
    bit<1>  egress_mirror;
    bit<1>  drop;
    bit<1>  egress_drop;
    bit<1>  bypass;
    bit<1>  twice;          // resubmitted
    bit<16> port;
    bit<16> then;           // port, after it recirculated
    bit<16> group;
    bit<16> session;
    bit<32> ig_number;
    bit<32> eg_number;
    bit<48> ig_time;
    bit<48> eg_time;
    bit<32> dice;
}

header kind_h { bit<8> kind; }
header mirror_h {
    bit<8>  kind;
    bit<32> number;
}
header again_h { bit<64> data; }

const bit<8> BRIDGED = 1;
const bit<8> MIRRORED = 2;

struct headers_t {
    kind_h                kind;
    pktgen_timer_header_t timer;
    ethernet_h            ethernet;
    order_h               order;
}
struct metadata_t {
    bit<10> session;
    bit<32> number;
    again_h again;
    bit<1>  resubmitted;
    bit<1>  recirculated;
}
struct eg_headers_t {
    mirror_h   mirror;
    kind_h     kind;
    ethernet_h ethernet;
    order_h    order;
}
struct eg_metadata_t {
    bit<10> session;
    bit<32> number;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        md.session = 0;
        md.number = 0;
        md.resubmitted = 0;
        md.recirculated = 0;
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag, ig_intr_md.ingress_port[6:0]) {
            (1, _)  : resubmitted;
            (0, 70) : generated;
            (0, 68) : recirculated;
            default : fresh;
        }
    }
    state resubmitted {
        pkt.extract(md.again);
        md.resubmitted = 1;
        transition headers;
    }
    state generated {
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.timer);
        transition headers;
    }
    state recirculated {
        pkt.advance(PORT_METADATA_SIZE);
        md.recirculated = 1;
        transition headers;
    }
    state fresh {
        pkt.advance(PORT_METADATA_SIZE);
        transition headers;
    }
    state headers {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x9000  : order;
            default : accept;
        }
    }
    state order {
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<32>, bit<1>>(1) numbers;
    RegisterAction<bit<32>, bit<1>, bit<32>>(numbers) next = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    Random<bit<32>>() dice;

    apply {
        hdr.timer.setInvalid();
        if (hdr.order.isValid()) {
            hdr.order.ig_number = next.execute(0);
            hdr.order.ig_time = ig_prsr_md.global_tstamp;
            hdr.order.dice = dice.get();
            md.number = hdr.order.ig_number;
            md.session = hdr.order.session[9:0];
            md.again.setValid();
            md.again.data = 0;
            ig_tm_md.bypass_egress = hdr.order.bypass;
            ig_dprsr_md.drop_ctl[0:0] = hdr.order.drop;
            if (md.recirculated == 1) {
                ig_tm_md.ucast_egress_port = hdr.order.then[8:0];
            } else if (hdr.order.forward == 1) {
                ig_tm_md.ucast_egress_port = hdr.order.port[8:0];
            }
            if (hdr.order.copies == 1) {
                ig_tm_md.mcast_grp_a = hdr.order.group;
            }
            if (hdr.order.mirror == 1) {
                ig_dprsr_md.mirror_type = 1;
            }
            if (hdr.order.twice == 1 && md.resubmitted == 0 && md.recirculated == 0 &&
                ig_intr_md.ingress_port[6:6] == 0) {
                ig_dprsr_md.resubmit_type = 2;
            }
        }
        if (ig_tm_md.bypass_egress == 0) {
            hdr.kind.setValid();
            hdr.kind.kind = BRIDGED;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;
    Resubmit() again;
    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {MIRRORED, md.number});
        }
        if (ig_dprsr_md.resubmit_type == 2) {
            again.emit(md.again);
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        md.session = 0;
        md.number = 0;
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            BRIDGED  : bridged;
            MIRRORED : mirrored;
            default  : accept;
        }
    }
    state bridged {
        pkt.extract(hdr.kind);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x9000 : order;
            default : accept;
        }
    }
    state order {
        pkt.extract(hdr.order);
        transition accept;
    }
    state mirrored {
        pkt.extract(hdr.mirror);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Register<bit<32>, bit<1>>(1) numbers;
    RegisterAction<bit<32>, bit<1>, bit<32>>(numbers) next = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    apply {
        hdr.kind.setInvalid();
        md.number = next.execute(0);
        if (hdr.order.isValid()) {
            hdr.order.eg_number = md.number;
            hdr.order.eg_time = eg_prsr_md.global_tstamp;
            md.session = hdr.order.session[9:0];
            eg_dprsr_md.drop_ctl[0:0] = hdr.order.egress_drop;
            if (hdr.order.egress_mirror == 1) {
                eg_dprsr_md.mirror_type = 3;
            }
        }
        if (hdr.mirror.isValid()) {
            hdr.mirror.number = md.number;
        }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    apply {
        if (eg_dprsr_md.mirror_type == 3) {
            mirror.emit<mirror_h>(md.session, {MIRRORED, md.number});
        }
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
