/* SPDX-License-Identifier: Apache-2.0
 *
 * tofino2: what a Tofino 2 has more of: port metadata and resubmit data of 16 bytes, an egress
 * header with 32-bit times and queues of 7 bits, register actions with several results, a stack of
 * parser counters.
 */
#include <core.p4>
#include <t2na.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header op_h {
    bit<8>  op;
    bit<8>  n;
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<32> d;
}

header item_h {
    bit<8> v;
}

header wide_h {
    bit<64> upper;
    bit<64> lower;
}

header leaving_h {
    bit<8>  qid;
    bit<16> port;
    bit<16> length;
    bit<32> enq_tstamp;
}

struct headers_t {
    ethernet_h ethernet;
    op_h       op;
    wide_h     wide;
    leaving_h  leaving;
    item_h[8]  items;
}

struct port_md_t {
    bit<64> upper;
    bit<64> lower;
}

struct metadata_t {
    port_md_t port;
    wide_h    again;
    bit<1>    second;
}

struct pair_t {
    bit<32> first;
    bit<32> second;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    ParserCounter() counter;

    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            0 : first_pass;
            1 : second_pass;
        }
    }
    state first_pass {
        md.port = port_metadata_unpack<port_md_t>(pkt);
        md.second = 0;
        transition headers;
    }
    state second_pass {
        pkt.extract(md.again);
        pkt.advance(64);
        md.second = 1;
        transition headers;
    }
    state headers {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.op);
        transition select(hdr.op.op) {
            3 : outer;
            default : accept;
        }
    }
    // n groups of two items
    state outer {
        counter.set(hdr.op.n);
        transition groups;
    }
    state groups {
        transition select(counter.is_zero()) {
            true : accept;
            false : group;
        }
    }
    state group {
        counter.decrement(1);
        transition inner;
    }
    state inner {
        counter.push(8w2);
        transition item;
    }
    state item {
        pkt.extract(hdr.items.next);
        counter.decrement(1);
        transition select(counter.is_zero()) {
            true : done;
            false : item;
        }
    }
    state done {
        counter.pop();
        transition groups;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<pair_t, bit<8>>(16, {10, 20}) pairs;
    RegisterAction4<pair_t, bit<8>, bit<32>, bit<32>, bit<16>, bit<32>>(pairs) four = {
        void apply(inout pair_t value, out bit<32> old_first, out bit<32> old_second,
                   out bit<16> flags, out bit<32> unset) {
            old_first = value.first;
            old_second = value.second;
            if (value.first > 10) {
                unset = 7;
            }
            value.first = value.first + 1;
            value.second = value.second + 2;
            flags = this.predicate<bit<16>>(value.first == 11, value.second == 22,
                                              value.first == 0, true);
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 9;
        ig_tm_md.qid = 100;
        ig_dprsr_md.mirror_io_select = 1;
        if (hdr.op.op == 0) {
            hdr.wide.setValid();
            hdr.wide.upper = md.port.upper;
            hdr.wide.lower = md.port.lower;
        } else if (hdr.op.op == 1) {
            bit<16> flags;
            hdr.op.a = four.execute(hdr.op.n, hdr.op.b, flags, hdr.op.d);
            hdr.op.c = (bit<32>)flags;
        } else if (hdr.op.op == 2) {
            if (md.second == 0) {
                ig_dprsr_md.resubmit_type = 1;
            } else {
                hdr.wide.setValid();
                hdr.wide.upper = md.again.upper;
                hdr.wide.lower = md.again.lower;
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit<wide_h>({64w0x0102030405060708, 64w0x1112131415161718});
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.leaving.setValid();
        hdr.leaving.qid = (bit<8>)eg_intr_md.egress_qid;
        hdr.leaving.port = (bit<16>)eg_intr_md.egress_port;
        hdr.leaving.length = eg_intr_md.pkt_length;
        hdr.leaving.enq_tstamp = eg_intr_md.enq_tstamp;
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
