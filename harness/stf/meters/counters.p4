/* SPDX-License-Identifier: Apache-2.0
 *
 * counters: by index and of entries, with and without an adjustment, and random numbers.
 */
#include "../externs/frame.p4i"

INGRESS {
    Counter<bit<32>, bit<8>>(200, CounterType_t.PACKETS_AND_BYTES) plain;
    Counter<bit<28>, bit<8>>(200, CounterType_t.BYTES) less;
    @adjust_byte_count(3) Counter<bit<64>, bit<8>>(200, CounterType_t.BYTES) noted;
    Counter<bit<32>, bit<8>>(1, CounterType_t.BYTES) nothing;
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) of_entry;
    DirectCounter<bit<64>>(CounterType_t.BYTES) of_wide_entry;

    action counted(bit<32> value) {
        of_entry.count();
        hdr.op.r = value;
    }
    action none() {
        of_entry.count();
    }
    table exact_one {
        key = { hdr.op.a : exact; }
        actions = { counted; @defaultonly none; }
        default_action = none;
        counters = of_entry;
        size = 16;
    }
    action branch(bit<8> i) {
        of_wide_entry.count(sizeInBytes(hdr.ethernet));
        hdr.op.s[7:0] = i;
    }
    table program_s_own {
        key = { hdr.op.h : ternary; }
        actions = { branch; }
        const entries = {
            0x0100 &&& 0xff00 : branch(1);
            0x0200 &&& 0xff00 : branch(2);
        }
        counters = of_wide_entry;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        exact_one.apply();
        program_s_own.apply();
        plain.count(hdr.op.i);
        less.count(hdr.op.i, 30);
        noted.count(hdr.op.i);
        nothing.count(0, 8191);
    }
}

MAIN
