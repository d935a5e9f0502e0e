// SPDX-License-Identifier: Apache-2.0
//
// What a program should not do, and next to it what it may: 'code' says which. misuse.stf sends each,
// misuse.expect has what the checked build reports.
#include <core.p4>
#include <tna.p4>

header op_h {
    bit<8>  code;
    bit<8>  index;
    bit<16> value;
    bit<32> wide;
}

header label_h {
    bit<8> label;
}

header extra_h {
    bit<16> first;
    bit<12> second;
    @padding bit<4> pad;
}

struct headers_t {
    op_h       op;
    label_h[2] labels;
    extra_h    extra;
}

struct metadata_t {
    bit<16> never;
    bit<16> parts;
    bit<32> sometimes;
    bit<16> hashed;
    bool    flag;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.op);
        transition select(hdr.op.code) {
            0x20: labels;
            0x21: spin;
            0x22: extra;
            0x23: skip;
            0x24: look;
            default: accept;
        }
    }
    state labels { // as many as there are with the upper bit set
        pkt.extract(hdr.labels.next);
        transition select(hdr.labels.last.label) {
            0x80 &&& 0x80: labels;
            default: accept;
        }
    }
    state spin {
        transition select(hdr.op.index) {
            1: spin;
            default: accept;
        }
    }
    state extra {
        pkt.extract(hdr.extra);
        transition accept;
    }
    state skip {
        pkt.advance(64);
        transition accept;
    }
    state look {
        transition select(pkt.lookahead<bit<64>>()) {
            0: extra;
            default: accept;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<16>, bit<8>>(10) cells;
    RegisterAction<bit<16>, bit<8>, bit<16>>(cells) add = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = value + hdr.op.value;
            result = value;
        }
    };
    Counter<bit<32>, bit<8>>(10, CounterType_t.PACKETS) packets;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;

    action set(bit<16> v) {
        hdr.op.value = v;
    }
    // undefined bits of the key count when an entry asks for them
    table wild {
        key = {
            hdr.op.index : ternary;
            md.never     : ternary;
        }
        actions = { set; NoAction; }
        const default_action = NoAction;
        const entries = {
            (1, _)              : set(0x1111);
            (2, 7)              : set(0x2222);
            (3, 0x8000 &&& 0x8000) : set(0x3333);
        }
    }
    // an invalid header's field, and the bit that says that it is
    table guarded {
        key = {
            hdr.extra.isValid() : exact;
            hdr.extra.first     : exact;
        }
        actions = { set; NoAction; }
        const default_action = NoAction;
        const entries = {
            (true, 1) : set(0x4444);
        }
    }
    table unguarded {
        key = { hdr.extra.first : exact; }
        actions = { set; NoAction; }
        const default_action = NoAction;
        const entries = { 1 : set(0x5555); }
    }
    table shortest {
        key = { md.sometimes : lpm; }
        actions = { set; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    table between {
        key = {
            hdr.op.index : exact;
            md.never     : range;
        }
        actions = { set; NoAction; }
        const default_action = NoAction;
        const entries = {
            (1, 0..0xffff) : set(0x6666);
            (2, 5..9)      : set(0x7777);
        }
    }

    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.op.code == 1) { // a copy is no use, a branch is
            md.parts = md.never;
            if (hdr.op.index == 1) {
                if (md.parts == 5) { // REPORT
                    hdr.op.value = 1;
                }
            }
        } else if (hdr.op.code == 2) { // assigned on one path only
            if (hdr.op.index == 1) {
                md.sometimes = hdr.op.wide;
            }
            hdr.op.wide = md.sometimes + 1;
        } else if (hdr.op.code == 3) { // half of it is assigned
            md.parts[7:0] = 8w7;
            if (hdr.op.index == 1) {
                hdr.op.value = 8w0 ++ md.parts[7:0];
            } else {
                hdr.op.value = md.parts; // carried to the wire
            }
        } else if (hdr.op.code == 4) {
            wild.apply();
        } else if (hdr.op.code == 5) {
            if (hdr.op.index == 1) {
                guarded.apply();
            } else {
                unguarded.apply();
            }
        } else if (hdr.op.code == 6) { // fields of an invalid header
            md.parts = hdr.extra.first;
            if (hdr.op.index == 1 && hdr.extra.isValid() && hdr.extra.second == 1) {
                hdr.op.value = 6;
            }
            if (hdr.op.index == 2 && hdr.extra.second == 1) {
                hdr.op.value = 7;
            }
        } else if (hdr.op.code == 7) { // a new header, all of it assigned but for the padding, or not
            hdr.extra.setValid();
            hdr.extra.first = 1;
            if (hdr.op.index == 1) {
                hdr.extra.second = 2;
            }
        } else if (hdr.op.code == 8) {
            hdr.op.value = add.execute(hdr.op.index);
        } else if (hdr.op.code == 9) {
            packets.count(hdr.op.index);
        } else if (hdr.op.code == 10) {
            if (hdr.op.index == 1) {
                ig_tm_md.mcast_grp_a = 1;
            }
            hdr.op.value = ig_tm_md.mcast_grp_a;
        } else if (hdr.op.code == 11) {
            hdr.op.value = hash.get({hdr.op.wide, hdr.extra.first});
        } else if (hdr.op.code == 12) { // what goes to the traffic manager
            ig_tm_md.rid = md.never;
        } else if (hdr.op.code == 13) { // masked away
            hdr.op.value = md.never & 0;
            if (md.never & 0 == 0) {
                hdr.op.wide = 13;
            }
        } else if (hdr.op.code == 14) {
            shortest.apply();
        } else if (hdr.op.code == 15) { // valid again: its fields are new
            hdr.extra.setValid();
            hdr.extra.first = 1;
            hdr.extra.second = 2;
            hdr.extra.setInvalid();
            if (hdr.op.index == 1) {
                hdr.extra.setValid();
            }
        } else if (hdr.op.code == 16) { // what the architecture initialises
            if (ig_dprsr_md.drop_ctl != 0 || ig_prsr_md.parser_err != 0) {
                hdr.op.value = 16;
            }
        } else if (hdr.op.code == 17) {
            between.apply();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
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
