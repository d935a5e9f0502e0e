/* SPDX-License-Identifier: Apache-2.0
 *
 * stamps: a packet leaves with the times that the program could read on its way: arrival and parser
 * in ingress, enqueued, waited and parser in egress. ether_type 1 is resubmitted once, 2 goes
 * through the recirculation port first, 3 through egress without it (the times of ingress only).
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header stamps_h {
    bit<48> arrived;
    bit<48> parsed;
    bit<32> enqueued;
    bit<32> waited;
    bit<48> parsed_out;
}

header again_h {
    bit<64> zero;
}

struct headers_t {
    ethernet_h ethernet;
    stamps_h   stamps;
}

struct metadata_t {
    again_h again;
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.stamps);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    apply {
        hdr.stamps.arrived = ig_intr_md.ingress_mac_tstamp;
        hdr.stamps.parsed = ig_prsr_md.global_tstamp;
        ig_tm_md.ucast_egress_port = 2;
        if (hdr.ethernet.ether_type == 1 && ig_intr_md.resubmit_flag == 0) {
            ig_dprsr_md.resubmit_type = 1;
        } else if (hdr.ethernet.ether_type == 2) {
            ig_tm_md.ucast_egress_port = 68;
            hdr.ethernet.ether_type = 0;
        } else if (hdr.ethernet.ether_type == 3) {
            ig_tm_md.bypass_egress = 1;
        }
    }
}

DEPARSER_IN(IngressDeparser) {
    Resubmit() again;
    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            again.emit();
        }
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.stamps);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {
        hdr.stamps.enqueued = 14w0 ++ eg_intr_md.enq_tstamp;
        hdr.stamps.waited = 14w0 ++ eg_intr_md.deq_timedelta;
        hdr.stamps.parsed_out = eg_prsr_md.global_tstamp;
    }
}

DEPARSER_OUT(EgressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
