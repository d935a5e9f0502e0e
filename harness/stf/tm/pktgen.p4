/* SPDX-License-Identifier: Apache-2.0
 *
 * pktgen: generated packets (ports 68 to 71 with a zero in the first 3 bits and a known application)
 * leave at port 1 with their header and the time; others recirculate through port 68 once, with
 * their first bytes as they are, and leave at port 2.
 */
#include "frame.p4i"

header time_h {
    bit<48> tstamp;
    bit<16> port;
}

header rest_h {
    bit<32> data;
}

struct headers_t {
    time_h                    time;
    pktgen_timer_header_t     timer;
    pktgen_port_down_header_t down;
    pktgen_recirc_header_t    again;
    rest_h                    rest;
}

struct metadata_t {
    bit<8> first;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.first = pkt.lookahead<bit<8>>();
        transition select(ig_intr_md.ingress_port[6:0], md.first[2:0]) {
            (68, 1) : timer;
            (69, 1) : timer;
            (68, 2) : down;
            (68, 3) : again;
            default : accept;
        }
    }
    state timer {
        pkt.extract(hdr.timer);
        transition rest;
    }
    state down {
        pkt.extract(hdr.down);
        transition rest;
    }
    state again {
        pkt.extract(hdr.again);
        transition rest;
    }
    state rest {
        pkt.extract(hdr.rest);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        if (hdr.rest.isValid()) {
            hdr.time.setValid();
            hdr.time.tstamp = ig_intr_md.ingress_mac_tstamp;
            hdr.time.port = 7w0 ++ ig_intr_md.ingress_port;
            ig_tm_md.ucast_egress_port = 1;
        } else if (ig_intr_md.ingress_port[6:0] == 68) {
            ig_tm_md.ucast_egress_port = 2;
        } else {
            ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port[8:7] ++ 7w68;
        }
        ig_tm_md.bypass_egress = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
