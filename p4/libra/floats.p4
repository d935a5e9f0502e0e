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
control Lane(inout pair_h pair, in bit<1> left, in bit<1> odd, in step_t step, in bit<8> pulls,
             in bit<32> top, out bit<32> cell,
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
    bit<1>  here;
    bit<1>  same;

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

    // An index is its register's number and, four bits up, the cell.
    action take_cell() {
        cell = top - pair.index;
    }

    table cells_of_all {
        actions = {
            take_cell;
        }
        const default_action = take_cell;
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
            same       : ternary;
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
            (1, 0, step_t.SWAP, 1) : is_added();
            (1, 0, step_t.EMPTY, 1): tell();
        }
        const default_action = add_again;
        size = 5;
    }

    apply {
        here = 0;
        same = 0;
        done = 0;
        works = 0;
        missed = 0;
        now = 0;
        cells_of_all.apply();
        if (left == 1 && pair.index[0:0] == odd && step != step_t.SKIP) {
            here = 1;
            if (pair.index[3:1] == 7) {
                now = swap0.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 6) {
                now = swap1.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 5) {
                now = swap2.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 4) {
                now = swap3.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 3) {
                now = swap4.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 2) {
                now = swap5.execute(cell[CELL_BITS + 3:4]);
            } else if (pair.index[3:1] == 1) {
                now = swap6.execute(cell[CELL_BITS + 3:4]);
            } else {
                now = swap7.execute(cell[CELL_BITS + 3:4]);
            }
        }
        if (now == was) {
            same = 1;
        }
        settle.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// What the two lanes do in a pass, and what is left to do.
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
        md.left = hdr.left.value & keep;
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
        lane0.apply(hdr.pair00, hdr.left.value[15:15], 1, hdr.state.step, hdr.state.pulls, hdr.top.value, md.base_a, hdr.was0.value,
                    hdr.sum0.value, now0, done0, works0, missed0);
        lane1.apply(hdr.pair01, hdr.left.value[14:14], 0, hdr.state.step, hdr.state.pulls, hdr.top.value, md.last_a, hdr.was1.value,
                    hdr.sum1.value, now1, done1, works1, missed1);
        marks.apply();
        works.apply();
        x0.apply(now0, hdr.log_x0.value);
        x1.apply(now1, hdr.log_x1.value);
        y0.apply(hdr.pair00.value, hdr.log_y0.value);
        y1.apply(hdr.pair01.value, hdr.log_y1.value);
        hdr.sum0.value = hdr.pair00.value;
        hdr.sum1.value = hdr.pair01.value;
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

    // Turns of `left`: a hash takes bits from anywhere.
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) by_one;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) by_two;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) by_three;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) back_by_two;

    // To the pipe that it is in, once more.
    action recirculate() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port[8:7] ++ (bit<7>)RECIRCULATION;
    }

    action to_cpu() {
        ig_tm_md.ucast_egress_port = CPU_PORT;
        ig_tm_md.bypass_egress = 1;
    }

    // From now on it is addressed to its sender.
    action begin(step_t first, bit<8> pulls) {
        recirculate();
        mac_addr_t  sender_mac = hdr.ethernet.src_addr;
        ipv4_addr_t sender_ip = hdr.ipv4.src_addr;
        bit<16>     sender_port = hdr.udp.src_port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = sender_mac;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = sender_ip;
        hdr.ipv4.ttl = 64;
        hdr.udp.src_port = hdr.udp.dst_port;
        hdr.udp.dst_port = sender_port;
        hdr.udp.checksum = 0;
        hdr.state.setValid();
        hdr.left.setValid();
        hdr.record.setValid();
        hdr.ticket.setValid();
        hdr.last.setValid();
        hdr.top.setValid();
        hdr.was0.setValid();
        hdr.was1.setValid();
        hdr.sum0.setValid();
        hdr.sum1.setValid();
        hdr.log_x0.setValid();
        hdr.log_x1.setValid();
        hdr.log_y0.setValid();
        hdr.log_y1.setValid();
        hdr.state.step = first;
        hdr.state.turn = turn_t.NONE;
        hdr.state.pulls = pulls;
        hdr.state.cpu = md.rights & RIGHT_CPU;
        hdr.state.group = 0;
        hdr.state.last = md.last;
        hdr.state.tries = TRIES;
        hdr.state.port = ANSWER_PORT;
        hdr.left.value = hdr.libra.places;
        hdr.record.value = md.record;
        hdr.ticket.value = hdr.libra.sequence << 1;
        hdr.last.value = md.last_a;
        hdr.top.value = md.base_a + md.last_a;
        hdr.was0.value = 0;
        hdr.was1.value = 0;
        hdr.sum0.value = 0;
        hdr.sum1.value = 0;
        hdr.log_x0.value = 0;
        hdr.log_x1.value = 0;
        hdr.log_y0.value = 0;
        hdr.log_y1.value = 0;
    }

    table beginnings {
        key = {
            md.op : exact;
        }
        actions = {
            begin;
            to_cpu;
            NoAction;
        }
        const entries = {
            op_t.PUSH: begin(step_t.TAKE, 0);
            op_t.PULL: begin(step_t.READ, 1);
            op_t.COLLECT: begin(step_t.TAKE, 2);
            op_t.HEAR: to_cpu();
        }
        const default_action = NoAction;
        size = 4;
    }

    // What passes keep stays here.
    action leave_passes() {
        hdr.state.setInvalid();
        hdr.left.setInvalid();
        hdr.record.setInvalid();
        hdr.ticket.setInvalid();
        hdr.last.setInvalid();
        hdr.top.setInvalid();
        hdr.was0.setInvalid();
        hdr.was1.setInvalid();
        hdr.sum0.setInvalid();
        hdr.sum1.setInvalid();
        hdr.log_x0.setInvalid();
        hdr.log_x1.setInvalid();
        hdr.log_y0.setInvalid();
        hdr.log_y1.setInvalid();
    }

    // Back to where it came from.
    action answer_sender() {
        md.answered = true;
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

    action acknowledge_push() {
        acknowledge();
        hdr.state.step = step_t.FINISH;
    }

    action acknowledge_again() {
        acknowledge();
        ig_tm_md.bypass_egress = 1;
        hdr.libra.places = hdr.left.value;
        leave_passes();
    }

    action answer() {
        answer_sender();
        ig_tm_md.bypass_egress = 1;
        ig_tm_md.copy_to_cpu = hdr.state.cpu[1:1];
        hdr.libra.kind = kind_t.ANSWER;
        leave_passes();
    }

    // The pairs are where they were. The copy passes egress, too, where to finish twice is the same as once.
    action answer_collect() {
        answer_sender();
        ig_tm_md.copy_to_cpu = hdr.state.cpu[1:1];
        hdr.libra.kind = kind_t.ANSWER;
        hdr.libra.places = hdr.libra.places ^ md.left;
        hdr.state.step = step_t.FINISH;
        hdr.left.value = md.left;
    }

    // What is left of a push: the CPU sends it to its server, ends its record and acknowledges it. Pairs are turned, and
    // `places` are those of the pairs as they are; indices are counted down from the end of the job's share.
    action leave_to_cpu() {
        to_cpu();
        md.answered = true;
        hdr.libra.places = md.left;
        leave_passes();
    }

    // The cells that it cleared are known to the CPU alone.
    action ask_cpu() {
        to_cpu();
        md.answered = true;
        leave_passes();
    }

    table repeats {
        key = {
            hdr.state.pulls : exact;
        }
        actions = {
            ask_cpu;
            acknowledge_again;
        }
        const entries = {
            2: ask_cpu();
        }
        const default_action = acknowledge_again;
        size = 1;
    }

    action stay() {
        recirculate();
        hdr.state.turn = turn_t.NONE;
        hdr.left.value = md.left;
    }

    action stay_to_empty() {
        stay();
        hdr.state.step = step_t.EMPTY;
    }

    action turn_by_two() {
        recirculate();
        hdr.state.turn = turn_t.TWO;
        hdr.state.group = hdr.state.group + 1;
        hdr.left.value = by_two.get({md.left[13:0], md.left[15:14]});
    }

    // What is answered has its indices as they came.
    action restore() {
        hdr.pair00.index = hdr.last.value - hdr.pair00.index;
        hdr.pair01.index = hdr.last.value - hdr.pair01.index;
    }

    action turn_by_three() {
        recirculate();
        hdr.state.turn = turn_t.THREE;
        hdr.state.group = hdr.state.group + 1;
        hdr.left.value = by_three.get({md.left[12:0], md.left[15:13]});
    }

    table next {
        key = {
            md.works             : ternary;
            hdr.state.pulls[1:0] : ternary @name("pulls");
            hdr.state.cpu[1:1]   : ternary @name("cpu");
            md.left              : ternary;
            md.groups_to_go      : ternary;
            hdr.state.last       : ternary;
            hdr.state.group[2:0] : ternary @name("group");
        }
        actions = {
            stay;
            stay_to_empty;
            acknowledge_push;
            answer;
            answer_collect;
            leave_to_cpu;
            turn_by_two;
            turn_by_three;
        }
        const entries = {
            (1, 2, _, _, _, _, _)  : stay_to_empty();
            (1, _, _, _, _, _, _)  : stay();
            (0, 1, _, _, 0, _, _)  : answer();
            (0, 2, _, _, 0, _, _)  : answer_collect();
            (0, 1, _, _, _, _, _)  : turn_by_two();
            (0, 2, _, _, _, _, _)  : turn_by_two();
            (0, 0, _, 0, _, _, _)  : acknowledge_push();
            (0, 0, 1, _, 0, _, _)  : leave_to_cpu();
            (0, 0, _, _, 0, _, _)  : acknowledge_push();
            (0, _, _, _, _, 15, 7) : turn_by_three();
            (0, _, _, _, _, _, _)  : turn_by_two();
        }
        const default_action = stay;
        size = 11;
    }

    // The places that are left, in the order in which the packet came.
    action rest_of_push() {
        hdr.left.value = back_by_two.get({md.left[13:0], md.left[15:14]});
        hdr.libra.places = back_by_two.get({md.left[13:0], md.left[15:14]});
    }

    action rest_of_any() {
        hdr.left.value = by_one.get({md.left[14:0], md.left[15:15]});
        hdr.libra.places = by_one.get({md.left[14:0], md.left[15:15]});
    }

    table rests {
        key = {
            hdr.state.last : ternary;
        }
        actions = {
            rest_of_push;
            rest_of_any;
            @defaultonly NoAction;
        }
        const entries = {
            7 : rest_of_push();
            15: rest_of_any();
        }
        const default_action = NoAction;
        size = 2;
    }

    apply {
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
                repeats.apply();
            } else {
                step.apply(hdr, md);
                next.apply();
                if (md.groups_to_go != 0 && md.works == 0 && hdr.state.pulls != 0) {
                    restore(); // and they are turned
                } else if (hdr.state.isValid() && hdr.state.step == step_t.FINISH) {
                    rests.apply();
                }
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
            if (last < hdr.ticket.value) {
                last = hdr.ticket.value;
            }
        }
    };

    RegisterAction<bit<32>, record_t, bit<32>>(records) finish = {
        void apply(inout bit<32> last) {
            if (last == hdr.ticket.value) {
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
            places = hdr.left.value;
        }
    };

    // By record_base: pushes that had been added before.
    Counter<bit<64>, bit<6>>(WORKERS, CounterType_t.PACKETS) repetitions;

    action add() {
        hdr.state.step = step_t.READ;
    }

    action repeat() {
        hdr.state.step = step_t.REPEAT;
        hdr.left.value = rest;
        repetitions.count(hdr.record.value[14:9]);
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
            before = take.execute(hdr.record.value[14:0]);
            rest = read_rest.execute(hdr.record.value[14:0]);
            md.age = before - hdr.ticket.value;
            ages.apply();
        } else if (hdr.state.step == step_t.FINISH) {
            finish.execute(hdr.record.value[14:0]);
            write_rest.execute(hdr.record.value[14:0]);
            hdr.state.setInvalid();
            hdr.left.setInvalid();
            hdr.record.setInvalid();
            hdr.ticket.setInvalid();
            hdr.last.setInvalid();
            hdr.top.setInvalid();
            hdr.was0.setInvalid();
            hdr.was1.setInvalid();
            hdr.sum0.setInvalid();
            hdr.sum1.setInvalid();
            hdr.log_x0.setInvalid();
            hdr.log_x1.setInvalid();
            hdr.log_y0.setInvalid();
            hdr.log_y1.setInvalid();
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
        hdr.was0.value = 0;
        hdr.was1.value = 0;
        hdr.sum0.value = 0;
        hdr.sum1.value = 0;
    }

    action empty() {
        hdr.sum0.value = 0;
        hdr.sum1.value = 0;
    }

    table clears {
        key = {
            hdr.state.step : exact;
        }
        actions = {
            clear;
            empty;
            NoAction;
        }
        const entries = {
            step_t.READ : clear();
            step_t.EMPTY: empty();
        }
        const default_action = NoAction;
        size = 2;
    }

    apply {
        if (hdr.state.step == step_t.SWAP) {
            sum0.apply(hdr.was0.value, hdr.log_x0.value, hdr.log_y0.value, hdr.sum0.value);
            sum1.apply(hdr.was1.value, hdr.log_x1.value, hdr.log_y1.value, hdr.sum1.value);
        } else {
            clears.apply();
            records.apply(hdr, md);
        }
        if (md.reason != drop_reason_t.NONE) {
            eg_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

#endif
