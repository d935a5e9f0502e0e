// SPDX-License-Identifier: Apache-2.0
// refused: salu-constants
// Constants that are no immediates (-8 to 7) have a row of the register file each: five, of four.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add_1 = {
        void apply(inout bit<32> value) {
            value = value + 1001;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add_2 = {
        void apply(inout bit<32> value) {
            value = value + 1002;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add_3 = {
        void apply(inout bit<32> value) {
            value = value + 1003;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add_4 = {
        void apply(inout bit<32> value) {
            if (value > 1004) {
#ifdef OVER
                value = value + 1005; // here
#else
                value = value + 1003;
#endif
            }
        }
    };
    action do_1() { add_1.execute(hdr.num.b); }
    action do_2() { add_2.execute(hdr.num.b); }
    action do_3() { add_3.execute(hdr.num.b); }
    action do_4() { add_4.execute(hdr.num.b); }
    table t {
        key = { hdr.num.a : exact; }
        actions = { do_1; do_2; do_3; do_4; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    apply {
        t.apply();
    }
}

MAIN
