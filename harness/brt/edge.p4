/* SPDX-License-Identifier: Apache-2.0
 *
 * edge: of two programs on one switch the one whose pipes have the ports (test_several.py). It tags what goes to the
 * other one, core.p4, and takes the tag off what comes back.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}
header tag_h {
    bit<16> value;
}
struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}
struct of_port_t {
    bit<16> site;
    bit<16> rack;
}
struct metadata_t {
    of_port_t of_port;
}
struct seen_t {
    bit<48> address;
}

parser EdgeParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        md.of_port = port_metadata_unpack<of_port_t>(pkt);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control EdgeIn(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig,
               in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
               inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<1>>(1) packets;
    RegisterAction<bit<32>, bit<1>, bit<32>>(packets) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    action send(PortId_t port) {
        tm.ucast_egress_port = port;
        hdr.tag.setValid();
        hdr.tag.value = md.of_port.rack;
        count.execute(0);
    }
    action drop() {
        dprsr.drop_ctl = 1;
    }
    table forward {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { send; drop; }
        const default_action = drop;
        size = 1024;
    }
    action tell() {
        dprsr.digest_type = 1;
    }
    table learn {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { tell; NoAction; }
        default_action = tell;
        size = 1024;
    }
    apply {
        forward.apply();
        learn.apply();
    }
}

control EdgeInDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<seen_t>() seen;
    apply {
        if (dprsr.digest_type == 1) {
            seen.pack({hdr.ethernet.src_addr});
        }
        pkt.emit(hdr);
    }
}

parser EdgeOutParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control EdgeOut(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg,
                in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
                inout egress_intrinsic_metadata_for_output_port_t port) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) counts;
    action strip() {
        hdr.tag.setInvalid();
        counts.count();
    }
    action drop() {
        dprsr.drop_ctl = 1;
        counts.count();
    }
    table leave {
        key = { hdr.tag.value : exact; }
        actions = { strip; drop; }
        default_action = drop;
        counters = counts;
        size = 64;
    }
    apply {
        leave.apply();
    }
}

control EdgeOutDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(EdgeParser(), EdgeIn(), EdgeInDeparser(), EdgeOutParser(), EdgeOut(), EdgeOutDeparser()) edge_pipe;
Switch(edge_pipe) main;
