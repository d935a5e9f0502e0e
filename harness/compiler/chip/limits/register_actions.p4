// SPDX-License-Identifier: Apache-2.0
// refused: compile room for 4
// The instructions of one register's stateful ALU: five, where there are four.
#include "common.p4"

#define ACTION(name, n)                                                                            \
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) name = {                                       \
        void apply(inout bit<32> value, out bit<32> rv) {                                          \
            value = value + n;                                                                     \
            rv = value;                                                                            \
        }                                                                                          \
    };

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    ACTION(one, 1)
    ACTION(two, 2)
    ACTION(three, 3)
    ACTION(four, 4)

    action do_one() { hdr.num.e = one.execute(hdr.num.b); }
    action do_two() { hdr.num.e = two.execute(hdr.num.b); }
    action do_three() { hdr.num.e = three.execute(hdr.num.b); }
    action do_four() { hdr.num.e = four.execute(hdr.num.b); }
#ifdef OVER
    ACTION(five, 5)
    action do_five() { hdr.num.e = five.execute(hdr.num.b); } // here
#else
    action do_five() { hdr.num.e = 5; }
#endif

    table t {
        key = { hdr.num.a : exact; }
        actions = { do_one; do_two; do_three; do_four; do_five; }
        size = 16;
    }
    apply {
        t.apply();
    }
}

MAIN
