/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 5, solved: packets of heavy flows go to port 9, found by a count-min sketch.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"
#include "../common/empty_egress.p4"

#define CELLS 1024
const bit<8> HEAVY = 5; // packets
const PortId_t ORDINARY_PORT = 1;
const PortId_t HEAVY_PORT = 9;

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
}

struct metadata_t {
    bit<8> a; // what the rows say
    bit<8> b;
    bit<8> estimate;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md = {0, 0, 0};
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_IPV4 : parse_ipv4;
            default   : accept;
        }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<10>>(HashAlgorithm_t.CRC32) hash_a;
    Register<bit<8>, bit<10>>(CELLS, 0) row_a;
    RegisterAction<bit<8>, bit<10>, bit<8>>(row_a) count_a = {
        void apply(inout bit<8> cell, out bit<8> count) {
            cell = cell |+| 1;
            count = cell;
        }
    };
    Hash<bit<10>>(HashAlgorithm_t.CRC16) hash_b;
    Register<bit<8>, bit<10>>(CELLS, 0) row_b;
    RegisterAction<bit<8>, bit<10>, bit<8>>(row_b) count_b = {
        void apply(inout bit<8> cell, out bit<8> count) {
            cell = cell |+| 1;
            count = cell;
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = ORDINARY_PORT;
        if (hdr.ipv4.isValid()) {
            md.a = count_a.execute(hash_a.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr}));
            md.b = count_b.execute(hash_b.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr}));
            md.estimate = min(md.a, md.b);
            if (md.estimate >= HEAVY) {
                ig_tm_md.ucast_egress_port = HEAVY_PORT;
            }
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
