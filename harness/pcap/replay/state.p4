/* SPDX-License-Identifier: Apache-2.0
 *
 * state: leaves something behind in every kind of object, for harness/pcap/replay/test_state.py, which knows by
 * hand what.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {}

struct pair_t {
    bit<32> packets;
    bit<32> latest;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(4) types;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            types : accept;
            default : accept;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<32>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) received;
    Meter<bit<8>>(4, MeterType_t.PACKETS) policer;

    DirectCounter<bit<32>>(CounterType_t.PACKETS) sent;
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        sent.count();
    }
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
        sent.count();
    }
    table forward {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { send; discard; }
        const default_action = discard();
        counters = sent;
        size = 16;
    }

    DirectRegister<bit<16>>(100) matched;
    DirectRegisterAction<bit<16>, bit<16>>(matched) match = {
        void apply(inout bit<16> value) { value = value + 1; }
    };
    action note() { match.execute(); }
    table filter {
        key = {
            hdr.ethernet.ether_type : ternary;
            ig_intr_md.ingress_port : range;
        }
        actions = { note; NoAction; }
        registers = matched;
        size = 16;
    }

    table known {
        key = { hdr.ethernet.ether_type : exact; }
        actions = { NoAction; }
        const entries = { 0x0800 : NoAction(); }
        const default_action = NoAction();
        size = 1;
    }

    Register<pair_t, bit<8>>(8, {5, 0}) flows;
    RegisterAction<pair_t, bit<8>, bit<32>>(flows) update = {
        void apply(inout pair_t value) {
            value.packets = value.packets + 1;
            value.latest = hdr.ethernet.src_addr[31:0];
        }
    };
    Register<int<8>, bit<8>>(8) balance;
    RegisterAction<int<8>, bit<8>, int<8>>(balance) lower = {
        void apply(inout int<8> value) { value = value - 3; }
    };

    apply {
        received.count(ig_intr_md.ingress_port);
        bit<8> color = (bit<8>)policer.execute(0);
        update.execute((bit<8>)hdr.ethernet.src_addr[2:0]);
        lower.execute((bit<8>)hdr.ethernet.src_addr[2:0]);
        filter.apply();
        known.apply();
        forward.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { pkt.emit(hdr); }
}

struct eg_headers_t {}
struct eg_metadata_t {}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
