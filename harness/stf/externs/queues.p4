/* SPDX-License-Identifier: Apache-2.0
 *
 * queues: a Tofino 2's registers as logs, queues and stacks of four entries.
 */
#include <t2na.p4>
#define ARCHITECTURE
#include "frame.p4i"

struct pair_t {
    bit<32> first;
    bit<32> second;
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // a queue of pairs that says when it is full or empty
    Register<pair_t, bit<8>>(4) waiting;
    RegisterAction2<pair_t, bit<8>, bit<32>, bit<32>>(waiting) put_in = {
        void apply(inout pair_t value, out bit<32> rv, out bit<32> other) {
            rv = 1;
            other = value.first;
            value.first = hdr.op.a;
            value.second = hdr.op.b;
        }
        void overflow(inout pair_t value, out bit<32> rv, out bit<32> other) {
            rv = 0xf0;
            other = value.first;
            value.second = 0xff;
        }
    };
    RegisterAction2<pair_t, bit<8>, bit<32>, bit<32>>(waiting) take_out = {
        void apply(inout pair_t value, out bit<32> rv, out bit<32> other) {
            rv = value.first;
            other = value.second;
        }
        void underflow(inout pair_t value, out bit<32> rv, out bit<32> other) {
            rv = 0xe0;
        }
    };

    // a stack without a word about its ends
    Register<bit<16>, bit<8>>(4) pile;
    RegisterAction<bit<16>, bit<8>, bit<16>>(pile) lay = {
        void apply(inout bit<16> value, out bit<16> rv) {
            value = hdr.op.h;
            rv = 1;
        }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(pile) lift = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
            value = 0;
        }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(pile) look = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
        }
    };

    // a log that is full at some time
    Register<bit<32>, bit<8>>(4) diary;
    RegisterAction<bit<32>, bit<8>, bit<32>>(diary) note = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.op.a;
            rv = 1;
        }
        void overflow(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 11;
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.op == 0) {
            hdr.op.r = put_in.enqueue(hdr.op.s);
        } else if (hdr.op.op == 1) {
            hdr.op.r = take_out.dequeue(hdr.op.s);
        } else if (hdr.op.op == 2) {
            hdr.op.r = (bit<32>)lay.push();
        } else if (hdr.op.op == 3) {
            hdr.op.r = (bit<32>)lift.pop();
        } else if (hdr.op.op == 4) {
            hdr.op.r = (bit<32>)look.execute(hdr.op.i);
        } else if (hdr.op.op == 5) {
            hdr.op.r = note.execute_log();
        }
    }
}

MAIN
