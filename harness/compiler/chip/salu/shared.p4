// SPDX-License-Identifier: Apache-2.0
// What the actions of a register share.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    // inside: four large constants
    Register<bit<32>, bit<10>>(1024) r00;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r00) r00_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 100)
            value = 200;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r00) r00_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 101)
            value = 201;
        }
    };
    // outside: five
    Register<bit<32>, bit<10>>(1024) r01;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 100)
            value = 200;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 101)
            value = 201;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r01) r01_2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = 202;
        }
    };
    // inside: small ones; 8 in a comparison is -8
    Register<bit<32>, bit<10>>(1024) r02;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r02) r02_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 7)
            value = 7;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r02) r02_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value < 8)
            value = 6;
        }
    };
    // inside: three and a RegisterParam
    RegisterParam<bit<32>>(100) pr03;
    Register<bit<32>, bit<10>>(1024) r03;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r03) r03_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > pr03.read())
            value = 300;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r03) r03_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 301)
            value = 302;
        }
    };
    // outside: four and a RegisterParam
    RegisterParam<bit<32>>(100) pr04;
    Register<bit<32>, bit<10>>(1024) r04;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r04) r04_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > pr04.read())
            value = 300;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r04) r04_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (value > 301)
            value = 302;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r04) r04_2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = 303;
        }
    };
    // inside: subtracting adds the complement
    Register<bit<32>, bit<10>>(1024) r05;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - 9;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - 10;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - 11;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r05) r05_3 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - 1;
        }
    };
    // inside: two PHV fields
    Register<bit<32>, bit<10>>(1024) r06;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r06) r06_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.a;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r06) r06_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.b;
        }
    };
    // outside: three
    Register<bit<32>, bit<10>>(1024) r07;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.a;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.b;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r07) r07_2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.c;
        }
    };
    // inside: a part comes with the whole
    Register<bit<32>, bit<10>>(1024) r08;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r08) r08_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.a[7:0] == 3)
            value = value + hdr.h.a;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r08) r08_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = hdr.h.b;
        }
    };
    // inside: 32 bits put together by the hash matrix
    Register<bit<32>, bit<10>>(1024) r09;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r09) r09_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.h.e ++ hdr.h.f);
        }
    };
    // outside: and a field
    Register<bit<32>, bit<10>>(1024) r10;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r10) r10_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (hdr.h.q == 1)
            value = value + (hdr.h.e ++ hdr.h.f);
        }
    };
    // outside: two MathUnits
    MathUnit<bit<32>>(MathOp_t.SQR, 1) mur11;
    MathUnit<bit<32>>(MathOp_t.SQRT, 1) nur11;
    Register<bit<32>, bit<10>>(1024) r11;
    RegisterAction<bit<32>, bit<10>, bit<32>>(r11) r11_0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = mur11.execute(hdr.h.a);
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(r11) r11_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = nur11.execute(hdr.h.a);
        }
    };
    apply {
        tm.ucast_egress_port = 1;
        if (hdr.h.k == 0)
            hdr.h.r = r00_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 1)
            hdr.h.r = r00_1.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 8)
            hdr.h.r = r01_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 9)
            hdr.h.r = r01_1.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 10)
            hdr.h.r = r01_2.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 16)
            hdr.h.r = r02_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 17)
            hdr.h.r = r02_1.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 24)
            hdr.h.r = r03_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 25)
            hdr.h.r = r03_1.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 32)
            hdr.h.r = r04_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 33)
            hdr.h.r = r04_1.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 34)
            hdr.h.r = r04_2.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 40)
            hdr.h.r = r05_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 41)
            hdr.h.r = r05_1.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 42)
            hdr.h.r = r05_2.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 43)
            hdr.h.r = r05_3.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 48)
            hdr.h.r = r06_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 49)
            hdr.h.r = r06_1.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 56)
            hdr.h.r = r07_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 57)
            hdr.h.r = r07_1.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 58)
            hdr.h.r = r07_2.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 64)
            hdr.h.r = r08_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 65)
            hdr.h.r = r08_1.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 72)
            hdr.h.r = r09_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 80)
            hdr.h.r = r10_action.execute(hdr.h.idx[9:0]);
        if (hdr.h.k == 88)
            hdr.h.r = r11_0.execute(hdr.h.idx[9:0]);
        else if (hdr.h.k == 89)
            hdr.h.r = r11_1.execute(hdr.h.idx[9:0]);
    }
}

#include "salu_rest.inc"
