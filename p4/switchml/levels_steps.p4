/* SPDX-License-Identifier: Apache-2.0
 *
 * levels_steps.p4: where a packet goes from here, in a switch that may have others above and below it.
 *
 * Its workers' packets, and the result of a slot, take the ways that switchml.p4 has for plain sums. What is new:
 *
 *   - A slot that is complete goes to the switch above as a worker's packet would, if there is one (TO_ABOVE).
 *   - Sums from above (RESULT) pass the pipes as a worker's packet does and take the place of the partial sums; then they
 *     are read back and go to all below (FROM_ABOVE). Of up to 64 elements nothing has left the packet, so they go at once.
 *   - A worker that asks again gets the sums from above if they are there. If not, the partial sums go up once more.
 *
 * With VIRTUAL each pipe is a switch of its own (virtual.p4).
 */
#ifndef SWITCHML_LEVELS_STEPS_P4
#define SWITCHML_LEVELS_STEPS_P4

#include "headers.p4"
#include "parsers.p4"

// The end of a packet's way up the pipes: what the pipe does in which its last elements are, from which a result goes back
// by `port`.
#define LAST_PIPE(size, pipe, back, port)                                                    \
    (op_t.CONSUME, size, pipe, 1, _, _, _)          : start_result(back, port);              \
    (op_t.CONSUME, size, pipe, 0, 1, _, _)          : start_result(back, port);              \
    (op_t.DUPLICATE, size, pipe, 0, _, TO_ABOVE, 0) : start_result(back, port);              \
    (op_t.DUPLICATE, size, pipe, 0, _, _, _)        : start_answer(back, port);

// One of the pipes before.
#define NEXT_PIPE(size, pipe, port)                                                          \
    (op_t.CONSUME, size, pipe, _, _, _, _)   : next_pipe(op_t.CONSUME, port);                \
    (op_t.DUPLICATE, size, pipe, _, _, _, _) : next_pipe(op_t.CONSUME, port);                \
    (op_t.RESULT, size, pipe, _, _, _, _)    : next_pipe(op_t.RESULT, port);

control Steps(inout headers_t hdr, inout ingress_metadata_t md,
              in ingress_intrinsic_metadata_t ig_intr_md,
              inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
              inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // Results that a worker got because it asked again.
    Counter<bit<64>, bit<16>>(WORKERS, CounterType_t.PACKETS) resent;

    // As it is, through the ingress of another pipe (or this one) again.
    action again(op_t op, PortId_t port) {
        hdr.bridge.op = op;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    // These 64 elements are in their slot; the next pipe takes the next.
    action next_pipe(op_t op, PortId_t port) {
        hdr.low.setInvalid();
        hdr.high.setInvalid();
        again(op, port);
    }

    // The slot is complete, or asked for above once more: the way is the one of its admission. The second half has been
    // read here, the first is still to come.
    action start_result(op_t op, PortId_t port) {
        hdr.low.setInvalid();
        again(op, port);
    }

    action start_answer(op_t op, PortId_t port) {
        hdr.bridge.unicast = TO_WORKER;
        start_result(op, port);
    }

    action deliver_to_job() {
        ig_tm_md.mcast_grp_a = hdr.bridge.group;
    }

    action deliver_to_worker() {
        resent.count(hdr.bridge.rid);
        ig_tm_md.ucast_egress_port = hdr.bridge.port[8:0];
    }

    action deliver_above() {
        ig_tm_md.mcast_grp_a = hdr.bridge.above;
    }

    // Aggregated, and others are still missing: it ends here, and is not lost.
    @silken_consumes
    action absorb() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // Leaves `op` alone, which the lanes match on.
    action refuse(drop_reason_t reason) {
        md.reason = reason;
    }

    table steps {
        key = {
            md.op                        : ternary;
            hdr.switchml.size            : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
            md.missing                   : ternary;
            hdr.bridge.num_workers       : ternary;
            hdr.bridge.unicast           : ternary;
            md.known                     : ternary;
        }
        actions = {
            again;
            next_pipe;
            start_result;
            start_answer;
            deliver_to_job;
            deliver_to_worker;
            deliver_above;
            absorb;
            refuse;
        }
        const entries = {
#ifdef VIRTUAL
            LAST_PIPE(packet_size_t.ELEMENTS_32, PIPE_0, op_t.READ_NONE, RECIRCULATE_PIPE_0)
            LAST_PIPE(packet_size_t.ELEMENTS_32, PIPE_1, op_t.READ_NONE, RECIRCULATE_PIPE_1)
            LAST_PIPE(packet_size_t.ELEMENTS_32, PIPE_2, op_t.READ_NONE, RECIRCULATE_PIPE_2)
            LAST_PIPE(packet_size_t.ELEMENTS_32, PIPE_3, op_t.READ_NONE, RECIRCULATE_PIPE_3)
            LAST_PIPE(packet_size_t.ELEMENTS_64, PIPE_0, op_t.READ_LOW, RECIRCULATE_PIPE_0)
            LAST_PIPE(packet_size_t.ELEMENTS_64, PIPE_1, op_t.READ_LOW, RECIRCULATE_PIPE_1)
            LAST_PIPE(packet_size_t.ELEMENTS_64, PIPE_2, op_t.READ_LOW, RECIRCULATE_PIPE_2)
            LAST_PIPE(packet_size_t.ELEMENTS_64, PIPE_3, op_t.READ_LOW, RECIRCULATE_PIPE_3)
#else
            (op_t.RELAY, _, _, _, _, _, _)        : again(op_t.CONSUME, RECIRCULATE_PIPE_0);
            (op_t.RELAY_RESULT, _, _, _, _, _, _) : again(op_t.RESULT, RECIRCULATE_PIPE_0);

            // Larger packets visit the pipes in order. A duplicate goes all the way, too: its first
            // copy may have been lost between two pipes.
            NEXT_PIPE(packet_size_t.ELEMENTS_128, PIPE_0, RECIRCULATE_PIPE_1)
            NEXT_PIPE(packet_size_t.ELEMENTS_256, PIPE_0, RECIRCULATE_PIPE_1)
            NEXT_PIPE(packet_size_t.ELEMENTS_256, PIPE_1, RECIRCULATE_PIPE_2)
            NEXT_PIPE(packet_size_t.ELEMENTS_256, PIPE_2, RECIRCULATE_PIPE_3)

            // The last pipe decides.
            LAST_PIPE(packet_size_t.ELEMENTS_32, _, op_t.READ_NONE, RECIRCULATE_PIPE_0)
            LAST_PIPE(packet_size_t.ELEMENTS_64, _, op_t.READ_LOW, RECIRCULATE_PIPE_0)
            LAST_PIPE(packet_size_t.ELEMENTS_128, _, op_t.READ_LOW, RECIRCULATE_PIPE_1)
            LAST_PIPE(packet_size_t.ELEMENTS_256, _, op_t.READ_LOW, RECIRCULATE_PIPE_3)
            (op_t.RESULT, packet_size_t.ELEMENTS_128, _, 0, _, _, 0): start_result(op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.RESULT, packet_size_t.ELEMENTS_256, _, 0, _, _, 0): start_result(op_t.READ_LOW, RECIRCULATE_PIPE_3);
#endif
            (op_t.CONSUME, _, _, _, _, _, _)  : absorb();
            (op_t.DUPLICATE, _, _, _, _, _, _): refuse(drop_reason_t.DUPLICATE);
            (op_t.RESULT, packet_size_t.ELEMENTS_32, _, 0, _, _, 0): deliver_to_job();
            (op_t.RESULT, packet_size_t.ELEMENTS_64, _, 0, _, _, 0): deliver_to_job();
            (op_t.RESULT, _, _, 0, _, _, 1)   : refuse(drop_reason_t.KNOWN_RESULT);

#ifndef VIRTUAL
            // Results go back through the pipes, the second half of each before the first.
            (op_t.READ_HIGH, _, PIPE_2, _, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_2);
            (op_t.READ_HIGH, _, PIPE_1, _, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.READ_HIGH, _, PIPE_0, _, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.READ_LOW, _, PIPE_3, _, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_2);
            (op_t.READ_LOW, _, PIPE_2, _, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_1);
            (op_t.READ_LOW, _, PIPE_1, _, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_0);
#endif
            (op_t.READ_LOW, _, _, _, _, TO_JOB, _)     : deliver_to_job();
            (op_t.READ_LOW, _, _, _, _, TO_WORKER, _)  : deliver_to_worker();
            (op_t.READ_LOW, _, _, _, _, TO_ABOVE, _)   : deliver_above();
            (op_t.READ_LOW, _, _, _, _, FROM_ABOVE, _) : deliver_to_job();
            (op_t.READ_NONE, _, _, _, _, TO_JOB, _)    : deliver_to_job();
            (op_t.READ_NONE, _, _, _, _, TO_WORKER, _) : deliver_to_worker();
            (op_t.READ_NONE, _, _, _, _, TO_ABOVE, _)  : deliver_above();
        }
        const default_action = refuse(drop_reason_t.BAD_STATE);
        size = 64;
    }

    apply {
        steps.apply();
    }
}

#endif
