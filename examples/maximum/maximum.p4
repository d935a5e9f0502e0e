/* SPDX-License-Identifier: Apache-2.0
 *
 * maximum.p4: the greatest of what workers have, element by element, found in the switch: an aggregation of one's own in
 * a page, for a Tofino 1. docs/own-aggregation.md walks through it.
 *
 * Vectors come in pieces of 16 numbers. A piece has a slot of the switch and a round: a worker that has the result of
 * round r of a slot uses the slot for round r + 1. Even and odd rounds have cells of their own, so that the result of
 * round r stays while round r + 1 is under way, for workers that have not received it.
 *
 * - A packet that is repeated must not count twice: each slot has a bit for each worker and parity.
 * - A packet that comes late must not count for another round: each slot knows its greatest round. If r + 1 has begun,
 *   somebody has the result of r, so all have contributed to r, so all have the result of r - 1: what is older than r is
 *   late, and what is of r wants the result again.
 */
#include <core.p4>
#include <tna.p4>

const bit<16> TYPE_MAXIMUM = 0x88b5; // IEEE 802: local experiments
const bit<48> EVERYBODY = 0xffffffffffff;
#define SLOTS 1024
#define CELLS 2048

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header maximum_h {
    bit<8>  is_result;
    bit<8>  spare;
    bit<16> slot;  // below SLOTS
    bit<32> round; // from 1 on
}

header values_h {
    int<32> v0;
    int<32> v1;
    int<32> v2;
    int<32> v3;
    int<32> v4;
    int<32> v5;
    int<32> v6;
    int<32> v7;
    int<32> v8;
    int<32> v9;
    int<32> v10;
    int<32> v11;
    int<32> v12;
    int<32> v13;
    int<32> v14;
    int<32> v15;
}

struct headers_t {
    ethernet_h ethernet;
    maximum_h  maximum;
    values_h   values;
}

enum bit<2> Mode {
    READ  = 0,
    WRITE = 1,
    RAISE = 2
}

struct metadata_t {
    bit<32> bit_of;  // the worker's
    bit<32> not_bit;
    bit<32> all;     // bits of all workers, and of all others
    bit<32> others;
    bit<16> group;   // of all workers
    bit<16> slot;
    bit<16> cell;
    bit<32> greatest; // round of the slot
    bit<32> behind;
    bit<32> before;   // bits of those that had contributed
    bit<32> had;            // whether it was among them
    bit<32> missing;        // before it, and of the others
    bit<32> others_missing;
    Mode    mode;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        md = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Mode.READ};
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_MAXIMUM: parse_maximum;
            default: accept;
        }
    }
    state parse_maximum {
        pkt.extract(hdr.maximum);
        pkt.extract(hdr.values);
        transition accept;
    }
}

struct parities {
    bit<32> even;
    bit<32> odd;
}

// The cells of one of the 16 places.
control Cell(inout int<32> v, in bit<16> cell, in Mode mode) {
    Register<int<32>, bit<16>>(CELLS, 0) cells;
    RegisterAction<int<32>, bit<16>, int<32>>(cells) read = {
        void apply(inout int<32> value, out int<32> result) {
            result = value;
        }
    };
    RegisterAction<int<32>, bit<16>, int<32>>(cells) write = {
        void apply(inout int<32> value, out int<32> result) {
            value = v;
            result = value;
        }
    };
    RegisterAction<int<32>, bit<16>, int<32>>(cells) raise = {
        void apply(inout int<32> value, out int<32> result) {
            value = max(value, v);
            result = value;
        }
    };
    action do_read() {
        v = read.execute(cell);
    }
    action do_write() {
        v = write.execute(cell);
    }
    action do_raise() {
        v = raise.execute(cell);
    }
    table access {
        key = {
            mode : exact;
        }
        actions = {
            do_read;
            do_write;
            do_raise;
        }
        const entries = {
            Mode.READ  : do_read();
            Mode.WRITE : do_write();
            Mode.RAISE : do_raise();
        }
        size = 3;
    }
    apply {
        access.apply();
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // ---- frames that are not ours: by address, or to everybody but where they came from ----
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action flood() {
        ig_tm_md.mcast_grp_a = 1;
        ig_tm_md.level1_exclusion_id = 7w0 ++ ig_intr_md.ingress_port;
    }
    table forward {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            flood;
        }
        const default_action = flood();
        size = 1024;
    }

    // ---- who takes part ----
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) strangers;
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) without_slot;
    action admit(bit<32> bit_of, bit<32> not_bit, bit<32> all, bit<32> others, bit<16> group) {
        md.bit_of = bit_of;
        md.not_bit = not_bit;
        md.all = all;
        md.others = others;
        md.group = group;
        md.slot = hdr.maximum.slot;
        md.cell = hdr.maximum.slot[14:0] ++ hdr.maximum.round[0:0];
    }
    action stranger() {
        ig_dprsr_md.drop_ctl = 1;
        strangers.count(0);
    }
    table workers {
        key = {
            hdr.ethernet.src_addr   : exact;
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            admit;
            @defaultonly stranger;
        }
        const default_action = stranger();
        size = 32;
    }

    // ---- what the slot knows ----
    Register<bit<32>, bit<16>>(SLOTS, 0) rounds;
    RegisterAction<bit<32>, bit<16>, bit<32>>(rounds) advance = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = max(value, hdr.maximum.round);
            result = value;
        }
    };
    Register<parities, bit<16>>(SLOTS, {0, 0}) seen;
    RegisterAction<parities, bit<16>, bit<32>>(seen) see_even = {
        void apply(inout parities value, out bit<32> result) {
            result = value.even;
            value.even = value.even | md.bit_of;
            value.odd = value.odd & md.not_bit;
        }
    };
    RegisterAction<parities, bit<16>, bit<32>>(seen) see_odd = {
        void apply(inout parities value, out bit<32> result) {
            result = value.odd;
            value.odd = value.odd | md.bit_of;
            value.even = value.even & md.not_bit;
        }
    };

    action even() {
        md.before = see_even.execute(md.slot);
    }
    action odd() {
        md.before = see_odd.execute(md.slot);
    }
    action old() {}
    table see { // nobody contributes to a round that is over
        key = {
            md.behind                : exact;
            hdr.maximum.round[0:0]   : exact;
        }
        actions = {
            even;
            odd;
            old;
        }
        const default_action = old();
        const entries = {
            (0, 0) : even();
            (0, 1) : odd();
        }
        size = 2;
    }

    // ---- what to do ----
    Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) refused; // 0: late, 1: repeated before there is a result
    action answer() { // to the one that asks again
        md.mode = Mode.READ;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        hdr.maximum.is_result = 1;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
    }
    action begin() {
        md.mode = Mode.WRITE;
        ig_dprsr_md.drop_ctl = 1;
    }
    action go_on() {
        md.mode = Mode.RAISE;
        ig_dprsr_md.drop_ctl = 1;
    }
    action tell() {
        ig_tm_md.mcast_grp_a = md.group;
        hdr.maximum.is_result = 1;
        hdr.ethernet.dst_addr = EVERYBODY;
    }
    action begin_and_tell() {
        md.mode = Mode.WRITE;
        tell();
    }
    action go_on_and_tell() {
        md.mode = Mode.RAISE;
        tell();
    }
    action wait() {
        ig_dprsr_md.drop_ctl = 1;
        refused.count(1);
    }
    action late() {
        ig_dprsr_md.drop_ctl = 1;
        refused.count(0);
    }
    table decide {
        key = {
            md.behind         : ternary;
            md.had            : ternary;
            md.before         : ternary;
            md.others_missing : ternary;
            md.missing        : ternary;
        }
        actions = {
            answer;
            begin;
            go_on;
            begin_and_tell;
            go_on_and_tell;
            wait;
            late;
        }
        const default_action = late();
        const entries = {
            (1, _, _, _, _) : answer();
            (0, 0, 0, 0, _) : begin_and_tell();
            (0, 0, 0, _, _) : begin();
            (0, 0, _, 0, _) : go_on_and_tell();
            (0, 0, _, _, _) : go_on();
            (0, _, _, _, 0) : answer();
            (0, _, _, _, _) : wait();
        }
        size = 8;
    }

    Cell() cell0;
    Cell() cell1;
    Cell() cell2;
    Cell() cell3;
    Cell() cell4;
    Cell() cell5;
    Cell() cell6;
    Cell() cell7;
    Cell() cell8;
    Cell() cell9;
    Cell() cell10;
    Cell() cell11;
    Cell() cell12;
    Cell() cell13;
    Cell() cell14;
    Cell() cell15;

    apply {
        if (!hdr.maximum.isValid() || hdr.maximum.is_result != 0) {
            forward.apply();
        } else if (workers.apply().hit) {
            if (md.slot[15:10] != 0) {
                ig_dprsr_md.drop_ctl = 1;
                without_slot.count(0);
            } else {
                md.greatest = advance.execute(md.slot);
                md.behind = md.greatest - hdr.maximum.round;
                see.apply();
                md.had = md.before & md.bit_of;
                md.missing = md.before ^ md.all;
                md.others_missing = md.before ^ md.others;
                switch (decide.apply().action_run) {
                    wait: {
                        exit;
                    }
                    late: {
                        exit;
                    }
                    default: {
                    }
                }
                cell0.apply(hdr.values.v0, md.cell, md.mode);
                cell1.apply(hdr.values.v1, md.cell, md.mode);
                cell2.apply(hdr.values.v2, md.cell, md.mode);
                cell3.apply(hdr.values.v3, md.cell, md.mode);
                cell4.apply(hdr.values.v4, md.cell, md.mode);
                cell5.apply(hdr.values.v5, md.cell, md.mode);
                cell6.apply(hdr.values.v6, md.cell, md.mode);
                cell7.apply(hdr.values.v7, md.cell, md.mode);
                cell8.apply(hdr.values.v8, md.cell, md.mode);
                cell9.apply(hdr.values.v9, md.cell, md.mode);
                cell10.apply(hdr.values.v10, md.cell, md.mode);
                cell11.apply(hdr.values.v11, md.cell, md.mode);
                cell12.apply(hdr.values.v12, md.cell, md.mode);
                cell13.apply(hdr.values.v13, md.cell, md.mode);
                cell14.apply(hdr.values.v14, md.cell, md.mode);
                cell15.apply(hdr.values.v15, md.cell, md.mode);
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

struct egress_headers_t {}
struct egress_metadata_t {}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
