/* SPDX-License-Identifier: Apache-2.0
 *
 * floats.p4: sums of 32-bit floats: the cells, the records of what was added, and the pipeline.
 *
 * An addition takes tables of its own, so a pass adds two pairs, those at places 0 and 1, and a sum is written in the
 * pass after the one in which its cell was read. Another packet may have come between: a cell is written only if it
 * still is what was read (compare and swap); if not, that pass has read it again. When the two are done, the next
 * pass's parser puts them behind the others.
 *
 * Lane 0 works with the even registers, lane 1 with the odd ones. In a PUSH eight turns bring each pair to its lane
 * once. In a PUSH_ANY a third place is turned after every eighth turn, so each pair is in each lane once in sixteen; the
 * pair at place p, of register r, is worked on after turn 8 * d + ((p - d) mod 16) / 2 with d = (p - r) mod 2.
 */
#ifndef LIBRA_FLOATS_P4
#define LIBRA_FLOATS_P4

#include "admission.p4"
#include "adder.p4"

// Cells that a packet may find changed, in all.
#define TRIES 8

// ---------------------------------------------------------------------------------------------------
// A place of the packet, and the registers that its lane works with.
control Lane(inout pair_h pair, in bit<1> left, in bit<1> number, in step_t step, in bit<8> pulls,
             in bit<16> cell_base,
             inout value_t was, in value_t sum,
             out value_t now, out bit<1> done, out bit<1> works, out bit<1> missed) {
    Register<value_t, cell_t>(CELLS) cells0;
    Register<value_t, cell_t>(CELLS) cells1;
    Register<value_t, cell_t>(CELLS) cells2;
    Register<value_t, cell_t>(CELLS) cells3;
    Register<value_t, cell_t>(CELLS) cells4;
    Register<value_t, cell_t>(CELLS) cells5;
    Register<value_t, cell_t>(CELLS) cells6;
    Register<value_t, cell_t>(CELLS) cells7;
    bit<16> cell;
    bit<1>  here;
    value_t change;

    // To read is to write 0 to what is 0.
    RegisterAction<value_t, cell_t, value_t>(cells0) swap0 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells1) swap1 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells2) swap2 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells3) swap3 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells4) swap4 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells5) swap5 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells6) swap6 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells7) swap7 = {
        void apply(inout value_t held, out value_t before) {
            before = held;
            if (held == was) {
                held = sum;
            }
        }
    };

    // An index is its register's number and, four bits up, the cell. These two stand in tables of their own, since that
    // is a stage each.
    action take_cell() {
        cell = (bit<16>)(pair.index >> 4);
    }

    table cells_of_job {
        actions = {
            take_cell;
        }
        const default_action = take_cell;
        size = 1;
    }

    action add_base() {
        cell = cell + cell_base;
    }

    table cells_of_all {
        actions = {
            add_base;
        }
        const default_action = add_base;
        size = 1;
    }

    action tell() {
        pair.value = now;
        done = 1;
    }

    action add_to() {
        was = now;
        works = 1;
    }

    action is_added() {
        done = 1;
    }

    action add_again() {
        was = now;
        works = 1;
        missed = 1;
    }

    table settle {
        key = {
            here       : ternary;
            pulls[0:0] : ternary @name("pulls");
            step       : ternary;
            change     : ternary;
        }
        actions = {
            tell;
            add_to;
            is_added;
            add_again;
            NoAction;
        }
        const entries = {
            (0, _, _, _)           : NoAction();
            (1, 1, _, _)           : tell();
            (1, 0, step_t.READ, _) : add_to();
            (1, 0, step_t.SWAP, 0) : is_added();
        }
        const default_action = add_again;
        size = 4;
    }

    apply {
        here = 0;
        done = 0;
        works = 0;
        missed = 0;
        now = 0;
        cells_of_job.apply();
        cells_of_all.apply();
        if (left == 1 && pair.index[0:0] == number && step != step_t.SKIP) {
            here = 1;
            if (pair.index[3:1] == 0) {
                now = swap0.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 1) {
                now = swap1.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 2) {
                now = swap2.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 3) {
                now = swap3.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 4) {
                now = swap4.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 5) {
                now = swap5.execute(cell[CELL_BITS - 1:0]);
            } else if (pair.index[3:1] == 6) {
                now = swap6.execute(cell[CELL_BITS - 1:0]);
            } else {
                now = swap7.execute(cell[CELL_BITS - 1:0]);
            }
        }
        change = now - was;
        settle.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// What four lanes do in a pass, and what is left to do.
control Step(inout headers_t hdr, inout ingress_metadata_t md) {
    Lane() lane0;
    Lane() lane1;
    Logarithm() x0;
    Logarithm() x1;
    Logarithm() y0;
    Logarithm() y1;
    value_t now0;
    value_t now1;
    bit<1>  done0;
    bit<1>  done1;
    bit<1>  works0;
    bit<1>  works1;
    bit<1>  missed0;
    bit<1>  missed1;

    action mark(bit<16> keep) {
        md.left = hdr.state.left & keep;
    }

    table marks {
        key = {
            done0 : exact;
            done1 : exact;
        }
        actions = {
            mark;
        }
        const entries = {
            (0, 0): mark(0xffff);
            (0, 1): mark(0xbfff);
            (1, 0): mark(0x7fff);
            (1, 1): mark(0x3fff);
        }
        size = 4;
    }

    action work() {
        hdr.state.step = step_t.SWAP;
        md.works = 1;
    }

    action work_again() {
        hdr.state.step = step_t.SWAP;
        hdr.state.tries = hdr.state.tries - 1;
        md.works = 1;
    }

    action give_up() {
        hdr.state.step = step_t.SKIP;
        md.works = 0;
    }

    action go_on() {
        hdr.state.step = step_t.READ;
        md.works = 0;
    }

    action skip() {
        md.works = 0;
    }

    table works {
        key = {
            works0        : ternary;
            missed0       : ternary;
            works1        : ternary;
            missed1       : ternary;
            hdr.state.tries : ternary;
            hdr.state.step  : ternary;
        }
        actions = {
            work;
            work_again;
            give_up;
            go_on;
            skip;
        }
        const entries = {
            (_, 1, _, _, 0, _)           : give_up();
            (_, _, _, 1, 0, _)           : give_up();
            (_, 1, _, _, _, _)           : work_again();
            (_, _, _, 1, _, _)           : work_again();
            (1, _, _, _, _, _)           : work();
            (_, _, 1, _, _, _)           : work();
            (_, _, _, _, _, step_t.SKIP) : skip();
        }
        const default_action = go_on;
        size = 7;
    }

    apply {
        md.groups_to_go = hdr.state.last - hdr.state.group;
        lane0.apply(hdr.pair00, hdr.state.left[15:15], 0, hdr.state.step, hdr.state.pulls, hdr.state.cell_base, hdr.state.was0,
                    hdr.state.sum0, now0, done0, works0, missed0);
        lane1.apply(hdr.pair01, hdr.state.left[14:14], 1, hdr.state.step, hdr.state.pulls, hdr.state.cell_base, hdr.state.was1,
                    hdr.state.sum1, now1, done1, works1, missed1);
        marks.apply();
        works.apply();
        x0.apply(now0, hdr.addends.log_x0);
        x1.apply(now1, hdr.addends.log_x1);
        y0.apply(hdr.pair00.value, hdr.addends.log_y0);
        y1.apply(hdr.pair01.value, hdr.addends.log_y1);
        hdr.addends.y0 = hdr.pair00.value;
        hdr.addends.y1 = hdr.pair01.value;
    }
}

// ---------------------------------------------------------------------------------------------------
control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Admission() admission;
    Step() step;
    Forward() forward;

    // By drop_reason_t.
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS) drops;

    // To the pipe that it is in, once more.
    action recirculate() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port[8:7] ++ (bit<7>)RECIRCULATION;
    }

    // From now on it is addressed to its sender.
    action begin(step_t first, bit<8> pulls) {
        recirculate();
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = md.sender_mac;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = md.sender_ip;
        hdr.ipv4.ttl = 64;
        hdr.udp.src_port = hdr.udp.dst_port;
        hdr.udp.dst_port = md.sender_port;
        hdr.udp.checksum = 0;
        hdr.state.setValid();
        hdr.state.step = first;
        hdr.state.turn = turn_t.NONE;
        hdr.state.pulls = pulls;
        hdr.state.group = 0;
        hdr.state.last = md.last;
        hdr.state.tries = TRIES;
        hdr.state.port = (bit<16>)ig_intr_md.ingress_port;
        hdr.state.left = hdr.libra.places;
        hdr.state.record = md.record;
        hdr.state.ticket = hdr.libra.sequence << 1;
        hdr.state.cell_base = md.cell_base;
        hdr.state.was0 = 0;
        hdr.state.was1 = 0;
        hdr.state.sum0 = 0;
        hdr.state.sum1 = 0;
    }

    table beginnings {
        key = {
            md.op : exact;
        }
        actions = {
            begin;
            NoAction;
        }
        const entries = {
            op_t.PUSH: begin(step_t.TAKE, 0);
            op_t.PULL: begin(step_t.READ, 1);
        }
        const default_action = NoAction;
        size = 2;
    }

    // Back to where it came from.
    action answer_sender() {
        ig_tm_md.ucast_egress_port = (PortId_t)hdr.state.port;
    }

    action acknowledge() {
        answer_sender();
        hdr.libra.kind = kind_t.ACK;
        hdr.ipv4.total_len = 44;
        hdr.udp.length = 24;
        hdr.pair00.setInvalid();
        hdr.pair01.setInvalid();
        hdr.pair02.setInvalid();
        hdr.pair03.setInvalid();
        hdr.pair04.setInvalid();
        hdr.pair05.setInvalid();
        hdr.pair06.setInvalid();
        hdr.pair07.setInvalid();
        hdr.pair08.setInvalid();
        hdr.pair09.setInvalid();
        hdr.pair10.setInvalid();
        hdr.pair11.setInvalid();
        hdr.pair12.setInvalid();
        hdr.pair13.setInvalid();
        hdr.pair14.setInvalid();
        hdr.pair15.setInvalid();
    }

    // The places that are left, in the order in which the packet came.
    action acknowledge_push() {
        acknowledge();
        md.answered = true;
        hdr.state.step = step_t.FINISH;
        hdr.state.left = md.left[13:0] ++ md.left[15:14];
        hdr.libra.places = md.left[13:0] ++ md.left[15:14];
    }

    action acknowledge_any() {
        acknowledge();
        md.answered = true;
        hdr.state.step = step_t.FINISH;
        hdr.state.left = md.left[14:0] ++ md.left[15:15];
        hdr.libra.places = md.left[14:0] ++ md.left[15:15];
    }

    action acknowledge_again() {
        acknowledge();
        ig_tm_md.bypass_egress = 1;
        hdr.libra.places = hdr.state.left;
        hdr.state.setInvalid();
    }

    action answer() {
        answer_sender();
        md.answered = true;
        ig_tm_md.bypass_egress = 1;
        hdr.libra.kind = kind_t.ANSWER;
        hdr.state.setInvalid();
    }

    action stay() {
        recirculate();
        hdr.state.turn = turn_t.NONE;
        hdr.state.left = md.left;
    }

    action turn_by_two() {
        recirculate();
        hdr.state.turn = turn_t.TWO;
        hdr.state.group = hdr.state.group + 1;
        hdr.state.left = md.left[13:0] ++ md.left[15:14];
    }

    action turn_by_three() {
        recirculate();
        hdr.state.turn = turn_t.THREE;
        hdr.state.group = hdr.state.group + 1;
        hdr.state.left = md.left[12:0] ++ md.left[15:13];
    }

    table next {
        key = {
            md.works             : ternary;
            hdr.state.pulls[0:0] : ternary @name("pulls");
            md.left              : ternary;
            md.groups_to_go      : ternary;
            hdr.state.last       : ternary;
            hdr.state.group[2:0] : ternary @name("group");
        }
        actions = {
            stay;
            acknowledge_push;
            acknowledge_any;
            answer;
            turn_by_two;
            turn_by_three;
        }
        const entries = {
            (1, _, _, _, _, _)  : stay();
            (0, 1, _, 0, _, _)  : answer();
            (0, 0, _, 0, 7, _)  : acknowledge_push();
            (0, 0, 0, _, _, _)  : acknowledge_any();
            (0, 0, _, 0, _, _)  : acknowledge_any();
            (0, _, _, _, 15, 7) : turn_by_three();
        }
        const default_action = turn_by_two;
        size = 6;
    }

    apply {
        md.answered = false;
        ig_tm_md.bypass_egress = 0;
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.reason = drop_reason_t.PARSER_ERROR;
        } else if (md.op == op_t.FORWARD) {
            ig_tm_md.bypass_egress = 1;
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else if (md.op == op_t.ARRIVE) {
            admission.apply(hdr, md, ig_intr_md);
            beginnings.apply();
        } else {
            if (hdr.state.step == step_t.REPEAT) {
                md.answered = true; // here, early: a table behind all asks for it, for the checksum
                acknowledge_again();
            } else {
                hdr.addends.setValid();
                step.apply(hdr, md);
                if (hdr.state.step != step_t.SWAP) {
                    hdr.addends.setInvalid();
                }
                next.apply();
            }
        }
        if (md.reason != drop_reason_t.NONE) {
            ig_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Which push a record was last taken by, and whether it was added: twice its sequence number, and 1 more when it was.
// Every push takes its record in its first pass, so that one is added once, whatever is lost, repeated or late on the
// way. A repetition of what is being added is dropped: its ack is on its way. What is older than its record is
// refused: whether it was added is not known any more.
control Records(inout headers_t hdr, inout egress_metadata_t md) {
    Register<bit<32>, record_t>(RECORDS) records;
    // Places that were given up, of the same push.
    Register<bit<16>, record_t>(RECORDS) rests;
    bit<32> before;
    bit<16> rest;

    RegisterAction<bit<32>, record_t, bit<32>>(records) take = {
        void apply(inout bit<32> last, out bit<32> found) {
            found = last;
            if (last < hdr.state.ticket) {
                last = hdr.state.ticket;
            }
        }
    };

    RegisterAction<bit<32>, record_t, bit<32>>(records) finish = {
        void apply(inout bit<32> last) {
            if (last == hdr.state.ticket) {
                last = last + 1;
            }
        }
    };

    RegisterAction<bit<16>, record_t, bit<16>>(rests) read_rest = {
        void apply(inout bit<16> places, out bit<16> found) {
            found = places;
        }
    };

    RegisterAction<bit<16>, record_t, bit<16>>(rests) write_rest = {
        void apply(inout bit<16> places) {
            places = hdr.state.left;
        }
    };

    // By record_base: pushes that had been added before.
    Counter<bit<64>, bit<6>>(WORKERS, CounterType_t.PACKETS) repetitions;

    action add() {
        hdr.state.step = step_t.READ;
    }

    action repeat() {
        hdr.state.step = step_t.REPEAT;
        hdr.state.left = rest;
        repetitions.count(hdr.state.record[14:9]);
    }

    action begun() {
        md.reason = drop_reason_t.BEGUN;
    }

    action old() {
        md.reason = drop_reason_t.OLD;
    }

    table ages {
        key = {
            md.age : ternary;
        }
        actions = {
            add;
            repeat;
            begun;
            old;
        }
        const entries = {
            0                         : begun();
            1                         : repeat();
            0x80000000 &&& 0x80000000 : add();
        }
        const default_action = old;
        size = 3;
    }

    apply {
        if (hdr.state.step == step_t.TAKE) {
            before = take.execute(hdr.state.record[14:0]);
            rest = read_rest.execute(hdr.state.record[14:0]);
            md.age = before - hdr.state.ticket;
            ages.apply();
        } else if (hdr.state.step == step_t.FINISH) {
            finish.execute(hdr.state.record[14:0]);
            write_rest.execute(hdr.state.record[14:0]);
            hdr.state.setInvalid();
        }
    }
}

control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Records() records;
    Sum() sum0;
    Sum() sum1;

    // By drop_reason_t.
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS) drops;

    action clear() {
        hdr.state.was0 = 0;
        hdr.state.was1 = 0;
        hdr.state.sum0 = 0;
        hdr.state.sum1 = 0;
    }

    apply {
        if (hdr.state.step == step_t.SWAP) {
            sum0.apply(hdr.state.was0, hdr.addends.y0, hdr.addends.log_x0, hdr.addends.log_y0, hdr.state.sum0);
            sum1.apply(hdr.state.was1, hdr.addends.y1, hdr.addends.log_x1, hdr.addends.log_y1, hdr.state.sum1);
        } else if (hdr.state.step == step_t.READ) {
            clear();
        } else {
            records.apply(hdr, md);
        }
        if (md.reason != drop_reason_t.NONE) {
            eg_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

#endif
