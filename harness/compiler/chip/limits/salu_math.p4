// SPDX-License-Identifier: Apache-2.0
// refused: salu-math-unit
// Two tables of mathematics in the actions of a register, whose ALU has one.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    MathUnit<bit<32>>(MathOp_t.MUL, 3) triple;
    MathUnit<bit<32>>(MathOp_t.SQR, 1) square;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) first = {
        void apply(inout bit<32> value) {
            value = triple.execute(hdr.num.e);
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) second = {
        void apply(inout bit<32> value) {
#ifdef OVER
            value = square.execute(hdr.num.e); // here
#else
            value = triple.execute(hdr.num.e);
#endif
        }
    };
    apply {
        if (hdr.num.a == 1) {
            first.execute(hdr.num.b);
        } else {
            second.execute(hdr.num.b);
        }
    }
}

MAIN
