/* SPDX-License-Identifier: Apache-2.0
 *
 * switchml.p4: in-network aggregation after SwitchML (Sapio et al., NSDI 2021), for a Tofino 1.
 *
 * The switch adds up vectors that the workers of a training job send, one packet at a time, and sends
 * the sums back to all of them. It follows Algorithm 3 of the paper: pools of slots in two versions, a
 * bitmap per slot so that a repeated packet is not added twice, and a copy of the last result for the
 * worker that lost it. README.md walks through the passes of a packet and the control plane's tables.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "aggregate.p4"
#include "parsers.p4"

// Where frames that are not ours go. A program that has another answer names its file (p4/rack).
#ifndef FORWARD_FILE
#define FORWARD_FILE "../common/forward.p4"
#endif
#include FORWARD_FILE

#define WORKERS        1024    // workers of all jobs; also how many replication ids there are
#define WORKER_ENTRIES 4096
#define AUDIENCES      4096    // of all jobs

#ifdef WITH_LEVELS
#include "levels.p4"
#endif

// ---------------------------------------------------------------------------------------------------
// Who may aggregate, and where.
control Admission(inout headers_t hdr, inout ingress_metadata_t md,
                  in ingress_intrinsic_metadata_t ig_intr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) received;

    // By worker: admitted packets whose IPv4 checksum is wrong. They are aggregated nevertheless: the published
    // client sends most of its packets with checksum 0. Damage on a link is found by its frame check sequence.
    Counter<bit<64>, bit<16>>(WORKERS, CounterType_t.PACKETS) wrong_checksums;

    // worker_bit    1 << the worker's number in its job, 0 to 31; another one for each worker of a job
    // num_workers   1 to 32
    // group         multicast group with one copy to each worker of the job, with its rid
    // rid           this worker's replication id, below WORKERS, different for each worker of the switch
    // port          where the worker is attached; it gets answers to its repetitions there
    // pool_base     first slot of the job's pool
    // pool_last     number of slots - 1
    //
    // Adding the base leaves the version in the top bit alone, as base + slot is below 2^15 for a slot
    // of the pool. The top bit of pool_last - pool_index equals the version's if and only if the slot
    // is inside.
    // Both sums take their constant from the table's entry, so they cost no stage.
#ifdef WITH_LEVELS
    //
    // A worker may be a switch below, and the sums are partial ones if there is a switch above:
    // way           TO_JOB in the top switch, TO_ABOVE in others
    // above         multicast group with one copy, to the switch above, with its rid
    action admit(bit<32> worker_bit, bit<8> num_workers, bit<16> group, bit<16> rid, bit<16> port,
                 bit<16> pool_base, bit<16> pool_last, bit<8> way, bit<16> above) {
#else
    action admit(bit<32> worker_bit, bit<8> num_workers, bit<16> group, bit<16> rid, bit<16> port,
                 bit<16> pool_base, bit<16> pool_last) {
#endif
        received.count();
        md.admitted = true;
        md.room = pool_last - hdr.switchml.pool_index;
        hdr.bridge.setValid();
#ifdef WITH_LEVELS
        hdr.bridge.unicast = way;
        hdr.bridge.above = above;
#else
        hdr.bridge.unicast = 0;
        hdr.bridge.collective = 0;
        hdr.bridge.brief_group = 0;
#endif
        hdr.bridge.num_workers = num_workers;
#ifdef WITH_ROCE
        hdr.bridge.size = hdr.switchml.size;
        md.pool_index = pool_base + hdr.switchml.pool_index;
#else
        hdr.bridge.cell = pool_base + hdr.switchml.pool_index;
#endif
        hdr.bridge.group = group;
        hdr.bridge.rid = rid;
        hdr.bridge.port = port;
        hdr.bridge.worker_bit = worker_bit;
    }

#ifdef WITH_LEVELS
    // The switch above, with sums. group, pool_base and pool_last are the job's, as its workers have them.
    action result(bit<16> group, bit<16> pool_base, bit<16> pool_last) {
        received.count();
        md.admitted = true;
        md.from_above = true;
        md.room = pool_last - hdr.switchml.pool_index;
        hdr.bridge.setValid();
        hdr.bridge.op = op_t.RESULT;
        hdr.bridge.unicast = FROM_ABOVE;
        hdr.bridge.num_workers = 0;
        hdr.bridge.above = 0;
        hdr.bridge.rid = 0;
        hdr.bridge.port = 0;
        hdr.bridge.worker_bit = 0;
        hdr.bridge.cell = pool_base + hdr.switchml.pool_index;
        hdr.bridge.group = group;
    }
#endif

    action unknown() {
        received.count();
        md.admitted = false;
    }

    table workers {
        key = {
            hdr.switchml.job_number : exact;
            hdr.ipv4.src_addr       : exact;
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            admit;
#ifdef WITH_LEVELS
            result;
#endif
            @defaultonly unknown;
        }
        const default_action = unknown;
        size = WORKER_ENTRIES;
        counters = received;
    }

    // The session of a job that its workers are in (session/message.h). Packets of another session are refused:
    // what a worker of an earlier one still sends is never added to this one's sums, and gets no answer from them.
    action session(bit<8> number) {
        md.other_session = hdr.switchml.tsi[31:24] ^ number;
    }

    // Between two sessions, while slots are cleared.
    action closed() {
        md.other_session = 0xff;
    }

    // For workers without sessions, whose tsi is all their own.
    action any_session() {
        md.other_session = 0;
    }

    table sessions {
        key = {
            hdr.switchml.job_number : exact;
        }
        actions = {
            session;
            closed;
            @defaultonly any_session;
        }
        const default_action = any_session;
        size = 256;
    }

#ifndef SUMS_ALONE
    // Who gets the result of a collective operation with its elements, and who without: its packets say it by a number of
    // the job's, and the control plane which multicast groups these are. A packet for an audience that there is not gets no
    // result, but screen does not wait for that: if it is in the first pipe, its elements are added.
    action audience(bit<16> group, bit<16> brief_group) {
        hdr.bridge.group = group;
        hdr.bridge.brief_group = brief_group;
        hdr.bridge.collective = hdr.switchml.msg_type ++ hdr.switchml.unused ++ hdr.switchml.size;
    }

    action nobody() {
        md.no_audience = true;
    }

    table audiences {
        key = {
            hdr.switchml.job_number : exact;
            hdr.exponents.e1        : exact @name("audience");
        }
        actions = {
            audience;
            @defaultonly nobody;
        }
        const default_action = nobody;
        size = AUDIENCES;
    }
#endif

    action length_fits() {
        md.length_ok = true;
    }

    action length_differs() {
        md.length_ok = false;
    }

    // 20 + 8 + 8 + 2 bytes of headers and 4 for each element; 2 for each 16-bit float.
    table lengths {
        key = {
#ifdef SUMS_ALONE
            hdr.switchml.msg_type : exact;
#endif
            hdr.switchml.size  : exact;
            hdr.ipv4.total_len : exact;
            hdr.udp.length     : exact;
        }
        actions = {
            length_fits;
            length_differs;
        }
        const entries = {
#ifdef HALVES
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_32, 102, 82)  : length_fits();
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_64, 166, 146) : length_fits();
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_128, 294, 274): length_fits();
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_256, 550, 530): length_fits();
#elif defined(WITH_LEVELS)
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_32, 166, 146)   : length_fits();
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_64, 294, 274)   : length_fits();
#ifndef VIRTUAL
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_128, 550, 530)  : length_fits();
            (MSG_TYPE_AGGREGATE, packet_size_t.ELEMENTS_256, 1062, 1042): length_fits();
#endif
#else
            (packet_size_t.ELEMENTS_32, 166, 146)   : length_fits();
            (packet_size_t.ELEMENTS_64, 294, 274)   : length_fits();
            (packet_size_t.ELEMENTS_128, 550, 530)  : length_fits();
            (packet_size_t.ELEMENTS_256, 1062, 1042): length_fits();
#endif
        }
        const default_action = length_differs;
        size = 4;
    }

#ifndef SUMS_ALONE
    // The same of a packet without elements, which has a size all the same.
    table empty_lengths {
        key = {
            hdr.switchml.size  : exact;
            hdr.ipv4.total_len : exact;
            hdr.udp.length     : exact;
        }
        actions = {
            length_fits;
            length_differs;
        }
        const entries = {
            (packet_size_t.ELEMENTS_32, EMPTY_TOTAL_LEN, EMPTY_UDP_LENGTH) : length_fits();
            (packet_size_t.ELEMENTS_64, EMPTY_TOTAL_LEN, EMPTY_UDP_LENGTH) : length_fits();
            (packet_size_t.ELEMENTS_128, EMPTY_TOTAL_LEN, EMPTY_UDP_LENGTH): length_fits();
            (packet_size_t.ELEMENTS_256, EMPTY_TOTAL_LEN, EMPTY_UDP_LENGTH): length_fits();
        }
        const default_action = length_differs;
        size = 4;
    }
#endif

    action consume() {
        md.op = op_t.CONSUME;
    }

    action relay() {
        md.op = op_t.RELAY;
    }

    action consume_wrong() {
        wrong_checksums.count(hdr.bridge.rid);
        md.op = op_t.CONSUME;
    }

    action relay_wrong() {
        wrong_checksums.count(hdr.bridge.rid);
        md.op = op_t.RELAY;
    }

#ifdef WITH_LEVELS
    action take() {
        md.op = op_t.RESULT;
    }

    action relay_result() {
        md.op = op_t.RELAY_RESULT;
    }
#endif

    action refuse(drop_reason_t reason) {
        md.op = op_t.DROP;
        md.reason = reason;
    }

#ifdef WITH_ROCE
    action set_cell() {
        hdr.bridge.cell = md.pool_index[14:0] ++ md.pool_index[15:15];
    }
#endif

    // Slots live in the first pipe (and, for larger packets, the ones after it), wherever the worker
    // is attached.
    table screen {
        key = {
            md.length_ok                   : ternary;
            md.admitted                    : ternary;
            md.room[15:15]                 : ternary @name("room_sign");
            hdr.switchml.pool_index[15:15] : ternary @name("version");
            md.other_session               : ternary;
            ig_intr_md.ingress_port[8:7]   : ternary @name("pipe");
            md.bad_checksum                : ternary;
#ifdef WITH_LEVELS
            md.from_above                  : ternary;
#endif
        }
        actions = {
            consume;
            relay;
            consume_wrong;
            relay_wrong;
#ifdef WITH_LEVELS
            take;
            relay_result;
#endif
            refuse;
        }
        const entries = {
#ifdef WITH_LEVELS
            (false, _, _, _, _, _, _, _)         : refuse(drop_reason_t.BAD_LENGTH);
            (_, false, _, _, _, _, _, _)         : refuse(drop_reason_t.UNKNOWN_WORKER);
            (_, _, 0, 1, _, _, _, _)             : refuse(drop_reason_t.BAD_POOL_INDEX);
            (_, _, 1, 0, _, _, _, _)             : refuse(drop_reason_t.BAD_POOL_INDEX);
#ifdef VIRTUAL
            (_, _, _, _, 0, _, _, true)          : take();
            (_, _, _, _, 0, _, false, _)         : consume();
            (_, _, _, _, 0, _, true, _)          : consume_wrong();
#else
            (_, _, _, _, 0, PIPE_0, _, true)     : take();
            (_, _, _, _, 0, _, _, true)          : relay_result();
            (_, _, _, _, 0, PIPE_0, false, _)    : consume();
            (_, _, _, _, 0, PIPE_0, true, _)     : consume_wrong();
            (_, _, _, _, 0, _, false, _)         : relay();
            (_, _, _, _, 0, _, true, _)          : relay_wrong();
#endif
#else
            (false, _, _, _, _, _, _)     : refuse(drop_reason_t.BAD_LENGTH);
            (_, false, _, _, _, _, _)     : refuse(drop_reason_t.UNKNOWN_WORKER);
            (_, _, 0, 1, _, _, _)         : refuse(drop_reason_t.BAD_POOL_INDEX);
            (_, _, 1, 0, _, _, _)         : refuse(drop_reason_t.BAD_POOL_INDEX);
            (_, _, _, _, 0, PIPE_0, false): consume();
            (_, _, _, _, 0, PIPE_0, true) : consume_wrong();
            (_, _, _, _, 0, _, false)     : relay();
            (_, _, _, _, 0, _, true)      : relay_wrong();
#endif
        }
        const default_action = refuse(drop_reason_t.OTHER_SESSION);
#ifdef WITH_LEVELS
        size = 10;
#else
        size = 8;
#endif
    }

    apply {
        workers.apply();
        sessions.apply();
#ifdef SUMS_ALONE
        lengths.apply();
        screen.apply();
#else
        if (hdr.high.isValid()) {
            lengths.apply();
        } else {
            empty_lengths.apply();
        }
        screen.apply();
#ifdef WITH_ROCE
        set_cell();
#endif
        if (hdr.switchml.msg_type & MSG_TYPE_COLLECTIVE_MASK == MSG_TYPE_COLLECTIVE) {
            audiences.apply();
        }
#endif
    }
}

#ifdef WITH_ROCE
#include "roce.p4"
#endif

// ---------------------------------------------------------------------------------------------------
// Where the packet goes from here.
#ifdef HALVES
#include "halves_steps.p4"
#elif defined(WITH_LEVELS)
#include "levels_steps.p4"
#else
// What comes by RoCE has no SwitchML header between passes.
#ifdef WITH_ROCE
#define SIZE          hdr.bridge.size
#define IS_COLLECTIVE (hdr.bridge.collective != 0)
#else
#define SIZE          hdr.switchml.size
#define IS_COLLECTIVE (hdr.switchml.msg_type & MSG_TYPE_COLLECTIVE_MASK == MSG_TYPE_COLLECTIVE)
#endif
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
    action next_pipe(PortId_t port) {
        hdr.low.setInvalid();
        hdr.high.setInvalid();
        again(op_t.CONSUME, port);
    }

    // The slot is complete. The second half has been read on the way, the first is still to come.
    action start_result(bit<8> unicast, op_t op, PortId_t port) {
        hdr.low.setInvalid();
        hdr.bridge.unicast = unicast;
        again(op, port);
    }

    // The same of a collective operation, twice: the copy that takes the other port is delivered without elements.
    action split_result(op_t op, MulticastGroupId_t both) {
        hdr.low.setInvalid();
        hdr.bridge.unicast = 0;
        hdr.bridge.op = op;
        ig_tm_md.mcast_grp_a = both;
        ig_tm_md.bypass_egress = 1;
    }

    action deliver_brief() {
        hdr.high.setInvalid();
        hdr.bridge.op = op_t.READ_BRIEF;
        ig_tm_md.mcast_grp_a = hdr.bridge.brief_group;
    }

    action deliver_to_job() {
        ig_tm_md.mcast_grp_a = hdr.bridge.group;
    }

    action deliver_to_worker() {
        resent.count(hdr.bridge.rid);
        ig_tm_md.ucast_egress_port = hdr.bridge.port[8:0];
    }

    action deliver_brief_to_worker() {
        hdr.high.setInvalid();
        hdr.bridge.op = op_t.READ_BRIEF;
        deliver_to_worker();
    }

    // Aggregated, and others are still missing: it ends here, and is not lost.
    @silken_consumes
    action absorb() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // Leaves `op` alone: the lanes match on it, so a write would hold this table, and the count of drops
    // behind it, until the last of them has passed, one stage too many.
    action refuse(drop_reason_t reason) {
        md.reason = reason;
    }

    // What becomes of packets of plain sums, and of all results.
    table steps {
        key = {
            md.op                        : ternary;
            SIZE                         : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
            md.missing                   : ternary;
            hdr.bridge.num_workers       : ternary;
            hdr.bridge.unicast           : ternary;
        }
        actions = {
            again;
            next_pipe;
            start_result;
            deliver_brief;
            deliver_brief_to_worker;
            deliver_to_job;
            deliver_to_worker;
            absorb;
            refuse;
        }
        const entries = {
            (op_t.RELAY, _, _, _, _, _): again(op_t.CONSUME, RECIRCULATE_PIPE_0);

            // Larger packets visit the pipes in order. A duplicate goes all the way, too: its first
            // copy may have been lost between two pipes.
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, PIPE_0, _, _, _)  : next_pipe(RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, PIPE_0, _, _, _): next_pipe(RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_0, _, _, _)  : next_pipe(RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_0, _, _, _): next_pipe(RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_1, _, _, _)  : next_pipe(RECIRCULATE_PIPE_2);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_1, _, _, _): next_pipe(RECIRCULATE_PIPE_2);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_2, _, _, _)  : next_pipe(RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_2, _, _, _): next_pipe(RECIRCULATE_PIPE_3);

            // The last pipe decides. The last worker was missing, or there is only one.
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 1, _, _) : start_result(0, op_t.READ_NONE, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 0, 1, _) : start_result(0, op_t.READ_NONE, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 1, _, _) : start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 0, 1, _) : start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 1, _, _): start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 0, 1, _): start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 1, _, _): start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_3);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 0, 1, _): start_result(0, op_t.READ_LOW, RECIRCULATE_PIPE_3);
            (op_t.CONSUME, _, _, _, _, _): absorb();

            // A repetition: of a complete slot it asks for the result, else there is nothing to say.
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_32, _, 0, _, _) : start_result(1, op_t.READ_NONE, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_64, _, 0, _, _) : start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, _, 0, _, _): start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, _, 0, _, _): start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, _, _, _, _, _): refuse(drop_reason_t.DUPLICATE);

            // Results go back through the pipes, the second half of each before the first.
            (op_t.READ_HIGH, _, PIPE_2, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_2);
            (op_t.READ_HIGH, _, PIPE_1, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.READ_HIGH, _, PIPE_0, _, _, _): again(op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.READ_LOW, _, PIPE_3, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_2);
            (op_t.READ_LOW, _, PIPE_2, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_1);
            (op_t.READ_LOW, _, PIPE_1, _, _, _) : again(op_t.READ_HIGH, RECIRCULATE_PIPE_0);
            (op_t.READ_LOW, _, PIPE_0, _, _, 0) : deliver_to_job();
            (op_t.READ_LOW, _, PIPE_0, _, _, 1) : deliver_to_worker();
            (op_t.READ_NONE, _, _, _, _, 0)     : deliver_to_job();
            (op_t.READ_NONE, _, _, _, _, 1)     : deliver_to_worker();
            (op_t.READ_BRIEF, _, _, _, _, 0)    : deliver_brief();
            (op_t.READ_BRIEF, _, _, _, _, 1)    : deliver_brief_to_worker();
        }
        const default_action = refuse(drop_reason_t.BAD_STATE);
        size = 40;
    }

    // The same for packets of collective operations, until their slot is complete. A table of its own, so that plain sums
    // do not pay for it.
    table collective_steps {
        key = {
            md.op                        : ternary;
            hdr.switchml.size            : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
            md.missing                   : ternary;
            hdr.bridge.num_workers       : ternary;
            hdr.switchml.msg_type        : ternary;
            hdr.bridge.group             : ternary;
        }
        actions = {
            next_pipe;
            start_result;
            split_result;
            absorb;
            refuse;
        }
        const entries = {
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, PIPE_0, _, _, _, _)  : next_pipe(RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, PIPE_0, _, _, _, _): next_pipe(RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_0, _, _, _, _)  : next_pipe(RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_0, _, _, _, _): next_pipe(RECIRCULATE_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_1, _, _, _, _)  : next_pipe(RECIRCULATE_PIPE_2);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_1, _, _, _, _): next_pipe(RECIRCULATE_PIPE_2);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, PIPE_2, _, _, _, _)  : next_pipe(RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, PIPE_2, _, _, _, _): next_pipe(RECIRCULATE_PIPE_3);

            // If nobody wants the elements, there is one result without them.
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 1, _, _, 0) : start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 0, 1, _, 0) : start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 1, _, _, 0) : start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 0, 1, _, 0) : start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 1, _, _, 0): start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 0, 1, _, 0): start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 1, _, _, 0): start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_3);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 0, 1, _, 0): start_result(0, op_t.READ_BRIEF, BRIEF_PIPE_3);
            // Else there are two.
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 1, _, _, _) : split_result(op_t.READ_NONE, SPLIT_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_32, _, 0, 1, _, _) : split_result(op_t.READ_NONE, SPLIT_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 1, _, _, _) : split_result(op_t.READ_LOW, SPLIT_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_64, _, 0, 1, _, _) : split_result(op_t.READ_LOW, SPLIT_PIPE_0);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 1, _, _, _): split_result(op_t.READ_LOW, SPLIT_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_128, _, 0, 1, _, _): split_result(op_t.READ_LOW, SPLIT_PIPE_1);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 1, _, _, _): split_result(op_t.READ_LOW, SPLIT_PIPE_3);
            (op_t.CONSUME, packet_size_t.ELEMENTS_256, _, 0, 1, _, _): split_result(op_t.READ_LOW, SPLIT_PIPE_3);
            (op_t.CONSUME, _, _, _, _, _, _)                         : absorb();

            // Who asks again and wants no elements in the answer gets none.
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_32, _, 0, _, MSG_TYPE_BRIEF &&& MSG_TYPE_BRIEF_MASK, _) : start_result(1, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_64, _, 0, _, MSG_TYPE_BRIEF &&& MSG_TYPE_BRIEF_MASK, _) : start_result(1, op_t.READ_BRIEF, BRIEF_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, _, 0, _, MSG_TYPE_BRIEF &&& MSG_TYPE_BRIEF_MASK, _): start_result(1, op_t.READ_BRIEF, BRIEF_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, _, 0, _, MSG_TYPE_BRIEF &&& MSG_TYPE_BRIEF_MASK, _): start_result(1, op_t.READ_BRIEF, BRIEF_PIPE_3);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_32, _, 0, _, _, _) : start_result(1, op_t.READ_NONE, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_64, _, 0, _, _, _) : start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_0);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_128, _, 0, _, _, _): start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_1);
            (op_t.DUPLICATE, packet_size_t.ELEMENTS_256, _, 0, _, _, _): start_result(1, op_t.READ_LOW, RECIRCULATE_PIPE_3);
            (op_t.DUPLICATE, _, _, _, _, _, _)                         : refuse(drop_reason_t.DUPLICATE);
        }
        const default_action = refuse(drop_reason_t.BAD_STATE);
        size = 40;
    }

    apply {
        if (md.no_audience) {
            refuse(drop_reason_t.NO_AUDIENCE);
        } else if (IS_COLLECTIVE &&
                   (md.op == op_t.CONSUME || md.op == op_t.DUPLICATE)) {
            collective_steps.apply();
        } else {
            steps.apply();
        }
    }
}
#endif

// ---------------------------------------------------------------------------------------------------
control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Admission() admission;
#ifdef WITH_ROCE
    Writes() writes;
#endif
    Seen() seen;
    Tally() tally0;
#ifndef HALVES
    Tally() tally1;
#endif
#ifdef WITH_LEVELS
    Uses() uses;
    Known() known;
#endif
#ifndef SUMS_ALONE
    Zeros() zeros;
#endif
    Lanes() lanes;
    Steps() steps;
    Forward() forward;

    // By drop_reason_t.
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS) drops;

    // By worker: packets whose elements were in the slot already.
    Counter<bit<64>, bit<16>>(WORKERS, CounterType_t.PACKETS) repetitions;

#ifndef HALVES
    // The count that goes with the second exponent is the same as the first's.
    int<8> missing_again;
#endif

    apply {
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.PARSER_ERROR;
#ifdef WITH_ROCE
        } else if (md.op == op_t.ARRIVE && hdr.bth.isValid()) {
            writes.apply(hdr, md, ig_intr_md);
#else
        } else if (md.op == op_t.FORWARD) {
            ig_tm_md.bypass_egress = 1;
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
#endif
        } else if (md.op == op_t.ARRIVE) {
            admission.apply(hdr, md, ig_intr_md);
        }

#ifdef WITH_ROCE
        if (md.op == op_t.FORWARD) {
            ig_tm_md.bypass_egress = 1;
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        }
        md.cell = hdr.bridge.cell[CELL_BITS - 1:0];
#else
        md.cell = hdr.bridge.cell[15:15] ++ hdr.bridge.cell[SLOT_BITS - 1:0];
#endif

#ifndef SUMS_ALONE
        zeros.apply(hdr, md);
#endif
#ifdef WITH_ROCE
        // Neither waits for the other: what came out of order is known in the stage of the bitmaps.
        if (md.op == op_t.CONSUME && (!hdr.bth.isValid() || hdr.bridge.cell[15:15] == 1)) {
            seen.apply(hdr, md);
        }
        if (hdr.bth.isValid() && hdr.bridge.cell[15:15] == 0 && (md.op == op_t.CONSUME || md.op == op_t.RELAY)) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.OUT_OF_ORDER;
        }
#else
        if (md.op == op_t.CONSUME) {
            seen.apply(hdr, md);
        }
#ifdef WITH_LEVELS
        uses.apply(hdr, md);
#endif
#endif
        tally0.apply(hdr, md, hdr.exponents.e0, md.missing);
#ifndef HALVES
        tally1.apply(hdr, md, hdr.exponents.e1, missing_again);
#endif
#ifdef WITH_LEVELS
        known.apply(md);
        if (md.op == op_t.RESULT && md.other_use != 0) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.STALE_RESULT;
        } else
#endif
        if (md.op == op_t.CONSUME && md.seen != 0) {
            md.op = op_t.DUPLICATE;
        }
        // Every packet passes the first pipe, and some pass others as well: count it there.
#ifdef HALVES
        if (md.op == op_t.DUPLICATE && ig_intr_md.ingress_port[8:7] == PIPE_0 && hdr.bridge.cell[13:12] == 0) {
#else
        if (md.op == op_t.DUPLICATE && ig_intr_md.ingress_port[8:7] == PIPE_0) {
#endif
            repetitions.count(hdr.bridge.rid);
        }
#ifdef HALVES
        // Of a slot that stays incomplete nobody gets sums. The chip would not mind to make them.
        if (md.op == op_t.READ_LOW) {
            md.wanted = true;
        } else if ((md.op == op_t.CONSUME || md.op == op_t.DUPLICATE) && (md.missing == 0 || md.missing == 1)) {
            md.wanted = true;
        }
#endif
        lanes.apply(hdr, md);

        if (md.op != op_t.FORWARD && md.op != op_t.DROP) {
            steps.apply(hdr, md, ig_intr_md, ig_dprsr_md, ig_tm_md);
        }
        if (md.reason != drop_reason_t.NONE) {
            ig_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// A copy of a result gets its addresses: from the switch as the last worker knew it, to the worker
// that this copy is for.
control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) sent;
#ifdef WITH_ROCE
    Results() results;
#endif

    action address(mac_addr_t mac, ipv4_addr_t ip, bit<16> udp_port) {
        sent.count();
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = mac;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = ip;
        hdr.ipv4.ttl = 64;
        hdr.udp.checksum = 0;
#ifndef WITH_LEVELS
        hdr.udp.src_port = hdr.udp.dst_port;
#endif
        hdr.udp.dst_port = udp_port;
    }

#ifdef WITH_LEVELS
    // A partial sum goes up in the packet of the worker that completed it, or asked again, with this switch's own
    // addresses, which are the same whoever that was. At the port that the worker asked, so the answer comes from there.
    action above(mac_addr_t mac, ipv4_addr_t ip, mac_addr_t own_mac, ipv4_addr_t own_ip) {
        sent.count();
        hdr.ethernet.src_addr = own_mac;
        hdr.ethernet.dst_addr = mac;
        hdr.ipv4.src_addr = own_ip;
        hdr.ipv4.dst_addr = ip;
        hdr.ipv4.ttl = 64;
        hdr.udp.checksum = 0;
    }
#endif

    action no_receiver() {
        sent.count();
        eg_dprsr_md.drop_ctl = 1;
    }

    table receivers {
        key = {
            md.rid : exact;
        }
        actions = {
            address;
#ifdef WITH_LEVELS
            above;
#endif
            @defaultonly no_receiver;
        }
        const default_action = no_receiver;
        size = WORKERS;
        counters = sent;
    }

#ifndef SUMS_ALONE
    action lengths_are(bit<16> total_len, bit<16> udp_length) {
        hdr.ipv4.total_len = total_len;
        hdr.udp.length = udp_length;
    }

    // A result may have elements although its packet had none, and the other way round.
    table lengths {
        key = {
            hdr.bridge.op              : ternary;
            hdr.bridge.collective[2:0] : ternary @name("size");
        }
        actions = {
            lengths_are;
            NoAction;
        }
        const entries = {
            (op_t.READ_BRIEF, _)                   : lengths_are(EMPTY_TOTAL_LEN, EMPTY_UDP_LENGTH);
            (_, (bit<3>)packet_size_t.ELEMENTS_32) : lengths_are(166, 146);
            (_, (bit<3>)packet_size_t.ELEMENTS_64) : lengths_are(294, 274);
            (_, (bit<3>)packet_size_t.ELEMENTS_128): lengths_are(550, 530);
            (_, (bit<3>)packet_size_t.ELEMENTS_256): lengths_are(1062, 1042);
        }
        const default_action = NoAction;
        size = 5;
    }
#endif

    apply {
        if (hdr.bridge.unicast == 1) {
            md.rid = hdr.bridge.rid;
        } else {
            md.rid = eg_intr_md.egress_rid;
        }
#ifdef WITH_LEVELS
        // Sums from above keep the port that was asked.
        if (hdr.bridge.unicast != FROM_ABOVE) {
            hdr.udp.src_port = hdr.udp.dst_port;
        }
#endif
        receivers.apply();
#ifdef WITH_ROCE
        if (hdr.bth.isValid()) {
            results.apply(hdr, md, eg_dprsr_md);
        }
#endif
#ifndef SUMS_ALONE
        if (hdr.bridge.collective != 0) {
            lengths.apply();
        }
#endif
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

#if defined(WITH_ROCE) && !defined(CRC_BY_CARDS)
@silken_invariant_crc
#endif
Switch(pipe) main;
