/* SPDX-License-Identifier: Apache-2.0
 *
 * dlcp.p4: a leaf or a spine for DLCP, for a Tofino 1, and nothing else: IPv4 addresses, sets of equal next
 * hops, classes. What DLCP asks of a switch is in the traffic manager's settings (README.md): strict priority by
 * class, and a depth from which a class's unimportant packets are not taken. The program says which class a packet is
 * of, whether it is important, and that it need not take the path of the one before it.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "../common/classes.p4"

typedef bit<12> hops_t;     // a set of ports that lead there, equal to each other

// Why an IPv4 packet went nowhere: the index into the counters `drops`.
enum bit<8> drop_t {
    NONE       = 0,
    BAD_HEADER = 1,   // another version, fewer than 20 bytes, or a wrong checksum
    NO_ADDRESS = 2,
    NO_PORT    = 3    // the slot of a set has no port
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    ports_h    ports;
}

struct ingress_metadata_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> flow;           // chooses among equal ports
    hops_t  hops;
    bit<1>  ip_error;
    drop_t  drop;
}

struct egress_metadata_t {
    bit<1> marked;
}

#include "../common/forward.p4"

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.src_port = 0;
        md.dst_port = 0;
        md.flow = 0;
        md.hops = 0;
        md.ip_error = 0;
        md.drop = drop_t.NONE;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.IPV4: parse_ipv4;
            default: accept;
        }
    }

    // The parser adds up headers without options only. Later fragments, and what is behind options, have no ports: of
    // a flow all then go one way.
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        md.ip_error = (bit<1>)ipv4_checksum.verify();
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, ip_protocol_t.TCP): parse_ports;
            (5, 0, ip_protocol_t.UDP): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        pkt.extract(hdr.ports);
        md.src_port = hdr.ports.src;
        md.dst_port = hdr.ports.dst;
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Forward() forward;
    Spraying() spraying;
    Classes() classes;

    Hash<bit<16>>(HashAlgorithm_t.CRC32) flow_of;   // its low bits are good, too: CRC16's are not
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS) drops;

    action no_address() {
        md.drop = drop_t.NO_ADDRESS;
    }

    action no_port() {
        md.drop = drop_t.NO_PORT;
    }

    action discard() {
        ig_dprsr_md.drop_ctl = 1;
        drops.count((bit<8>)md.drop);
    }

    action hash() {
        md.flow = flow_of.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, md.src_port,
                               md.dst_port});
    }

    action to_port(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action via(hops_t hops) {
        md.hops = hops;
    }

    // A host at this switch, or the ways to it.
    table addresses {
        key = {
            hdr.ipv4.dst_addr : exact;
        }
        actions = {
            to_port;
            via;
            @defaultonly no_address;
        }
        const default_action = no_address;
        size = 8192;
    }

    // A set has 64 slots; equal ports share them, and who loses a port gives its slots to the others. p4/tor has
    // selectors in this place, which a control plane changes in one write.
    table paths {
        key = {
            md.hops      : exact @name("hops");
            md.flow[5:0] : exact @name("slot");
        }
        actions = {
            to_port;
            @defaultonly no_port;
        }
        const default_action = no_port;
        size = 16384;
    }

    apply {
        if (!hdr.ipv4.isValid()) {
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else if (hdr.ipv4.version != 4 || hdr.ipv4.ihl[3:2] == 0 || hdr.ipv4.ihl == 4 ||
                   hdr.ipv4.ihl == 5 && md.ip_error == 1) {
            md.drop = drop_t.BAD_HEADER;
        } else {
            hash();
            spraying.apply(hdr.ipv4.dscp, md.flow);
            classes.apply(hdr.ipv4.dscp, hdr.ipv4.ecn, ig_intr_md.ingress_port, ig_tm_md);
            addresses.apply();
            if (md.hops != 0)
                paths.apply();
        }
        if (md.drop != drop_t.NONE)
            discard();
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
        md.marked = 0;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ether_type_t.IPV4: parse_ipv4;
            default: accept;
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
    DirectCounter<bit<64>>(CounterType_t.PACKETS) marked;

    action mark() {
        marked.count();
        hdr.ipv4.ecn = 3;
        md.marked = 1;
    }

    action keep() {
        marked.count();
    }

    // Depth of the queue that it stood in, in cells of 80 bytes, and whether its ends know ECN. Nobody of DLCP
    // looks at marks; what is beside it on the same queues may.
    table queues {
        key = {
            eg_intr_md.enq_qdepth : range;
            hdr.ipv4.ecn          : ternary;
        }
        actions = {
            mark;
            keep;
        }
        default_action = keep;
        counters = marked;
        size = 16;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5)    // the checksum is of 20 bytes
            queues.apply();
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (md.marked == 1)
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
