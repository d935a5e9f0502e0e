// SPDX-License-Identifier: Apache-2.0
// What an action gives out.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    // inside: the old value
    Register<bit<32>, bit<10>>(1024) r00;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r00) r00_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.a == 1)
            rv = value;
            value = value + 1;
        }
    };
    // outside: old and new
    Register<bit<32>, bit<10>>(1024) r01;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            bit<32> old = value;
            value = value + 1;
            if (hdr.h.a == 1)
            rv = old;
            else
            rv = value;
        }
    };
    // outside: memory and PHV
    Register<bit<32>, bit<10>>(1024) r02;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r02) r02_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 1)
            rv = value;
            else
            rv = hdr.h.a;
        }
    };
    // inside: memory and a constant, by the free ALU
    Register<bit<32>, bit<10>>(1024) r03;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r03) r03_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.a == 1)
            rv = value;
            else
            rv = 7;
        }
    };
    // inside: two computed ones
    Register<bit<32>, bit<10>>(1024) r04;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r04) r04_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.a == 1)
            rv = value + 2;
            else
            rv = value + 1;
        }
    };
    // outside: three
    Register<bit<32>, bit<10>>(1024) r05;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 0)
            rv = 1;
            else if (value == 1)
            rv = 2;
            else
            rv = 3;
        }
    };
    // outside: assigned twice
    Register<bit<32>, bit<10>>(1024) r06;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r06) r06_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = 1;
            if (hdr.h.a == 1)
            rv = 3;
        }
    };
    // inside: 0 to begin with
    Register<bit<32>, bit<10>>(1024) r07;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = 0;
            if (hdr.h.a == 1)
            rv = 3;
        }
    };
    // inside: computed, not stored
    Register<bit<32>, bit<10>>(1024) r08;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r08) r08_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = min(value, hdr.h.a);
        }
    };
    // outside: of a pair
    Register<pair, bit<10>>(1024) r09;
    RegisterAction<pair, bit<10>, bit<32>>(r09) r09_action = {
        void apply(inout pair value, out bit<32> rv) {
            rv = min(value.lo, hdr.h.a);
        }
    };
    // inside: a power of two
    Register<pair, bit<10>>(1024) r10;
    RegisterAction<pair, bit<10>, bit<32>>(r10) r10_action = {
        void apply(inout pair value, out bit<32> rv) {
            if (value.hi == 1)
            rv = 4;
            value.lo = 1;
        }
    };
    // outside: another constant
    Register<pair, bit<10>>(1024) r11;
    RegisterAction<pair, bit<10>, bit<32>>(r11) r11_action = {
        void apply(inout pair value, out bit<32> rv) {
            if (value.hi == 1)
            rv = 3;
            value.lo = 1;
        }
    };
    // outside: two powers
    Register<pair, bit<10>>(1024) r12;
    RegisterAction<pair, bit<10>, bit<32>>(r12) r12_action = {
        void apply(inout pair value, out bit<32> rv) {
            if (value.hi == 1)
            rv = 4;
            else
            rv = 2;
            value.lo = 1;
        }
    };
    // outside: one word or the other
    Register<pair, bit<10>>(1024) r13;
    RegisterAction<pair, bit<10>, bit<32>>(r13) r13_action = {
        void apply(inout pair value, out bit<32> rv) {
            value.lo = hdr.h.a;
            if (value.hi == 1)
            rv = value.lo;
            else
            rv = value.hi;
        }
    };
    // inside: a condition
    Register<bit<32>, bit<10>>(1024) r14;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r14) r14_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value == 1 && hdr.h.a == 5 ? 32w1 : 0;
        }
    };
    // outside: a constant wider than the ALU
    Register<bit<8>, bit<10>>(1024) r15;
    RegisterAction<bit<8>, bit<10>, bit<32>>(r15) r15_action = {
        void apply(inout bit<8> value, out bit<32> rv) {
            if (value == 1)
            rv = 1;
        }
    };
    // inside: the math unit into the first word
    MathUnit<bit<32>>(MathOp_t.SQR, 1) mur16;
    Register<bit<32>, bit<10>>(1024) r16;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r16) r16_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = mur16.execute(hdr.h.a);
            rv = value;
        }
    };
    // outside: past it
    MathUnit<bit<32>>(MathOp_t.SQR, 1) mur17;
    Register<bit<32>, bit<10>>(1024) r17;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r17) r17_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = mur17.execute(hdr.h.a);
        }
    };
    // outside: into the second
    MathUnit<bit<32>>(MathOp_t.SQR, 1) mur18;
    Register<pair, bit<10>>(1024) r18;
    RegisterAction<pair, bit<10>, bit<32>>(r18) r18_action = {
        void apply(inout pair value, out bit<32> rv) {
            value.hi = mur18.execute(hdr.h.a);
        }
    };
    // outside: twice
    MathUnit<bit<32>>(MathOp_t.SQR, 1) mur19;
    Register<bit<32>, bit<10>>(1024) r19;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r19) r19_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 3)
            value = mur19.execute(hdr.h.a);
            else
            value = mur19.execute(hdr.h.b);
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
            hdr.h.r = r19_action.execute(hdr.h.idx[9:0]);
    }
}

#include "salu_rest.inc"
