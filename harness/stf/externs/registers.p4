/* SPDX-License-Identifier: Apache-2.0
 *
 * registers: what register actions can do. Operation op uses one register; the result is in r.
 */
#include "frame.p4i"

struct pair_t {
    bit<32> first;
    bit<32> second;
}

struct signed_pair_t {
    int<16> low;
    int<16> high;
}

INGRESS {
    // 0: a pair with parameters the control plane may change
    Register<pair_t, bit<8>>(32w16, {5, 7}) pairs;
    RegisterParam<bit<32>>(1) step;
    RegisterParam<bit<32>>(1000) limit;
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) advance = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = value.second;
            value.first = value.first + step.read();
            if (value.second < limit.read()) {
                value.second = value.second + 100;
            }
        }
    };

    // 1: one bit, the complement of what was there
    Register<bit<1>, bit<8>>(200, 1) flags;
    RegisterAction<bit<1>, bit<8>, bit<1>>(flags) clear_flag = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = ~value;
            value = 0;
        }
    };

    // 2: saturating sums of bytes
    Register<bit<8>, bit<8>>(256, 250) bytes;
    RegisterAction<bit<8>, bit<8>, bit<8>>(bytes) add_byte = {
        void apply(inout bit<8> value, out bit<8> rv) {
            value = value |+| hdr.op.a[7:0];
            rv = value;
        }
    };

    // 3: signed words: minimum and maximum
    Register<signed_pair_t, bit<8>>(16, {32767, -32768}) extremes;
    RegisterAction<signed_pair_t, bit<8>, int<16>>(extremes) note = {
        void apply(inout signed_pair_t value, out int<16> rv) {
            value.low = min(value.low, (int<16>)hdr.op.h);
            value.high = max(value.high, (int<16>)hdr.op.h);
            rv = value.high;
        }
    };

    // 4: which of two comparisons hold
    Register<bit<32>, bit<8>>(16, 10) compared;
    RegisterAction<bit<32>, bit<8>, bit<8>>(compared) compare = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = this.predicate(value == hdr.op.a, value > hdr.op.b);
        }
    };

    // 5: a log
    Register<bit<32>, bit<8>>(4) log;
    RegisterAction<bit<32>, bit<8>, bit<32>>(log) append = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = hdr.op.a;
        }
    };

    // 6: bits seen as bytes; 7: bytes seen as words; 8: 64 bits seen as a pair
    Register<bit<1>, bit<8>>(256) bits;
    RegisterAction<bit<8>, bit<5>, bit<8>>(bits) swap_byte = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
            value = hdr.op.a[7:0];
        }
    };
    Register<bit<32>, bit<4>>(16) words;
    RegisterAction<bit<8>, bit<6>, bit<8>>(words) swap_part = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
            value = hdr.op.a[7:0];
        }
    };
    Register<bit<64>, bit<8>>(16, 0x0000000100000002) longs;
    RegisterAction<pair_t, bit<8>, bit<32>>(longs) count_up = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.first = value.first + 1;
            value.second = value.second + 2;
            rv = value.second;
        }
    };

    // 9: rv is not set on every way: 0
    Register<bit<16>, bit<16>>(0x1000, 0xffff) plain;
    RegisterAction<bit<16>, bit<16>, bit<16>>(plain) maybe = {
        void apply(inout bit<16> value, out bit<16> rv) {
            if (value == hdr.op.h) {
                rv = value;
            }
            value = value + 1;
        }
    };

    // 10, 11: no action at all
    Register<int<32>, bit<8>>(16, -3) bare;
    Register<bit<32>, bit<8>>(16) written;

    // 13: a parameter is written
    RegisterParam<bit<32>>(77) given;
    Register<bit<32>, bit<8>>(16) filled;
    action op13() { filled.write(hdr.op.i, given.read()); }

    // 12: without result
    Register<bit<32>, bit<8>>(16, 7) silent;
    RegisterAction<bit<32>, bit<8>, bit<32>>(silent) shift_in = {
        void apply(inout bit<32> value) {
            value = value ^ hdr.op.a;
        }
    };

    // one cell for each entry of a table
    DirectRegister<pair_t>({100, 200}) by_port;
    DirectRegisterAction<pair_t, bit<32>>(by_port) note_packet = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.first = value.first + 1;
            value.second = hdr.op.a;
            rv = value.first;
        }
    };
    DirectRegister<int<16>>() levels;
    action noted() { hdr.op.s = note_packet.execute(); }
    action raised() { levels.write((int<16>)hdr.op.h); }
    table ports {
        key = { ig_intr_md.ingress_port : exact; }
        actions = { noted; @defaultonly NoAction; }
        registers = by_port;
        size = 16;
    }
    table kinds {
        key = { hdr.op.i : ternary; }
        actions = { raised; @defaultonly NoAction; }
        registers = levels;
        size = 16;
    }

    action op0() { hdr.op.r = advance.execute(hdr.op.i); }
    action op1() { hdr.op.r = (bit<32>)clear_flag.execute(hdr.op.i); }
    action op2() { hdr.op.r = (bit<32>)add_byte.execute(hdr.op.i); }
    action op3() { hdr.op.r = (bit<32>)(bit<16>)note.execute(hdr.op.i); }
    action op4() { hdr.op.r = (bit<32>)compare.execute(hdr.op.i); }
    action op5() { hdr.op.r = append.execute_log(); }
    action op6() { hdr.op.r = (bit<32>)swap_byte.execute(hdr.op.i[4:0]); }
    action op7() { hdr.op.r = (bit<32>)swap_part.execute(hdr.op.i[5:0]); }
    action op8() { hdr.op.r = count_up.execute(hdr.op.i); }
    action op9() { hdr.op.r = (bit<32>)maybe.execute(hdr.op.a[15:0]); }
    action op10() { hdr.op.r = (bit<32>)bare.read(hdr.op.i); }
    action op11() { written.write(hdr.op.i, hdr.op.a); }
    action op12() { hdr.op.r = shift_in.execute(hdr.op.i); }

    table ops {
        key = { hdr.op.op : exact; }
        actions = { op0; op1; op2; op3; op4; op5; op6; op7; op8; op9; op10; op11; op12; op13; }
        const entries = {
            0 : op0();
            1 : op1();
            2 : op2();
            3 : op3();
            4 : op4();
            5 : op5();
            6 : op6();
            7 : op7();
            8 : op8();
            9 : op9();
            10 : op10();
            11 : op11();
            12 : op12();
            13 : op13();
        }
        size = 16;
    }

    apply {
        ops.apply();
        ports.apply();
        kinds.apply();
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
    }
}

MAIN
