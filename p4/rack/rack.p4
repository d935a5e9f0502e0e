/* SPDX-License-Identifier: Apache-2.0
 *
 * rack.p4: the switch of a rack that adds up gradients, for a Tofino 1: p4/tor with p4/atp and p4/switchml
 * behind it, all three as they are, a pipe each. Hosts are at the ToR's ports; it alone decides whose packets
 * the other two get to see. README.md has the ways, the tables, and what a hostile host can do.
 */
#include <core.p4>
#include <tna.p4>

// ---------------------------------------------------------------------------------------------------
// SwitchML's slots are in pipe 2. What comes there from anywhere but pipe 0 is nobody's.
#define FIRST_PIPE 2
#define FORWARD_FILE "../rack/discard.p4"
#define PREFIX switchml_
#include "../ina/names.p4"
#include "../switchml/switchml.p4"

// ATP's aggregators are in pipe 1, indices 0 to 16,383.
#define HOMES                                                                                         \
    HERE(0, 1)                                                                                        \
    (false, 292, 272, _, _, _, _, _, _, _): refuse(drop_reason_t.BAD_INDEX);
#undef FORWARD_FILE
#define FORWARD_FILE "../rack/back.p4"
#undef PREFIX
#define PREFIX atp_
#include "../ina/names.p4"
#include "../atp/atp.p4"

#ifdef WITH_LIBRA
// Libra's cells are in pipe 3. Answers leave by another of its ports that recirculates, so that they pass egress, where
// the records are, and come back to be given their way.
#define LIBRA_ANSWERS 454
#define ANSWER_PORT LIBRA_ANSWERS
#define RETURN_PORTS LIBRA_ANSWERS: parse_answer;
#define WITHOUT_CPU
#undef FORWARD_FILE
#define FORWARD_FILE "../rack/discard.p4"
#undef PREFIX
#define PREFIX libra_
#include "../ina/names.p4"
// Headers of ordinary packets are the ToR's, too.
#undef ethernet_h
#undef ipv4_addr_t
#undef ipv4_h
#undef mac_addr_t
#undef CELL_BITS
#undef WORKERS
// For a control plane `admission.workers` is SwitchML's table, whether Libra is there or not.
#define admission membership
#include "../libra/libra.p4"
#undef admission
#endif

// The ToR is in the pipes 0 and 3; with Libra in pipe 0.
#undef PREFIX
#include "../ina/names.p4"
#define ADDED_HEADERS  "../rack/headers.p4"
#define ADDED_CONTROLS "../rack/admission.p4"
#define main tor_main
#include "../tor/tor.p4"
#undef main

// ---------------------------------------------------------------------------------------------------
// No frame leaves by a port of the pipes 1 and 2.
struct no_headers_t {
}

struct no_metadata_t {
}

parser NoEgressParser(packet_in pkt, out no_headers_t hdr, out no_metadata_t md,
                      out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control NoEgress(inout no_headers_t hdr, inout no_metadata_t md,
                 in egress_intrinsic_metadata_t eg_intr_md,
                 in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                 inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                 inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        eg_dprsr_md.drop_ctl = 1;
    }
}

control NoEgressDeparser(packet_out pkt, inout no_headers_t hdr, in no_metadata_t md,
                         in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}

// ---------------------------------------------------------------------------------------------------
// Pipe 1.

// Why a packet ended here: the index into the counters `refused`.
enum bit<8> refusal_t {
    OUTSIDER = 1,  // by a front port of this pipe
    NOWHERE  = 2   // no entry in `returns`: the job has no such server or group
}

struct atp_pipe_headers_t {
    cpu_h         order;   // to the ToR, in front of what leaves
    atp_headers_t atp;
}

parser AtpParser(packet_in pkt, out atp_pipe_headers_t hdr, out atp_ingress_metadata_t md,
                 out ingress_intrinsic_metadata_t ig_intr_md) {
    atp_IngressParser() parse;

    state start {
        parse.apply(pkt, hdr.atp, md, ig_intr_md);
        transition accept;
    }
}

control Atp(inout atp_pipe_headers_t hdr, inout atp_ingress_metadata_t md,
            in ingress_intrinsic_metadata_t ig_intr_md,
            in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
            inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
            inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    atp_Ingress() ingress;

    // By refusal_t.
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) refused;

    // In front is what the control plane would order, and the destination's address: who the sender thought
    // that has it does not count.
    action order(cpu_order_t what, vlan_id_t vid, PortId_t port, mac_addr_t dst_addr) {
        hdr.order.setValid();
        hdr.order.reason = (bit<8>)what;
        hdr.order._pad0 = 0;
        hdr.order._pad1 = 0;
        hdr.order.interface = 0;
        hdr.order._pad2 = 0;
        hdr.order.port = port;
        hdr.order._pad3 = 0;
        hdr.order.vid = vid;
        hdr.atp.ethernet.dst_addr = dst_addr;
    }

    // Into the job's VLAN, to a router, to a group that the ToR knows, or to whoever has the address there.
    action into(vlan_id_t vid, mac_addr_t dst_addr) {
        order(cpu_order_t.VLAN, vid, 0, dst_addr);
    }

    // To a server at this port: it is there, whatever else has its address.
    action out_by(PortId_t port, vlan_id_t vid, mac_addr_t dst_addr) {
        order(cpu_order_t.PORT, vid, port, dst_addr);
    }

    action refuse(refusal_t why) {
        ig_dprsr_md.drop_ctl = 1;
        refused.count((bit<8>)why);
    }

    table returns {
        key = {
            hdr.atp.atp.fragment[31:24] : exact @name("job");
            hdr.atp.atp.is_ack          : exact;
            hdr.atp.ipv4.dst_addr       : exact;
        }
        actions = {
            into;
            out_by;
            @defaultonly refuse;
        }
        const default_action = refuse(refusal_t.NOWHERE);
        size = 1024;
    }

    apply {
        if (ig_intr_md.ingress_port == atp_RECIRCULATE_PIPE_1) {
            ingress.apply(hdr.atp, md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);
            if (md.leaves)
                returns.apply();
        } else {
            refuse(refusal_t.OUTSIDER);
        }
    }
}

control AtpDeparser(packet_out pkt, inout atp_pipe_headers_t hdr, in atp_ingress_metadata_t md,
                    in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    atp_IngressDeparser() deparse;

    apply {
        pkt.emit(hdr.order);
        deparse.apply(pkt, hdr.atp, md, ig_dprsr_md);
    }
}

Pipeline(AtpParser(), Atp(), AtpDeparser(),
         NoEgressParser(), NoEgress(), NoEgressDeparser()) atp;

// ---------------------------------------------------------------------------------------------------
// Pipe 2.
control Switchml(inout switchml_headers_t hdr, inout switchml_ingress_metadata_t md,
                 in ingress_intrinsic_metadata_t ig_intr_md,
                 in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                 inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    switchml_Ingress() ingress;

    apply {
        ingress.apply(hdr, md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);
    }
}

Pipeline(switchml_IngressParser(), Switchml(), switchml_IngressDeparser(),
         NoEgressParser(), NoEgress(), NoEgressDeparser()) switchml;

#ifndef WITH_LIBRA
Switch(pipe, atp, switchml, pipe) main;
#else

// ---------------------------------------------------------------------------------------------------
// Pipe 3.
struct libra_pipe_headers_t {
    cpu_h           order;   // to the ToR, in front of what leaves
    libra_headers_t libra;
}

parser LibraParser(packet_in pkt, out libra_pipe_headers_t hdr, out libra_ingress_metadata_t md,
                   out ingress_intrinsic_metadata_t ig_intr_md) {
    libra_IngressParser() parse;

    state start {
        parse.apply(pkt, hdr.libra, md, ig_intr_md);
        transition accept;
    }
}

control Libra(inout libra_pipe_headers_t hdr, inout libra_ingress_metadata_t md,
              in ingress_intrinsic_metadata_t ig_intr_md,
              in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
              inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
              inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    libra_Ingress() ingress;

    // By refusal_t.
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) refused;

    action order(cpu_order_t what, vlan_id_t vid, PortId_t port, mac_addr_t dst_addr) {
        ig_tm_md.ucast_egress_port = RECIRCULATE;
        ig_tm_md.bypass_egress = 1;
        hdr.order.setValid();
        hdr.order.reason = (bit<8>)what;
        hdr.order._pad0 = 0;
        hdr.order._pad1 = 0;
        hdr.order.interface = 0;
        hdr.order._pad2 = 0;
        hdr.order.port = port;
        hdr.order._pad3 = 0;
        hdr.order.vid = vid;
        hdr.libra.ethernet.dst_addr = dst_addr;
    }

    // Into the worker's VLAN, to a router, or to whoever has the address there.
    action into(vlan_id_t vid, mac_addr_t dst_addr) {
        order(cpu_order_t.VLAN, vid, 0, dst_addr);
    }

    // To a worker at this port.
    action out_by(PortId_t port, vlan_id_t vid, mac_addr_t dst_addr) {
        order(cpu_order_t.PORT, vid, port, dst_addr);
    }

    action refuse(refusal_t why) {
        ig_dprsr_md.drop_ctl = 1;
        refused.count((bit<8>)why);
    }

    // Where a worker is.
    table receives {
        key = {
            hdr.libra.libra.job     : exact;
            hdr.libra.ipv4.dst_addr : exact;
        }
        actions = {
            into;
            out_by;
            @defaultonly refuse;
        }
        const default_action = refuse(refusal_t.NOWHERE);
        size = 1024;
    }

    apply {
        if (ig_intr_md.ingress_port == LIBRA_ANSWERS)
            receives.apply();
        else if (ig_intr_md.ingress_port == TO_LIBRA || ig_intr_md.ingress_port == atp_RECIRCULATE_PIPE_3)
            ingress.apply(hdr.libra, md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);
        else
            refuse(refusal_t.OUTSIDER);
    }
}

control LibraDeparser(packet_out pkt, inout libra_pipe_headers_t hdr, in libra_ingress_metadata_t md,
                      in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    libra_IngressDeparser() deparse;

    apply {
        pkt.emit(hdr.order);
        deparse.apply(pkt, hdr.libra, md, ig_dprsr_md);
    }
}

control LibraEgress(inout libra_headers_t hdr, inout libra_egress_metadata_t md,
                    in egress_intrinsic_metadata_t eg_intr_md,
                    in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                    inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    libra_Egress() egress;

    apply {
        egress.apply(hdr, md, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
    }
}

Pipeline(LibraParser(), Libra(), LibraDeparser(),
         libra_EgressParser(), LibraEgress(), libra_EgressDeparser()) libra;

Switch(pipe, atp, switchml, libra) main;
#endif
