/* SPDX-License-Identifier: Apache-2.0
 *
 * meters: every kind of meter and filter. Operation op uses one, cell i; the result is in r.
 */
#include "../externs/frame.p4i"

INGRESS {
    Meter<bit<8>>(16, MeterType_t.BYTES) of_bytes;                    // 0
    Meter<bit<8>>(16, MeterType_t.PACKETS) of_packets;                // 1: colour-aware
    Meter<bit<8>>(16, MeterType_t.BYTES, 0x30, 0x20, 0x10) remapped;  // 2: 14 bytes less
    Lpf<bit<32>, bit<8>>(16) average;                                 // 3
    Wred<bit<32>, bit<8>>(16, 7, 9) early;                            // 4
    DirectMeter(MeterType_t.PACKETS) per_entry;                       // 5
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) seen;
    DirectLpf<bit<16>>() entry_average;                               // 6
    DirectWred<bit<16>>(1, 2) entry_early;                            // 7
    @red(30) @yellow(20) @green(10)
    Meter<bit<8>>(4, MeterType_t.PACKETS) annotated;                  // 8

    action mark() {
        hdr.op.r[7:0] = per_entry.execute();
        seen.count(10);
    }
    table marking {
        key = { hdr.op.i : exact; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction;
        meters = per_entry;
        counters = seen;
        size = 16;
    }

    action smooth() {
        hdr.op.r[15:0] = entry_average.execute(hdr.op.h);
    }
    table smoothing {
        key = { hdr.op.i : ternary; }
        actions = { smooth; }
        filters = entry_average;
        size = 16;
    }

    action decide() {
        hdr.op.r[7:0] = entry_early.execute(hdr.op.h);
    }
    table deciding {
        key = { hdr.op.i : exact; }
        actions = { decide; }
        filters = entry_early;
        const entries = {
            1 : decide();
            2 : decide();
        }
    }

    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.op == 0) {
            hdr.op.r[7:0] = of_bytes.execute(hdr.op.i);
        } else if (hdr.op.op == 1) {
            hdr.op.r[7:0] = of_packets.execute(index = hdr.op.i,
                                               color = (MeterColor_t)hdr.op.a[7:0]);
        } else if (hdr.op.op == 2) {
            hdr.op.r[7:0] = remapped.execute(index = hdr.op.i, adjust_byte_count = 14);
        } else if (hdr.op.op == 3) {
            hdr.op.r = average.execute(hdr.op.a, hdr.op.i);
        } else if (hdr.op.op == 4) {
            hdr.op.r[7:0] = early.execute(hdr.op.a, hdr.op.i);
        } else if (hdr.op.op == 5) {
            marking.apply();
        } else if (hdr.op.op == 6) {
            smoothing.apply();
        } else if (hdr.op.op == 7) {
            deciding.apply();
        } else {
            hdr.op.r[7:0] = annotated.execute(hdr.op.i);
        }
    }
}

MAIN
