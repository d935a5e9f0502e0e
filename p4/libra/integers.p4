/* SPDX-License-Identifier: Apache-2.0
 *
 * integers.p4: sums of 32-bit integers: the cells, the records of what was added, and the pipeline. A packet needs one
 * pass.
 *
 * A chip's register is visited once per pass, in one stage, and a stage has four stateful ALUs. The chain of
 * dependencies is therefore the design:
 *
 *     where the cells are  ->  is each in the share  ->  was this push added before  ->  four registers to a stage
 */
#ifndef LIBRA_INTEGERS_P4
#define LIBRA_INTEGERS_P4

#include "admission.p4"

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
control Place(inout value_t value, in bit<32> cell, in bit<1> used, in ingress_metadata_t md) {
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

    RegisterAction<value_t, cell_t, value_t>(cells) take_value = {
        void apply(inout value_t sum, out value_t now) {
            now = sum;
            sum = 0;
        }
    };

    action add() {
        add_value.execute(cell[CELL_BITS + 3:4]);
    }

    action read() {
        value = read_value.execute(cell[CELL_BITS + 3:4]);
    }

    action take() {
        value = take_value.execute(cell[CELL_BITS + 3:4]);
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
            take;
            NoAction;
        }
        const entries = {
            (op_t.PUSH, 1, 1)   : add();
            (op_t.PULL, 1, _)   : read();
            (op_t.COLLECT, 1, 1): take();
        }
        const default_action = NoAction;
        size = 3;
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

// ---------------------------------------------------------------------------------------------------
control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Admission() admission;
    Records() records;
    Places() places;
    Forward() forward;

    // By drop_reason_t.
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS) drops;
    // By record_base: pushes that had been added before.
    Counter<bit<64>, bit<6>>(WORKERS, CounterType_t.PACKETS) repetitions;

    // To whom it came from.
    action readdress() {
        md.answered = true;
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
    }

    action turn() {
        readdress();
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
    }

    action acknowledge() {
        turn();
        hdr.libra.kind = kind_t.ACK;
        hdr.libra.places = 0;
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

    action answer() {
        turn();
        ig_tm_md.copy_to_cpu = md.rights[1:1];
        hdr.libra.kind = kind_t.ANSWER;
    }

    action to_cpu() {
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    // The cells that it cleared are known to the CPU alone.
    action ask_cpu() {
        readdress();
        to_cpu();
    }

    action too_old() {
        md.reason = drop_reason_t.OLD;
    }

    table replies {
        key = {
            md.op  : ternary;
            md.age : ternary;
        }
        actions = {
            acknowledge;
            answer;
            ask_cpu;
            to_cpu;
            too_old;
            NoAction;
        }
        const entries = {
            (op_t.PULL, _)                          : answer();
            (op_t.HEAR, _)                          : to_cpu();
            (op_t.COLLECT, 0)                       : ask_cpu();
            (op_t.COLLECT, 0x80000000 &&& 0x80000000): answer();
            (op_t.COLLECT, _)                       : too_old();
            (op_t.PUSH, 0)                          : acknowledge();
            (op_t.PUSH, 0x80000000 &&& 0x80000000)  : acknowledge();
            (op_t.PUSH, _)                          : too_old();
        }
        const default_action = NoAction;
        size = 8;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.PARSER_ERROR;
        } else if (md.op == op_t.FORWARD) {
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            admission.apply(hdr, md, ig_intr_md);
        }
        if (md.op == op_t.PUSH || md.op == op_t.COLLECT) {
            records.apply(hdr, md);
            if (md.age == 0) {
                repetitions.count(md.record[14:9]);
            }
        }
        places.apply(hdr, md);
        replies.apply();
        if (md.reason != drop_reason_t.NONE) {
            ig_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

#endif
