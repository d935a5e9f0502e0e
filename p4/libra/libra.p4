/* SPDX-License-Identifier: Apache-2.0
 *
 * libra.p4: sums of the hot parameters of sparse models after Libra (Pan et al., 2022), for a Tofino 1.
 *
 * Workers push pairs of a parameter's rank and its gradient whenever they like. The switch adds each gradient to the
 * parameter's cell and acknowledges the packet; a pull is answered with what the cells hold. No packet waits for
 * another one. README.md says what of the paper is here.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "aggregate.p4"
#include "parsers.p4"
#include "../common/forward.p4"

#define WORKERS 64      // of all jobs: each has a window of records

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
        md.record = md.record | (bit<16>)hdr.libra.sequence[WINDOW_BITS - 1:0];
    }

    action push() {
        md.op = op_t.PUSH;
    }

    action pull() {
        md.op = op_t.PULL;
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
            md.admitted                : ternary;
            md.epoch_differs           : ternary;
            md.bad_place               : ternary;
            hdr.libra.kind             : ternary;
            hdr.libra.sequence         : ternary;
        }
        actions = {
            push;
            pull;
            refuse;
        }
        const entries = {
            (true, _, _, _, _, _, _)             : refuse(drop_reason_t.BAD_CHECKSUM);
            (_, false, _, _, _, _, _)            : refuse(drop_reason_t.BAD_LENGTH);
            (_, _, false, _, _, _, _)            : refuse(drop_reason_t.UNKNOWN_WORKER);
            (_, _, _, _, true, _, _)             : refuse(drop_reason_t.BAD_PLACE);
            (_, _, _, 0, _, kind_t.PULL, _)      : pull();
            (_, _, _, 0, _, kind_t.PUSH, 0)      : refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, 0, _, kind_t.PUSH, 0x80000000 &&& 0x80000000): refuse(drop_reason_t.BAD_SEQUENCE);
            (_, _, _, 0, _, kind_t.PUSH, _)      : push();
            (_, _, _, 0, _, _, _)                : refuse(drop_reason_t.BAD_KIND);
        }
        const default_action = refuse(drop_reason_t.OTHER_EPOCH);
        size = 9;
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
        if (md.op != op_t.DROP) {
            shares.apply();
        }
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

    // Back to where it came from, without its pairs.
    action turn() {
        md.answered = true;
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = md.sender_mac;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = md.sender_ip;
        hdr.ipv4.ttl = 64;
        hdr.udp.src_port = hdr.udp.dst_port;
        hdr.udp.dst_port = md.sender_port;
        hdr.udp.checksum = 0;
    }

    action acknowledge() {
        turn();
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

    action answer() {
        turn();
        hdr.libra.kind = kind_t.ANSWER;
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
            too_old;
            NoAction;
        }
        const entries = {
            (op_t.PULL, _)                          : answer();
            (op_t.PUSH, 0)                          : acknowledge();
            (op_t.PUSH, 0x80000000 &&& 0x80000000)  : acknowledge();
            (op_t.PUSH, _)                          : too_old();
        }
        const default_action = NoAction;
        size = 4;
    }

    apply {
        md.answered = false;
        ig_tm_md.bypass_egress = 1;
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.PARSER_ERROR;
        } else if (md.op == op_t.FORWARD) {
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            admission.apply(hdr, md, ig_intr_md);
        }
        if (md.op == op_t.PUSH) {
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

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
