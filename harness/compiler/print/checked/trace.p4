// SPDX-License-Identifier: Apache-2.0
//
// A little of everything that a trace shows; trace.stf sends a few packets, trace.text and trace.json
// have what is told about them.
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_len;
    bit<16> id;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header note_h {
    bit<16> sum;
    bit<32> count;
    @padding bit<7> _pad;
    bit<9>  port;
}

header again_h {
    bit<64> why;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    note_h     note;
}

struct metadata_t {
    again_h again;
    bit<16> digest;
    bool    bad;
}

struct pair_t {
    bit<32> packets;
    bit<32> latest;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() check;

    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1: resubmitted;
            0: fresh;
        }
    }
    state resubmitted {
        pkt.extract(md.again);
        transition ethernet;
    }
    state fresh {
        pkt.advance(PORT_METADATA_SIZE);
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, ig_intr_md.ingress_port) {
            (0x0800, 0 &&& 0x100): ipv4;
            (0x0600..0xffff, _): accept;
        }
    }
    state ipv4 {
        pkt.extract(hdr.ipv4);
        check.add(hdr.ipv4);
        md.bad = check.verify();
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<pair_t, bit<4>>(16) flows;
    RegisterAction<pair_t, bit<4>, bit<32>>(flows) update = {
        void apply(inout pair_t value, out bit<32> packets) {
            value.packets = value.packets + 1;
            value.latest = hdr.ipv4.src_addr;
            packets = value.packets;
        }
    };
    Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) received;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;

    action send(bit<9> port, bit<8> ttl) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ipv4.ttl = ttl;
    }
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action again() {
        ig_dprsr_md.resubmit_type = 2;
        md.again.why = 0x0123456789abcdef;
    }
    table route {
        key = {
            hdr.ipv4.dst_addr        : ternary @name("dst");
            ig_intr_md.resubmit_flag : exact;
        }
        actions = { send; drop; again; }
        const default_action = drop;
        size = 64;
    }

    apply {
        received.count(ig_intr_md.ingress_port);
        if (hdr.ipv4.isValid() && !md.bad) {
            md.digest = hash.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
            hdr.note.setValid();
            hdr.note.sum = md.digest;
            hdr.note.port = ig_intr_md.ingress_port;
            switch (route.apply().action_run) {
                send: { hdr.note.count = update.execute(md.digest[3:0]); }
                again: { hdr.note.count = 0; }
                default: { hdr.note.count = 0; }
            }
        } else if (!hdr.ipv4.isValid()) {
            ig_tm_md.mcast_grp_a = 1;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() check;
    Resubmit() resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == 2) {
            resubmit.emit(md.again);
        }
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = check.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len, hdr.ipv4.id,
                hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
                hdr.ipv4.dst_addr});
        }
        pkt.emit(hdr);
    }
}

struct eg_headers_t {
    ethernet_h ethernet;
}
struct eg_metadata_t {}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        if (eg_intr_md.egress_port == 9) {
            eg_dprsr_md.drop_ctl = 1;
        }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
