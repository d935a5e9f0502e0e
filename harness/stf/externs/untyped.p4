/* SPDX-License-Identifier: Apache-2.0
 *
 * untyped: indices of registers, counters, meters and filters whose type is left open ('_'), given as
 * literals and constants without width, as fields and as expressions.
 */
#include "frame.p4i"

const int THIRD = 3;

INGRESS {
    Register<bit<32>, _>(8) cells;
    RegisterAction<bit<32>, _, bit<32>>(cells) add = {
        void apply(inout bit<32> v, out bit<32> rv) {
            v = v + hdr.op.a;
            rv = v;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) get = {
        void apply(inout bit<32> v, out bit<32> rv) { rv = v; }
    };
    Register<_, _>(4, 32w7) full;
    Register<bit<8>, _>(4) bytes;
    Counter<bit<32>, _>(8, CounterType_t.PACKETS) packets;
    Meter<_>(8, MeterType_t.PACKETS) meter;
    Lpf<bit<32>, _>(8) filter;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.op == 0) {
            hdr.op.r = add.execute(0);
        } else if (hdr.op.op == 1) {
            hdr.op.r = add.execute(THIRD);
        } else if (hdr.op.op == 2) {
            hdr.op.r = add.execute(THIRD + 1);
        } else if (hdr.op.op == 3) {
            hdr.op.r = add.execute(hdr.op.i);
        } else if (hdr.op.op == 4) {
            hdr.op.r = get.execute(index = hdr.op.i);
        } else if (hdr.op.op == 5) {
            hdr.op.r = full.read(2);
        } else if (hdr.op.op == 6) {
            bytes.write(index = 1, value = hdr.op.i);
        } else if (hdr.op.op == 7) {
            packets.count(5);
            hdr.op.r = (bit<32>)meter.execute(6);
            hdr.op.s = filter.execute(hdr.op.a, 7);
        } else if (hdr.op.op == 8) {
            packets.count(hdr.op.h);
            hdr.op.r = (bit<32>)meter.execute(THIRD, MeterColor_t.YELLOW);
        }
    }
}

MAIN
