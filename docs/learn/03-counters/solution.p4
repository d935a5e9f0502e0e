/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 3, solved: a switch that counts.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"
#include "../common/empty_egress.p4"

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_TAG : parse_tag;
            default  : accept;
        }
    }
    state parse_tag {
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) sent;
    Counter<bit<32>, PortId_t>(512, CounterType_t.PACKETS) unknown;
    Counter<bit<64>, bit<3>>(8, CounterType_t.BYTES) classes;

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        sent.count();
    }
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
        sent.count();
    }
    table forward {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            drop;
        }
        const default_action = drop();
        counters = sent;
        size = 1024;
    }

    apply {
        if (forward.apply().miss) {
            unknown.count(ig_intr_md.ingress_port);
        }
        if (hdr.tag.isValid()) {
            classes.count(hdr.tag.priority);
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
