// SPDX-License-Identifier: Apache-2.0
//
// What no stateful ALU can do.
#include "../golden/frame.p4i"

struct three_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

#define ACTION(name)                                                                               \
    RegisterAction<bit<8>, bit<8>, bit<8>>(crowded) name = {                                       \
        void apply(inout bit<8> v) {                                                               \
            v = v + 1;                                                                             \
        }                                                                                          \
    };

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<8>, bit<8>>(16) crowded;
    ACTION(one)
    ACTION(two)
    ACTION(three)
    ACTION(four)
    ACTION(five)
    Register<bit<8>, bit<8>>(16) other;
    RegisterParam<bit<8>>(3) param;
    RegisterAction<bit<8>, bit<8>, bit<8>>(other) reads = {
        void apply(inout bit<8> v) {
            v = param.read();
        }
    };
    Register<bit<8>, bit<8>>(16) third;
    RegisterAction<bit<8>, bit<8>, bit<8>>(third) reads_too = {
        void apply(inout bit<8> v) {
            v = param.read();
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<8>>(third) too_wide = {
        void apply(inout bit<32> v) {
            v = v + 1;
        }
    };
    RegisterAction<three_t, bit<8>, bit<8>>(third) too_many = {
        void apply(inout three_t v) {
            v.a = 1;
        }
    };
    MathUnit<bit<64>>(MathOp_t.MUL, 1) wide_unit;
    MathUnit<bit<32>>(MathOp_t.DIV, 0) zero_unit;
    MathUnit<bit<32>>(false, -2, 4, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) far_unit;
    apply {
        switch (hdr.num.a) {
            0: { one.execute(hdr.num.b); }
            1: { two.execute(hdr.num.b); }
            2: { three.execute(hdr.num.b); }
            3: { four.execute(hdr.num.b); }
            4: { five.execute(hdr.num.b); }
        }
        reads.execute(hdr.num.b);
        reads_too.execute(hdr.num.b);
        too_wide.execute(hdr.num.b);
        too_many.execute(hdr.num.b);
        md.y = param.read();
    }
}

MAIN
