/* SPDX-License-Identifier: Apache-2.0
 *
 * parsercounter: loops in a parser that a counter drives. The packet says how the counter is set;
 * what comes back is how many items were extracted, and the parser's error bits.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header count_h {
    bit<8> form;
    bit<8> n;
}

header item_h {
    bit<8> v;
}

header result_h {
    bit<16> err;
    bit<8>  negative;
    bit<8>  last;
}

struct headers_t {
    ethernet_h ethernet;
    count_h    count;
    result_h   result;
    item_h[8]  items;
}

struct metadata_t {
    bit<8> negative;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    ParserCounter() counter;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.count);
        transition select(hdr.count.form) {
            0 : by_const;
            1 : by_field;
            2 : by_formula;
            3 : less_four;
            4 : more_two;
            5 : spin;
        }
    }
    state by_const {
        counter.set(8w3);
        transition loop;
    }
    state by_field {
        counter.set(hdr.count.n);
        transition loop;
    }
    // 4 n - 20 for n up to 15
    state by_formula {
        counter.set(hdr.count.n, 15, 6, 5, 236);
        transition loop;
    }
    state less_four {
        counter.set(hdr.count.n);
        counter.decrement(4);
        transition select(counter.is_zero(), counter.is_negative()) {
            (_, true) : below;
            (true, _) : accept;
            default : loop;
        }
    }
    state more_two {
        counter.set(hdr.count.n);
        counter.increment(2);
        transition loop;
    }
    state below {
        md.negative = 1;
        transition accept;
    }
    state loop {
        transition select(counter.is_zero()) {
            true : accept;
            false : item;
        }
    }
    state item {
        pkt.extract(hdr.items.next);
        counter.decrement(1);
        transition loop;
    }
    // never comes to an end by itself
    state spin {
        counter.set(8w1);
        transition select(counter.is_zero()) {
            true : accept;
            false : spin;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        hdr.result.setValid();
        hdr.result.err = ig_prsr_md.parser_err;
        hdr.result.negative = md.negative;
        hdr.result.last = 0;
        if (hdr.items[0].isValid()) {
            hdr.result.last = hdr.items[0].v;
        }
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.count);
        pkt.emit(hdr.items);
        pkt.emit(hdr.result);
    }
}

struct none_t {}

parser EgressParser(packet_in pkt, out none_t hdr, out none_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
