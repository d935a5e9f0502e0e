/* SPDX-License-Identifier: Apache-2.0
 *
 * aggregator.p4: the state of the aggregators, and what a packet does to it.
 *
 * A register is visited once per pass, in one stage, and a stage has four stateful ALUs. The chain of
 * dependencies is therefore the design:
 *
 *     owner  ->  bitmaps, ecn  ->  count of workers, values, four registers to a stage
 */
#ifndef ATP_AGGREGATOR_P4
#define ATP_AGGREGATOR_P4

#include "headers.p4"

#define AGGREGATORS 16384   // of a pipe
#define CELLS       32768   // each has two of a lane: one for each half of the values
#define DEFAULT_ABANDONED_AFTER 15259   // 1 s

typedef bit<14> aggregator_t;
typedef bit<15> cell_t;

const fragment_t LOCKED = 0x80000000;
const bit<3> RESUBMIT_SECOND_PASS = 1;

struct ingress_metadata_t {
    op_t          op;
    drop_reason_t reason;
    bool          bad_checksum;
    bool          leaves;        // for where its address says
    bit<16>       other_session; // bits in which the packet's session differs from its job's
    bit<16>       cell;          // the aggregator (14 bits), in a second pass with the bit above
    fragment_t    fragment;      // whose aggregator it has to be
    bit<32>       time;          // now, or, for RESEND, the locked fragment
    lane_op_t     lane;          // of a second pass
    PortId_t      again;         // leads back into this pipe
    bitmap_t      bitmap;        // of this level
    bit<8>        fan_in;
    bit<4>        owner;         // owner_t
    bitmap_t      seen;          // the packet's bits that the aggregator has already
    bitmap_t      merged;        // the aggregator's bits, with the packet's
    bit<8>        ecn;
    bit<4>        last;          // FIRST: all that were waited for are there
}

struct egress_metadata_t {
}

// ---------------------------------------------------------------------------------------------------
// Whose the aggregator is, and since when nothing was added (section 3.7).
struct owner_cell_t {
    fragment_t fragment;   // 0: free
    bit<32>    time;
}

// Predicates: one bit for each of the four cases of two conditions.
const bit<4> NEITHER = 0b0001;
const bit<4> FIRST   = 0b0010;
const bit<4> SECOND  = 0b0100;

control Owner(inout ingress_metadata_t md) {
    Register<owner_cell_t, aggregator_t>(AGGREGATORS) owners;

    // FIRST: it was free, SECOND: it is the fragment's.
    RegisterAction<owner_cell_t, aggregator_t, bit<4>>(owners) claim_owner = {
        void apply(inout owner_cell_t cell, out bit<4> found) {
            found = this.predicate(cell.fragment == 0, cell.fragment == md.fragment);
            if (cell.fragment == 0 || cell.fragment == md.fragment) {
                cell.fragment = md.fragment;
                cell.time = md.time;
            }
        }
    };

    // SECOND: it is the fragment's. Until the second pass it is nobody's, so that neither a late packet
    // is added to one half of the values only, nor a new owner takes the other.
    RegisterAction<owner_cell_t, aggregator_t, bit<4>>(owners) lock_owner = {
        void apply(inout owner_cell_t cell, out bit<4> found) {
            found = this.predicate(cell.fragment == 0, cell.fragment == md.fragment);
            if (cell.fragment == md.fragment) {
                cell.fragment = md.time;
            }
        }
    };

    RegisterAction<owner_cell_t, aggregator_t, bit<4>>(owners) release_owner = {
        void apply(inout owner_cell_t cell) {
            if (cell.fragment == md.fragment) {
                cell.fragment = 0;
            }
        }
    };

    // The times wrap: their difference counts. `abandoned_after` in units of 65,536 ns.
    RegisterParam<bit<32>>(DEFAULT_ABANDONED_AFTER) abandoned_after;

    RegisterAction<owner_cell_t, aggregator_t, bit<4>>(owners) acknowledge_owner = {
        void apply(inout owner_cell_t cell) {
            if (cell.fragment == md.fragment || cell.time + abandoned_after.read() < md.time) {
                cell.fragment = 0;
            }
        }
    };

    action claim() {
        md.owner = claim_owner.execute(md.cell[13:0]);
    }

    action lock() {
        md.owner = lock_owner.execute(md.cell[13:0]);
    }

    action release() {
        release_owner.execute(md.cell[13:0]);
    }

    action acknowledge() {
        acknowledge_owner.execute(md.cell[13:0]);
    }

    table owner {
        key = {
            md.op : exact;
        }
        actions = {
            claim;
            lock;
            release;
            acknowledge;
            NoAction;
        }
        const entries = {
            op_t.GRADIENT: claim();
            op_t.RESEND  : lock();
            op_t.RELEASE : release();
            op_t.UNLOCK  : release();
            op_t.ACK     : acknowledge();
        }
        const default_action = NoAction;
        size = 5;
    }

    apply {
        owner.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// Who is in the aggregator's sum. A stateful ALU returns one word, and two are needed: so there are two
// registers with the same bits.
control Members(inout ingress_metadata_t md) {
    Register<bitmap_t, aggregator_t>(AGGREGATORS) seen_bits;
    Register<bitmap_t, aggregator_t>(AGGREGATORS) merged_bits;
    Register<bit<8>, aggregator_t>(AGGREGATORS) congestion;

    RegisterAction<bitmap_t, aggregator_t, bitmap_t>(seen_bits) begin_seen = {
        void apply(inout bitmap_t bits) {
            bits = md.bitmap;
        }
    };

    RegisterAction<bitmap_t, aggregator_t, bitmap_t>(seen_bits) test_and_set = {
        void apply(inout bitmap_t bits, out bitmap_t seen) {
            seen = bits & md.bitmap;
            bits = bits | md.bitmap;
        }
    };

    RegisterAction<bitmap_t, aggregator_t, bitmap_t>(merged_bits) begin_merged = {
        void apply(inout bitmap_t bits, out bitmap_t merged) {
            bits = md.bitmap;
            merged = bits;
        }
    };

    RegisterAction<bitmap_t, aggregator_t, bitmap_t>(merged_bits) merge = {
        void apply(inout bitmap_t bits, out bitmap_t merged) {
            bits = bits | md.bitmap;
            merged = bits;
        }
    };

    RegisterAction<bit<8>, aggregator_t, bit<8>>(congestion) begin_ecn = {
        void apply(inout bit<8> mark, out bit<8> merged) {
            mark = md.ecn;
            merged = mark;
        }
    };

    RegisterAction<bit<8>, aggregator_t, bit<8>>(congestion) merge_ecn = {
        void apply(inout bit<8> mark, out bit<8> merged) {
            mark = mark | md.ecn;
            merged = mark;
        }
    };

    action begin() {
        begin_seen.execute(md.cell[13:0]);
    }

    action add() {
        md.seen = test_and_set.execute(md.cell[13:0]);
    }

    action begin_bits() {
        md.merged = begin_merged.execute(md.cell[13:0]);
    }

    action add_bits() {
        md.merged = merge.execute(md.cell[13:0]);
    }

    action begin_mark() {
        md.ecn = begin_ecn.execute(md.cell[13:0]);
    }

    action add_mark() {
        md.ecn = merge_ecn.execute(md.cell[13:0]);
    }

    table seen {
        key = {
            md.op    : exact;
            md.owner : exact;
        }
        actions = {
            begin;
            add;
            NoAction;
        }
        const entries = {
            (op_t.GRADIENT, FIRST) : begin();
            (op_t.GRADIENT, SECOND): add();
            (op_t.RESEND, SECOND)  : add();
        }
        const default_action = NoAction;
        size = 3;
    }

    table members {
        key = {
            md.op    : exact;
            md.owner : exact;
        }
        actions = {
            begin_bits;
            add_bits;
            NoAction;
        }
        const entries = {
            (op_t.GRADIENT, FIRST) : begin_bits();
            (op_t.GRADIENT, SECOND): add_bits();
            (op_t.RESEND, SECOND)  : add_bits();
        }
        const default_action = NoAction;
        size = 3;
    }

    table marks {
        key = {
            md.op    : exact;
            md.owner : exact;
        }
        actions = {
            begin_mark;
            add_mark;
            NoAction;
        }
        const entries = {
            (op_t.GRADIENT, FIRST) : begin_mark();
            (op_t.GRADIENT, SECOND): add_mark();
            (op_t.RESEND, SECOND)  : add_mark();
        }
        const default_action = NoAction;
        size = 3;
    }

    apply {
        seen.apply();
        members.apply();
        marks.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// How many are in the sum.
control Count(inout ingress_metadata_t md) {
    Register<bit<8>, aggregator_t>(AGGREGATORS) counts;

    RegisterAction<bit<8>, aggregator_t, bit<4>>(counts) begin_count = {
        void apply(inout bit<8> count) {
            count = 1;
        }
    };

    // FIRST: this is the last one; fan-ins are one less than what they stand for.
    RegisterAction<bit<8>, aggregator_t, bit<4>>(counts) add_one = {
        void apply(inout bit<8> count, out bit<4> last) {
            last = this.predicate(count == md.fan_in);
            count = count + 1;
        }
    };

    action begin() {
        begin_count.execute(md.cell[13:0]);
    }

    action add() {
        md.last = add_one.execute(md.cell[13:0]);
    }

    table count {
        key = {
            md.op    : ternary;
            md.owner : ternary;
            md.seen  : ternary;
        }
        actions = {
            begin;
            add;
            NoAction;
        }
        const entries = {
            (op_t.GRADIENT, FIRST, _) : begin();
            (op_t.GRADIENT, SECOND, 0): add();
        }
        const default_action = NoAction;
        size = 2;
    }

    apply {
        count.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// One value of every half. Sums saturate, and what is saturated stays so whatever comes: else the server
// would not see that a sum did not fit (section 3.8). There is no condition left for values that come in
// saturated; workers send none (hosts/atp/worker.h).
const value_t GREATEST = 0x7fffffff;
const value_t LEAST = -0x80000000;

control Lane(inout value_t value, in ingress_metadata_t md) {
    Register<value_t, cell_t>(CELLS) cells;

    RegisterAction<value_t, cell_t, value_t>(cells) write_cell = {
        void apply(inout value_t cell) {
            cell = value;
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells) add_to_cell = {
        void apply(inout value_t cell, out value_t sum) {
            value_t total = cell |+| value;
            if (cell != GREATEST && cell != LEAST) {
                cell = total;
            }
            sum = cell;
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells) read_cell = {
        void apply(inout value_t cell, out value_t sum) {
            sum = cell;
        }
    };

    action overwrite() {
        write_cell.execute(md.cell[14:0]);
    }

    action add() {
        value = add_to_cell.execute(md.cell[14:0]);
    }

    action read() {
        value = read_cell.execute(md.cell[14:0]);
    }

    table lane {
        key = {
            md.lane  : ternary;
            md.op    : ternary;
            md.owner : ternary;
            md.seen  : ternary;
        }
        actions = {
            overwrite;
            add;
            read;
            NoAction;
        }
        const entries = {
            (_, op_t.GRADIENT, FIRST, _)        : overwrite();
            (_, op_t.GRADIENT, SECOND, 0)       : add();
            (_, op_t.RESEND, SECOND, 0)         : add();
            (_, op_t.RESEND, SECOND, _)         : read();
            (lane_op_t.SET, op_t.ABSORB, _, _)  : overwrite();
            (lane_op_t.ADD, op_t.ABSORB, _, _)  : add();
            (lane_op_t.SET, op_t.COMPLETE, _, _): overwrite();
            (lane_op_t.ADD, op_t.COMPLETE, _, _): add();
            (lane_op_t.ADD, op_t.UNLOCK, _, _)  : add();
            (lane_op_t.READ, op_t.UNLOCK, _, _) : read();
        }
        const default_action = NoAction;
        size = 10;
    }

    apply {
        lane.apply();
    }
}

control Lanes(inout headers_t hdr, in ingress_metadata_t md) {
    Lane() lane00;
    Lane() lane01;
    Lane() lane02;
    Lane() lane03;
    Lane() lane04;
    Lane() lane05;
    Lane() lane06;
    Lane() lane07;
    Lane() lane08;
    Lane() lane09;
    Lane() lane10;
    Lane() lane11;
    Lane() lane12;
    Lane() lane13;
    Lane() lane14;
    Lane() lane15;
    Lane() lane16;
    Lane() lane17;
    Lane() lane18;
    Lane() lane19;
    Lane() lane20;
    Lane() lane21;
    Lane() lane22;
    Lane() lane23;
    Lane() lane24;
    Lane() lane25;
    Lane() lane26;
    Lane() lane27;
    Lane() lane28;
    Lane() lane29;
    Lane() lane30;

    apply {
        lane00.apply(hdr.values.v00, md);
        lane01.apply(hdr.values.v01, md);
        lane02.apply(hdr.values.v02, md);
        lane03.apply(hdr.values.v03, md);
        lane04.apply(hdr.values.v04, md);
        lane05.apply(hdr.values.v05, md);
        lane06.apply(hdr.values.v06, md);
        lane07.apply(hdr.values.v07, md);
        lane08.apply(hdr.values.v08, md);
        lane09.apply(hdr.values.v09, md);
        lane10.apply(hdr.values.v10, md);
        lane11.apply(hdr.values.v11, md);
        lane12.apply(hdr.values.v12, md);
        lane13.apply(hdr.values.v13, md);
        lane14.apply(hdr.values.v14, md);
        lane15.apply(hdr.values.v15, md);
        lane16.apply(hdr.values.v16, md);
        lane17.apply(hdr.values.v17, md);
        lane18.apply(hdr.values.v18, md);
        lane19.apply(hdr.values.v19, md);
        lane20.apply(hdr.values.v20, md);
        lane21.apply(hdr.values.v21, md);
        lane22.apply(hdr.values.v22, md);
        lane23.apply(hdr.values.v23, md);
        lane24.apply(hdr.values.v24, md);
        lane25.apply(hdr.values.v25, md);
        lane26.apply(hdr.values.v26, md);
        lane27.apply(hdr.values.v27, md);
        lane28.apply(hdr.values.v28, md);
        lane29.apply(hdr.values.v29, md);
        lane30.apply(hdr.values.v30, md);
    }
}

#endif
