/* SPDX-License-Identifier: Apache-2.0
 *
 * roce.p4: messages of several packets, which workers' network cards cut up and put together.
 *
 * A message is a write of an unreliable connection. Its first packet names a slot; each next packet of the same queue pair
 * belongs to the next slot. A packet counts only if it is the next of its queue pair, so that a lost one leaves a message
 * without an end, and never elements in a slot that are not meant for it. The worker's timer has the message sent again: what
 * of it is in its slots already is known by the bitmaps, as with UDP.
 */
#ifndef SWITCHML_ROCE_P4
#define SWITCHML_ROCE_P4

#include "headers.p4"
#include "aggregate.p4"

// What a queue pair of a worker has sent.
//
// next   the packet that may come next: its number in the upper 24 bits, so that it wraps by itself; the lower 8 are 0
// cell   of the last packet: the top bit is set, then as bridge_h.cell
struct progress_t {
    bit<32> next;
    bit<32> cell;
}

control Writes(inout headers_t hdr, inout ingress_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) received;

    Register<progress_t, pair_index_t>(PAIRS) progress;

    // A message may begin at any later number: what is in between was lost. Something older is a copy that was late.
    RegisterAction<progress_t, pair_index_t, bit<16>>(progress) begin_message = {
        void apply(inout progress_t pair, out bit<16> cell) {
            cell = 0;
            if ((int<32>)(md.psn - pair.next) >= 0) {
                pair.next = md.psn + 0x100;
                pair.cell = (bit<32>)md.bound;
                cell = (bit<16>)pair.cell;
            }
        }
    };

    RegisterAction<progress_t, pair_index_t, bit<16>>(progress) next_packet = {
        void apply(inout progress_t pair, out bit<16> cell) {
            cell = 0;
            if (md.psn == pair.next && pair.cell < (bit<32>)md.bound) {
                pair.next = pair.next + 0x100;
                pair.cell = pair.cell + 2;
                cell = (bit<16>)pair.cell;
            }
        }
    };

    // worker_bit, num_workers, group, rid, port: as for UDP (Admission). rid is below 256
    // first      0x8000 + 2 * the pool's first slot
    // last       2 * (its number of slots - 1) + 1
    action begin(bit<32> worker_bit, bit<8> num_workers, bit<16> group, bit<16> rid, bit<16> port, bit<16> first,
                 bit<16> last) {
        received.count();
        md.room = last - hdr.reth.rkey;
        md.bound = first + hdr.reth.rkey;
        md.psn = hdr.bth.psn ++ 8w0;
        md.around = hdr.ipv4.total_len - hdr.udp.length;
        hdr.bridge.setValid();
        hdr.bridge.size = md.size;
        hdr.bridge.unicast = 0;
        hdr.bridge.num_workers = num_workers;
        hdr.bridge.collective = 0;
        hdr.bridge.group = group;
        hdr.bridge.brief_group = 0;
        hdr.bridge.rid = rid;
        hdr.bridge.port = port;
        hdr.bridge.worker_bit = worker_bit;
    }

    // end   0x8000 + 2 * the pool's last slot: no packet comes after that of this slot
    action go_on(bit<32> worker_bit, bit<8> num_workers, bit<16> group, bit<16> rid, bit<16> port, bit<16> end) {
        received.count();
        md.room = 0;
        md.bound = end;
        md.psn = hdr.bth.psn ++ 8w0;
        md.around = hdr.ipv4.total_len - hdr.udp.length;
        hdr.bridge.setValid();
        hdr.bridge.size = md.size;
        hdr.bridge.unicast = 0;
        hdr.bridge.num_workers = num_workers;
        hdr.bridge.collective = 0;
        hdr.bridge.group = group;
        hdr.bridge.brief_group = 0;
        hdr.bridge.rid = rid;
        hdr.bridge.port = port;
        hdr.bridge.worker_bit = worker_bit;
    }

    // Between other stations, or of a session that is no more.
    action not_ours() {
        received.count();
        md.op = op_t.FORWARD;
    }

    table writers {
        key = {
            hdr.ipv4.src_addr       : exact;
            hdr.ipv4.dst_addr       : exact;
            ig_intr_md.ingress_port : exact;
            hdr.bth.dst_qp[23:6]    : exact @name("queue_pairs");
            hdr.reth.isValid()      : exact @name("begins");
        }
        actions = {
            begin;
            go_on;
            @defaultonly not_ours;
        }
        const default_action = not_ours;
        size = 1024;
        counters = received;
    }

    action first(op_t op) {
        hdr.bridge.cell = begin_message.execute(hdr.bth.dst_qp[PAIR_BITS - 1:0]);
        md.op = op;
    }

    action next(op_t op) {
        hdr.bridge.cell = next_packet.execute(hdr.bth.dst_qp[PAIR_BITS - 1:0]);
        md.op = op;
    }

    action refuse(drop_reason_t reason) {
        md.op = op_t.DROP;
        md.reason = reason;
    }

    action leave() {
    }

    // Slots live in the first pipe, wherever the worker is attached; its queue pairs' progress in its own. The parser has
    // looked whether opcode and UDP length fit.
    table accept {
        key = {
            md.op                        : ternary;
            hdr.reth.isValid()           : ternary @name("begins");
            hdr.reth.rkey_high           : ternary;
            hdr.reth.rkey[15:15]         : ternary @name("rkey_sign");
            md.room[15:15]               : ternary @name("room_sign");
            hdr.bth.pad_count            : ternary;
            md.around                    : ternary;
            ig_intr_md.ingress_port[8:7] : ternary @name("pipe");
        }
        actions = {
            first;
            next;
            refuse;
            leave;
        }
        const entries = {
            (op_t.FORWARD, _, _, _, _, _, _, _)               : leave();
            (_, false, _, _, _, 0, IPV4_AROUND_UDP, PIPE_0)   : next(op_t.CONSUME);
            (_, false, _, _, _, 0, IPV4_AROUND_UDP, _)        : next(op_t.RELAY);
            (_, false, _, _, _, _, _, _)                      : refuse(drop_reason_t.BAD_LENGTH);
            (_, true, 0, 0, 0, 0, IPV4_AROUND_UDP, PIPE_0)    : first(op_t.CONSUME);
            (_, true, 0, 0, 0, 0, IPV4_AROUND_UDP, _)         : first(op_t.RELAY);
            (_, true, 0, 0, 0, _, _, _)                       : refuse(drop_reason_t.BAD_LENGTH);
        }
        const default_action = refuse(drop_reason_t.BAD_POOL_INDEX);
        size = 8;
    }

    apply {
        writers.apply();
        accept.apply();
    }
}

// What the switch sends on a queue pair.
//
// psn        the next packet's number in the upper 24 bits; the lower 8 are 1
// expected   the cell whose result continues the message
struct answer_t {
    bit<32> psn;
    bit<32> expected;
}

// A message to a worker is made of results of several slots. While a message that was repeated is answered, the last packets
// of the first attempt may complete their slots: such a result is not the next of the message under way, and a card that got it
// would take it for that. It is not sent; the repetition brings it in its turn.
control Results(inout headers_t hdr, inout egress_metadata_t md,
                inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Register<answer_t, pair_index_t>(PAIRS, {1, 0}) answers;

    // By worker: results that were not the next of their message.
    Counter<bit<64>, bit<16>>(WORKERS, CounterType_t.PACKETS) strays;

    RegisterAction<answer_t, pair_index_t, bit<32>>(answers) begin_answer = {
        void apply(inout answer_t pair, out bit<32> psn) {
            psn = pair.psn;
            pair.psn = pair.psn + 0x100;
            pair.expected = (bit<32>)hdr.bridge.cell + 2;
        }
    };

    RegisterAction<answer_t, pair_index_t, bit<32>>(answers) continue_answer = {
        void apply(inout answer_t pair, out bit<32> psn) {
            psn = 0;
            if (pair.expected == (bit<32>)hdr.bridge.cell) {
                psn = pair.psn;
                pair.psn = pair.psn + 0x100;
                pair.expected = pair.expected + 2;
            }
        }
    };

    action queue_pair(bit<24> qpn, bit<16> rkey_high, bit<16> rkey) {
        hdr.bth.dst_qp = qpn;
        hdr.reth.rkey_high = rkey_high;
        hdr.reth.rkey = rkey;
    }

    action no_queue_pair() {
        eg_dprsr_md.drop_ctl = 1;
    }

    // The n-th queue pair of one worker is for the same slots as the n-th of the others.
    table queue_pairs {
        key = {
            md.rid              : exact;
            hdr.bth.dst_qp[5:0] : exact @name("queue_pair");
        }
        actions = {
            queue_pair;
            @defaultonly no_queue_pair;
        }
        const default_action = no_queue_pair;
        size = PAIRS;
    }

    apply {
        md.pair = md.rid[7:0] ++ hdr.bth.dst_qp[5:0];
        if (hdr.reth.isValid()) {
            md.psn = begin_answer.execute(md.pair);
        } else {
            md.psn = continue_answer.execute(md.pair);
        }
        queue_pairs.apply();
        if (md.psn == 0) {
            strays.count(md.rid);
            eg_dprsr_md.drop_ctl = 1;
        }
        hdr.bth.psn = md.psn[31:8];
    }
}

#endif
