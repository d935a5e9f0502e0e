/* SPDX-License-Identifier: Apache-2.0
 *
 * ina.p4: SwitchML and ATP in one switch, for a Tofino 1: jobs of both protocols run side by side, each
 * with its pipes' registers.
 *
 * Neither program leaves room for the other in a pipe: they are a pipeline each, p4/switchml's in the
 * pipes 0 and 2, p4/atp's in 1 and 3, both as they are. What is added is how a packet gets to the
 * pipes of its protocol from a port of the others, and an egress that knows both. README.md says more.
 */
#include <core.p4>
#include <tna.p4>

#define PREFIX switchml_
#include "names.p4"
#include "../switchml/switchml.p4"

// The first 16,384 aggregators are in pipe 1, the others in pipe 3.
#define HOMES                                                                                         \
    HERE(0, 1)                                                                                        \
    HERE(1, 3)                                                                                        \
    ELSEWHERE(0, RECIRCULATE_PIPE_1)                                                                  \
    ELSEWHERE(1, RECIRCULATE_PIPE_3)                                                                  \
    (false, 292, 272, _, _, _, _, _, _, _): refuse(drop_reason_t.BAD_INDEX);

#undef PREFIX
#define PREFIX atp_
#include "names.p4"
#include "../atp/atp.p4"

#undef PREFIX
#include "names.p4"

// Where SwitchML packets from ports of ATP's pipes come into pipe 0. It recirculates, and is not the port
// that SwitchML's own passes take: what comes here is a packet as a worker sent it.
const PortId_t GUESTS = 69;

// Packets that were refused on the way to their protocol: the index into the counters `refused`.
enum bit<8> refusal_t {
    BAD_CHECKSUM = 1,  // ATP, in a pipe of SwitchML: IPv4 header checksum
    TOO_LARGE    = 2,  // SwitchML: more than 64 elements
    NO_GUEST     = 3   // SwitchML, in a pipe of ATP: no entry in `guests`
}

// In front of the ATP packets that go to egress, where SwitchML's results have their bridge. Its first
// byte is an op_t, and this is none.
const bit<8> PROTOCOL_ATP = 0xa7;

header tag_h {
    bit<8> protocol;
}

// ---------------------------------------------------------------------------------------------------
// Pipes 0 and 2.
struct switchml_pipe_headers_t {
    atp_bridge_h       relayed;   // of an ATP packet
    switchml_headers_t switchml;
}

parser SwitchmlPipeParser(packet_in pkt, out switchml_pipe_headers_t hdr,
                          out switchml_ingress_metadata_t md,
                          out ingress_intrinsic_metadata_t ig_intr_md) {
    switchml_IngressParser() parse;

    state start {
        parse.apply(pkt, hdr.switchml, md, ig_intr_md);
        transition accept;
    }
}

control SwitchmlPipe(inout switchml_pipe_headers_t hdr, inout switchml_ingress_metadata_t md,
                     in ingress_intrinsic_metadata_t ig_intr_md,
                     in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                     inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    switchml_Ingress() Ingress;

    // By refusal_t.
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) refused;

    action refuse(refusal_t why) {
        ig_dprsr_md.drop_ctl = 1;
        refused.count((bit<8>)why);
    }

    // An ATP packet goes to the next pipe, which knows where its aggregator is. It would not look at the
    // checksum again.
    action relay(PortId_t port) {
        hdr.relayed.setValid();
        hdr.relayed.op = atp_op_t.RELAY;
        hdr.relayed.lane = lane_op_t.NONE;
        hdr.relayed._pad = 0;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    table strangers {
        key = {
            md.bad_checksum              : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
        }
        actions = {
            relay;
            refuse;
        }
        const entries = {
            (true, _): refuse(refusal_t.BAD_CHECKSUM);
            (_, 2)   : relay(atp_RECIRCULATE_PIPE_3);
        }
        const default_action = relay(atp_RECIRCULATE_PIPE_1);
        size = 2;
    }

    apply {
        if (hdr.switchml.udp.isValid() && hdr.switchml.udp.dst_port == UDP_PORT_ATP) {
            strangers.apply();
        } else if (hdr.switchml.switchml.isValid() &&
                   (hdr.switchml.switchml.size == packet_size_t.ELEMENTS_128 ||
                    hdr.switchml.switchml.size == packet_size_t.ELEMENTS_256)) {
            refuse(refusal_t.TOO_LARGE);   // the pipes for the other elements are ATP's
        } else {
            Ingress.apply(hdr.switchml, md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);
        }
    }
}

control SwitchmlPipeDeparser(packet_out pkt, inout switchml_pipe_headers_t hdr,
                             in switchml_ingress_metadata_t md,
                             in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    switchml_IngressDeparser() deparse;

    apply {
        pkt.emit(hdr.relayed);
        deparse.apply(pkt, hdr.switchml, md, ig_dprsr_md);
    }
}

// ---------------------------------------------------------------------------------------------------
// Pipes 1 and 3.
struct atp_pipe_headers_t {
    tag_h         tag;
    atp_headers_t atp;
}

parser AtpPipeParser(packet_in pkt, out atp_pipe_headers_t hdr, out atp_ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    atp_IngressParser() parse;

    state start {
        parse.apply(pkt, hdr.atp, md, ig_intr_md);
        transition accept;
    }
}

control AtpPipe(inout atp_pipe_headers_t hdr, inout atp_ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    atp_Ingress() Ingress;

    // By refusal_t.
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) refused;

    // SwitchML's admission, to which all packets from here come by the same port, is not to believe that
    // their sender is where it says: this is the part of it that knows ports.
    action admit() {
        ig_tm_md.ucast_egress_port = GUESTS;
        ig_tm_md.bypass_egress = 1;
    }

    action refuse() {
        ig_dprsr_md.drop_ctl = 1;
        refused.count((bit<8>)refusal_t.NO_GUEST);
    }

    table guests {
        key = {
            hdr.atp.ipv4.src_addr   : exact;
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            admit;
            @defaultonly refuse;
        }
        const default_action = refuse;
        size = WORKERS;
    }

    apply {
        if (hdr.atp.udp.isValid() && hdr.atp.udp.dst_port[15:4] == UDP_PORT_SWITCHML[15:4]) {
            guests.apply();
        } else {
            Ingress.apply(hdr.atp, md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);
        }
        if (md.leaves && md.op != atp_op_t.FORWARD) {
            hdr.tag.setValid();
            hdr.tag.protocol = PROTOCOL_ATP;
        }
    }
}

control AtpPipeDeparser(packet_out pkt, inout atp_pipe_headers_t hdr, in atp_ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    atp_IngressDeparser() deparse;

    apply {
        pkt.emit(hdr.tag);
        deparse.apply(pkt, hdr.atp, md, ig_dprsr_md);
    }
}

// ---------------------------------------------------------------------------------------------------
// All pipes: packets of either protocol leave by any port.
struct egress_headers_t {
    tag_h              tag;
    switchml_headers_t switchml;
    atp_headers_t      atp;
}

struct egress_metadata_t {
    switchml_egress_metadata_t switchml;
    atp_egress_metadata_t      atp;
}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            PROTOCOL_ATP: parse_atp;
            default: parse_switchml;
        }
    }

    state parse_atp {
        pkt.extract(hdr.tag);
        pkt.extract(hdr.atp.ethernet);
        pkt.extract(hdr.atp.ipv4);
        pkt.extract(hdr.atp.udp);
        pkt.extract(hdr.atp.atp);
        transition accept;
    }

    state parse_switchml {
        pkt.extract(hdr.switchml.bridge);
        pkt.extract(hdr.switchml.ethernet);
        pkt.extract(hdr.switchml.ipv4);
        pkt.extract(hdr.switchml.udp);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    switchml_Egress() switchml;
    atp_Egress() atp;

    apply {
        if (hdr.tag.isValid()) {
            atp.apply(hdr.atp, md.atp, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
        } else {
            switchml.apply(hdr.switchml, md.switchml, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
        }
    }
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    switchml_EgressDeparser() switchml;
    atp_EgressDeparser() atp;

    apply {
        switchml.apply(pkt, hdr.switchml, md.switchml, eg_dprsr_md);
        atp.apply(pkt, hdr.atp, md.atp, eg_dprsr_md);
    }
}

Pipeline(SwitchmlPipeParser(), SwitchmlPipe(), SwitchmlPipeDeparser(),
         EgressParser(), Egress(), EgressDeparser()) switchml;

Pipeline(AtpPipeParser(), AtpPipe(), AtpPipeDeparser(),
         EgressParser(), Egress(), EgressDeparser()) atp;

Switch(switchml, atp) main;
