/* SPDX-License-Identifier: Apache-2.0
 *
 * learn: unknown source addresses are told to the control plane as digests; known ones keep their
 * entry from ageing.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    bit<9> port;
}

struct station_t {
    bit<48> addr;
    bit<9>  port;
}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

INGRESS {
    DirectCounter<bit<32>>(CounterType_t.PACKETS) known_packets;

    action known() {
        known_packets.count();
    }
    action unknown() {
        known_packets.count();
        ig_dprsr_md.digest_type = 1;
    }
    table stations {
        key = {
            hdr.ethernet.src_addr  : exact;
            ig_intr_md.ingress_port: exact;
        }
        actions = {
            known;
            @defaultonly unknown;
        }
        const default_action = unknown();
        counters = known_packets;
        idle_timeout = true;
        size = 256;
    }

    apply {
        stations.apply();
        md.port = ig_intr_md.ingress_port;
        ig_tm_md.ucast_egress_port = 9;
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER {
    Digest<station_t>() station;

    apply {
        if (ig_dprsr_md.digest_type == 1) {
            station.pack({hdr.ethernet.src_addr, md.port});
        }
        pkt.emit(hdr);
    }
}

NO_EGRESS
MAIN
