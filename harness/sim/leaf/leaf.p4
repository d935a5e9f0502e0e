/* SPDX-License-Identifier: Apache-2.0
 *
 * leaf.p4: a small leaf and spine for tests of the simulator: addresses, sets of next hops of which the
 * packet's flow chooses one, or a random number for classes that are sprayed, queues by class and ECN bits,
 * and marks.
 */
#include <core.p4>
#include <tna.p4>

#include "../../../p4/common/headers.p4"

header flow_ports_h {
    bit<16> src_port;
    bit<16> dst_port;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    flow_ports_h ports;
}

struct ingress_metadata_t {
    bit<16> hops;
    bit<16> flow;
}

struct egress_metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.hops = 0;
        md.flow = 0;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.IPV4 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, ip_protocol_t.UDP) : parse_ports;
            (5, ip_protocol_t.TCP) : parse_ports;
            default : accept;
        }
    }

    state parse_ports {
        pkt.extract(hdr.ports);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) flow_hash;
    Random<bit<16>>() random;
    CRCPolynomial<bit<16>>(16w0x1021, false, false, false, 16w0xffff, 16w0x0000) polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) choose;
    ActionProfile(1024) members;
    ActionSelector(members, choose, SelectorMode_t.FAIR, 64, 256) ecmp;

    action via(bit<16> hops) {
        md.hops = hops;
    }

    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table addresses {
        key = {
            hdr.ipv4.dst_addr : exact;
        }
        actions = {
            via;
            discard;
        }
        const default_action = discard;
        size = 2048;
    }

    action spray() {
        md.flow = random.get();
    }

    table sprayed {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            spray;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 64;
    }

    action to_port(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    table sets {
        key = {
            md.hops : exact;
            md.flow : selector;
        }
        actions = {
            to_port;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        implementation = ecmp;
        size = 512;
    }

    action queue(QueueId_t qid, bit<2> colour) {
        ig_tm_md.qid = qid;
        ig_tm_md.packet_color = colour;
    }

    table queues_of {
        key = {
            hdr.ipv4.dscp : exact;
            hdr.ipv4.ecn  : exact;
        }
        actions = {
            queue;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 256;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            md.flow = flow_hash.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol,
                                     hdr.ports.src_port, hdr.ports.dst_port});
            sprayed.apply();
            if (addresses.apply().hit)
                sets.apply();
            queues_of.apply();
        } else {
            discard();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.IPV4 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    // Congestion experienced.
    action mark() {
        hdr.ipv4.ecn = 3;
    }

    table queues {
        key = {
            eg_intr_md.enq_qdepth : range;
            hdr.ipv4.ecn          : ternary;
        }
        actions = {
            mark;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 4;
    }

    apply {
        if (hdr.ipv4.isValid())
            queues.apply();
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() checksum;
    apply {
        if (hdr.ipv4.isValid())
            hdr.ipv4.checksum = checksum.update({hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp,
                hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.flags,
                hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
                hdr.ipv4.dst_addr});
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
