/* SPDX-License-Identifier: Apache-2.0
 *
 * clock: packets leave with the times that the switch knows of them; those of the packet generator
 * with the generator's header. Queues: what a port with a speed makes a packet wait.
 */
#include "frame.p4i"

header times_h {
    bit<48> arrived;
    bit<32> waited;
    bit<32> depth;
}

struct headers_t {
    times_h               times;
    pktgen_timer_header_t timer;
    ethernet_h            ethernet;
}

struct metadata_t {}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            68: timer;
            default: ethernet;
        }
    }
    state timer {
        pkt.extract(hdr.timer);
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

INGRESS {
    apply {
        hdr.times.setValid();
        hdr.times.arrived = ig_intr_md.ingress_mac_tstamp;
        ig_tm_md.ucast_egress_port = hdr.ethernet.dst_addr[8:0];
        ig_tm_md.qid = 3;
    }
}

INGRESS_DEPARSER
EMIT_ALL

EGRESS_PARSER {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.times);
        transition accept;
    }
}

EGRESS {
    apply {
        hdr.times.waited = 14w0 ++ eg_intr_md.deq_timedelta;
        hdr.times.depth = 13w0 ++ eg_intr_md.enq_qdepth;
    }
}

EGRESS_DEPARSER
EMIT_ALL
MAIN
