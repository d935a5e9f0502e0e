/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 6: a switch that is to report new hosts and to send copies of watched packets. README.md says what to do.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"

const bit<48> COLLECTOR = 0x0200000000ee;
const DigestType_t DIGEST_LEARNED = 1;
const MirrorType_t MIRROR_COPY = 1; // 0 is the chip's own

// The first byte of what comes to egress says what it is. Ingress puts it there, for copies and for all other packets.
const bit<8> KIND_PACKET = 0;
const bit<8> KIND_COPY = 1;

header bridge_h {
    bit<8> kind;
}

header mirror_h { // before a copy
    bit<8>  kind;
    bit<16> port; // that the packet came by
}

header copy_h { // what the collector gets after an Ethernet header of type TYPE_LEARN, and then the packet as it came
    bit<16> port;
}

// ---- ingress ----

struct headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
}

struct metadata_t {
    bit<8>     kind; // of a copy
    bit<16>    port;
    MirrorId_t session;
}

struct learned_t { // what the control plane is told
    bit<48> src_addr;
    bit<16> port;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md = {KIND_COPY, 0, 0};
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table forward {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            drop;
        }
        const default_action = drop();
        size = 1024;
    }

    action known() {}
    action report() {
        // TODO 1: ask for a digest of the type DIGEST_LEARNED.
    }
    table stations {
        key = {
            hdr.ethernet.src_addr   : exact;
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            known;
            @defaultonly report;
        }
        const default_action = report();
        size = 1024;
    }

    action copy(MirrorId_t session) {
        md.session = session;
        // TODO 2: ask for a copy of the type MIRROR_COPY.
    }
    action pass() {}
    table watched {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            copy;
            @defaultonly pass;
        }
        const default_action = pass();
        size = 64;
    }

    apply {
        md.port = 7w0 ++ ig_intr_md.ingress_port;
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_PACKET;
        forward.apply();
        stations.apply();
        watched.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    // TODO 1: a Digest<learned_t> 'learned', which packs the source and the port if its type is asked for.
    // TODO 2: a Mirror, which emits a mirror_h with the session, the kind and the port if its type is asked for.
    apply {
        pkt.emit(hdr);
    }
}

// ---- egress: the packet's own headers stay in the payload ----

struct egress_headers_t {
    ethernet_h outer;
    copy_h     copy;
}

struct egress_metadata_t {
    bridge_h bridge;
    mirror_h mirror;
}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        // TODO 2: a copy has a mirror_h where other packets have a bridge_h.
        transition parse_packet;
    }
    state parse_packet {
        pkt.extract(md.bridge);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        // TODO 2: a copy gets an Ethernet header, to COLLECTOR, from 0, of type TYPE_LEARN, and a copy_h.
    }
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
