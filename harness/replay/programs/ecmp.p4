/* SPDX-License-Identifier: Apache-2.0
 *
 * ecmp: flows over several next hops, chosen by the CRC-32 of addresses and ports.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        transition accept;
    }
}

INGRESS {
    Hash<bit<14>>(HashAlgorithm_t.CRC32) flow_hash;
    ActionProfile(64) hops;
    ActionSelector(hops, flow_hash, SelectorMode_t.FAIR, 8, 4) selector;

    action forward(PortId_t port, bit<48> dst) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.dst_addr = dst;
    }
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
            hdr.ipv4.src_addr: selector;
            hdr.ipv4.dst_addr: selector;
            hdr.udp.src_port : selector;
            hdr.udp.dst_port : selector;
        }
        actions = {
            forward;
            discard;
        }
        const default_action = discard();
        implementation = selector;
        size = 64;
    }

    apply {
        routes.apply();
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
