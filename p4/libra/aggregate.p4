/* SPDX-License-Identifier: Apache-2.0
 *
 * aggregate.p4: the cells, the records of what was added, and what a packet does to both.
 *
 * A chip's register is visited once per pass, in one stage, and a stage has four stateful ALUs. The chain of
 * dependencies is therefore the design:
 *
 *     where the cells are  ->  is each in the share  ->  was this push added before  ->  four registers to a stage
 */
#ifndef LIBRA_AGGREGATE_P4
#define LIBRA_AGGREGATE_P4

#include "headers.p4"

// Cells of each register, shared by all jobs: 16 registers of 16,384 hold 262,144 parameters in 1 MB.
#define CELLS     16384
#define CELL_BITS 14
typedef bit<CELL_BITS> cell_t;

// Records of pushes: a window of 512 for each of 64 workers.
#define RECORDS     32768
#define WINDOW_BITS 9
typedef bit<15> record_t;

struct ingress_metadata_t {
    op_t          op;
    drop_reason_t reason;
    bool          bad_checksum;
    bool          bad_place;
    bool          length_ok;
    bool          admitted;
    bool          answered;
    mac_addr_t    sender_mac;     // where an answer goes to
    ipv4_addr_t   sender_ip;
    bit<16>       sender_port;
    bit<16>       epoch_differs;  // bits in which the packet's epoch differs from its job's
    bit<16>       cell_base;      // of the job, in each register
    bit<16>       cell_last;      // number of its cells - 1
    bit<16>       record;         // of the push
    bit<32>       age;            // 0: it was added; top bit set: it is new; else a later one took its record
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
}

// ---------------------------------------------------------------------------------------------------
// Which push a record was last taken by. Every push takes its record when it is added, which is in the same pass, so
// that one is added once, whatever is lost, repeated or late on the way. What is older than its record is refused:
// whether it was added is not known any more.
control Records(inout headers_t hdr, inout ingress_metadata_t md) {
    Register<bit<32>, record_t>(RECORDS) records;

    RegisterAction<bit<32>, record_t, bit<32>>(records) take = {
        void apply(inout bit<32> last, out bit<32> before) {
            before = last;
            if (last < hdr.libra.sequence) {
                last = hdr.libra.sequence;
            }
        }
    };

    apply {
        md.age = take.execute(md.record[14:0]);
        md.age = md.age - hdr.libra.sequence;
    }
}

// ---------------------------------------------------------------------------------------------------
// A place of the packet, and the register that it belongs to.
control Place(inout value_t value, in bit<16> cell, in bit<1> used, in ingress_metadata_t md) {
    Register<value_t, cell_t>(CELLS) cells;

    RegisterAction<value_t, cell_t, value_t>(cells) add_value = {
        void apply(inout value_t sum) {
            sum = sum + value;
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells) read_value = {
        void apply(inout value_t sum, out value_t now) {
            now = sum;
        }
    };

    action add() {
        add_value.execute(cell[CELL_BITS - 1:0]);
    }

    action read() {
        value = read_value.execute(cell[CELL_BITS - 1:0]);
    }

    table place {
        key = {
            md.op         : ternary;
            used          : ternary;
            md.age[31:31] : ternary @name("new");
        }
        actions = {
            add;
            read;
            NoAction;
        }
        const entries = {
            (op_t.PUSH, 1, 1): add();
            (op_t.PULL, 1, _): read();
        }
        const default_action = NoAction;
        size = 2;
    }

    apply {
        place.apply();
    }
}

control Places(inout headers_t hdr, in ingress_metadata_t md) {
    Place() place00;
    Place() place01;
    Place() place02;
    Place() place03;
    Place() place04;
    Place() place05;
    Place() place06;
    Place() place07;
    Place() place08;
    Place() place09;
    Place() place10;
    Place() place11;
    Place() place12;
    Place() place13;
    Place() place14;
    Place() place15;

    apply {
        place00.apply(hdr.pair00.value, md.cell00, hdr.libra.places[15:15], md);
        place01.apply(hdr.pair01.value, md.cell01, hdr.libra.places[14:14], md);
        place02.apply(hdr.pair02.value, md.cell02, hdr.libra.places[13:13], md);
        place03.apply(hdr.pair03.value, md.cell03, hdr.libra.places[12:12], md);
        place04.apply(hdr.pair04.value, md.cell04, hdr.libra.places[11:11], md);
        place05.apply(hdr.pair05.value, md.cell05, hdr.libra.places[10:10], md);
        place06.apply(hdr.pair06.value, md.cell06, hdr.libra.places[9:9], md);
        place07.apply(hdr.pair07.value, md.cell07, hdr.libra.places[8:8], md);
        place08.apply(hdr.pair08.value, md.cell08, hdr.libra.places[7:7], md);
        place09.apply(hdr.pair09.value, md.cell09, hdr.libra.places[6:6], md);
        place10.apply(hdr.pair10.value, md.cell10, hdr.libra.places[5:5], md);
        place11.apply(hdr.pair11.value, md.cell11, hdr.libra.places[4:4], md);
        place12.apply(hdr.pair12.value, md.cell12, hdr.libra.places[3:3], md);
        place13.apply(hdr.pair13.value, md.cell13, hdr.libra.places[2:2], md);
        place14.apply(hdr.pair14.value, md.cell14, hdr.libra.places[1:1], md);
        place15.apply(hdr.pair15.value, md.cell15, hdr.libra.places[0:0], md);
    }
}

#endif
