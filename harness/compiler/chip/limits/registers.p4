// SPDX-License-Identifier: Apache-2.0
// refused: table-size
// Registers of one table are in one stage, which has four stateful ALUs.
#include "common.p4"

#define REGISTER(n)                                                                                \
    Register<bit<32>, bit<8>>(256) r##n;                                                           \
    RegisterAction<bit<32>, bit<8>, bit<32>>(r##n) add_##n = {                                     \
        void apply(inout bit<32> value) {                                                          \
            value = value + 1;                                                                     \
        }                                                                                          \
    };

INGRESS {
    REGISTER(1)
    REGISTER(2)
    REGISTER(3)
    REGISTER(4)
    REGISTER(5)
    action count() {
        add_1.execute(hdr.num.b);
        add_2.execute(hdr.num.b);
        add_3.execute(hdr.num.b);
        add_4.execute(hdr.num.b);
#ifdef OVER
        add_5.execute(hdr.num.b);
#endif
    }
    table t { // here
        key = { hdr.num.a : exact; }
        actions = { count; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    apply {
        t.apply();
    }
}

MAIN
