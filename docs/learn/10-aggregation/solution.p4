/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 10, solved: sums of what several workers send, made in the switch. Packets may be lost.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"
#include "../common/empty_egress.p4"

#define SLOTS 1024
#define CELLS 2048 // even and odd rounds have cells of their own

header sum_h { // after the Ethernet header, of type TYPE_LEARN
    bit<8>  is_result;
    bit<8>  spare;
    bit<16> slot;  // below SLOTS
    bit<32> round; // of the slot, from 1 on
}

header values_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<32> v6;
    bit<32> v7;
}

struct headers_t {
    ethernet_h ethernet;
    sum_h      sum;
    values_h   values;
}

enum bit<2> Mode { // what happens to the cells
    READ  = 0,
    WRITE = 1,
    ADD   = 2
}

struct metadata_t {
    bit<32> bit_of; // the worker's
    bit<32> not_bit;
    bit<32> all;    // bits of all workers, and of all others
    bit<32> others;
    bit<16> group;  // of all workers
    bit<16> slot;
    bit<16> cell;
    bit<32> greatest;       // round that the slot has seen
    bit<32> behind;         // by how much the packet's round is less
    bit<32> before;         // bits of those that had contributed
    bit<32> had;            // the worker's bit, if it was among them
    bit<32> missing;        // bits of those that were not, of all workers...
    bit<32> others_missing; // ... and of all others
    Mode    mode;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Mode.READ};
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_LEARN : parse_sum;
            default    : accept;
        }
    }
    state parse_sum {
        pkt.extract(hdr.sum);
        pkt.extract(hdr.values);
        transition accept;
    }
}

// The cells of one of the values.
control Cell(inout bit<32> v, in bit<16> cell, in Mode mode) {
    Register<bit<32>, bit<16>>(CELLS, 0) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) write = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = v;
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) add = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + v;
            result = value;
        }
    };
    action do_read() {
        v = read.execute(cell);
    }
    action do_write() {
        v = write.execute(cell);
    }
    action do_add() {
        v = add.execute(cell);
    }
    table access {
        key = {
            mode : exact;
        }
        actions = {
            do_read;
            do_write;
            do_add;
        }
        const entries = {
            Mode.READ  : do_read();
            Mode.WRITE : do_write();
            Mode.ADD   : do_add();
        }
        size = 3;
    }
    apply {
        access.apply();
    }
}

struct seen_t {
    bit<32> even;
    bit<32> odd;
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // ---- who takes part ----
    action admit(bit<32> bit_of, bit<32> not_bit, bit<32> all, bit<32> others, bit<16> group) {
        md.bit_of = bit_of;
        md.not_bit = not_bit;
        md.all = all;
        md.others = others;
        md.group = group;
        md.slot = hdr.sum.slot;
        md.cell = hdr.sum.slot[14:0] ++ hdr.sum.round[0:0];
    }
    action stranger() {
        ig_dprsr_md.drop_ctl = 1;
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

    // ---- whether the packet is of the slot's round, or of one before ----
    Register<bit<32>, bit<16>>(SLOTS, 0) rounds;
    RegisterAction<bit<32>, bit<16>, bit<32>>(rounds) advance = {
        void apply(inout bit<32> round, out bit<32> greatest) {
            round = max(round, hdr.sum.round);
            greatest = round;
        }
    };

    // ---- whether the worker has contributed before: a bit for each worker, in even and in odd rounds ----
    Register<seen_t, bit<16>>(SLOTS, {0, 0}) seen;
    RegisterAction<seen_t, bit<16>, bit<32>>(seen) see_even = {
        void apply(inout seen_t bits, out bit<32> before) {
            before = bits.even;
            bits.even = bits.even | md.bit_of;
            bits.odd = bits.odd & md.not_bit;
        }
    };
    RegisterAction<seen_t, bit<16>, bit<32>>(seen) see_odd = {
        void apply(inout seen_t bits, out bit<32> before) {
            before = bits.odd;
            bits.odd = bits.odd | md.bit_of;
            bits.even = bits.even & md.not_bit;
        }
    };
    action even() {
        md.before = see_even.execute(md.slot);
    }
    action odd() {
        md.before = see_odd.execute(md.slot);
    }
    action old() {}
    table see { // a packet of a round that is over does not contribute
        key = {
            md.behind          : exact;
            hdr.sum.round[0:0] : exact;
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

    // ---- what follows ----
    action begin() { // the round's first contribution replaces what the cells had
        md.mode = Mode.WRITE;
        ig_dprsr_md.drop_ctl = 1;
    }
    action go_on() {
        md.mode = Mode.ADD;
        ig_dprsr_md.drop_ctl = 1;
    }
    action tell() { // the last one: the packet becomes the result, for all workers
        md.mode = Mode.ADD;
        ig_tm_md.mcast_grp_a = md.group;
        hdr.sum.is_result = 1;
        hdr.ethernet.dst_addr = 0xffffffffffff;
    }
    action answer() { // the result again, for the worker that has not received it
        md.mode = Mode.READ;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        hdr.sum.is_result = 1;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
    }
    action ignore() { // a repetition while others are missing, or a packet that is too late
        md.mode = Mode.READ;
        ig_dprsr_md.drop_ctl = 1;
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
            begin;
            go_on;
            tell;
            answer;
            ignore;
        }
        const default_action = ignore();
        const entries = {
            (1, _, _, _, _) : answer(); // of the round before, which is complete: a worker has gone on
            (0, 0, 0, _, _) : begin();
            (0, 0, _, 0, _) : tell();
            (0, 0, _, _, _) : go_on();
            (0, _, _, _, 0) : answer();
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

    apply {
        if (!hdr.sum.isValid() || hdr.sum.is_result != 0 || hdr.sum.slot[15:10] != 0) {
            ig_dprsr_md.drop_ctl = 1;
        } else if (workers.apply().hit) {
            md.greatest = advance.execute(md.slot);
            md.behind = md.greatest - hdr.sum.round;
            see.apply();
            md.had = md.before & md.bit_of;
            md.missing = md.before ^ md.all;
            md.others_missing = md.before ^ md.others;
            decide.apply();
            cell0.apply(hdr.values.v0, md.cell, md.mode);
            cell1.apply(hdr.values.v1, md.cell, md.mode);
            cell2.apply(hdr.values.v2, md.cell, md.mode);
            cell3.apply(hdr.values.v3, md.cell, md.mode);
            cell4.apply(hdr.values.v4, md.cell, md.mode);
            cell5.apply(hdr.values.v5, md.cell, md.mode);
            cell6.apply(hdr.values.v6, md.cell, md.mode);
            cell7.apply(hdr.values.v7, md.cell, md.mode);
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
