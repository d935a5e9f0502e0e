// SPDX-License-Identifier: Apache-2.0
// How many comparisons an action makes, and of what.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    // inside: two
    Register<bit<32>, bit<10>>(1024) r00;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r00) r00_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == hdr.h.a) {
            value = 0;
            } else if (value > 5) {
            value = value + 1;
            }
            rv = value;
        }
    };
    // outside: three
    Register<bit<32>, bit<10>>(1024) r01;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == hdr.h.a) {
            value = 0;
            } else if (value > 5) {
            value = value + 1;
            } else if (value == 100) {
            rv = 7;
            }
        }
    };
    // inside: == and != are one
    Register<bit<32>, bit<10>>(1024) r02;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r02) r02_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == hdr.h.a) {
            value = 0;
            } else if (value != hdr.h.a && value > 7) {
            value = 3;
            }
        }
    };
    // inside: > and <= are one, three times the same
    Register<bit<32>, bit<10>>(1024) r03;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r03) r03_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 7)
            value = 1;
            if (value > 7)
            rv = 5;
            if (value <= 7)
            rv = 1;
        }
    };
    // inside: && || ! over two
    Register<bit<32>, bit<10>>(1024) r04;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r04) r04_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if ((value == 1 && hdr.h.a == 2) || !(value == 1))
            value = 7;
        }
    };
    // inside: a sum of all three sources
    Register<bit<32>, bit<10>>(1024) r05;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value + hdr.h.a > 100)
            value = 0;
        }
    };
    // outside: two additions
    Register<bit<32>, bit<10>>(1024) r06;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r06) r06_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value + hdr.h.a + hdr.h.b > 100)
            value = 0;
        }
    };
    // outside: two PHV fields
    Register<bit<32>, bit<10>>(1024) r07;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.a == hdr.h.b)
            value = 1;
        }
    };
    // outside: both words
    Register<pair, bit<10>>(1024) r08;
    RegisterAction<pair, bit<10>, bit<32>>(r08) r08_action = {
        void apply(inout pair value, out bit<32> rv) {
            if (value.lo > value.hi)
            value.lo = 0;
        }
    };
    // outside: two constants
    Register<bit<32>, bit<10>>(1024) r09;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r09) r09_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value + 1 == hdr.h.a + 2)
            value = 0;
        }
    };
    // outside: a slice of the value
    Register<bit<32>, bit<10>>(1024) r10;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r10) r10_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value[7:0] == 3)
            value = 0;
        }
    };
    // inside: a slice of a field
    Register<bit<32>, bit<10>>(1024) r11;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r11) r11_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value == 16w0 ++ hdr.h.a[15:0])
            value = 0;
        }
    };
    // outside: a mask
    Register<bit<32>, bit<10>>(1024) r12;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r12) r12_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if ((value & 0xff) == 3)
            value = 0;
        }
    };
    // outside: an operator that comparisons have not
    Register<bit<32>, bit<10>>(1024) r13;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r13) r13_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if ((value ^ hdr.h.a) == 0)
            value = 1;
        }
    };
    // inside: a constant of 32 bits with its sign
    Register<bit<32>, bit<10>>(1024) r14;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r14) r14_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 0x80000000)
            value = 0;
        }
    };
    // outside: the next
    Register<bit<32>, bit<10>>(1024) r15;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r15) r15_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 0x80000001)
            value = 0;
        }
    };
    // inside: signed
    Register<int<32>, bit<10>>(1024) r16;
    RegisterAction<int<32>, bit<10>, int<32>>(r16) r16_action = {
        void apply(inout int<32> value, out int<32> rv) {
            if (value < hdr.h.sa)
            value = -5;
            rv = value;
        }
    };
    // inside: the predicate itself
    Register<bit<32>, bit<10>>(1024) r17;
    RegisterAction<bit<32>, bit<10>, bit<8>>(r17) r17_action = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = this.predicate(value == 1, hdr.h.a > 3);
        }
    };
    // outside: the predicate behind another comparison
    Register<bit<32>, bit<10>>(1024) r18;
    RegisterAction<bit<32>, bit<10>, bit<8>>(r18) r18_action = {
        void apply(inout bit<32> value, out bit<8> rv) {
            if (hdr.h.b == 1)
            value = 3;
            rv = this.predicate(value == 1, hdr.h.a > 3);
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
            hdr.h.sr = r16_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 136)
            hdr.h.q8 = r17_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 144)
            hdr.h.q8 = r18_action.execute(hdr.h.idx[9:0]);
    }
}

#include "salu_rest.inc"
