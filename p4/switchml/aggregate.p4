/* SPDX-License-Identifier: Apache-2.0
 *
 * aggregate.p4: the state of the slots, and what a packet does to it.
 *
 * A chip's register is visited once per pass, in one stage, and a stage has four stateful ALUs. The
 * chain of dependencies is therefore the design:
 *
 *     bitmap of the slot  ->  workers still missing, exponents  ->  elements, four lanes to a stage
 *
 * "Cell" is a slot of one of the two pool versions.
 */
#ifndef SWITCHML_AGGREGATE_P4
#define SWITCHML_AGGREGATE_P4

#include "headers.p4"

// Slots of a pipe, shared by all jobs; each has two versions. 8192 need 9 RAM blocks per lane, 36 of
// the 48 that the lanes of a stage can reach. A slot of halves.p4 is visited four times in each pipe, and each
// time another quarter of the cells: four of these for each of its 4096 slots.
#ifdef HALVES
#define SLOTS      16384
#define SLOT_BITS  14
#define CELLS      32768
#define CELL_BITS  15
#else
#define SLOTS      8192
#define SLOT_BITS  13
#define CELLS      16384
#define CELL_BITS  14
#endif

// bridge_h.cell has the version in front of the slot, as a pool index has. With RoCE it is at the end, as in the rkey, so
// that the next packet's is 2 more; the top bit is set for packets that came in order, and 0 for all by UDP.
#ifdef WITH_ROCE
#define SLOT_OF(cell)    cell[SLOT_BITS:1]
#define VERSION_OF(cell) cell[0:0]
#else
#define SLOT_OF(cell)    cell[SLOT_BITS - 1:0]
#define VERSION_OF(cell) cell[15:15]
#endif

typedef bit<SLOT_BITS> slot_t;
typedef bit<CELL_BITS> cell_t;

struct ingress_metadata_t {
    op_t          op;
    drop_reason_t reason;
    bool          bad_checksum;
    bool          length_ok;
    bool          admitted;
    bool          no_audience;    // of a collective operation: the job has none of this number
#ifdef HALVES
    bool          contributes;    // it has elements
    bool          elements;       // it has lanes to pass
    bool          wanted;         // sums are, as halves
#endif
#ifdef WITH_LEVELS
    bool          from_above;     // sums from the switch above, not a worker's part
    bit<32>       other_use;      // of sums from above: bits in which their tsi differs from the slot's
    bit<8>        known;          // 1: the slot has the sums from above, no longer the partial ones
#endif
    bit<8>        other_session;  // bits in which the packet's session differs from its job's
    bit<16>       room;           // slots of the pool above this one; top bit: see Screen
#ifdef WITH_ROCE
    bit<16>       pool_index;     // base of the pool and pool_index, version in the top bit
    bit<32>       psn;            // in the upper 24 bits, where it wraps as it should
    bit<16>       bound;          // a first packet's cell; for others the last slot of the pool
    packet_size_t size;           // of one that arrives, by its UDP length
    bit<16>       around;         // what its IPv4 length is more than that of UDP
#endif
    cell_t        cell;
    bit<32>       seen;           // the worker's bit, if the slot has its part already, else 0
    int<8>        missing;        // workers missing before this packet; 0: the slot was complete
}

struct egress_metadata_t {
    bit<16> rid;
#ifdef WITH_ROCE
    pair_index_t pair;
    bit<32>      psn;
#endif
}

// ---------------------------------------------------------------------------------------------------
// Who has contributed to a slot: seen[ver, idx, wid] of Algorithm 3, one bitmap register per version,
// readable as it is by a controller that looks for the worker a slot waits for.
//
// Two registers of one word each rather than a pair: with a pair both halves of the ALU are busy
// updating, and only the whole old bitmap could be returned. A single word leaves the other half free
// to return the one bit that matters, and the next stage needs no knowledge of worker numbers.
control Seen(inout headers_t hdr, inout ingress_metadata_t md) {
    Register<bit<32>, slot_t>(SLOTS) bitmap0;
    Register<bit<32>, slot_t>(SLOTS) bitmap1;

    RegisterAction<bit<32>, slot_t, bit<32>>(bitmap0) test_and_set0 = {
        void apply(inout bit<32> bitmap, out bit<32> seen) {
            seen = bitmap & hdr.bridge.worker_bit;
            bitmap = bitmap | hdr.bridge.worker_bit;
        }
    };

    RegisterAction<bit<32>, slot_t, bit<32>>(bitmap1) test_and_set1 = {
        void apply(inout bit<32> bitmap, out bit<32> seen) {
            seen = bitmap & hdr.bridge.worker_bit;
            bitmap = bitmap | hdr.bridge.worker_bit;
        }
    };

    RegisterAction<bit<32>, slot_t, bit<32>>(bitmap0) clear0 = {
        void apply(inout bit<32> bitmap) {
            bitmap = bitmap & ~hdr.bridge.worker_bit;
        }
    };

    RegisterAction<bit<32>, slot_t, bit<32>>(bitmap1) clear1 = {
        void apply(inout bit<32> bitmap) {
            bitmap = bitmap & ~hdr.bridge.worker_bit;
        }
    };

    action set_in_0() {
        md.seen = test_and_set0.execute(SLOT_OF(hdr.bridge.cell));
    }

    action set_in_1() {
        md.seen = test_and_set1.execute(SLOT_OF(hdr.bridge.cell));
    }

    action clear_in_0() {
        clear0.execute(SLOT_OF(hdr.bridge.cell));
    }

    action clear_in_1() {
        clear1.execute(SLOT_OF(hdr.bridge.cell));
    }

    apply {
        if (VERSION_OF(hdr.bridge.cell) == 0) {
            set_in_0();
            clear_in_1();
        } else {
            set_in_1();
            clear_in_0();
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// How many workers a cell waits for, and the largest exponent so far.
//
// `missing` is n - count of Algorithm 3: 0 for a complete (or new) cell, n - 1 after the first packet.
// Counting down lets the tables behind it compare with the constants 0 and 1 rather than with n.
//
// The exponent lives beside the count because it must know whether a packet is the first. Here that
// costs nothing; a stage later all stateful ALUs are the lanes'. There are two exponents, and so two of
// these registers with equal counts. A stateful ALU returns one word: the count while aggregating, the
// exponent when the result is read.
struct tally_t {
    int<8> missing;
    int<8> exponent;
}

control Tally(inout headers_t hdr, inout ingress_metadata_t md, inout exponent_t exponent,
              out int<8> missing) {
    Register<tally_t, cell_t>(CELLS) cells;

    RegisterAction<tally_t, cell_t, int<8>>(cells) add_worker = {
        void apply(inout tally_t cell, out int<8> before) {
            before = cell.missing;
            if (cell.missing == 0) {
                cell.missing = (int<8>)hdr.bridge.num_workers - 1;
                cell.exponent = exponent;
            } else {
                cell.missing = cell.missing - 1;
                cell.exponent = max(cell.exponent, exponent);
            }
        }
    };

    RegisterAction<tally_t, cell_t, int<8>>(cells) read_missing = {
        void apply(inout tally_t cell, out int<8> now) {
            now = cell.missing;
        }
    };

    RegisterAction<tally_t, cell_t, int<8>>(cells) read_exponent = {
        void apply(inout tally_t cell, out int<8> largest) {
            largest = cell.exponent;
        }
    };

#ifdef WITH_LEVELS
    // The sums of all are there: their exponent takes the place of the partial sums', if those were complete.
    RegisterAction<tally_t, cell_t, int<8>>(cells) take_exponent = {
        void apply(inout tally_t cell, out int<8> now) {
            now = cell.missing;
            if (cell.missing == 0) {
                cell.exponent = exponent;
            }
        }
    };

    action take() {
        missing = take_exponent.execute(md.cell);
    }
#endif

    action count() {
        missing = add_worker.execute(md.cell);
    }

    action look() {
        missing = read_missing.execute(md.cell);
    }

    action harvest() {
        exponent = read_exponent.execute(md.cell);
    }

    table tally {
        key = {
            md.op   : ternary;
            md.seen : ternary;
#ifdef WITH_LEVELS
            md.other_use : ternary;
#endif
        }
        actions = {
            count;
            look;
            harvest;
#ifdef WITH_LEVELS
            take;
#endif
            NoAction;
        }
        const entries = {
#ifdef WITH_LEVELS
            (op_t.CONSUME, 0, _)  : count();
            (op_t.CONSUME, _, _)  : look();
            (op_t.RESULT, _, 0)   : take();
            (op_t.READ_LOW, _, _) : harvest();
            (op_t.READ_NONE, _, _): harvest();
#else
            (op_t.CONSUME, 0)  : count();
            (op_t.CONSUME, _)  : look();
            (op_t.READ_LOW, _) : harvest();
            (op_t.READ_NONE, _): harvest();
            (op_t.READ_BRIEF, _): harvest();
#endif
        }
        const default_action = NoAction;
        size = 5;
    }

    apply {
        tally.apply();
    }
}

#ifdef HALVES
#include "halves_lanes.p4"
#else
// ---------------------------------------------------------------------------------------------------
// Two elements of every cell: element k of both halves for lane k.
//
// Both are written in one access but only one can be returned: the second half comes back with the
// packet that completes the cell, the first needs another pass.
struct pair_t {
    value_t low;
    value_t high;
}

control Lane(inout value_t low, inout value_t high, in ingress_metadata_t md) {
    Register<pair_t, cell_t>(CELLS) cells;

    RegisterAction<pair_t, cell_t, value_t>(cells) write_cell = {
        void apply(inout pair_t cell, out value_t sum) {
            cell.low = low;
            cell.high = high;
            sum = cell.high;
        }
    };

    RegisterAction<pair_t, cell_t, value_t>(cells) add_to_cell = {
        void apply(inout pair_t cell, out value_t sum) {
            cell.low = cell.low + low;
            cell.high = cell.high + high;
            sum = cell.high;
        }
    };

    RegisterAction<pair_t, cell_t, value_t>(cells) read_cell_low = {
        void apply(inout pair_t cell, out value_t sum) {
            sum = cell.low;
        }
    };

    RegisterAction<pair_t, cell_t, value_t>(cells) read_cell_high = {
        void apply(inout pair_t cell, out value_t sum) {
            sum = cell.high;
        }
    };

    action overwrite() {
        high = write_cell.execute(md.cell);
    }

    action add() {
        high = add_to_cell.execute(md.cell);
    }

    action read_low() {
        low = read_cell_low.execute(md.cell);
    }

    action read_high() {
        high = read_cell_high.execute(md.cell);
    }

    table lane {
        key = {
            md.op      : ternary;
            md.missing : ternary;
        }
        actions = {
            overwrite;
            add;
            read_low;
            read_high;
            NoAction;
        }
        const entries = {
            (op_t.CONSUME, 0)  : overwrite();
            (op_t.CONSUME, _)  : add();
            (op_t.DUPLICATE, _): read_high();
            (op_t.READ_HIGH, _): read_high();
            (op_t.READ_LOW, _) : read_low();
#ifdef WITH_LEVELS
            (op_t.RESULT, 0)   : overwrite();
#endif
        }
        const default_action = NoAction;
#ifdef WITH_LEVELS
        size = 6;
#else
        size = 5;
#endif
    }

    apply {
        lane.apply();
    }
}

#ifndef SUMS_ALONE
// The elements of a packet that came without.
control Zeros(inout headers_t hdr, in ingress_metadata_t md) {
    action zeros() {
        hdr.low.setValid();
        hdr.high.setValid();
        hdr.low.v00 = 0;
        hdr.low.v01 = 0;
        hdr.low.v02 = 0;
        hdr.low.v03 = 0;
        hdr.low.v04 = 0;
        hdr.low.v05 = 0;
        hdr.low.v06 = 0;
        hdr.low.v07 = 0;
        hdr.low.v08 = 0;
        hdr.low.v09 = 0;
        hdr.low.v10 = 0;
        hdr.low.v11 = 0;
        hdr.low.v12 = 0;
        hdr.low.v13 = 0;
        hdr.low.v14 = 0;
        hdr.low.v15 = 0;
        hdr.low.v16 = 0;
        hdr.low.v17 = 0;
        hdr.low.v18 = 0;
        hdr.low.v19 = 0;
        hdr.low.v20 = 0;
        hdr.low.v21 = 0;
        hdr.low.v22 = 0;
        hdr.low.v23 = 0;
        hdr.low.v24 = 0;
        hdr.low.v25 = 0;
        hdr.low.v26 = 0;
        hdr.low.v27 = 0;
        hdr.low.v28 = 0;
        hdr.low.v29 = 0;
        hdr.low.v30 = 0;
        hdr.low.v31 = 0;
        hdr.high.v00 = 0;
        hdr.high.v01 = 0;
        hdr.high.v02 = 0;
        hdr.high.v03 = 0;
        hdr.high.v04 = 0;
        hdr.high.v05 = 0;
        hdr.high.v06 = 0;
        hdr.high.v07 = 0;
        hdr.high.v08 = 0;
        hdr.high.v09 = 0;
        hdr.high.v10 = 0;
        hdr.high.v11 = 0;
        hdr.high.v12 = 0;
        hdr.high.v13 = 0;
        hdr.high.v14 = 0;
        hdr.high.v15 = 0;
        hdr.high.v16 = 0;
        hdr.high.v17 = 0;
        hdr.high.v18 = 0;
        hdr.high.v19 = 0;
        hdr.high.v20 = 0;
        hdr.high.v21 = 0;
        hdr.high.v22 = 0;
        hdr.high.v23 = 0;
        hdr.high.v24 = 0;
        hdr.high.v25 = 0;
        hdr.high.v26 = 0;
        hdr.high.v27 = 0;
        hdr.high.v28 = 0;
        hdr.high.v29 = 0;
        hdr.high.v30 = 0;
        hdr.high.v31 = 0;
    }

    apply {
        if (md.op == op_t.CONSUME && !hdr.high.isValid()) {
            zeros();
        }
    }
}

#endif

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
    Lane() lane31;

    apply {
        lane00.apply(hdr.low.v00, hdr.high.v00, md);
        lane01.apply(hdr.low.v01, hdr.high.v01, md);
        lane02.apply(hdr.low.v02, hdr.high.v02, md);
        lane03.apply(hdr.low.v03, hdr.high.v03, md);
        lane04.apply(hdr.low.v04, hdr.high.v04, md);
        lane05.apply(hdr.low.v05, hdr.high.v05, md);
        lane06.apply(hdr.low.v06, hdr.high.v06, md);
        lane07.apply(hdr.low.v07, hdr.high.v07, md);
        lane08.apply(hdr.low.v08, hdr.high.v08, md);
        lane09.apply(hdr.low.v09, hdr.high.v09, md);
        lane10.apply(hdr.low.v10, hdr.high.v10, md);
        lane11.apply(hdr.low.v11, hdr.high.v11, md);
        lane12.apply(hdr.low.v12, hdr.high.v12, md);
        lane13.apply(hdr.low.v13, hdr.high.v13, md);
        lane14.apply(hdr.low.v14, hdr.high.v14, md);
        lane15.apply(hdr.low.v15, hdr.high.v15, md);
        lane16.apply(hdr.low.v16, hdr.high.v16, md);
        lane17.apply(hdr.low.v17, hdr.high.v17, md);
        lane18.apply(hdr.low.v18, hdr.high.v18, md);
        lane19.apply(hdr.low.v19, hdr.high.v19, md);
        lane20.apply(hdr.low.v20, hdr.high.v20, md);
        lane21.apply(hdr.low.v21, hdr.high.v21, md);
        lane22.apply(hdr.low.v22, hdr.high.v22, md);
        lane23.apply(hdr.low.v23, hdr.high.v23, md);
        lane24.apply(hdr.low.v24, hdr.high.v24, md);
        lane25.apply(hdr.low.v25, hdr.high.v25, md);
        lane26.apply(hdr.low.v26, hdr.high.v26, md);
        lane27.apply(hdr.low.v27, hdr.high.v27, md);
        lane28.apply(hdr.low.v28, hdr.high.v28, md);
        lane29.apply(hdr.low.v29, hdr.high.v29, md);
        lane30.apply(hdr.low.v30, hdr.high.v30, md);
        lane31.apply(hdr.low.v31, hdr.high.v31, md);
    }
}

#endif

#endif
