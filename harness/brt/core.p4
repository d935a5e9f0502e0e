/* SPDX-License-Identifier: Apache-2.0
 *
 * core: of two programs on one switch the one whose ports are looped back (test_several.py, edge.p4). A packet goes
 * through its egress, back, and through its ingress; each adds to the tag.
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
    bit<16> more;
}
struct metadata_t {
    of_port_t of_port;
}
struct passed_t {
    bit<16> tag;
}

parser CoreParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        md.of_port = port_metadata_unpack<of_port_t>(pkt);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control CoreIn(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig,
               in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
               inout ingress_intrinsic_metadata_for_tm_t tm) {
    action send(PortId_t port) {
        tm.ucast_egress_port = port;
        hdr.tag.value = hdr.tag.value + md.of_port.more;
        dprsr.digest_type = 1;
    }
    action drop() {
        dprsr.drop_ctl = 1;
    }
    table route {
        key = { hdr.tag.value : exact; }
        actions = { send; drop; }
        const default_action = drop;
        size = 1024;
        idle_timeout = true;
    }
    apply {
        route.apply();
    }
}

control CoreInDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<passed_t>() passed;
    apply {
        if (dprsr.digest_type == 1) {
            passed.pack({hdr.tag.value});
        }
        pkt.emit(hdr);
    }
}

parser CoreOutParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control CoreOut(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg,
                in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
                inout egress_intrinsic_metadata_for_output_port_t port) {
    Register<bit<16>, bit<1>>(1, 100) step;
    RegisterAction<bit<16>, bit<1>, bit<16>>(step) read = {
        void apply(inout bit<16> value, out bit<16> result) {
            result = value;
        }
    };
    bit<16> more;
    apply {
        more = read.execute(0);
        hdr.tag.value = hdr.tag.value + more;
    }
}

control CoreOutDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(CoreParser(), CoreIn(), CoreInDeparser(), CoreOutParser(), CoreOut(), CoreOutDeparser()) core_pipe;
Switch(core_pipe) main;
