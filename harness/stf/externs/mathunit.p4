/* SPDX-License-Identifier: Apache-2.0
 *
 * mathunit: what a math unit makes of the packet's operand, in every form a unit is declared in.
 */
#include "frame.p4i"

#define UNIT(name, ...)                                                                            \
    MathUnit<bit<32>>(__VA_ARGS__) name;                                                           \
    Register<bit<32>, bit<8>>(16) name##_cells;                                                    \
    RegisterAction<bit<32>, bit<8>, bit<32>>(name##_cells) name##_run = {                          \
        void apply(inout bit<32> value, out bit<32> rv) {                                          \
            value = name.execute(hdr.op.a);                                                        \
            rv = value;                                                                            \
        }                                                                                          \
    };                                                                                             \
    action do_##name() { hdr.op.r = name##_run.execute(hdr.op.i); }

INGRESS {
    UNIT(once, MathOp_t.MUL, 1)
    UNIT(triple, MathOp_t.MUL, 3)
    UNIT(tenth, MathOp_t.MUL, 1, 10)
    UNIT(square, MathOp_t.SQR, 1)
    UNIT(root, MathOp_t.SQRT, 1)
    UNIT(reciprocal, MathOp_t.DIV, 1000)
    UNIT(one_by_root, MathOp_t.RSQRT, 1000)
    UNIT(own, true, 1, 8, {15, 14, 13, 12, 11, 10, 9, 8, 0, 0, 0, 0, 0, 0, 0, 7})

    table ops {
        key = { hdr.op.op : exact; }
        actions = { do_once; do_triple; do_tenth; do_square; do_root; do_reciprocal;
                    do_one_by_root; do_own; }
        const entries = {
            0 : do_once();
            1 : do_triple();
            2 : do_tenth();
            3 : do_square();
            4 : do_root();
            5 : do_reciprocal();
            6 : do_one_by_root();
            7 : do_own();
        }
        size = 16;
    }

    apply {
        ops.apply();
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
    }
}

MAIN
