// SPDX-License-Identifier: Apache-2.0
// What the ALUs of a word compute.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    // inside: one operation
    Register<bit<32>, bit<10>>(1024) r00;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r00) r00_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    // outside: two
    Register<bit<32>, bit<10>>(1024) r01;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + hdr.h.a + 1;
        }
    };
    // inside: two, or'ed
    Register<bit<32>, bit<10>>(1024) r02;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r02) r02_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = (value + 1) | (value & hdr.h.a);
        }
    };
    // outside: two PHV fields
    Register<bit<32>, bit<10>>(1024) r03;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r03) r03_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.a + hdr.h.b;
        }
    };
    // outside: two words of the memory
    Register<pair, bit<10>>(1024) r04;
    RegisterAction<pair, bit<10>, bit<32>>(r04) r04_action = {
        void apply(inout pair value, out bit<32> rv) {
            value.lo = value.lo + value.hi;
        }
    };
    // inside: each word from the other
    Register<pair, bit<10>>(1024) r05;
    RegisterAction<pair, bit<10>, bit<32>>(r05) r05_action = {
        void apply(inout pair value, out bit<32> rv) {
            value.lo = value.hi;
            value.hi = value.lo;
        }
    };
    // outside: a shift
    Register<bit<32>, bit<10>>(1024) r06;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r06) r06_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value << 1;
        }
    };
    // outside: a product
    Register<bit<32>, bit<10>>(1024) r07;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value * 2;
        }
    };
    // inside: a complement of a logical operation
    Register<bit<32>, bit<10>>(1024) r08;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r08) r08_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = ~(value & hdr.h.a);
        }
    };
    // outside: of a sum
    Register<bit<32>, bit<10>>(1024) r09;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r09) r09_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = ~(value + hdr.h.a);
        }
    };
    // inside: a negation
    Register<bit<32>, bit<10>>(1024) r10;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r10) r10_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = -value;
        }
    };
    // inside: two updates
    Register<bit<32>, bit<10>>(1024) r11;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r11) r11_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 0)
            value = 1;
            else if (value == 1)
            value = 2;
        }
    };
    // outside: three
    Register<bit<32>, bit<10>>(1024) r12;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r12) r12_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 0)
            value = 1;
            else if (value == 1)
            value = 2;
            else
            value = 3;
        }
    };
    // inside: two of three are the same
    Register<bit<32>, bit<10>>(1024) r13;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r13) r13_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 0)
            value = 1;
            else if (value == 1)
            value = 2;
            else
            value = 1;
        }
    };
    // outside: not exclusive
    Register<bit<32>, bit<10>>(1024) r14;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r14) r14_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = 2;
            if (hdr.h.a == 1)
            value = 1;
        }
    };
    // inside: the first is never seen
    Register<bit<32>, bit<10>>(1024) r15;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r15) r15_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = 1;
            value = 2;
        }
    };
    // inside: a conditional expression
    Register<bit<32>, bit<10>>(1024) r16;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r16) r16_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = (value > 3 ? 32w0 : value + 1);
        }
    };
    // outside: part of a word
    Register<bit<32>, bit<10>>(1024) r17;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r17) r17_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value[7:0] = 3;
        }
    };
    // inside: a narrower field
    Register<bit<32>, bit<10>>(1024) r18;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r18) r18_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (bit<32>)hdr.h.i;
        }
    };
    // outside: a wider field
    Register<bit<16>, bit<10>>(1024) r19;
    RegisterAction<bit<16>, bit<10>, bit<16>>(r19) r19_action = {
        void apply(inout bit<16> value, out bit<16> rv) {
            if (hdr.h.a == 3)
            value = 1;
        }
    };
    // inside: a local variable that the free ALU computes
    Register<bit<32>, bit<10>>(1024) r20;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r20) r20_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> t = value + hdr.h.a;
            if (t > 10)
            value = 0;
            else
            value = t;
            rv = t;
        }
    };
    // outside: computing with it
    Register<bit<32>, bit<10>>(1024) r21;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r21) r21_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> t = 0;
            if (value > 3)
            t = hdr.h.a;
            value = value + t;
        }
    };
    // outside: no ALU is free
    Register<pair, bit<10>>(1024) r22;
    RegisterAction<pair, bit<10>, bit<32>>(r22) r22_action = {
        void apply(inout pair value, out bit<32> rv) {
            bit<32> t = value.lo + 1;
            if (value.hi == 1)
            t = 7;
            rv = t;
        }
    };
    // outside: an early return
    Register<bit<32>, bit<10>>(1024) r23;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r23) r23_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 1) {
            value = 2;
            return;
            }
            value = value + 1;
        }
    };
    apply {
        tm.ucast_egress_port = 1;
        if (hdr.h.k == 0)
            hdr.h.r = r00_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 8)
            hdr.h.r = r01_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 16)
            hdr.h.r = r02_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 24)
            hdr.h.r = r03_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 32)
            hdr.h.r = r04_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 40)
            hdr.h.r = r05_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 48)
            hdr.h.r = r06_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 56)
            hdr.h.r = r07_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 64)
            hdr.h.r = r08_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 72)
            hdr.h.r = r09_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 80)
            hdr.h.r = r10_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 88)
            hdr.h.r = r11_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 96)
            hdr.h.r = r12_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 104)
            hdr.h.r = r13_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 112)
            hdr.h.r = r14_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 120)
            hdr.h.r = r15_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 128)
            hdr.h.r = r16_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 136)
            hdr.h.r = r17_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 144)
            hdr.h.r = r18_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 152)
            hdr.h.q = r19_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 160)
            hdr.h.r = r20_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 168)
            hdr.h.r = r21_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 176)
            hdr.h.r = r22_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 184)
            hdr.h.r = r23_action.execute(hdr.h.idx[9:0]);
    }
}

#include "salu_rest.inc"
