/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 2: a router, whose tables are not what a router needs. README.md says what to do.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"
#include "../common/empty_egress.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
}

struct metadata_t {
    bit<16> next_hop;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.next_hop = 0;
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
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // ---- where to ----
    // TODO 1: of the prefixes that an address has, the longest one decides.
    action via(bit<16> next_hop) {
        md.next_hop = next_hop;
    }
    table route {
        key = {
            hdr.ipv4.dst_addr : exact;
        }
        actions = {
            via;
            drop;
        }
        const default_action = drop();
        size = 4096;
    }

    // ---- how: many routes have one next hop ----
    action rewrite(bit<48> dst_addr, bit<48> src_addr, PortId_t port) {
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ethernet.src_addr = src_addr;
        // TODO 2: a router takes one from the TTL...
        ig_tm_md.ucast_egress_port = port;
    }
    table next_hops {
        key = {
            md.next_hop : exact;
        }
        actions = {
            rewrite;
            drop;
        }
        const default_action = drop();
        size = 256;
    }

    // ---- whether at all ----
    // TODO 3: a table 'acl' with actions 'permit' and 'deny' (of packets that 'deny' has got, none leaves), by source
    // and destination address and protocol, of which an entry may name any part.

    apply {
        if (hdr.ipv4.isValid()) { // TODO 2: ... and drops a packet whose TTL would be 0
            route.apply();
            next_hops.apply();
        } else {
            drop();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() checksum;
    apply {
        hdr.ipv4.checksum = checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
            hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr
        });
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
