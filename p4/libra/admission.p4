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
    mac_addr_t    sender_mac;     // where an answer goes to
    ipv4_addr_t   sender_ip;
    bit<16>       sender_port;
    bit<16>       epoch_differs;  // bits in which the packet's epoch differs from its job's
    bit<16>       cell_base;      // of the job, in each register
    bit<16>       cell_last;      // number of its cells - 1
    bit<16>       record;         // of the push
#ifdef LIBRA_INTEGERS
    bit<32>       age;            // 0: it was added; top bit set: it is new; else a later one took its record
#else
    bit<8>        last;           // number of the last group of two places
    bit<8>        groups_to_go;
    bit<16>       left;           // as state.left after this pass
    bit<1>        works;          // a lane waits for a sum
#endif
    bit<16>       cell00;
    bit<16>       cell01;
    bit<16>       cell02;
    bit<16>       cell03;
    bit<16>       cell04;
    bit<16>       cell05;
    bit<16>       cell06;
    bit<16>       cell07;
    bit<16>       cell08;
    bit<16>       cell09;
    bit<16>       cell10;
    bit<16>       cell11;
    bit<16>       cell12;
    bit<16>       cell13;
    bit<16>       cell14;
    bit<16>       cell15;
    // cells of the job above this one; the top bit is set where it is outside
    bit<16>       room00;
    bit<16>       room01;
    bit<16>       room02;
    bit<16>       room03;
    bit<16>       room04;
    bit<16>       room05;
    bit<16>       room06;
    bit<16>       room07;
    bit<16>       room08;
    bit<16>       room09;
    bit<16>       room10;
    bit<16>       room11;
    bit<16>       room12;
    bit<16>       room13;
    bit<16>       room14;
    bit<16>       room15;
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
        md.cell_base = cell_base;
        md.cell_last = cell_last;
        md.record = record_base;
        md.epoch_differs = hdr.libra.epoch ^ epoch;
        md.sender_mac = hdr.ethernet.src_addr;
        md.sender_ip = hdr.ipv4.src_addr;
        md.sender_port = hdr.udp.src_port;
    }

    // The same, with rights.
    action enroll(bit<16> cell_base, bit<16> cell_last, bit<16> record_base, bit<16> epoch, rights_t rights) {
        received.count();
        md.admitted = true;
        md.rights = rights;
        md.cell_base = cell_base;
        md.cell_last = cell_last;
        md.record = record_base;
        md.epoch_differs = hdr.libra.epoch ^ epoch;
        md.sender_mac = hdr.ethernet.src_addr;
        md.sender_ip = hdr.ipv4.src_addr;
        md.sender_port = hdr.udp.src_port;
    }

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
            enroll;
            @defaultonly unknown;
        }
        const default_action = unknown;
        size = WORKERS;
        counters = received;
    }

    // An index is its register's number and, four bits up, the cell.
    action length_fits() {
        md.length_ok = true;
        md.cell00 = (bit<16>)(hdr.pair00.index >> 4);
        md.cell01 = (bit<16>)(hdr.pair01.index >> 4);
        md.cell02 = (bit<16>)(hdr.pair02.index >> 4);
        md.cell03 = (bit<16>)(hdr.pair03.index >> 4);
        md.cell04 = (bit<16>)(hdr.pair04.index >> 4);
        md.cell05 = (bit<16>)(hdr.pair05.index >> 4);
        md.cell06 = (bit<16>)(hdr.pair06.index >> 4);
        md.cell07 = (bit<16>)(hdr.pair07.index >> 4);
        md.cell08 = (bit<16>)(hdr.pair08.index >> 4);
        md.cell09 = (bit<16>)(hdr.pair09.index >> 4);
        md.cell10 = (bit<16>)(hdr.pair10.index >> 4);
        md.cell11 = (bit<16>)(hdr.pair11.index >> 4);
        md.cell12 = (bit<16>)(hdr.pair12.index >> 4);
        md.cell13 = (bit<16>)(hdr.pair13.index >> 4);
        md.cell14 = (bit<16>)(hdr.pair14.index >> 4);
        md.cell15 = (bit<16>)(hdr.pair15.index >> 4);
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

    action find_room() {
        md.room00 = md.cell_last - md.cell00;
        md.room01 = md.cell_last - md.cell01;
        md.room02 = md.cell_last - md.cell02;
        md.room03 = md.cell_last - md.cell03;
        md.room04 = md.cell_last - md.cell04;
        md.room05 = md.cell_last - md.cell05;
        md.room06 = md.cell_last - md.cell06;
        md.room07 = md.cell_last - md.cell07;
        md.room08 = md.cell_last - md.cell08;
        md.room09 = md.cell_last - md.cell09;
        md.room10 = md.cell_last - md.cell10;
        md.room11 = md.cell_last - md.cell11;
        md.room12 = md.cell_last - md.cell12;
        md.room13 = md.cell_last - md.cell13;
        md.room14 = md.cell_last - md.cell14;
        md.room15 = md.cell_last - md.cell15;
#ifdef LIBRA_INTEGERS
        md.cell00 = md.cell_base + md.cell00;
        md.cell01 = md.cell_base + md.cell01;
        md.cell02 = md.cell_base + md.cell02;
        md.cell03 = md.cell_base + md.cell03;
        md.cell04 = md.cell_base + md.cell04;
        md.cell05 = md.cell_base + md.cell05;
        md.cell06 = md.cell_base + md.cell06;
        md.cell07 = md.cell_base + md.cell07;
        md.cell08 = md.cell_base + md.cell08;
        md.cell09 = md.cell_base + md.cell09;
        md.cell10 = md.cell_base + md.cell10;
        md.cell11 = md.cell_base + md.cell11;
        md.cell12 = md.cell_base + md.cell12;
        md.cell13 = md.cell_base + md.cell13;
        md.cell14 = md.cell_base + md.cell14;
        md.cell15 = md.cell_base + md.cell15;
#endif
        md.record = md.record | (bit<16>)hdr.libra.sequence[WINDOW_BITS - 1:0];
    }

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
        size = 19;
    }

    // Are all cells in the job's share.
    table shares {
        key = {
            md.room00[15:15] : ternary @name("outside00");
            md.room01[15:15] : ternary @name("outside01");
            md.room02[15:15] : ternary @name("outside02");
            md.room03[15:15] : ternary @name("outside03");
            md.room04[15:15] : ternary @name("outside04");
            md.room05[15:15] : ternary @name("outside05");
            md.room06[15:15] : ternary @name("outside06");
            md.room07[15:15] : ternary @name("outside07");
            md.room08[15:15] : ternary @name("outside08");
            md.room09[15:15] : ternary @name("outside09");
            md.room10[15:15] : ternary @name("outside10");
            md.room11[15:15] : ternary @name("outside11");
            md.room12[15:15] : ternary @name("outside12");
            md.room13[15:15] : ternary @name("outside13");
            md.room14[15:15] : ternary @name("outside14");
            md.room15[15:15] : ternary @name("outside15");
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
        workers.apply();
        lengths.apply();
        find_room();
        screen.apply();
        if (md.op != op_t.DROP && md.op != op_t.HEAR) {
            shares.apply();
        }
    }
}

#endif
