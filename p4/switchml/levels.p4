/* SPDX-License-Identifier: Apache-2.0
 *
 * levels.p4: what a switch with another one above it knows of a slot, besides its workers' sum: which use of the slot that
 * is, and whether the sum of all has come down. README.md, "Levels", has the proof that needs both.
 *
 * Neither register is cleared between two jobs or sessions: each use of a slot begins with packets that write them.
 */
#ifndef SWITCHML_LEVELS_P4
#define SWITCHML_LEVELS_P4

#include "headers.p4"
#include "aggregate.p4"

// The tsi of a cell's present use, which all packets of that use have: a worker's packet notes it. In sums from above it is
// compared, so those that come late, for an earlier use of the cell or of an earlier session, are told from those awaited.
control Uses(inout headers_t hdr, inout ingress_metadata_t md) {
    Register<bit<32>, cell_t>(CELLS) present;

    // md.cell, put together on the way to the register. md.cell itself is written a stage after
    // the bridge's cell: with it the chip's compiler places all from here on a stage later (13).
    Hash<cell_t>(HashAlgorithm_t.IDENTITY) noted;
    Hash<cell_t>(HashAlgorithm_t.IDENTITY) compared;

    RegisterAction<bit<32>, cell_t, bit<32>>(present) write_tsi = {
        void apply(inout bit<32> tsi) {
            tsi = hdr.switchml.tsi;
        }
    };

    RegisterAction<bit<32>, cell_t, bit<32>>(present) compare_tsi = {
        void apply(inout bit<32> tsi, out bit<32> differs) {
            differs = tsi ^ hdr.switchml.tsi;
        }
    };

    action note() {
        write_tsi.execute(noted.get({hdr.bridge.cell[15:15], hdr.bridge.cell[SLOT_BITS - 1:0]}));
    }

    action compare() {
        md.other_use = compare_tsi.execute(compared.get({hdr.bridge.cell[15:15],
                                                         hdr.bridge.cell[SLOT_BITS - 1:0]}));
    }

    apply {
        if (md.op == op_t.CONSUME) {
            note();
        } else if (md.op == op_t.RESULT) {
            compare();
        }
    }
}

// 1 if the cell has the sums from above, 0 while it has its workers' own. Each part that is added makes it 0, and sums come
// only after the last part.
control Known(inout ingress_metadata_t md) {
    Register<bit<8>, cell_t>(CELLS) cells;

    RegisterAction<bit<8>, cell_t, bit<8>>(cells) begin_cell = {
        void apply(inout bit<8> known, out bit<8> before) {
            before = known;
            known = 0;
        }
    };

    RegisterAction<bit<8>, cell_t, bit<8>>(cells) read_cell = {
        void apply(inout bit<8> known, out bit<8> now) {
            now = known;
        }
    };

    RegisterAction<bit<8>, cell_t, bit<8>>(cells) fill_cell = {
        void apply(inout bit<8> known, out bit<8> before) {
            before = known;
            known = 1;
        }
    };

    action begin() {
        md.known = begin_cell.execute(md.cell);
    }

    action look() {
        md.known = read_cell.execute(md.cell);
    }

    action fill() {
        md.known = fill_cell.execute(md.cell);
    }

    table known {
        key = {
            md.op   : ternary;
            md.seen : ternary;
            md.other_use : ternary;
        }
        actions = {
            begin;
            look;
            fill;
            NoAction;
        }
        const entries = {
            (op_t.CONSUME, 0, _): begin();
            (op_t.CONSUME, _, _): look();
            (op_t.RESULT, _, 0) : fill();
        }
        const default_action = NoAction;
        size = 3;
    }

    apply {
        known.apply();
    }
}

#endif
