/* SPDX-License-Identifier: Apache-2.0
 *
 * halves_steps.p4: where a packet of 16-bit floats goes from here.
 *
 * A pass takes 16 elements, and four passes follow each other in a pipe; each has its own quarter of the registers, which is
 * bits 12 and 13 of `cell`. So 256 elements take 16 passes, and their result 15 more, back through the same quarters; the last
 * pass of a packet returns its own 16 sums.
 */
#ifndef SWITCHML_HALVES_STEPS_P4
#define SWITCHML_HALVES_STEPS_P4

#include "headers.p4"
#include "parsers.p4"

#define NEXT_QUARTER    0x1000
#define NEXT_PIPE       0xd000   // the first quarter of the next pipe: 3 quarters back
#define EARLIER_QUARTER 0xf000
#define EARLIER_PIPE    0x3000

control Steps(inout headers_t hdr, inout ingress_metadata_t md,
              in ingress_intrinsic_metadata_t ig_intr_md,
              inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
              inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // Results that a worker got because it asked again.
    Counter<bit<64>, bit<16>>(WORKERS, CounterType_t.PACKETS) resent;

    // As it came, to the first pipe.
    action relay() {
        hdr.results.setInvalid();
        hdr.bridge.op = op_t.CONSUME;
        ig_tm_md.ucast_egress_port = RECIRCULATE_PIPE_0;
        ig_tm_md.bypass_egress = 1;
    }

    // These elements are in their cells; the next quarter takes the next.
    action go_on(bit<16> way, PortId_t port) {
        hdr.halves.setInvalid();
        hdr.results.setInvalid();
        hdr.bridge.op = op_t.CONSUME;
        hdr.bridge.cell = hdr.bridge.cell + way;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    // The slot is complete, and these results are the last of its packet. The others are still to be read.
    action start_result(bit<8> unicast, bit<16> way, PortId_t port) {
        hdr.halves.setInvalid();
        hdr.bridge.unicast = unicast;
        hdr.bridge.op = op_t.READ_LOW;
        hdr.bridge.cell = hdr.bridge.cell + way;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    action go_back(bit<16> way, PortId_t port) {
        hdr.bridge.cell = hdr.bridge.cell + way;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    action deliver_to_job() {
        ig_tm_md.mcast_grp_a = hdr.bridge.group;
    }

    action deliver_to_worker() {
        resent.count(hdr.bridge.rid);
        ig_tm_md.ucast_egress_port = hdr.bridge.port[8:0];
    }

    // Aggregated, and others are still missing: it ends here, and is not lost.
    @silken_consumes
    action absorb() {
        ig_dprsr_md.drop_ctl = 1;
    }

    action refuse(drop_reason_t reason) {
        md.reason = reason;
    }

    table steps {
        key = {
            md.op                        : ternary;
            hdr.switchml.size            : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
            hdr.bridge.cell[13:12]       : ternary @name("quarter");
            md.missing                   : ternary;
            hdr.bridge.num_workers       : ternary;
            hdr.bridge.unicast           : ternary;
        }
        actions = {
            relay;
            go_on;
            start_result;
            go_back;
            deliver_to_job;
            deliver_to_worker;
            absorb;
            refuse;
        }
        const entries = {
            (op_t.RELAY, _, _, _, _, _, _): relay();

            // The last pass decides. The last worker was missing, or there is only one.
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, PIPE_0, 1, 1, _, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, PIPE_0, 1, 0, 1, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, PIPE_0, 1, _, _, _): absorb();
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, PIPE_0, 3, 1, _, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, PIPE_0, 3, 0, 1, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, PIPE_0, 3, _, _, _): absorb();
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, PIPE_1, 3, 1, _, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, PIPE_1, 3, 0, 1, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, PIPE_1, 3, _, _, _): absorb();
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_3, 3, 1, _, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_3);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_3, 3, 0, 1, _): start_result(0, EARLIER_QUARTER, RECIRCULATE_PIPE_3);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_3, 3, _, _, _): absorb();

            // A repetition: of a complete slot it asks for the result, else there is nothing to say.
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_32, PIPE_0, 1, 0, _, _): start_result(1, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_32, PIPE_0, 1, _, _, _): refuse(drop_reason_t.DUPLICATE);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_64, PIPE_0, 3, 0, _, _): start_result(1, EARLIER_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_64, PIPE_0, 3, _, _, _): refuse(drop_reason_t.DUPLICATE);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, PIPE_1, 3, 0, _, _): start_result(1, EARLIER_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, PIPE_1, 3, _, _, _): refuse(drop_reason_t.DUPLICATE);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_3, 3, 0, _, _): start_result(1, EARLIER_QUARTER, RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_3, 3, _, _, _): refuse(drop_reason_t.DUPLICATE);

            // Others visit the quarters in order, duplicates, too: their first copy may have been lost between two passes.
            (op_t.CONSUME, _, PIPE_0, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, _, PIPE_0, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, _, PIPE_0, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, _, PIPE_0, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, _, PIPE_1, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_2);
            (op_t.CONSUME, _, PIPE_1, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, _, PIPE_1, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_2);
            (op_t.DUPLICATE, _, PIPE_1, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, _, PIPE_2, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_3);
            (op_t.CONSUME, _, PIPE_2, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_2);
            (op_t.DUPLICATE, _, PIPE_2, 3, _, _, _): go_on(NEXT_PIPE, RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, _, PIPE_2, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_2);
            (op_t.CONSUME, _, PIPE_3, 3, _, _, _): refuse(drop_reason_t.BAD_STATE);
            (op_t.CONSUME, _, PIPE_3, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, _, PIPE_3, 3, _, _, _): refuse(drop_reason_t.BAD_STATE);
            (op_t.DUPLICATE, _, PIPE_3, _, _, _, _): go_on(NEXT_QUARTER, RECIRCULATE_PIPE_3);

            // Results go back.
            (op_t.READ_LOW, _, PIPE_0, 0, _, _, 0): deliver_to_job();
            (op_t.READ_LOW, _, PIPE_0, 0, _, _, 1): deliver_to_worker();
            (op_t.READ_LOW, _, PIPE_0, 0, _, _, _): refuse(drop_reason_t.BAD_STATE);
            (op_t.READ_LOW, _, PIPE_3, 0, _, _, _): go_back(EARLIER_PIPE, RECIRCULATE_PIPE_2);
            (op_t.READ_LOW, _, PIPE_3, _, _, _, _): go_back(EARLIER_QUARTER, RECIRCULATE_PIPE_3);
            (op_t.READ_LOW, _, PIPE_2, 0, _, _, _): go_back(EARLIER_PIPE, RECIRCULATE_PIPE_1);
            (op_t.READ_LOW, _, PIPE_2, _, _, _, _): go_back(EARLIER_QUARTER, RECIRCULATE_PIPE_2);
            (op_t.READ_LOW, _, PIPE_1, 0, _, _, _): go_back(EARLIER_PIPE, RECIRCULATE_PIPE_0);
            (op_t.READ_LOW, _, PIPE_1, _, _, _, _): go_back(EARLIER_QUARTER, RECIRCULATE_PIPE_1);
            (op_t.READ_LOW, _, PIPE_0, _, _, _, _): go_back(EARLIER_QUARTER, RECIRCULATE_PIPE_0);
        }
        const default_action = refuse(drop_reason_t.BAD_STATE);
        size = 48;
    }

    apply {
        steps.apply();
    }
}

#endif
