/* SPDX-License-Identifier: Apache-2.0
 *
 * ports: a program whose ports are translated for controllers (test_ports.py): a table by the port that a packet comes
 * from, whole or not at all, sends it to another one; headers for packets of a controller name ports, too.
 */
#include <core.p4>
#include <tna.p4>

const PortId_t CPU = 64;

@p4runtime_translation("silken/PortId_t", 32)
type bit<9> line_port_t;

@controller_header("packet_in")
header packet_in_h {
    bit<7> pad;
    line_port_t ingress_port;
}

@controller_header("packet_out")
header packet_out_h {
    line_port_t egress_port;
    bit<7>      pad;
}

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    packet_in_h  packet_in;
    packet_out_h packet_out;
    ethernet_h   ethernet;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            CPU     : from_controller;
            default : ethernet;
        }
    }
    state from_controller {
        pkt.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    line_port_t from;

    action send(line_port_t port) {
        ig_tm_md.ucast_egress_port = (PortId_t) port;
    }

    action to_controller() {
        ig_tm_md.ucast_egress_port = CPU;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = from;
    }

    table by_port {
        key = {
            from : exact @name("port");
        }
        actions = { send; to_controller; }
        default_action = to_controller();
        size = 16;
    }

    table by_either {
        key = {
            from                  : ternary @name("port");
            hdr.ethernet.dst_addr : ternary;
        }
        actions = { send; NoAction; }
        size = 16;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        from = (line_port_t) ig_intr_md.ingress_port;
        if (hdr.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = (PortId_t) hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else if (!by_either.apply().hit) {
            by_port.apply();
        }
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

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
