/* SPDX-License-Identifier: Apache-2.0
 *
 * atp.p4: in-network aggregation after ATP (Lao et al., NSDI 2021), for a Tofino 1.
 *
 * Aggregators are shared by all jobs, first come first served: a gradient packet names one, and if it
 * is free or the fragment's already, the packet is added to it and ends here; the last one carries the
 * sum on to the parameter server. Whatever does not fit goes to the server as it is. Parameter packets
 * free aggregators on their way back. README.md walks through the passes and the control plane's tables.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "aggregator.p4"
#include "parsers.p4"

// Where packets that leave go: gradients to their server, parameters to their job's group, all else by its
// address. A program that has another answer names its file (p4/rack).
#ifndef FORWARD_FILE
#define FORWARD_FILE "../common/forward.p4"
#endif
#include FORWARD_FILE

// ---------------------------------------------------------------------------------------------------
// Which pipe has which aggregators, for the entries of `classify`: HERE(home, pipe) what packets do in
// the pipe that has theirs, ELSEWHERE(home, port) how they get there from the others. A program with
// other pipes beside ATP's has a definition of its own (p4/ina).
#define HERE(home, pipe)                                                                              \
    (false, 292, 272, _, home, pipe, _, _, _, 1): acknowledge();                                      \
    (false, 292, 272, _, home, pipe, _, _, 1, 0): release();                                          \
    (false, 292, 272, _, home, pipe, 1, 1, 0, 0): release();                                          \
    (false, 292, 272, _, home, pipe, 0, 1, 0, 0): resend();                                           \
    (false, 292, 272, _, home, pipe, 0, 0, 0, 0): gradient_0();                                       \
    (false, 292, 272, _, home, pipe, 1, 0, 0, 0): gradient_1();
#define ELSEWHERE(home, port) (false, 292, 272, _, home, _, _, _, _, _): relay(port);

#ifndef HOMES
#define HOMES                                                                                         \
    HERE(0, 0)                                                                                        \
    HERE(1, 1)                                                                                        \
    HERE(2, 2)                                                                                        \
    HERE(3, 3)                                                                                        \
    ELSEWHERE(0, RECIRCULATE_PIPE_0)                                                                  \
    ELSEWHERE(1, RECIRCULATE_PIPE_1)                                                                  \
    ELSEWHERE(2, RECIRCULATE_PIPE_2)                                                                  \
    ELSEWHERE(3, RECIRCULATE_PIPE_3)
#endif

// ---------------------------------------------------------------------------------------------------
// What a packet is to do here (figure 7, figure 17).
control Classify(inout headers_t hdr, inout ingress_metadata_t md,
                 in ingress_intrinsic_metadata_t ig_intr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action refuse(drop_reason_t reason) {
        md.op = op_t.DROP;
        md.reason = reason;
    }

    action relay(PortId_t port) {
        hdr.bridge.setValid();
        hdr.bridge.op = op_t.RELAY;
        hdr.bridge.lane = lane_op_t.NONE;
        hdr.bridge._pad = 0;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }

    // The session of a job that its hosts are in (session/message.h), which is the UDP source port of all that they
    // send. Packets of another session are refused before they meet an aggregator.
    action session(bit<16> port) {
        md.other_session = hdr.udp.src_port ^ port;
    }

    // Between two sessions, while aggregators are cleared.
    action closed() {
        md.other_session = 0xffff;
    }

    // For hosts without sessions.
    action any_session() {
        md.other_session = 0;
    }

    table sessions {
        key = {
            hdr.atp.fragment[31:24] : exact @name("job");
        }
        actions = {
            session;
            closed;
            @defaultonly any_session;
        }
        const default_action = any_session;
        size = 128;
    }

    action gradient_0() {
        md.op = op_t.GRADIENT;
        md.bitmap = hdr.atp.bitmap0;
        md.fan_in = 3w0 ++ hdr.atp.fan_in0;
    }

    action gradient_1() {
        md.op = op_t.GRADIENT;
        md.bitmap = hdr.atp.bitmap1;
        md.fan_in = 3w0 ++ hdr.atp.fan_in1;
    }

    action resend() {
        md.op = op_t.RESEND;
        md.bitmap = hdr.atp.bitmap0;
        md.time = hdr.atp.fragment | LOCKED;
    }

    action release() {
        md.op = op_t.RELEASE;
    }

    action acknowledge() {
        md.op = op_t.ACK;
    }

    table classify {
        key = {
            md.bad_checksum              : ternary;
            hdr.ipv4.total_len           : ternary;
            hdr.udp.length               : ternary;
            hdr.atp.fragment[31:24]      : ternary @name("job");
            hdr.atp.index[15:14]         : ternary @name("home");
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
            hdr.atp.edge                 : ternary;
            hdr.atp.resend               : ternary;
            hdr.atp.overflow             : ternary;
            hdr.atp.is_ack               : ternary;
        }
        actions = {
            refuse;
            relay;
            gradient_0;
            gradient_1;
            resend;
            release;
            acknowledge;
        }
        const entries = {
            (true, _, _, _, _, _, _, _, _, _): refuse(drop_reason_t.BAD_CHECKSUM);
            (_, _, _, 0, _, _, _, _, _, _): refuse(drop_reason_t.BAD_FRAGMENT);
            (_, _, _, 0x80 &&& 0x80, _, _, _, _, _, _): refuse(drop_reason_t.BAD_FRAGMENT);
            HOMES
        }
        const default_action = refuse(drop_reason_t.BAD_LENGTH);
        size = 32;
    }

    apply {
        sessions.apply();
        classify.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
// Where the packet goes from here.
control Steps(inout headers_t hdr, inout ingress_metadata_t md,
              inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
              inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // Ends here, but for the second half of its values.
    action absorb(lane_op_t lane) {
        hdr.bridge.setValid();
        hdr.bridge.op = op_t.ABSORB;
        hdr.bridge.lane = lane;
        hdr.bridge._pad = 0;
        ig_dprsr_md.resubmit_type = RESUBMIT_SECOND_PASS;
    }

    // The same for a packet from another pipe: what came by a recirculation port cannot be resubmitted.
    action absorb_relayed(lane_op_t lane) {
        hdr.bridge.op = op_t.ABSORB;
        hdr.bridge.lane = lane;
        ig_tm_md.ucast_egress_port = md.again;
        ig_tm_md.bypass_egress = 1;
    }

    action again(op_t op, lane_op_t lane) {
        hdr.bridge.setValid();
        hdr.bridge.op = op;
        hdr.bridge.lane = lane;
        hdr.bridge._pad = 0;
        hdr.atp.edge = 1;
        hdr.udp.checksum = 0;
        ig_tm_md.ucast_egress_port = md.again;
        ig_tm_md.bypass_egress = 1;
    }

    // Carries the sum of the first switch on, or of the second.
    action carry_0(op_t op, lane_op_t lane) {
        hdr.atp.bitmap0 = md.merged;
        again(op, lane);
    }

    action carry_1(op_t op, lane_op_t lane) {
        hdr.atp.bitmap1 = md.merged;
        again(op, lane);
    }

    action collide() {
        md.leaves = true;
        hdr.bridge.setInvalid();
        hdr.atp.edge = 1;
        hdr.atp.resend = 1;
        hdr.atp.collision = 1;
        hdr.udp.checksum = 0;
    }

    action pass_on() {
        md.leaves = true;
        hdr.bridge.setInvalid();
        hdr.atp.edge = 1;
        hdr.udp.checksum = 0;
    }

    action send_on() {
        md.leaves = true;
        hdr.bridge.setInvalid();
    }

    // Its gradient has gone into an aggregator.
    @silken_consumes
    action end() {
        ig_dprsr_md.drop_ctl = 1;
    }

    action refuse(drop_reason_t reason) {
        md.reason = reason;
    }

    table steps {
        key = {
            md.op                : ternary;
            md.owner             : ternary;
            md.seen              : ternary;
            md.last              : ternary;
            md.fan_in            : ternary;
            hdr.atp.edge         : ternary;
            hdr.bridge.isValid() : ternary @name("relayed");
            md.other_session     : ternary;
        }
        actions = {
            absorb;
            absorb_relayed;
            carry_0;
            carry_1;
            collide;
            pass_on;
            send_on;
            end;
            refuse;
        }
        const entries = {
            (op_t.GRADIENT, NEITHER, _, _, _, _, _, 0)   : collide();
            (op_t.GRADIENT, FIRST, _, _, 0, 0, _, 0)     : carry_0(op_t.COMPLETE, lane_op_t.SET);
            (op_t.GRADIENT, FIRST, _, _, 0, 1, _, 0)     : carry_1(op_t.COMPLETE, lane_op_t.SET);
            (op_t.GRADIENT, FIRST, _, _, _, _, true, 0)  : absorb_relayed(lane_op_t.SET);
            (op_t.GRADIENT, FIRST, _, _, _, _, _, 0)     : absorb(lane_op_t.SET);
            (op_t.GRADIENT, SECOND, 0, FIRST, _, 0, _, 0): carry_0(op_t.COMPLETE, lane_op_t.ADD);
            (op_t.GRADIENT, SECOND, 0, FIRST, _, 1, _, 0): carry_1(op_t.COMPLETE, lane_op_t.ADD);
            (op_t.GRADIENT, SECOND, 0, _, _, _, true, 0) : absorb_relayed(lane_op_t.ADD);
            (op_t.GRADIENT, SECOND, 0, _, _, _, _, 0)    : absorb(lane_op_t.ADD);
            (op_t.GRADIENT, SECOND, _, _, _, _, _, 0)    : refuse(drop_reason_t.DUPLICATE);
            (op_t.RESEND, SECOND, 0, _, _, _, _, 0)      : carry_0(op_t.UNLOCK, lane_op_t.ADD);
            (op_t.RESEND, SECOND, _, _, _, _, _, 0)      : carry_0(op_t.UNLOCK, lane_op_t.READ);
            (op_t.RESEND, _, _, _, _, _, _, 0)           : pass_on();
            (op_t.RELEASE, _, _, _, _, _, _, 0)          : pass_on();
            (op_t.ACK, _, _, _, _, _, _, 0)              : send_on();
            (op_t.GRADIENT, _, _, _, _, _, _, _)         : refuse(drop_reason_t.OTHER_SESSION);
            (op_t.RESEND, _, _, _, _, _, _, _)           : refuse(drop_reason_t.OTHER_SESSION);
            (op_t.RELEASE, _, _, _, _, _, _, _)          : refuse(drop_reason_t.OTHER_SESSION);
            (op_t.ACK, _, _, _, _, _, _, _)              : refuse(drop_reason_t.OTHER_SESSION);
            (op_t.ABSORB, _, _, _, _, _, _, _)           : end();
            (op_t.COMPLETE, _, _, _, _, _, _, _)         : send_on();
            (op_t.UNLOCK, _, _, _, _, _, _, _)           : send_on();
        }
        const default_action = send_on;
        size = 24;
    }

    apply {
        steps.apply();
    }
}

// ---------------------------------------------------------------------------------------------------
control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Classify() classify;
    Owner() owner;
    Members() members;
    Count() count;
    Lanes() lanes;
    Steps() steps;
    Forward() forward;

    // By drop_reason_t.
    Counter<bit<64>, bit<8>>(16, CounterType_t.PACKETS) drops;

    action back_to(PortId_t port) {
        md.again = port;
    }

    table pipes {
        key = {
            ig_intr_md.ingress_port[8:7] : exact @name("pipe");
        }
        actions = {
            back_to;
        }
        const entries = {
            0: back_to(RECIRCULATE_PIPE_0);
            1: back_to(RECIRCULATE_PIPE_1);
            2: back_to(RECIRCULATE_PIPE_2);
            3: back_to(RECIRCULATE_PIPE_3);
        }
        size = 4;
    }

    apply {
        if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            md.op = op_t.DROP;
            md.reason = drop_reason_t.PARSER_ERROR;
        } else if (md.op == op_t.FORWARD) {
            md.leaves = true;
            ig_tm_md.bypass_egress = 1;
        } else {
            pipes.apply();
            md.fragment = hdr.atp.fragment;
            md.time = ig_prsr_md.global_tstamp[47:16];
            md.ecn = 7w0 ++ hdr.atp.ecn;
            if (md.op == op_t.RELAY) {
                classify.apply(hdr, md, ig_intr_md, ig_tm_md);
            } else if (md.op == op_t.UNLOCK) {
                md.fragment = hdr.atp.fragment | LOCKED;
            }
        }
        // Two cells of each lane for an aggregator.
        if (md.lane == lane_op_t.NONE) {
            md.cell = hdr.atp.index & 0x3fff;
        } else {
            md.cell = hdr.atp.index | 0x4000;
        }

        if (md.other_session == 0) {
            owner.apply(md);
        }
        members.apply(md);
        count.apply(md);
        lanes.apply(hdr, md);
        if (md.op != op_t.FORWARD && md.op != op_t.DROP && md.op != op_t.RELAY) {
            steps.apply(hdr, md, ig_dprsr_md, ig_tm_md);
        }
        if (md.leaves) {
            forward.apply(hdr, ig_intr_md, ig_dprsr_md, ig_tm_md);
        }
        if (md.ecn != 0) {
            hdr.atp.ecn = 1;
        }
        if (md.reason != drop_reason_t.NONE) {
            ig_dprsr_md.drop_ctl = 1;
            drops.count((bit<8>)md.reason);
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Marks packets that stood in a long queue (section 3.7).
control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS) marked;

    action mark() {
        marked.count();
        hdr.atp.ecn = 1;
        hdr.udp.checksum = 0;
    }

    action keep() {
        marked.count();
    }

    // In cells of 80 bytes.
    table queues {
        key = {
            eg_intr_md.enq_qdepth : range;
        }
        actions = {
            mark;
            keep;
        }
        default_action = keep;
        counters = marked;
        size = 16;
    }

    apply {
        queues.apply();
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
