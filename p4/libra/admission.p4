/* SPDX-License-Identifier: Apache-2.0
 *
 * admission.p4: who may push, and where: the first pass's checks, before anything is touched.
 */
#ifndef LIBRA_ADMISSION_P4
#define LIBRA_ADMISSION_P4

#include "headers.p4"

// Cells of each register, shared by all jobs: 16 registers of 16,384 hold 262,144 parameters in 1 MB.
#define CELLS     16384
#define CELL_BITS 14
typedef bit<CELL_BITS> cell_t;

// Records of pushes: a window of 512 for each of 64 workers.
#define RECORDS     32768
#define WINDOW_BITS 9
typedef bit<15> record_t;

#define WORKERS 64      // of all jobs: each has a window of records

struct ingress_metadata_t {
    op_t          op;
    drop_reason_t reason;
    bool          bad_checksum;
    bool          bad_place;
    bool          length_ok;
    bool          admitted;
    bool          acks;           // it is an ack or like one, and as long
    rights_t      rights;
    bool          answered;
    bit<16>       epoch_differs;  // bits in which the packet's epoch differs from its job's
    bit<16>       record;         // of the push
#ifdef LIBRA_INTEGERS
    bit<32>       age;            // 0: it was added; top bit set: it is new; else a later one took its record
#else
    bit<8>        last;           // number of the last group of two places
    bit<8>        groups_to_go;
    bit<16>       left;           // as state.left after this pass
    bit<1>        works;          // a lane waits for a sum
#endif
    // Of the job: 16 times its first cell, and its highest index. An ALU takes two operands from one group of
    // containers, so each group of places has its own. Later passes have the two lanes' cells in base_a and last_a.
    bit<32>       base_a;
#ifdef LIBRA_INTEGERS
    bit<32>       base_b;
    bit<32>       base_c;
#endif
    bit<32>       last_a;
    bit<32>       last_b;
    bit<32>       last_c;
#ifdef LIBRA_INTEGERS
    // First: how far below the share's end an index is, the top bit is set where it is outside. Then 16 times its cell.
    bit<32>       cell00;
    bit<32>       cell01;
    bit<32>       cell02;
    bit<32>       cell03;
    bit<32>       cell04;
    bit<32>       cell05;
    bit<32>       cell06;
    bit<32>       cell07;
    bit<32>       cell08;
    bit<32>       cell09;
    bit<32>       cell10;
    bit<32>       cell11;
    bit<32>       cell12;
    bit<32>       cell13;
    bit<32>       cell14;
    bit<32>       cell15;
#endif
}

struct egress_metadata_t {
#ifndef LIBRA_INTEGERS
    drop_reason_t reason;
    bit<32>       age;     // 0: the push has begun; 1: it was added; top bit set: it is new; else its record is taken
#endif
}

// ---------------------------------------------------------------------------------------------------
// Who may push, and where.
control Admission(inout headers_t hdr, inout ingress_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) received;

    // cell_base    first cell of the job in each register
    // cell_last    number of its cells in each register - 1
    // record_base  512 times the worker's number among those of the switch, 0 to 63
    // epoch        of the job's layout
    action admit(bit<16> cell_base, bit<16> cell_last, bit<16> record_base, bit<16> epoch) {
        received.count();
        md.admitted = true;
        md.record = record_base | (bit<16>)hdr.libra.sequence[WINDOW_BITS - 1:0];
        md.base_a = 12w0 ++ cell_base ++ 4w0;
#ifdef LIBRA_INTEGERS
        md.base_b = 12w0 ++ cell_base ++ 4w0;
        md.base_c = 12w0 ++ cell_base ++ 4w0;
#endif
        md.last_a = 12w0 ++ cell_last ++ 4w15;
        md.last_b = 12w0 ++ cell_last ++ 4w15;
        md.last_c = 12w0 ++ cell_last ++ 4w15;
        md.epoch_differs = hdr.libra.epoch ^ epoch;
    }

#ifndef WITHOUT_CPU
    // The same, with rights.
    action enroll(bit<16> cell_base, bit<16> cell_last, bit<16> record_base, bit<16> epoch, rights_t rights) {
        received.count();
        md.admitted = true;
        md.rights = rights;
        md.record = record_base | (bit<16>)hdr.libra.sequence[WINDOW_BITS - 1:0];
        md.base_a = 12w0 ++ cell_base ++ 4w0;
#ifdef LIBRA_INTEGERS
        md.base_b = 12w0 ++ cell_base ++ 4w0;
        md.base_c = 12w0 ++ cell_base ++ 4w0;
#endif
        md.last_a = 12w0 ++ cell_last ++ 4w15;
        md.last_b = 12w0 ++ cell_last ++ 4w15;
        md.last_c = 12w0 ++ cell_last ++ 4w15;
        md.epoch_differs = hdr.libra.epoch ^ epoch;
    }
#endif

    action unknown() {
        received.count();
        md.admitted = false;
    }

    table workers {
        key = {
            hdr.libra.job           : exact;
            hdr.libra.worker        : exact;
            hdr.ipv4.src_addr       : exact;
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            admit;
#ifndef WITHOUT_CPU
            enroll;
#endif
            @defaultonly unknown;
        }
        const default_action = unknown;
        size = WORKERS;
        counters = received;
    }

    action length_fits() {
        md.length_ok = true;
    }

    action length_differs() {
        md.length_ok = false;
    }

    // 20 + 8 + 16 + 16 * 8 bytes.
    table lengths {
        key = {
            hdr.ipv4.total_len : exact;
            hdr.udp.length     : exact;
        }
        actions = {
            length_fits;
            length_differs;
        }
        const entries = {
            (172, 152): length_fits();
        }
        const default_action = length_differs;
        size = 1;
    }

    // An index is its register's number and, four bits up, the cell.
#ifdef LIBRA_INTEGERS
    action find_room() {
        md.cell00 = md.last_a - hdr.pair00.index;
        md.cell01 = md.last_a - hdr.pair01.index;
        md.cell02 = md.last_a - hdr.pair02.index;
        md.cell03 = md.last_a - hdr.pair03.index;
        md.cell04 = md.last_a - hdr.pair04.index;
        md.cell05 = md.last_a - hdr.pair05.index;
        md.cell06 = md.last_b - hdr.pair06.index;
        md.cell07 = md.last_b - hdr.pair07.index;
        md.cell08 = md.last_b - hdr.pair08.index;
        md.cell09 = md.last_b - hdr.pair09.index;
        md.cell10 = md.last_b - hdr.pair10.index;
        md.cell11 = md.last_c - hdr.pair11.index;
        md.cell12 = md.last_c - hdr.pair12.index;
        md.cell13 = md.last_c - hdr.pair13.index;
        md.cell14 = md.last_c - hdr.pair14.index;
        md.cell15 = md.last_c - hdr.pair15.index;
    }

    action find_cells() {
        md.cell00 = md.base_a + hdr.pair00.index;
        md.cell01 = md.base_a + hdr.pair01.index;
        md.cell02 = md.base_a + hdr.pair02.index;
        md.cell03 = md.base_a + hdr.pair03.index;
        md.cell04 = md.base_a + hdr.pair04.index;
        md.cell05 = md.base_a + hdr.pair05.index;
        md.cell06 = md.base_b + hdr.pair06.index;
        md.cell07 = md.base_b + hdr.pair07.index;
        md.cell08 = md.base_b + hdr.pair08.index;
        md.cell09 = md.base_b + hdr.pair09.index;
        md.cell10 = md.base_b + hdr.pair10.index;
        md.cell11 = md.base_c + hdr.pair11.index;
        md.cell12 = md.base_c + hdr.pair12.index;
        md.cell13 = md.base_c + hdr.pair13.index;
        md.cell14 = md.base_c + hdr.pair14.index;
        md.cell15 = md.base_c + hdr.pair15.index;
    }
#else
    // Counted down from the share's end: the top bit is set where it is outside. Later passes have it so, too.
    action find_room() {
        hdr.pair00.index = md.last_a - hdr.pair00.index;
        hdr.pair01.index = md.last_a - hdr.pair01.index;
        hdr.pair02.index = md.last_a - hdr.pair02.index;
        hdr.pair03.index = md.last_a - hdr.pair03.index;
        hdr.pair04.index = md.last_a - hdr.pair04.index;
        hdr.pair05.index = md.last_a - hdr.pair05.index;
        hdr.pair06.index = md.last_b - hdr.pair06.index;
        hdr.pair07.index = md.last_b - hdr.pair07.index;
        hdr.pair08.index = md.last_b - hdr.pair08.index;
        hdr.pair09.index = md.last_b - hdr.pair09.index;
        hdr.pair10.index = md.last_b - hdr.pair10.index;
        hdr.pair11.index = md.last_c - hdr.pair11.index;
        hdr.pair12.index = md.last_c - hdr.pair12.index;
        hdr.pair13.index = md.last_c - hdr.pair13.index;
        hdr.pair14.index = md.last_c - hdr.pair14.index;
        hdr.pair15.index = md.last_c - hdr.pair15.index;
    }
#endif

    action push() {
        md.op = op_t.PUSH;
    }

    action pull() {
        md.op = op_t.PULL;
    }

    action collect() {
        md.op = op_t.COLLECT;
    }

    action hear() {
        md.op = op_t.HEAR;
    }

    action refuse(drop_reason_t reason) {
        md.op = op_t.DROP;
        md.reason = reason;
    }

    // What can be told before the cells are known.
    table screen {
        key = {
            md.bad_checksum            : ternary;
            md.length_ok               : ternary;
            md.acks                    : ternary;
            md.admitted                : ternary;
            md.rights                  : ternary;
            md.epoch_differs           : ternary;
            md.bad_place               : ternary;
            hdr.libra.kind             : ternary;
            hdr.libra.sequence         : ternary;
        }
        actions = {
            push;
            pull;
            collect;
            hear;
            refuse;
        }
        const entries = {
            (true, _, _, _, _, _, _, _, _)       : refuse(drop_reason_t.BAD_CHECKSUM);
            (_, false, false, _, _, _, _, _, _)  : refuse(drop_reason_t.BAD_LENGTH);
            (_, _, _, false, _, _, _, _, _)      : refuse(drop_reason_t.UNKNOWN_WORKER);
            (_, _, _, _, _, _, true, _, _)       : refuse(drop_reason_t.BAD_PLACE);
            (_, _, true, _, RIGHT_CPU &&& RIGHT_CPU, 0, _, _, _): hear();
            // one that begins after the job has moved has the layout's epoch still: the CPU tells it the job's
            (_, _, true, _, RIGHT_CPU &&& RIGHT_CPU, _, _, kind_t.JOIN, _): hear();
            (_, _, _, _, _, 0, _, kind_t.PULL, _)   : pull();
            (_, _, _, _, _, 0, _, kind_t.PUSH, 0)   : refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH, 0x80000000 &&& 0x80000000): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH, 0x40000000 &&& 0x40000000): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH, _)   : push();
            (_, _, _, _, RIGHT_COLLECT &&& RIGHT_COLLECT, 0, _, kind_t.COLLECT, 0): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, RIGHT_COLLECT &&& RIGHT_COLLECT, 0, _, kind_t.COLLECT, 0x80000000 &&& 0x80000000):
                refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, RIGHT_COLLECT &&& RIGHT_COLLECT, 0, _, kind_t.COLLECT, 0x40000000 &&& 0x40000000):
                refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, RIGHT_COLLECT &&& RIGHT_COLLECT, 0, _, kind_t.COLLECT, _): collect();
#ifndef LIBRA_INTEGERS
            (_, _, _, _, _, 0, _, kind_t.PUSH_ANY, 0)  : refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH_ANY, 0x80000000 &&& 0x80000000): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH_ANY, 0x40000000 &&& 0x40000000): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, _, _, 0, _, kind_t.PUSH_ANY, _)  : push();
#endif
            (_, _, _, _, _, 0, _, _, _)          : refuse(drop_reason_t.BAD_KIND);
        }
        const default_action = refuse(drop_reason_t.OTHER_EPOCH);
        size = 20;
    }

    // Are all cells in the job's share.
    table shares {
        key = {
#ifdef LIBRA_INTEGERS
            md.cell00[31:31] : ternary @name("outside00");
            md.cell01[31:31] : ternary @name("outside01");
            md.cell02[31:31] : ternary @name("outside02");
            md.cell03[31:31] : ternary @name("outside03");
            md.cell04[31:31] : ternary @name("outside04");
            md.cell05[31:31] : ternary @name("outside05");
            md.cell06[31:31] : ternary @name("outside06");
            md.cell07[31:31] : ternary @name("outside07");
            md.cell08[31:31] : ternary @name("outside08");
            md.cell09[31:31] : ternary @name("outside09");
            md.cell10[31:31] : ternary @name("outside10");
            md.cell11[31:31] : ternary @name("outside11");
            md.cell12[31:31] : ternary @name("outside12");
            md.cell13[31:31] : ternary @name("outside13");
            md.cell14[31:31] : ternary @name("outside14");
            md.cell15[31:31] : ternary @name("outside15");
#else
            hdr.pair00.index[31:31] : ternary @name("outside00");
            hdr.pair01.index[31:31] : ternary @name("outside01");
            hdr.pair02.index[31:31] : ternary @name("outside02");
            hdr.pair03.index[31:31] : ternary @name("outside03");
            hdr.pair04.index[31:31] : ternary @name("outside04");
            hdr.pair05.index[31:31] : ternary @name("outside05");
            hdr.pair06.index[31:31] : ternary @name("outside06");
            hdr.pair07.index[31:31] : ternary @name("outside07");
            hdr.pair08.index[31:31] : ternary @name("outside08");
            hdr.pair09.index[31:31] : ternary @name("outside09");
            hdr.pair10.index[31:31] : ternary @name("outside10");
            hdr.pair11.index[31:31] : ternary @name("outside11");
            hdr.pair12.index[31:31] : ternary @name("outside12");
            hdr.pair13.index[31:31] : ternary @name("outside13");
            hdr.pair14.index[31:31] : ternary @name("outside14");
            hdr.pair15.index[31:31] : ternary @name("outside15");
#endif
        }
        actions = {
            NoAction;
            refuse;
        }
        const entries = {
            (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0): NoAction();
        }
        const default_action = refuse(drop_reason_t.BAD_INDEX);
        size = 1;
    }

    apply {
        lengths.apply();
        workers.apply();
        find_room();
        screen.apply();
        if (md.op != op_t.DROP && md.op != op_t.HEAR) {
            shares.apply();
        }
#ifdef LIBRA_INTEGERS
        find_cells();
#endif
    }
}

#endif
